#!/bin/sh
# trace.sh - `axe trace`: options, exit codes, and results against NumPy.  Given:
# AXE the command, SRC the source folder, PYTHON one with NumPy.
set -u

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

check() {
    name=$1 code=$2 text=$3
    shift 3
    "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -qF -- "$text" "$tmp/out"; then
        echo "FAILED $name: exit $got, wanted $code and: $text"
        sed 's/^/    /' "$tmp/out"
        failed=1
    fi
}

t=$SRC/examples/trainium/gemm_tiled.trace
check help     0 'usage: axe trace'           "$AXE" trace --help
check none     2 'it takes a file'            "$AXE" trace
check nosuch   2 "did you mean '--time'?"     "$AXE" trace --tome x
check missing  1 'no.trace'                   "$AXE" trace "$tmp/no.trace"
check time     0 'tensor         16 instr'    "$AXE" trace "$t" --time --set K=512
check both     0 'profile doc: '              "$AXE" trace "$t" -t --profile doc
check profile  1 'known: legacy, doc'         "$AXE" trace "$t" -t --profile fast
check param    0 'us; device memory'          "$AXE" trace "$t" -t --param dma_start=0
check near     1 "did you mean 'dma_start'?"  "$AXE" trace "$t" -t --param dma_stat=0
check params   0 'semaphore               5 ns' \
    "$AXE" trace --params --param semaphore=5
check size     1 "has no size 'Q'"            "$AXE" trace "$t" -t --set Q=1
check data     1 'no data for lhsT'           "$AXE" trace "$t"
check array    1 "no array for 'z=1.npy'"     "$AXE" trace "$t" z=1.npy
check print    0 'for m = M / 128 {'          "$AXE" trace "$t" --print

check picture  0 'us; device memory' \
    "$AXE" trace "$t" -t --set K=512 --timeline "$tmp/t.svg"
grep -q '>dma, out</text>' "$tmp/t.svg" || { echo "FAILED picture"; failed=1; }
check events   0 'us; device memory' \
    "$AXE" trace "$t" -t --set K=512 --timeline "$tmp/t.json"
"$PYTHON" -m json.tool "$tmp/t.json" >/dev/null || { echo "FAILED events"; failed=1; }
check nopict   2 'a name that ends in .svg'   "$AXE" trace "$t" -t --timeline t.png
check noroom   1 'No such file' "$AXE" trace "$t" -t --timeline "$tmp/none/t.svg"
check capacity 1 'need 1024000 bytes of a partition; trn1 has 180224' \
    "$AXE" compile "$SRC/kernels/gemm.axe" -t trn1 --emit lower --set BM=128 --set BN=128 --set BK=32 --set STAGES=1000
check empty    1 'B has no elements, and a kernel for trn1 writes results' \
    "$AXE" sim "$SRC/kernels/gemm.axe" -t trn1 --random M=5 N=5 K=0
sim() {
    "$AXE" sim "$SRC/kernels/gemm.axe" -t trn1 --random M=5 N=5 K=8 "$@"
}
check policy   1 'an order of events is asked for, and engines' sim --policy 2
check blocks   1 'a number of blocks is asked for, and engines' sim --sms 2
check json     0 '"findings": [], "instructions": '             sim --json
check full     1 'No space left on device' \
    sh -c "'$AXE' trace '$t' --print > /dev/full"

# An error of a program is at its line.
sed 's/tensor nc_matmul sum, a, b/tensor nc_matmul sum, b, a/' "$t" >"$tmp/wrong.trace"
check line     1 'wrong.trace:18:35: error: 512 values of m; nc_matmul takes 128' \
    "$AXE" trace "$tmp/wrong.trace" --time

# The example of the documentation.
sed -n '/^    trace double/,/^$/s/^    //p' "$SRC/docs/trace.md" >"$tmp/double.trace"
check example  0 'vector          2 instr'    "$AXE" trace "$tmp/double.trace" --time

# Printing a trace that was printed gives the same.
for f in "$SRC"/examples/trainium/*.trace; do
    "$AXE" trace "$f" --print >"$tmp/once.trace" &&
        "$AXE" trace "$tmp/once.trace" --print >"$tmp/twice" &&
        cmp -s "$tmp/once.trace" "$tmp/twice" || {
        echo "FAILED print $f"
        failed=1
    }
done

"$PYTHON" "$SRC/tests/trn.py" "$AXE" "$SRC" || failed=1
exit $failed
