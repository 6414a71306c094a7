#!/usr/bin/env bash
# The cache under ten commands at once, under kill -9, under Ctrl-C, and with a
# limit to its size.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export AXE_CACHE=$tmp/cache TMPDIR=$tmp/t
mkdir "$TMPDIR"
fail() {
    echo "cache: $1" >&2
    exit 1
}
run() { "$AXE" run "$SRC/kernels/$1.axe" ${2-} --random M=33 N=47 --threads 1 --check; }
entries() { find "$AXE_CACHE" -name '*.so' | wc -l; }

pids=()
for i in 1 2 3 4 5 6 7 8 9 10; do
    run elementwise add >"$tmp/out$i" 2>&1 &
    pids+=($!)
done
for i in 1 2 3 4 5 6 7 8 9 10; do
    wait "${pids[i - 1]}" || fail "one of ten: $(cat "$tmp/out$i")"
    grep -q 'check Z: ok' "$tmp/out$i" || fail "$(cat "$tmp/out$i")"
done
# The kernel and its reference.
[ "$(entries)" = 2 ] || fail "$(entries) entries, not 2"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"

# A compiler that takes its time, to be met in the middle.
cat >"$tmp/slow" <<'S'
#!/usr/bin/env bash
: >"$SLOW.started"
sleep 1
exec gcc "$@"
S
chmod +x "$tmp/slow"
export SLOW=$tmp/slow
meet() { # SIGNAL
    rm -f "$SLOW.started"
    AXE_CC=$SLOW "$AXE" run "$SRC/kernels/gelu.axe" --random M=5 N=5 \
        >"$tmp/out" 2>&1 &
    pid=$!
    for _ in $(seq 500); do
        [ ! -e "$SLOW.started" ] || break
        sleep 0.02
    done
    kill "-$1" $pid
    ! wait $pid 2>/dev/null || fail "$1 and yet done"
}
meet TERM
[ -z "$(ls "$TMPDIR")" ] || fail "TERM left behind: $(ls "$TMPDIR")"
meet KILL
run gelu >"$tmp/out" 2>&1 || fail "after kill -9: $(cat "$tmp/out")"
[ "$(entries)" = 4 ] || fail "$(entries) entries, not 4"

# Those used longest ago go first.
find "$AXE_CACHE" -type f -exec touch -d '3 hours ago' {} +
AXE_CACHE_MB=0.02 run softmax >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
[ "$(entries)" -le 2 ] || fail "$(entries) entries are more than the limit"
run softmax >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
