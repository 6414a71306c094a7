#!/usr/bin/env bash
# `axe sim` of kernels over a mesh: nothing is found, the result is right, and
# what moves is what the plans say; what is refused.
# Given: AXE the command, SRC the source directory, PYTHON.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
D=$SRC/kernels/dist
small="--set BM=64 --set BN=64 --set BK=32"

# what it prints, and its exit status
says() {
    local code=$1 text=$2 got
    shift 2
    "$@" >out 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -qF -- "$text" out; then
        echo "FAILED exit $got, wanted $code and '$text': $*"
        sed 's/^/    /' out
        failed=1
    fi
}

right() { says 0 ': ok, ' "$AXE" sim "$@" --random --check; }

for n in 1 2 3 4 8; do
    right $D/gemm_reduce_scatter.axe M=100 N=72 K=90 --devices $n $small
    right $D/allgather_gemm.axe M=37 N=50 K=33 --devices $n $small
    right $D/gemm_allreduce.axe M=19 N=23 K=70 --devices $n
    right $D/reduce_scatter.axe --devices $n
    right $D/mlp.axe mlp T=9 H=20 F=30 --devices $n
    right $D/mlp.axe mlp_sequence T=9 H=20 F=30 --devices $n
done
# parts that are not empty only here and there, and sums by parts
right $D/gemm_reduce_scatter.axe M=3 N=5 K=2 --devices 4 $small
right $D/gemm_allreduce.axe M=61 N=67 K=5 --devices 3
right $D/gemm_allreduce.axe M=3 N=5 K=0 --devices 3
for mesh in "N=2 P=2" "N=2 P=3" "N=3 P=2"; do
    for kernel in swap gather collect; do
        right $D/reshard.axe $kernel R=10 C=7 $mesh
    done
done
# maxima and sums that are kept while keys and values go round
for n in 1 2 3; do
    right $D/ring_attention.axe S=40 H=2 --devices $n
done
right $D/ring_attention.axe S=41 H=1 --devices 2 --set CAUSAL=1
# of slots only those go that are used
for n in 1 2 3; do
    right $D/all2all.axe dispatch T=11 H=5 S=2 C=6 E=7 --devices $n
done
# 416 bytes, as `axe run` has it, and 992 of results to the first device
says 0 '"moved": 416, "planned": 416, ' "$AXE" run \
    $D/all2all.axe dispatch --random T=11 H=5 S=2 C=6 E=7 --devices 3 --check --json
says 0 '3 devices, 1408 bytes between them' "$AXE" sim \
    $D/all2all.axe dispatch --random T=11 H=5 S=2 C=6 E=7 --devices 3
# other machines
right $D/gemm_reduce_scatter.axe M=64 N=64 K=64 --devices 2 $small \
    --target sm_80 --policy 2

# a ring, of which each device gets what one other has: 2 times 2 rounds of 12
says 0 '3 devices, 192 bytes between them; plans: 5, in ' "$AXE" sim \
    $D/all_reduce.axe ring --random M=12 --devices 3
says 0 ': ok, ' "$AXE" sim $D/all_reduce.axe ring --random M=12 --devices 3 --check

# 99 rows of 40: each of 3 devices takes 33 of its rows from 2 others, and 2 give
# theirs to the first
says 0 '3 devices, 42240 bytes between them; plans: 2, in ' "$AXE" sim \
    $D/gemm_reduce_scatter.axe --random M=99 N=40 K=12 --devices 3 $small
says 0 '"devices": 3, "moved": 42240, ' "$AXE" sim \
    $D/gemm_reduce_scatter.axe --random M=99 N=40 K=12 --devices 3 $small --json

says 0 '"machine": "sm_90a", ' "$AXE" sim \
    $D/gemm_reduce_scatter.axe --random M=9 N=4 K=12 --devices 2 $small --json

says 1 'names no mesh, and --devices is for one that does' \
    "$AXE" sim "$SRC/kernels/softmax.axe" --random M=4 N=4 --devices 2
says 0 'ns of a device:' "$AXE" sim $D/allgather_gemm.axe $small \
    --random M=40 N=50 K=30 --devices 2 --timeline x.svg
says 0 '>link<' cat x.svg
# what overlaps takes less than one after the other, and more than either
for k in allgather_gemm gemm_reduce_scatter; do
    "$AXE" sim $D/$k.axe $small --random M=500 N=50 K=30 --devices 3 --check --timeline x.svg >out ||
        { echo "FAILED $k with a timeline"; failed=1; cat out; }
    awk '$1 == "computes" { c = $3 } $1 == "link" { l = $5; all = $NF }
        END { exit !(c > 0 && l > 0 && all < c + l && all > c && all > l) }' out ||
        { echo "FAILED $k overlaps"; failed=1; cat out; }
done
says 1 'the mesh has 3 devices' "$AXE" sim $D/gemm_allreduce.axe \
    --random M=4 N=4 K=4 P=3 --devices 2
# what is known of 64 devices' elements by each of them is over 30 GB
says 1 '64 devices of 1000000 elements would take the simulator' "$AXE" sim \
    $D/gemm_allreduce.axe --random M=1000 N=1000 K=1 --devices 64
# refused before anything is computed
timeout 20 "$AXE" sim $D/gemm_allreduce.axe --random M=33554432 N=1 K=1 --devices 2 >out 2>&1
[ $? -eq 1 ] && grep -q 'moving A: a device has 33554432 elements, and the simulator takes 2^24' out ||
    { echo "FAILED 2^25 elements"; failed=1; cat out; }
says 1 'is compiled for trn1, and devices of a mesh are CPUs and NVIDIA GPUs so far' "$AXE" sim -t trn1 \
    $D/gemm_allreduce.axe --random M=4 N=4 K=4 --devices 2
says 1 '--sms is for GPUs, and this is for a mesh of CPUs' "$AXE" sim -t cpu \
    $D/gemm_reduce_scatter.axe --random M=8 N=4 K=8 --devices 2 --sms 3
says 2 '--devices 65: a number from 1 to 64' "$AXE" sim \
    $D/gemm_allreduce.axe --devices 65
exit $failed
