#!/usr/bin/env bash
# A product whose left factor is another product, rounded, in tensor memory:
# simulated with its roles, rows and types changed, against the reference; and
# who waits for the tensor core.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
n_bad=0

cat >chain.axe <<'EOT'
// O = T(A B^T) C, N by N.
kernel chain<type T = f16, BM = 128, BN = 64, BD = 128>
    (in T A[M, K], in T B[N, K], in T C[N, D], out f32 O[M, D])
    target sm_100a
{
    index m, n, k, d;

    cta (i : M by BM, j : D by BD) warpgroups 1 {
        tmem f32 o[BM, BD] = 0;
        tmem f32 s[BM, BN];
        tmem T p[BM, BN];
        shared T a[BM, 64];
        shared T b[BN, 64];
        shared T c[BN, BD];

        for (u : N by BN) {
            s[m, n] = 0;
            for (t : K by 64) {
                a[m, k] = A[i*BM + m, t*64 + k];
                b[n, k] = B[u*BN + n, t*64 + k];
                s[m, n] += a[m, k] * b[n, k];
            }
            p[m, n] = T(s[m, n]);
            c[n, d] = C[u*BN + n, j*BD + d];
            o[m, d] += p[m, n] * c[n, d];
        }
        O[i*BM + m, j*BD + d] = o[m, d];
    }
}
EOT

# EDIT SAYS [--set NAME=VALUE]...: the plan says it, and the simulator agrees.
sim() {
    local edit=$1 says=$2
    shift 2
    sed -E "$edit" chain.axe >k.axe
    if [ -n "$edit" ] && cmp -s chain.axe k.axe; then
        n_bad=$((n_bad + 1))
        echo "FAILED: $edit changes nothing"
    fi
    "$AXE" explain k.axe "$@" >plan 2>&1
    grep -qF "$says" plan &&
        "$AXE" sim k.axe --random M=300 N=150 K=72 D=136 --policy 1 --check \
            --target sm_100a "$@" >out 2>&1 && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $edit $*"
    grep -F 'tc.' plan
    head -n 20 out
}

sim '' 'f16 p as (128, 64) : (1@tlane, 1@tcol)'
sim '' 'tc.f32.bf16.m128.ts<128>' --set T=bf16
# Two blocks of rows, side by side in the columns.
sim '' 'f16 p as ((2, 128), 64) : ((64@tcol, 1@tlane), 1@tcol)' --set BM=256
# The factor of the columns of the sums, which lie the other way.
sim 's/o\[m, d\] \+=/o[d, m] +=/; s/o\[BM, BD\]/o[BD, BM]/; s/= o\[m, d\]/= o[d, m]/' \
    'f32 o as (128, 128) : (1@tcol, 1@tlane)'
# A part of a tile.
sim 's/p\[BM, BN\]/p[BM, BN + 32]/; s/p\[m, n\]/p[m, n + 32]/' \
    'f16 p as (128, 96) : (1@tlane, 1@tcol)'
# Half of the rows of each warp.
sim '' 'tc.f32.f16.m64.ts<128>' --set BM=64

# A tile that CTAs fill for each other while the tensor core may still read it.
cat >shared.axe <<'EOT'
// C = A max(B)^T: of the right factor each of two CTAs computes half.
kernel shared_factor<BM = 128, BN = 64, BK = 32>
    (in f32 A[M, K], in f32 B[N, K, R], out f32 C[M, N])
    target sm_100a
{
    index m, n, k, r;

    cluster (2) cta (i : M by BM, j : N by BN) {
        tmem f32 acc[BM, BN] = 0;
        shared tf32 a[BM, BK];
        shared tf32 b[BN, BK] : auto + [2 : 1@cta];

        for (t : K by BK) {
            b[n, k] = tf32(max[r](B[j*BN + n, t*BK + k, r]));
            a[m, k] = tf32(A[i*BM + m, t*BK + k]);
            acc[m, n] += f32(a[m, k]) * f32(b[n, k]);
        }
        C[i*BM + m, j*BN + n] = acc[m, n];
    }
}
EOT
"$AXE" explain shared.axe >plan 2>&1
for says in 'each of 2 CTAs does a part and gives it to all' \
    'waits for what it issued to tc: b is read in line 16 and written in line 14'; do
    grep -qF "$says" plan && continue
    n_bad=$((n_bad + 1))
    echo "FAILED: the plan of shared.axe does not say: $says"
done
for policy in 0 1 2; do
    "$AXE" sim shared.axe --random M=256 N=128 K=70 R=3 --policy $policy \
        --check >out 2>&1 && continue
    n_bad=$((n_bad + 1))
    echo "FAILED: shared.axe, policy $policy"
    head -n 20 out
done
[ $n_bad = 0 ]
