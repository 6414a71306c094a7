#!/usr/bin/env bash
# What goes between devices while they compute: right, and the same bits as one
# after the other, over shared memory and by messages of the MPIs that are here;
# as many bytes as plans have; what explain says of it.
# Given: AXE the command, SRC the source directory.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm=isolated
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1
# What MPI itself leaves behind at its end is not ours to mend.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
failed=0
D=$SRC/kernels/dist

fail() {
    echo "FAILED $*"
    failed=1
}

# with and without overlap, in a share every third by turns: RUNNER N OUT ARGUMENTS
turn=0 every=1
[ "${AXE_SHARE:-1}" = 1 ] || every=3
same() {
    local runner=$1 n=$2 out=$3
    shift 3
    [ $((turn++ % every)) = 0 ] || return 0
    local how=(--devices "$n")
    [ -n "$runner" ] && how=()
    rm -f a.npy b.npy
    # shellcheck disable=SC2086
    $runner "$AXE" run "$@" "$out=a.npy" "${how[@]}" --timeout 60 --random --check >a 2>&1 </dev/null ||
        { fail "$runner $n: $*"; cat a; return; }
    # shellcheck disable=SC2086
    $runner "$AXE" run "$@" "$out=b.npy" "${how[@]}" --timeout 60 --random --no-overlap >b 2>&1 </dev/null ||
        { fail "$runner $n: $*, without"; cat b; return; }
    [ "$(grep -c "check $out: ok" a)" = 1 ] || fail "$runner $n: $*: not compared once"
    grep -q ' bytes between devices, as planned' a ||
        { fail "$runner $n: $*: bytes"; grep moved a; }
    cmp -s a.npy b.npy || fail "$runner $n: $*: other bits"
}

# tiles that meet borders of shards, shards of less than a tile, ragged ones,
# and devices with nothing
all() {
    same "$1" "$2" C $D/gemm_reduce_scatter.axe --set BM=32 M=1000 N=72 K=90
    same "$1" "$2" C $D/gemm_reduce_scatter.axe --set BM=64 M=70 N=5 K=2
    same "$1" "$2" C $D/allgather_gemm.axe --set BM=32 M=1037 N=50 K=33
    same "$1" "$2" C $D/allgather_gemm.axe --set BM=32 M=3 N=50 K=33
    same "$1" "$2" C $D/gemm_allreduce.axe M=700 N=230 K=70
    same "$1" "$2" C gemms.axe rows M=300 N=70 K=50
    same "$1" "$2" Y gemms.axe twice M=300 N=40 K=50
    same "$1" "$2" C gemms.axe columns M=300 N=70 K=50
    same "$1" "$2" Y $D/mlp.axe mlp T=190 H=40 F=30
    same "$1" "$2" Y $D/mlp.axe mlp_sequence T=190 H=40 F=30
}

cat >gemms.axe <<'EOF2'
mesh gpu[P];

// Addends of columns of the result go to all devices, and each has columns.
kernel columns(in f32 A[M, K @ gpu], in f32 B[N, K @ gpu], out f32 C[M, N @ gpu])
{
    index m, n, k;

    C[m, n] = sum[k](A[m, k] * B[n, k]);
}

// What is copied is used more than once, and written by the same device again
// and again.
kernel twice<BM = 32>(in f32 A[M @ gpu, K], in f32 B[N, K], out f32 Y[M, N])
{
    index m, n, k;
    global f32 X[M, K];
    global f32 Z[M, K] : partial(gpu);
    global f32 W[M @ gpu, K];

    W[m, k] = A[m, k];
    for (t : 3) {
        X[m, k] = W[m, k];
        device (g : gpu) {
            cta (i : M by BM) Z[i*BM + m, k] = X[i*BM + m, k] * 0.5 + f32(t + g);
        }
        W[m, k] = Z[m, k];
    }
    X[m, k] = W[m, k];
    device {
        cta (i : M by BM) Y[i*BM + m, n] = sum[k](X[i*BM + m, k] * B[n, k]);
    }
}

// The scope's tiles are of another dimension: nothing overlaps.
kernel rows<BN = 32>(in f32 A[M @ gpu, K], in f32 B[N, K], out f32 C[M, N])
{
    index m, n, k;
    global f32 X[M, K];

    X[m, k] = A[m, k];
    device {
        cta (j : N by BN) C[m, j*BN + n] = sum[k](X[m, k] * B[j*BN + n, k]);
    }
}

// Nothing but the change itself keeps a device from running ahead of others.
kernel again<BM = 32>(in f32 A[M, K], out f32 C[M @ gpu, K])
{
    index m, k;
    global f32 Z[M, K] : partial(gpu);
    global f32 W[M @ gpu, K];

    device {
        cta (i : M @ gpu by BM) C[i*BM + m, k] = 0;
    }
    for (t : 40) {
        device (g : gpu) {
            cta (i : M by BM) Z[i*BM + m, k] = A[i*BM + m, k] * f32(t * t) + f32(g);
        }
        W[m, k] = Z[m, k];
        device {
            cta (i : M @ gpu by BM) C[i*BM + m, k] = C[i*BM + m, k] + W[i*BM + m, k];
        }
    }
}

// A copy that makes addends of what a device has made: all but the first device
// have zeros then, which no piece tells them.
kernel addends<BM = 32>(in f32 A[M @ gpu, K], out f32 Y[M, K])
{
    index m, k;
    global f32 W[M @ gpu, K];
    global f32 Z[M, K] : partial(gpu);

    device {
        cta (i : M @ gpu by BM) W[i*BM + m, k] = A[i*BM + m, k] + 1;
    }
    Z[m, k] = W[m, k];
    Y[m, k] = Z[m, k];
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
    for (t : 40) {
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

// Rows of other tiles, the number of the tile, and that of rows: nothing overlaps.
kernel reach<BM = 32, L = 40>(in f32 A[M @ gpu, K], in f32 V[L], out f32 C[M, K], out f32 D[M, K],
                              out f32 E[M, K], out f32 F[M, K])
{
    index m, k, l;
    global f32 W[M, K];
    global f32 X[M, K];
    global f32 Y[M, K];
    global f32 Z[M, K];

    W[m, k] = A[m, k];
    device {
        cta (i : M by BM) F[i*BM + m, k] = sum[l](V[l] * W[i*BM + l, k]);
    }
    X[m, k] = A[m, k];
    device {
        cta (i : M by BM) C[i*BM + m, k] = X[i*BM + m + 1, k];
    }
    Y[m, k] = A[m, k];
    device {
        cta (i : M by BM) D[i*BM + m, k] = Y[i*BM + m, k] + f32(i);
    }
    Z[m, k] = A[m, k];
    device {
        cta (i : M by BM) E[i*BM + m, k] = Z[i*BM + m, k] + f32(M);
    }
}
EOF2

cat >source.axe <<'EOF2'
mesh node[N], gpu[P];

// What others may still be pulling is written by the tiles that use what comes.
kernel source<BM = 32>(in f32 A[M @ gpu, K @ node], out f32 C[M @ gpu, K])
{
    index m, k, l;
    global f32 V[M @ gpu, K @ node];
    global f32 W[M @ gpu, K];

    V[m, k] = A[m, k];
    W[m, k] = V[m, k];
    device {
        cta (i : M @ gpu by BM) {
            C[i*BM + m, k] = W[i*BM + m, k];
            V[i*BM + m, l] = -1000;
        }
    }
}
EOF2

for n in 1 2 3; do
    all "" $n
done
same "" 5 C $D/gemm_reduce_scatter.axe --set BM=32 M=1000 N=72 K=90
same "" 5 C $D/allgather_gemm.axe --set BM=32 M=1037 N=50 K=33
same "" 3 F gemms.axe reach M=100 K=5
for _ in 1 2 3; do
    same "" 5 C gemms.axe again M=400 K=200
    same "" 3 C gemms.axe lent M=300 K=200
done
same "" 3 Y gemms.axe addends M=300 K=20
AXE_THREADS=2 same "" 2 C $D/gemm_reduce_scatter.axe --threads 2 --set BM=32 M=1000 N=72 K=90
for run in mpirun.openmpi mpiexec.hydra; do
    command -v $run >/dev/null || continue
    all "$run -n 3" 3
    same "$run -n 2" 2 C $D/gemm_reduce_scatter.axe --set BM=32 M=1000 N=72 K=90
done

# who overlaps
says() { # TEXT TIMES ARGUMENTS
    local text=$1 n=$2 got
    shift 2
    got=$("$AXE" explain "$@" | grep -cF -- "$text")
    [ "$got" = "$n" ] || fail "explain $*: $got times '$text', not $n"
}
says 'overlap gemm_reduce_scatter.device0 makes rows of S, in tiles of 128' 1 $D/gemm_reduce_scatter.axe
says 'overlap allgather_gemm.device0 uses rows of X, in tiles of 128' 1 $D/allgather_gemm.axe
says 'overlap mlp_sequence.between' 3 $D/mlp.axe mlp_sequence
says 'overlap twice.device' 2 gemms.axe twice
says 'overlap' 0 gemms.axe rows
says 'overlap' 0 gemms.axe reach
says 'overlap' 0 source.axe
same "" 3 C source.axe M=9000 K=60 P=1
exit $failed
