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
[ -n "$(ls "$TMPDIR")" ] || fail "kill -9 left nothing: the next line shows nothing"
run gelu >"$tmp/out" 2>&1 || fail "after kill -9: $(cat "$tmp/out")"
[ -z "$(ls "$TMPDIR")" ] || fail "of kill -9 is left: $(ls "$TMPDIR")"
[ "$(entries)" = 4 ] || fail "$(entries) entries, not 4"

# Those used longest ago go first.
find "$AXE_CACHE" -type f -exec touch -d '3 hours ago' {} +
AXE_CACHE_MAX=20K run softmax >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
[ "$(entries)" -le 2 ] || fail "$(entries) entries are more than the limit"
run softmax >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"

# ---- the verb
json() { "$AXE" cache --json "$@" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$key"; }
key=kernels
[ "$(json)" = "$(entries)" ] || fail "axe cache: $(json) kernels, not $(entries)"
key=most_bytes
[ "$(json)" = 1073741824 ] || fail "the limit is $(json)"
[ "$(AXE_CACHE_MAX=1.5M json)" = 1572864 ] || fail "1.5M is $(AXE_CACHE_MAX=1.5M json)"
[ "$(AXE_CACHE_MAX=nonsense json)" = 1073741824 ] || fail "nonsense is a limit"
for max in nonsense 12x 1MB -1; do
    AXE_CACHE_MAX=$max "$AXE" cache --cache "$tmp/c" | grep -q "^AXE_CACHE_MAX is no size such as 512M: $max$" || fail "cache does not say $max"
    AXE_CACHE_MAX=$max run softmax 2>&1 | grep -q "warning: AXE_CACHE_MAX is no size such as 512M: .$max." || fail "run does not say $max"
done
"$AXE" cache | grep -q "$(entries) kernels*, .* of at most 1024.0 MiB" || fail "$("$AXE" cache)"
"$AXE" cache show >/dev/null || fail "show"
: >"$AXE_CACHE/tuned.db"
n=$(entries)
"$AXE" cache clear | grep -q ": $n kernels* removed" || fail "clear of $n"
[ "$(entries)" = 0 ] || fail "$(entries) entries after clear"
[ -e "$AXE_CACHE/tuned.db" ] || fail "what was tuned is gone"
for wrong in now "show clear" --nothing; do
    # shellcheck disable=SC2086
    ! "$AXE" cache $wrong >"$tmp/out" 2>&1 || fail "axe cache $wrong"
done
"$AXE" cache --help | grep -q AXE_CACHE_MAX || fail "help"
"$AXE" cache --cache "$tmp/none" | grep -q '^0 kernels' || fail "no directory"

# ---- whom it trusts
fresh() { # WANT WHAT
    got=$(timeout 20 "$AXE" run "$SRC/kernels/gelu.axe" --random M=5 N=5 \
        --threads 1 --json 2>"$tmp/err" |
        "$PYTHON" -c 'import json, sys; print(not json.load(sys.stdin)["cached"])') ||
        fail "$2: $(cat "$tmp/err")"
    [ "$got" = "$1" ] || fail "$2: fresh is $got; $(cat "$tmp/err")"
}
so() { find "$AXE_CACHE" -name '*.so'; }
fresh True "the first time"
fresh False "the second time"
chmod go+w "$(so)"
fresh True "an entry that others can write to"
fresh False "which was replaced"
file=$(so)
"$PYTHON" -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(-33, 2); b = f.read(1); f.seek(-33, 2); f.write(bytes([b[0] ^ 1]))' "$file"
fresh True "an entry whose last byte is another one"
fresh False "which was replaced"
rm "$file"
mkfifo "$file"
fresh True "a pipe"
fresh False "which was replaced"
mv "$file" "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$file"
fresh True "a link"
cmp -s "$file" "$tmp/elsewhere" || [ ! -L "$file" ] || fail "written through a link"
fresh False "which was replaced"
chmod g+w "$(dirname "$file")"
fresh True "a folder that others can write to"
grep -q 'other users can write to it' "$tmp/err" || fail "$(cat "$tmp/err")"
chmod g-w "$(dirname "$file")"
fresh False "no longer"
mkdir "$tmp/above" "$tmp/above/cache"
chmod 777 "$tmp/above"
cp -r "$AXE_CACHE"/?? "$tmp/above/cache"
chmod 700 "$tmp/above/cache"
AXE_CACHE=$tmp/above/cache fresh True "a folder above that others can write to"
grep -q 'other users can write to a folder above it' "$tmp/err" || fail "$(cat "$tmp/err")"
"$AXE" cache --cache "$tmp/above/cache" | grep -q '^not used: other users' || fail "said of it"
chmod 1777 "$tmp/above"
AXE_CACHE=$tmp/above/cache fresh False "which is sticky"
if [ "$(id -u)" = 0 ]; then
    chown 12345 "$file"
    fresh True "another user's entry"
    fresh False "which was replaced"
    chown 12345 "$(dirname "$file")"
    fresh True "another user's folder"
    grep -q 'another user owns it' "$tmp/err" || fail "$(cat "$tmp/err")"
    chown 0 "$(dirname "$file")"
fi
