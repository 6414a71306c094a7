#!/usr/bin/env bash
# `axe tune`: finds values, keeps them, `axe run` takes them at about these
# sizes and says so; interruption; what is wrong is said.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export AXE_CACHE=$tmp/cache
unset AXE_TUNED

fail() {
    echo "tune: $1" >&2
    exit 1
}
json() { "$PYTHON" -c 'import json, sys; r = json.load(sys.stdin); print('"$1"')'; }

cat >"$tmp/k.axe" <<'K'
kernel scale<B = 64>(in f32 X[M], out f32 Y[M])
    tune B in {1, 64, 1024}
{
    index m;
    cta (i : M by B) Y[i*B + m] = X[i*B + m] * 2;
}
K
tune() { "$AXE" tune "$tmp/k.axe" --random --budget 20 "$@" 2>"$tmp/err"; }
run() { "$AXE" run "$tmp/k.axe" --random --threads 1 --json "$@" 2>"$tmp/err"; }

tune --threads 1 --json M=65536 >"$tmp/out"
[ "$(json 'r["planned"], r["refused"], r["interrupted"]' <"$tmp/out")" = \
    "3 0 False" ] || fail "$(cat "$tmp/out")"
best=$(json 'r["measured"][0]["set"]["B"]' <"$tmp/out")
[ "$best" != 1 ] || fail "one element a task cannot be best"
[ "$(json 'r["records"]' <"$tmp/out")" = "$AXE_CACHE/tuned.db" ] || fail where

# Used near by, not far away, not with other threads, not when told not to.
run M=50000 --check >"$tmp/out"
json 'r["tuned"]' <"$tmp/out" | grep -q "^B=$best, tuned on .* for M=65536, 1" ||
    fail "not used: $(cat "$tmp/out")"
[ "$(run M=1000 | json 'r["tuned"]')" = None ] || fail "used far away"
[ "$(run M=50000 --no-tuned | json 'r["tuned"]')" = None ] || fail "no-tuned"
[ "$(run M=50000 --set B=64 | json 'r["tuned"]')" = None ] || fail "set"
run M=50000 --emit plan >"$tmp/out"
grep -q '^values: B=' "$tmp/out" || fail "the plan does not say"

# Another text of the kernel has no records.
sed -i 's/\* 2/* 3/' "$tmp/k.axe"
[ "$(run M=50000 | json 'r["tuned"]')" = None ] || fail "of another text"

# For people; nothing kept.
tune --records '' --threads 2 M=1000 >"$tmp/out"
grep -q '(default)' "$tmp/out" || fail "$(cat "$tmp/out")"
grep -q '^scale for about M=1024 on 2 threads: ' "$tmp/out" || fail "$(cat "$tmp/out")"
! grep -q 'kept in' "$tmp/out" || fail "kept nevertheless"

# A database that is none: told, and the run goes on.
echo "this is no database, and long enough to be told from one" >"$tmp/bad.db"
run M=50000 --records "$tmp/bad.db" >"$tmp/out"
grep -q 'tuned values are not used: .*bad.db' "$tmp/err" || fail "$(cat "$tmp/err")"
tune --records "$tmp/bad.db" M=1000 >"$tmp/out"
grep -q 'the result is not kept: .*bad.db' "$tmp/err" || fail "$(cat "$tmp/err")"

# Wrong calls.
for row in "--budget 0" "--budget x" "--threads x" "--seed x"; do
    rc=0
    # shellcheck disable=SC2086
    tune $row M=1000 >/dev/null || rc=$?
    [ $rc = 2 ] || fail "$row: exit $rc"
done
! tune --set B=64 M=1000 || fail "nothing to tune"
grep -q 'has nothing to tune' "$tmp/err" || fail "$(cat "$tmp/err")"

# Ctrl-C: what is known is shown, the exit is a success.
"$AXE" tune "$SRC/kernels/gemm.axe" --random M=700 N=700 K=700 --budget 100 \
    --threads 1 --json >"$tmp/out" 2>"$tmp/err" &
pid=$!
sleep 2
kill -INT $pid
wait $pid || fail "interrupted: exit $?: $(cat "$tmp/err")"
[ "$(json 'r["interrupted"]' <"$tmp/out")" = True ] || fail "$(cat "$tmp/out")"

# For a GPU: the ranking where there is none; code made beforehand; a driver that
# only writes down runs what was prepared, with no compiler.
fake=$(dirname "$AXE")/tests/libfake_cuda.so
gemm() { "$AXE" tune "$SRC/kernels/gemm_sm90.axe" --set BK=64 --set GROUP=8 \
    --set BM=128 --set PING=0 --json "$@" M=4096 N=4096 K=4096 2>"$tmp/err"; }

AXE_CUDA=/none gemm >"$tmp/out" || fail "no GPU: $(cat "$tmp/err")"
grep -q 'no GPU: ranked by the model only' "$tmp/err" || fail "$(cat "$tmp/err")"
[ "$(json 'r["machine"], r["measured"], r["records"]' <"$tmp/out")" = \
    "sm_90a [] None" ] || fail "$(cat "$tmp/out")"
[ "$(json 'r["ranked"][0]["set"]["BN"], r["ranked"][-1]["set"]["STAGES"]' \
    <"$tmp/out")" = "256 2" ] || fail "$(cat "$tmp/out")"
json 'all(a["estimate_s"] <= b["estimate_s"] for a, b in zip(r["ranked"], r["ranked"][1:]))' \
    <"$tmp/out" | grep -q True || fail "the ranking is none"

! "$AXE" tune "$SRC/kernels/gemm_sm90.axe" M=64 2>"$tmp/err" || fail sizes
grep -q 'does not follow from the arrays and sizes' "$tmp/err" ||
    fail "$(cat "$tmp/err")"
"$AXE" tune "$SRC/kernels/gemm_sm90.axe" --set BK=64 --set BM=128 \
    --set BN=64 --set GROUP=8 M=64 N=64 K=7 >"$tmp/out" 2>"$tmp/err" ||
    fail "$(cat "$tmp/err")"
grep -q '^  not launched at these sizes ' "$tmp/out" || fail "$(cat "$tmp/out")"

! tune --prepare M=100 || fail "prepared for a CPU"
if gemm --prepare --best 3 >"$tmp/out"; then
    prepared=$(json 'r["prepared"]' <"$tmp/out")
    case $prepared in 3 | 4) ;; *) fail "prepared $prepared" ;; esac
    [ "$(find "$AXE_CACHE" -name '*.cubin' | wc -l)" = "$prepared" ] ||
        fail "cubins"
    case $(ldd "$fake") in *asan*) exit 0 ;; esac
    AXE_NVRTC=/none AXE_CUDA=$fake gemm --best 3 >"$tmp/out" ||
        fail "measured from what was prepared: $(cat "$tmp/err")"
    [ "$(json 'len(r["measured"])' <"$tmp/out")" = "$prepared" ] ||
        fail "$(cat "$tmp/out")"
    [ "$(json 'r["records"]' <"$tmp/out")" = "$AXE_CACHE/tuned.db" ] ||
        fail "not kept"
else
    grep -q 'no libnvrtc' "$tmp/err" || fail "prepare: $(cat "$tmp/err")"
fi
