#!/usr/bin/env bash
# Kernels over a mesh on GPUs, without one: ranks whose driver executes PTX
# (tests/ptx) and whose blocks of memory are files that all map, so that results
# are compared; and one that only writes down what it is asked (tests/fake), to
# fail at each call, on one rank of three: one text, exit status 1, nothing left.
set -u
built=$(dirname "$AXE")/tests
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export AXE_CACHE=$tmp/cache
D=$SRC/kernels/dist
small="--set BM=32 --set BN=32 --set BK=32"
bad=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    /' out
    bad=1
}

# Without a driver nobody starts a rank, or compiles.
AXE_CUDA=/none "$AXE" run $D/reduce_scatter.axe --random --devices 2 -t sm_90a >out 2>&1
[ $? = 1 ] && grep -q '^error: an NVIDIA GPU needs its driver, but there is no /none' out &&
    grep -q 'help: install the driver' out && [ "$(grep -c error out)" = 1 ] || fail "no driver"

# ------------------------------------------------------------------- results
export AXE_CUDA=$built/libptx_cuda.so AXE_NVRTC=$built/libptx_cuda.so
"$AXE" run "$SRC/kernels/elementwise.axe" add --random M=4 N=8 -t sm_90a >out 2>&1 || {
    grep -q "there is no NVRTC\|NVRTC gives no" out && exit 77
    fail "one GPU"
    exit 1
}
right() {
    "$AXE" run "$@" --random --check --no-tuned >out 2>&1 </dev/null &&
        grep -q ': ok, ' out && grep -q 'between devices, as planned' out &&
        ! grep -q 'the driver still has' out || fail "$*"
}
for n in 1 2 3; do
    right -t sm_90a $D/gemm_reduce_scatter.axe M=50 N=36 K=45 $small --devices $n
    right -t sm_90a $D/gemm_allreduce.axe M=61 N=67 K=5 --devices $n
done
grep -q 'on 3 devices by shm, sm_90a each' out || fail "where it ran"
# three ranks on two, whose streams do things when waited for; little room behind the heap
export FAKE_GPUS=2 PTX_LATE=1 FAKE_GRAIN=4096
env -u AXE_CACHE -u HOME -u XDG_CACHE_HOME "$AXE" run $D/gemm_allreduce.axe M=9 N=9 K=9 --random \
    --check -t sm_90a --devices 2 >out 2>&1 && grep -q ': ok, ' out || fail "no cache"
right -t sm_90a $D/allgather_gemm.axe M=37 N=50 K=33 $small --devices 3
right -t sm_90a $D/mlp.axe mlp_sequence T=9 H=20 F=30 --devices 3
right -t sm_90a $D/all2all.axe combine P=3 C=2 H=5 T=7 S=2 E=6 --devices 3
PTX_CC=80 right -t sm_80 $D/all_reduce.axe ring M=1000 --devices 4
right -t sm_90a $D/reshard.axe swap R=10 C=7 N=2 P=2
# borders of neighbours, with corners, and of several of a few rows
right -t sm_90a $D/stencil.axe heat H=29 W=40 N=1 --devices 3
grep -q 'moved    2560 bytes' out || fail "borders: what moves"
right -t sm_90a $D/stencil.axe blur H=54 W=44 N=2 P=2
right -t sm_90a $D/stencil.axe ring H=29 W=40 N=1 --devices 3
grep -q 'moved    3840 bytes' out || fail "borders around: what moves"
right -t sm_90a $D/stencil.axe life H=54 W=44 N=2 P=2
right -t sm_90a $D/stencil.axe causal S=5 C=9 R=4 N=1 --devices 3
# boxes of which a side is a progression of runs, of four dimensions, of numbers
# of other widths, and sums of what begins at no 16 bytes
cat >boxes.axe <<'END'
mesh gpu[P];

kernel swap_axes<type T>
    (in T X[A, B @ gpu, C, D, E], out T Y[A @ gpu, B, C, D, E], out T Z[A, B, C @ gpu, D, E])
{
    index a, b, c, d, e;

    Y[a, b, c, d, e] = X[a, b, c, d, e];
    Z[a, b, c, d, e] = X[a, b, c, d, e];
}

kernel sums<type T>
    (in T X[P @ gpu, K, M], out T Y[K, M], out T Z[K @ gpu, M], out T W[K, M @ gpu])
{
    index k, m;
    global T S[K, M] : partial(gpu);

    device { cta (i : K) S[i, m] = X[0, i, m]; }
    Y[k, m] = S[k, m];
    Z[k, m] = S[k, m];
    W[k, m] = S[k, m];
}
END
for t in i8 f64; do
    right -t sm_90a boxes.axe swap_axes A=5 B=6 C=4 D=2 E=3 --set T=$t --devices 3
done
for t in i32 f64; do
    right -t sm_90a boxes.axe sums K=5 M=7 --set T=$t --devices 3
    right -t sm_90a boxes.axe sums K=14 M=1 --set T=$t --devices 3
    right -t sm_90a boxes.axe sums K=64 M=48 --set T=$t --devices 2
done
# sums over all GPUs by multimem, where each rank has one of its own and they can
casts() {
    local want=$1 how=$2
    shift 2
    env $how AXE_MULTIMEM=1 FAKE_TELL=1 "$AXE" run "$@" --random --check --no-tuned \
        -t "${on-sm_90a}" >out 2>&1 </dev/null && grep -q ': ok, ' out && ! grep -q 'the driver still has' out &&
        [ "$(grep -c ' sum_all ' out)" = "$want" ] || fail "multimem: $*"
}
all="$D/gemm_allreduce.axe M=32 N=96 K=300 --devices 3"
casts 3 FAKE_GPUS=3 $all
on=sm_80 casts 3 "FAKE_GPUS=3 PTX_CC=103" $all # kernels are an older machine's, sums the GPU's
casts 3 FAKE_GPUS=3 $D/gemm_reduce_scatter.axe M=96 N=36 K=45 --devices 3
for t in f64 i32 i64; do casts 3 FAKE_GPUS=3 boxes.axe sums K=9 M=11 --set T=$t --devices 3; done
cat >rows.axe <<'END'
mesh node[N], gpu[P];

kernel rows(in f32 X[N @ node, P @ gpu, M], out f32 Z[N @ node, M @ gpu])
{
    index n, m;
    global f32 S[N @ node, M] : partial(gpu);

    device { cta (i : 1) S[0, m] = X[0, i, m]; }
    Z[n, m] = S[n, m];
}
END
casts 0 FAKE_GPUS=4 rows.axe N=2 P=2 M=64 # of some ranks
casts 0 FAKE_GPUS=2 $all
casts 0 "FAKE_GPUS=3 FAKE_NO=132" $all
casts 0 "FAKE_GPUS=3 AXE_CUDA=$AXE_CUDA" $D/reduce_scatter.axe --devices 1
FAKE_GPUS=3 FAKE_TELL=1 "$AXE" run $all --random -t sm_90a >out 2>&1
! grep -q 'Multicast\|sum_all' out || fail "multimem unasked"
# plans that are a collective of all ranks by NCCL, one that adds in another order
gathers() {
    local want=$1
    shift
    AXE_NCCL=1 AXE_NCCL_LIBRARY=$AXE_CUDA FAKE_GPUS=3 FAKE_TELL=1 "$AXE" run "$@" --random --check \
        --no-tuned -t sm_90a >out 2>&1 </dev/null && grep -q ': ok, ' out &&
        grep -q 'between devices, as planned' out && ! grep -q 'the driver still has' out &&
        [ "$(grep -o 'nccl[AR][a-zA-Z]*' out | sort | uniq -c | tr -s ' \n' ' ')" = "$want" ] ||
        fail "NCCL: $*"
}
gathers " 3 ncclAllReduce " $all
gathers " 3 ncclReduceScatter " $D/gemm_reduce_scatter.axe M=96 N=36 K=45 --devices 3
gathers " 6 ncclAllGather 3 ncclReduceScatter " $D/mlp.axe mlp_sequence T=9 H=20 F=30 --devices 3
gathers " 3 ncclAllReduce 3 ncclReduceScatter " boxes.axe sums K=9 M=11 --set T=i64 --devices 3
gathers " 3 ncclAllReduce " boxes.axe sums K=5 M=11 --set T=f64 --devices 3 # uneven rows
gathers "" $D/reshard.axe swap R=10 C=7 N=2 P=2
gathers "" $D/reduce_scatter.axe --devices 1
stops() {
    local want=$1
    shift
    env "$@" AXE_NCCL=1 FAKE_GPUS=3 "$AXE" run $all --timeout 1 --random -t sm_90a >out 2>&1
    [ $? = 1 ] && [ "$(grep -c '^error' out)" = 1 ] && grep -q "^error: $want" out || fail "$want"
}
stops "collectives of NCCL are asked for, but there is no /none" AXE_NCCL_LIBRARY=/none
stops "NCCL, all-reduce: a text of NCCL (5)" AXE_NCCL_LIBRARY=$AXE_CUDA FAKE_FAIL=ncclAllReduce:5
stops "NCCL, all ranks together: a text of NCCL (5)" AXE_NCCL_LIBRARY=$AXE_CUDA \
    FAKE_FAIL=ncclCommInitRankConfig:5
stops "rank [0-2] of 3 waited 1 s for all others in NCCL's start" \
    AXE_NCCL_LIBRARY=$AXE_CUDA FAKE_LATE_RANK=1
stops "rank [0-2] of 3 waited 1 s for all others in NCCL's all-reduce" \
    AXE_NCCL_LIBRARY=$AXE_CUDA FAKE_STUCK=1
# what is timed is settled
"$AXE" run $D/reduce_scatter.axe --random --devices 2 -t sm_90a --time=2 >out 2>&1 &&
    grep -q 'time' out || fail "times"

# ranks that somebody else has started: processes that have nothing to do with one another
for r in 1 0; do
    AXE_RANK=$r AXE_SIZE=2 AXE_LOCAL_RANK=$r AXE_LOCAL_SIZE=2 AXE_RENDEZVOUS=gpus$$ "$AXE" run \
        $D/gemm_allreduce.axe M=9 N=9 K=9 --random --check -t sm_90a >out$r 2>&1 &
done
wait
cat out0 out1 >out
grep -q ': ok, ' out0 && [ ! -s out1 ] || fail "launched ranks"
if command -v mpirun.openmpi >/dev/null; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated \
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader \
        timeout -k 5 60 mpirun.openmpi -n 2 "$AXE" run $D/gemm_allreduce.axe M=9 N=9 K=9 --random \
        -t sm_90a >out 2>&1 </dev/null
    grep -q 'ranks with GPUs reach one another by engine shm, and this is openmpi' out &&
        grep -q 'help: give --engine shm' out || fail "MPI"
fi

# ------------------------------------------------------------------ failures
unset AXE_NVRTC FAKE_GRAIN
export AXE_CUDA=$built/libfake_cuda.so FAKE_GPUS=3 FAKE_FAIL_ON=1
wrong() {
    FAKE_FAIL=$1 "$AXE" run $D/gemm_allreduce.axe M=61 N=67 K=5 --random --devices 3 -t sm_90a \
        >out 2>&1 </dev/null
    [ $? = 1 ] && [ "$(grep -c '^error' out)" = 1 ] &&
        grep -q "^error: $2: CUDA_ERROR_[A-Z]* (${1#*:}), a text of the driver$" out &&
        ! grep -q 'the driver still has' out || fail "$1"
}
wrong DevicePrimaryCtxRetain:9 "opening the GPU"
wrong MemMap:9 "mapping the memory of rank 0"
wrong ModuleLoadData:9 "loading the code"
wrong LaunchKernel:9 "launching kernel copy_box"
wrong MemcpyHtoD_v2:9 "copying to the GPU"
wrong MemcpyDtoDAsync_v2:9 "copying between GPUs"
FAKE_FAIL_AT=2 wrong StreamSynchronize:9 "running on the GPU"
FAKE_FAIL=MemAlloc_v2:2 "$AXE" run $D/gemm_allreduce.axe M=61 N=67 K=5 --random --devices 3 \
    -t sm_90a >out 2>&1
[ $? = 1 ] && [ "$(grep -c '^error' out)" = 1 ] &&
    grep -q "no memory for this device's part of A: .*CUDA_ERROR_[A-Z]* (2)" out || fail "memory"
FAKE_NO=102 "$AXE" run $D/gemm_allreduce.axe M=61 N=67 K=5 --random --devices 3 -t sm_90a >out 2>&1
grep -q "^error: Fake GPU has no virtual memory" out || fail "no virtual memory"
exit $bad
