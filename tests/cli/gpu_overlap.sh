#!/usr/bin/env bash
# What goes between GPUs while they compute, without one: ranks whose driver
# executes PTX (tests/ptx) and has streams that wait for words of other ranks.
# Right, the same bits as one after the other, in streams that are done at once,
# as one, and in several random orders; and what fails, in any of its calls, on
# one rank of three: one text, exit status 1, nothing left.
# Given: AXE the command, SRC the source directory.
set -u
built=$(dirname "$AXE")/tests
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export AXE_CACHE=$tmp/cache AXE_CUDA=$built/libptx_cuda.so AXE_NVRTC=$built/libptx_cuda.so
D=$SRC/kernels/dist
bad=0

fail() {
    echo "FAILED: $*"
    cut -c1-2000 out | sed 's/^/    /'
    bad=1
}

"$AXE" run "$SRC/kernels/elementwise.axe" add --random M=4 N=8 -t sm_90a >out 2>&1 || {
    grep -q "there is no NVRTC\|NVRTC gives no" out && exit 77
    fail "one GPU"
    exit 1
}

cat >turns.axe <<'END2'
mesh gpu[P];

// What is copied is used more than once, and written by the same device again
// and again; a number comes from the device for each launch.
kernel twice<BM = 32>(in f32 s, in f32 A[M @ gpu, K], in f32 B[N, K], out f32 Y[M, N])
{
    index m, n, k;
    global f32 X[M, K];
    global f32 Z[M, K] : partial(gpu);
    global f32 W[M @ gpu, K];

    W[m, k] = A[m, k];
    for (t : 4) {
        X[m, k] = W[m, k];
        device (g : gpu) {
            cta (i : M by BM) Z[i*BM + m, k] = X[i*BM + m, k] * s + f32(t + g);
        }
        W[m, k] = Z[m, k];
    }
    X[m, k] = W[m, k];
    device {
        cta (i : M by BM) Y[i*BM + m, n] = sum[k](X[i*BM + m, k] * B[n, k]);
    }
}

// What others may still be pulling is written by a device that does not go by rows.
kernel lent<BM = 32>(in f32 A[M, K], out f32 C[M @ gpu, K])
{
    index m, k;
    global f32 Z[M, K] : partial(gpu);
    global f32 W[M @ gpu, K];

    device {
        cta (i : M @ gpu by BM) C[i*BM + m, k] = 0;
    }
    for (t : 6) {
        device (g : gpu) {
            cta (i : M by BM) Z[i*BM + m, k] = A[i*BM + m, k] * f32(t) + f32(g);
        }
        W[m, k] = Z[m, k];
        device {
            cta (j : K by 8) Z[m, j*8 + k] = -1000;
        }
        device {
            cta (i : M @ gpu by BM) C[i*BM + m, k] = C[i*BM + m, k] + W[i*BM + m, k];
        }
    }
}

// Addends of columns of the result: parts that are no run.
kernel columns(in f32 A[M, K @ gpu], in f32 B[N, K @ gpu], out f32 C[M, N @ gpu])
{
    index m, n, k;

    C[m, n] = sum[k](A[m, k] * B[n, k]);
}

// Given, and not added: rows go where they belong as they come, while the next
// statement's rows of the turn before are still read.
kernel spread<BM = 32>(in f32 A[M @ gpu, K], out f32 Y[M, K])
{
    index m, k;
    global f32 V[M @ gpu, K];
    global f32 W[M, K];

    device {
        cta (i : M by BM) Y[i*BM + m, k] = 0;
    }
    for (t : 4) {
        device {
            cta (i : M @ gpu by BM) V[i*BM + m, k] = A[i*BM + m, k] * f32(t + 1);
        }
        W[m, k] = V[m, k];
        device {
            cta (i : M by BM) Y[i*BM + m, k] = Y[i*BM + m, k] * 2 + W[i*BM + m, k];
        }
    }
}
END2

# with and without overlap, in streams that are done so: LATE N OUT ARGUMENTS
same() {
    local late=$1 n=$2 out=$3
    shift 3
    rm -f a.npy b.npy
    for how in "$out=a.npy --check" "$out=b.npy --no-overlap"; do
        # shellcheck disable=SC2086
        PTX_LATE=$late "$AXE" run "$@" $how --devices "$n" --timeout 30 --random --no-tuned \
            -t sm_90a >out 2>&1 </dev/null || { fail "$late $n: $* $how"; return; }
        grep -q 'the driver still has' out && fail "$late $n: $* $how: left"
        case $how in *check)
            grep -q "check $out: ok" out || fail "$late $n: $*: not right"
            grep -q ' bytes between devices, as planned' out || fail "$late $n: $*: bytes" ;;
        esac
    done
    cmp -s a.npy b.npy || fail "$late $n: $*: other bits"
}

# tiles that meet borders of shards, shards of less than a tile, ragged ones, and
# devices with nothing
small="--set BM=32 --set BN=32 --set BK=32"
some() {
    same "$1" "$2" C $D/gemm_reduce_scatter.axe M=500 N=132 K=20 $small
    same "$1" "$2" C $D/allgather_gemm.axe M=437 N=70 K=33 $small
    same "$1" "$2" C $D/gemm_allreduce.axe M=300 N=130 K=5
    same "$1" "$2" Y turns.axe twice M=300 N=10 K=140
}
all() {
    some "$1" "$2"
    same "$1" "$2" C turns.axe lent M=300 K=140
    same "$1" "$2" C turns.axe columns M=300 N=130 K=5
    same "$1" "$2" Y turns.axe spread M=300 K=140
}
export FAKE_GPUS=2
some 0 2
all 3 3
[ "${AXE_SHARE:-1}" -gt 1 ] || {
    all 4 4
    some 1 3
    same 5 1 Y turns.axe twice M=300 N=10 K=140
}
for late in 1 6; do
    [ "${AXE_SHARE:-1}" -gt 1 ] && [ $late = 1 ] && continue
    same $late 4 C $D/gemm_reduce_scatter.axe M=40 N=128 K=5 $small
    same $late 4 C $D/allgather_gemm.axe M=3 N=50 K=33 $small
done

# ------------------------------------------------------- that it does overlap
reduce="$D/gemm_reduce_scatter.axe M=500 N=128 K=45 $small"
gather="$D/allgather_gemm.axe M=437 N=128 K=128 $small"
export FAKE_GPUS=3
asks() { # TIMES NAME ARGUMENTS
    local want=$1 name=$2
    shift 2
    FAKE_TELL=1 "$AXE" run "$@" --devices 3 --random --check --no-tuned -t sm_90a >out 2>&1 </dev/null
    grep -q ': ok, ' out && [ "$(grep -o "$name" out | wc -l)" = "$want" ] ||
        fail "not $want of $name: $*"
}
# 16 tiles of rows of as many CTAs as the GPU has SMs at a time: 8 pieces on each;
# a piece at a border has parts for two ranks
asks 24 gemm_reduce_scatter_device0 $reduce
asks 20 StreamWaitValue32 $reduce
# 14 tiles: 7 pieces; a word of each other rank before the first
asks 21 allgather_gemm_device0 $gather
asks 6 StreamWaitValue32 $gather
# 16 tiles of rows of 5 CTAs, of which 4 run at a time: in pieces of two they are 24
# waves, of three 22, and all at once 20; 4 are 5 waves, and in any pieces more
asks 18 gemm_reduce_scatter_device0 $D/gemm_reduce_scatter.axe M=500 N=160 K=45 $small
asks 3 gemm_reduce_scatter_device0 $D/gemm_reduce_scatter.axe M=128 N=160 K=45 $small
# nor where a driver has no words, says so on one rank, or another one adds
for how in FAKE_FAIL=StreamWriteValue32_v2:801 "FAKE_FAIL=StreamWriteValue32_v2:801 FAKE_FAIL_ON=1" \
    AXE_MULTIMEM=1 "AXE_NCCL=1 AXE_NCCL_LIBRARY=$AXE_CUDA"; do
    # shellcheck disable=SC2086
    (export $how && asks 3 gemm_reduce_scatter_device0 $reduce; exit $bad) || bad=1
    # shellcheck disable=SC2086
    (export $how && asks 0 StreamWaitValue32 $reduce; exit $bad) || bad=1
done
"$AXE" explain $D/gemm_reduce_scatter.axe -t sm_90a >out 2>&1
grep -q 'overlap gemm_reduce_scatter.device0 makes rows of S, in tiles of ' out || fail explain

# ------------------------------------------------------------------ failures
# WHAT ENVIRONMENT.. -- ARGUMENTS: one text, status 1, and nothing left; rank 0
# has given back what it had, where its streams come to an end (and do not sum
# what nobody has written, which is a fault here)
ends() {
    local want=$1 closes="GPU 0: " how=()
    shift
    while [ "$1" != -- ]; do
        how+=("$1")
        [ "$1" = FAKE_STUCK=1 ] && closes=
        shift
    done
    shift
    [ "$*" = "$gather" ] || closes=
    timeout -k 5 30 env "${how[@]}" FAKE_FAIL_ON=1 FAKE_TELL=1 "$AXE" run "$@" --devices 3 --random \
        --timeout 2 --no-tuned -t sm_90a >out 2>&1 </dev/null
    [ $? = 1 ] && [ "$(grep -c '^error' out)" = 1 ] && grep -q "^error: $want" out &&
        grep -q "^$closes" out && ! grep -q 'the driver still has' out ||
        fail "${how[*]}: $*"
}
# a rank ends, or stops, while the streams of others wait for it; how it ended knows
# the rank that started it
gone="rank 1 of 3 \(was killed by signal 9 (Killed)\|has ended\), while rank [02] waits for it in step 1 ("
for k in "$reduce" "$gather"; do
    ends "$gone" PTX_LATE=7 FAKE_DIE=LaunchKernel:3 -- $k
    ends "rank [02] of 3 waited 2 s for all others' GPUs in step 1 (" \
        PTX_LATE=8 FAKE_DIE=LaunchKernel:3 FAKE_SIGNAL=19 -- $k
    ends "launching kernel [a-z_]*_device0: CUDA_ERROR_ANY (9), " \
        PTX_LATE=9 FAKE_FAIL=LaunchKernel:9 FAKE_FAIL_AT=3 -- $k
done
# streams of which one stops all, and a driver that never says that all is done
ends "$gone" PTX_LATE=1 FAKE_DIE=LaunchKernel:3 -- $reduce
ends "rank [0-2] of 3 waited 2 s for all others' GPUs in step 1 (all-gather)" FAKE_STUCK=1 -- $gather

# each call fails on one rank, while other ranks' streams wait, and in a driver
# whose streams never do
for driver in libptx_cuda.so libfake_cuda.so; do
    while read -r at name what; do
        ends "$what: CUDA_ERROR_[A-Z]* (9), " AXE_CUDA="$built/$driver" PTX_LATE=10 \
            FAKE_FAIL="$name:9" FAKE_FAIL_AT="$at" -- $reduce
    done <<'END2'
1 StreamCreate opening a stream
2 StreamCreate opening a stream
1 EventCreate opening a stream
1 StreamWriteValue32_v2 words that GPUs wait for
5 StreamWriteValue32_v2 telling another GPU what is done
1 MemcpyDtoDAsync_v2 telling another GPU what is done
1 StreamWaitValue32_v2 waiting for another GPU
1 EventRecord joining two streams
2 StreamWaitEvent joining two streams
1 StreamQuery running on the GPU
END2
done
exit $bad
