#!/usr/bin/env bash
# Every plan of the library: text and JSON say the same, every statement has a
# certificate by algebra and reasons for what it is not.
set -eu
cd "$SRC"
"$PYTHON" tests/explain.py

# Measured beside the estimate: on this host; on a GPU only where there is one.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export AXE_CACHE=$tmp/cache
"$AXE" explain --measure kernels/softmax.axe M=64 N=1000 >"$tmp/out"
grep -Eq '^measured    [0-9.]+ us, median of [0-9]+ on cpu, 1 thread; the estimate is [0-9.]+ us' \
    "$tmp/out"
grep -q '^estimates for M = 64, N = 1000 on 1 worker: ' "$tmp/out"
"$AXE" explain --measure --json kernels/gemm.axe M=100 N=90 K=80 |
    "$PYTHON" -c 'import json, sys
r = json.load(sys.stdin)
assert 0 < r["measured"]["seconds"] < 1, r
assert r["measured"]["n"] > 1 and r["measured"]["estimate"] > 0, r
assert r["plan"]["estimate"]["M"] == 100, r'
rc=0
AXE_CUDA=/none "$AXE" explain --measure kernels/gemm_sm90.axe \
    M=64 N=64 K=64 2>"$tmp/err" || rc=$?
[ $rc = 1 ] && grep -q "needs its driver, but there is no /none" "$tmp/err"

# Filling a tile that a packed argument stands for is no work.
"$AXE" explain -t cpu-avx2 --order W=packed kernels/linear.axe M=256 N=512 K=512 >"$tmp/out"
grep -A18 '^s2 ' "$tmp/out" >"$tmp/s2"
grep -q 'views     w is not filled: W is packed$' "$tmp/s2"
grep -q 'bytes     none$' "$tmp/s2"
grep -q 'cycles    0 in 0 executions' "$tmp/s2"
grep -q 'views .*X: \|W is read where it lies, packed$' "$tmp/out"
cycles() { sed -n 's/^estimates.* \([0-9.e+]*\) cycles.*/\1/p' "$tmp/out"; }
packed=$(cycles)
"$AXE" explain -t cpu-avx2 kernels/linear.axe M=256 N=512 K=512 >"$tmp/out"
"$PYTHON" -c 'import sys; sys.exit(not float(sys.argv[1]) < float(sys.argv[2]))' "$packed" "$(cycles)"

# Sizes, for a GPU, without one; one too few; one that is no number.
"$AXE" explain kernels/gemm_sm90.axe M=8192 N=4096 K=4096 >"$tmp/out"
grep -q '1024 tiles in 8 rounds, 0.970 full; 1 CTA in an SM' "$tmp/out"
"$AXE" explain --json kernels/gemm_sm90.axe M=8192 N=4096 K=4096 |
    "$PYTHON" -c 'import json, sys
e = json.load(sys.stdin)["estimates"]
assert len(e) == 1 and e[0]["tiles"] == 1024 and e[0]["rounds"] == 8, e
assert e[0]["least"] < e[0]["seconds"] < 2 * e[0]["least"], e'
# What is small lies in L2, and takes less than its bytes from memory: no share of that.
"$AXE" explain -t sm_90a kernels/softmax.axe M=1024 N=4096 >"$tmp/out"
grep -q 'us, with its bytes in L2; from memory they take 7.8 us$' "$tmp/out"
"$AXE" explain -t sm_90a kernels/softmax.axe M=8192 N=8192 >"$tmp/out"
grep -q ' us, 9[0-9.]* % of what is possible (' "$tmp/out"
! "$AXE" explain kernels/gemm_sm90.axe M=64 N=64 2>"$tmp/err"
grep -q 'does not follow from the arrays and sizes' "$tmp/err"
! "$AXE" explain kernels/gemm_sm90.axe M=x 2>"$tmp/err"
grep -q 'M=x: a size is a whole number' "$tmp/err"

# Sizes that a launch refuses have no estimate, and are JSON all the same.
"$AXE" explain --json -t sm_90a kernels/gemm_sm90.axe M=100 N=100 K=3 >"$tmp/out"
grep -q '"estimates":\[{"seconds":null}\]' "$tmp/out"
# A condition that follows from another, a load that is another, a product that
# several indices count, no tile: nothing is said twice, or of nothing.
"$AXE" explain kernels/permute.axe heads_first -t sm_80 >"$tmp/out"
[ "$(grep -c ' if D%4 == 0$' "$tmp/out")" = 2 ]
[ "$(grep -c '^tile' "$tmp/out")" = 0 ]
"$AXE" explain kernels/softmax.axe -t sm_80 >"$tmp/out"
# Three launches keep rows; in the last three statements read them.
[ "$(grep -c ' of X at a time' "$tmp/out")" = 6 ]
[ "$(grep -c 'X.kept.* = X\[' "$tmp/out")" = 3 ]
grep -q 'CTAs of 1024 threads where N > 32768; ' "$tmp/out"
# Of 16 bits twice as many, as they are, in as many registers.
"$AXE" explain kernels/softmax.axe -t sm_80 --set T=bf16 >"$tmp/out"
[ "$(grep -c '^X.kept *f32 *128 ' "$tmp/out")" = 3 ]
[ "$(grep -c '^X.kept *bf16 *128 ' "$tmp/out")" = 1 ]
grep -q 'CTAs of 1024 threads where N > 65536; ' "$tmp/out"
"$AXE" explain kernels/conv2d.axe -t sm_80 >"$tmp/out"
grep -q 'one side is r, x$' "$tmp/out"
grep -q 'of the lanes,' "$tmp/out"
"$AXE" explain kernels/transpose.axe -t sm_80 >"$tmp/out"
grep -q 'blocks turned in registers: about [0-9]* cycles' "$tmp/out"
