#!/usr/bin/env bash
# A product whose left factor is another product, rounded, in tensor memory:
# simulated with its roles, rows and types changed, against the reference.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache
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
[ $n_bad = 0 ]
