#!/bin/sh
# moe.sh - the mixture of experts of kernels/ in the simulator, against NumPy; its boxes; a fence.
# Given: AXE the command, SRC the source directory.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "moe: $*" >&2; exit 1; }

"${PYTHON:-python3}" "$SRC/tests/moe_gpu.py" "$AXE"
"${PYTHON:-python3}" "$SRC/tests/moe_f8_gpu.py" "$AXE"
# What the model expects of it, as docs/overlap.md says.
"${PYTHON:-python3}" "$SRC/tests/moe_model.py" "$AXE" "$SRC"

# Two indices that are digits of a row's number walk one dimension of a map.
"$AXE" explain "$SRC/kernels/moe_sm90.axe" --set BM=8 --set BI=64 --set BN=128 >"$tmp/out"
grep -q 'box of 64 x 8 x 2 x 1, 8 along dimension 2; swizzle 128' "$tmp/out" || fail "$(cat "$tmp/out")"

# One factor by way of registers, the other where pieces put it: the engine needs a fence.
cat >"$tmp/k.axe" <<'K'
kernel k(in bf16 X[M, K], in i32 row[P], in bf16 V[2, N, K], out f32 Y[P, 2, N])
{
    index m, s, n, k;

    cta (i : P by 8, j : N by 64) warpgroups 2 {
        pipeline ring[2] { shared bf16 x[8, 64]; shared bf16 v[2, 64, 64]; }

        roles {
            warpgroup (0) for (t : K by 64) produce ring {
                ring.x[m, k] = X[row[i*8 + m], t*64 + k];
                ring.v[s, n, k] = V[s, j*64 + n, t*64 + k];
            }
            warpgroup (1) {
                reg f32 acc[8, 2, 32] = 0;

                for (t : K by 64) consume ring acc[m, s, n] += ring.x[m, k] * ring.v[s, 32 + n, k];
                Y[i*8 + m, s, j*64 + 32 + n] = acc[m, s, n];
            }
        }
    }
}
K
"$AXE" explain "$tmp/k.axe" -t sm_90a >"$tmp/out"
grep -q 'wgmma.f32.bf16.rs' "$tmp/out" || fail "no factor goes by way of registers: $(cat "$tmp/out")"
"$AXE" sim "$tmp/k.axe" -t sm_90a --random M=9 P=20 N=64 K=136 row=0..9 >"$tmp/out" || fail "$(cat "$tmp/out")"
