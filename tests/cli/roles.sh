#!/usr/bin/env bash
# kernels/gemm_sm90.axe in other orders, clusters, stages, simulated with few
# blocks that stay, against the reference.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
n_bad=0

# EDIT [--set NAME=VALUE]...
sim() {
    local edit=$1
    shift
    sed '/^ *tune /d' "$SRC/kernels/gemm_sm90.axe" >whole.axe
    sed -E "$edit" whole.axe >k.axe
    if [ -n "$edit" ] && cmp -s whole.axe k.axe; then
        n_bad=$((n_bad + 1))
        echo "FAILED: $edit changes nothing"
    fi
    "$AXE" sim k.axe --random M=700 N=200 K=72 --sms 3 --policy 1 --check \
        --set BN=64 "$@" >out 2>&1 && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $edit $*"
    head -n 20 out
}

sim 's/group = GROUP/hilbert/'
sim 's/, group = GROUP//'
sim 's/persistent //'
sim 's/cluster \(CLUSTER\) //; s/ : auto \+ .*;/;/'
sim '' --set CLUSTER=1
sim '' --set CLUSTER=4
sim '' --set STAGES=2
sim 's/group = GROUP/group = 4/' --set CLUSTER=4 --set BK=32
# Roles and pipelines that are come to again and again.
sim 's/^ *roles \{/shared f32 one[4]; one[k] = 1; roles {/; s/T\(acc\[m, n\]\)/T(acc[m, n] * one[0])/'
cat >loop.axe <<'EOT'
kernel loop<BM = 64, BN = 64, BK = 32>
    (in f16 A[M, K], in f16 B[N, K], out f16 C[M, N])
{
    index m, n, k;

    cta (i : M by BM, j : N by BN) {
        reg f32 acc[BM, BN] = 0;

        for (u : 3) {
            pipeline ring[3] { shared f16 a[BM, BK]; shared f16 b[BN, BK]; }

            for (t : K by BK) {
                produce ring {
                    ring.a[m, k] = A[i*BM + m, t*BK + k];
                    ring.b[n, k] = B[j*BN + n, t*BK + k];
                }
                consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k];
            }
        }
        C[i*BM + m, j*BN + n] = f16(acc[m, n]);
    }
}
EOT
cat >turns.axe <<'EOT'
kernel turns(in f32 X[M], out f32 Y[2, M])
{
    index m;

    cta (i : M by 64) warps 3 {
        for (u : 2) {
            pipeline p[3] { shared f32 x[16]; }

            roles {
                warp (0) for (t : 2) produce p p.x[m] = X[i*64 + u*32 + t*16 + m];
                warp (w : 1..3) for (t : 2) consume p
                    Y[w - 1, i*64 + u*32 + t*16 + m] = p.x[m] * 3;
            }
        }
    }
}
EOT
# Products of one CTA each, whose columns come to both.
cat >columns.axe <<'EOT'
kernel columns<BM = 128, BN = 64, BK = 64>(in f16 A[M, K], in f16 B[N, K], out f32 C[M, N])
{
    index m, n, k;

    cluster (2) cta (i : M by BM, j : N by BN) warps 5 {
        pipeline ring[3] {
            shared f16 a[BM, BK];
            shared f16 b[BN, BK] : auto + [2 : 1@cta];
        }
        tmem f32 acc[BM, BN];

        roles {
            warp (4) for (kt : K by BK) produce ring {
                ring.a[m, k] = A[i*BM + m, kt*BK + k];
                ring.b[n, k] = B[j*BN + n, kt*BK + k];
            }
            warpgroup (0) {
                acc[m, n] = 0;
                for (kt : K by BK) consume ring
                    acc[m, n] += ring.a[m, k] * ring.b[n, k];
                C[i*BM + m, j*BN + n] = acc[m, n];
            }
        }
    }
}
EOT
cat >readers.axe <<'EOT'
// Tiles of A are read by a warp that asks for products and by two that sum
// rows, the sums of products by two warp groups.
kernel readers<BM = 128, BN = 64, BK = 64, CLUSTER = 1, STAGES = 3>
    (in f16 A[M, K], in f16 B[N, K], out f32 C[M, N], out f32 S[M],
     out f32 T[M, N])
{
    index m, n, k;

    cluster (CLUSTER) cta (i : M by BM, j : N by BN) warps 12 {
        pipeline ring[STAGES] {
            shared f16 a[BM, BK];
            shared f16 b[BN, BK] : auto + [CLUSTER : 1@cta];
        }
        pipeline sums[1] { tmem f32 acc[BM, BN]; }

        roles {
            warp (4) for (kt : K by BK) produce ring {
                ring.a[m, k] = A[i*BM + m, kt*BK + k];
                ring.b[n, k] = B[j*BN + n, kt*BK + k];
            }
            warp (5) produce sums {
                sums.acc[m, n] = 0;
                for (kt : K by BK) consume ring
                    sums.acc[m, n] += ring.a[m, k] * ring.b[n, k];
            }
            warp (w : 6..8) {
                reg f32 total[BM / 2] = 0;

                for (kt : K by BK) consume ring
                    total[m] += sum[k](f32(ring.a[(w - 6)*(BM / 2) + m, k]));
                if (j == 0)
                    S[i*BM + (w - 6)*(BM / 2) + m] = total[m];
            }
            warpgroup (0) consume sums
                C[i*BM + m, j*BN + n] = sums.acc[m, n];
            warpgroup (2) consume sums
                T[i*BM + m, j*BN + n] = max(sums.acc[m, n], 0);
        }
    }
}
EOT
# Tiles as they come, without roles.
cat >taken.axe <<'EOT'
kernel taken<BM = 16, BN = 8, CLUSTER = 2>(in f32 X[M, N], in f32 S[N], out f32 Y[M, N])
{
    index m, n;

    cluster (CLUSTER) cta persistent (t : tiles(M by BM, N by BN, dynamic)) warps 2 {
        shared f32 s[BN] : auto + [CLUSTER : 1@cta];

        s[n] = S[t.j*BN + n];
        Y[t.i*BM + m, t.j*BN + n] = X[t.i*BM + m, t.j*BN + n] * s[n];
    }
}
EOT
for k in "columns sm_100a N=130 K=456" "readers sm_100a N=68 K=136" \
    "readers sm_100a N=68 K=328 --set CLUSTER=2" "taken sm_100a N=50 --sms 5" \
    "taken sm_100a N=50 --sms 3 --set CLUSTER=1" "taken sm_90a N=50 --sms 5" "loop sm_80 N=64 K=136" "loop sm_90a N=64 K=136" "turns sm_90a"; do
    # shellcheck disable=SC2086
    set -- $k
    "$AXE" sim "$1.axe" -t "$2" --random M=136 "${@:3}" --policy 2 --check >out 2>&1 && continue
    n_bad=$((n_bad + 1))
    echo "FAILED: $k"
    head -n 20 out
done
# Why two CTAs do not multiply together.
why() {
    local says=$1
    shift
    "$AXE" explain "$@" -t sm_100a 2>&1 | grep -qF "products of several CTAs: $says" && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $* does not say: $says"
}
why "what comes and what is done is told at the first CTA's barriers" columns.axe
why "only the first CTA is told that a stage is full, and several roles read those of ring" \
    readers.axe --set CLUSTER=2
# Without sums a loop turns once where all that comes is zero: not where A has
# rows beyond K, which may be infinite.
sed -e 's/in T A\[M, K\]/in T A[K + 8, M]/' \
    -e 's/ring.a\[m, k\] = A\[t.i\*BM + m, kt\*BK + k\]/ring.a[k, m] = A[kt*BK + k, t.i*BM + m]/' \
    -e 's/shared T a\[BM, BK\] : .*;/shared T a[BK, BM] : swizzle(128) o (64, (2, 64)) : (64, (4096, 1));/' \
    -e 's/ring.a\[(w - 1)\*(BM \/ 2) + m, k\]/ring.a[k, (w - 1)*(BM \/ 2) + m]/' \
    "$SRC/kernels/gemm_sm90.axe" >beyond.axe
"$PYTHON" -c 'import numpy as np
np.save("infinite.npy", np.full((8, 72), np.inf, np.float16))'
"$AXE" sim beyond.axe --random M=72 N=72 K=0 A=infinite.npy --check >out 2>&1 || {
    n_bad=$((n_bad + 1))
    echo "FAILED: rows of A beyond K = 0"
    head -n 20 out
}

[ $n_bad = 0 ]
