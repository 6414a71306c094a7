#!/usr/bin/env bash
# Kernels over a mesh that are written by hand or made of many statements: rings,
# tokens to experts, a layer of a transformer; on 1, 2, 3, 4 and 8 devices against
# the reference and NumPy.
# Given: AXE the command, SRC the source directory, PYTHON with NumPy.
set -u
export AXE_CC="${CC:-gcc} -O0" # kernels are small, and the compiler takes longest
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
D=$SRC/kernels/dist
export PYTHONPATH=$SRC/tests

fail() {
    echo "FAILED $*"
    failed=1
}

runs() {
    "$AXE" run "$@" >out 2>&1 </dev/null && return
    fail "axe run $*"
    sed 's/^/    /' out
}

# all results are right
right() {
    runs "$@" --random --check
    grep -q ': ok, ' out && ! grep 'check .*: ' out | grep -qv ': ok, ' || fail "axe run $*: $(cat out)"
}

# shellcheck source=tests/ask.sh
. "$SRC/tests/ask.sh"
same() { ask "import numpy as np; from references import *
L = lambda n: np.load(n + '.npy')
$1" || fail "NumPy: $2"; }

teams="1 2 3 4 8"
[ "${AXE_SHARE:-1}" = 1 ] || teams=3

# The layer where devices share out tokens between its products: layouts alone
# differ.
sed 's/\bX\[T, H\],/X[T @ gpu, H],/; s/out f32 Y\[T, H\]/out f32 Y[T @ gpu, H]/
     s/f32 R\[T, H\]/f32 R[T @ gpu, H]/' $D/transformer.axe >sequence.axe
[ "$(diff $D/transformer.axe sequence.axe | grep -c '^>')" = 3 ] || fail "the layouts of the layer"

"$PYTHON" - <<'PY' || fail "make arrays"
import numpy as np
rng = np.random.default_rng(11)
save = lambda n, a: np.save(n + ".npy", a)
whole = lambda *s: rng.integers(-9, 9, s).astype("f4")
real = lambda *s: rng.standard_normal(s).astype("f4")
for p in 1, 2, 3, 4, 8:
    save(f"x{p}", whole(p, 37))
for n in "qkv":
    save(n, real(21, 3, 16))
T, H, A, E, F = 13, 24, 5, 4, 30
for n, s in dict(X=(T, H), gain=(2, H), WQ=(A, E, H), WK=(A, E, H), WV=(A, E, H), WO=(H, A, E), G=(F, H), U=(F, H),
                 W=(H, F)).items():
    save("t_" + n, real(*s) / np.sqrt(s[-1]).astype("f4") * 2)
# tokens by chance, all to one expert, none to the experts of the first device
save("tokens", whole(19, 6))
save("w", whole(19, 2))
save("pick_any", rng.integers(0, 9, (19, 2)).astype("i4"))
save("pick_one", np.full((19, 2), 4, "i4"))
save("pick_last", rng.integers(7, 9, (19, 2)).astype("i4"))
PY

# subscripts that turn devices along their axis: each gets what one other has
cat >turn.axe <<'EOF'
mesh gpu[P];

// All that devices have, to all others, round by round: what is t + 1 further.
kernel rounds(in f32 X[P @ gpu, M], out f32 Y[P @ gpu, M], out f32 Z[P @ gpu, M])
{
    index p, m;
    global f32 N[P @ gpu, M];

    Y[p, m] = 0 * X[p, m];
    for (t : P) {
        N[p, m] = X[(p + t) % P, m];
        Y[p, m] = Y[p, m] + f32(t + 1) * N[p, m];
    }
    Z[p, m] = 0 * X[p, m];
    for (t : P) Z[p, m] = Z[p, m] + f32(t + 1) * X[(p + t*P - t) % P, m];
}

// Rows by blocks, in reverse, by a factor, both neighbours, what is no permutation, and a
// border.
kernel others(in f32 X[M @ gpu, K], in f32 A[P @ gpu], out f32 Y[M @ gpu, K], out f32 R[P @ gpu], out f32 F[P @ gpu],
              out f32 S[P @ gpu], out f32 D[P @ gpu], out f32 H[P @ gpu])
{
    index p, m, k;

    Y[m, k] = X[(m + cdiv(M, P)) % M, k];
    R[p] = A[P - 1 - p];
    F[p] = A[(3 * p + 1) % P];
    S[p] = A[(p + 1) % P] - 2 * A[(p + P - 1) % P] + A[p] * A[0];
    D[p] = A[2 * p % P];
    H[p] = p > 0 ? A[p - 1] : 7;
}

// Two turns of one operand, and turns the other way.
kernel back(in f32 A[P @ gpu], out f32 S[P @ gpu], out f32 N[P @ gpu], out f32 T[P @ gpu])
{
    index p;

    S[p] = A[(p + 1) % P] - 2 * A[(p + 2) % P];
    N[p] = A[(p - 1) % P];
    T[p] = 0 * A[p];
    for (t : 5) T[p] = T[p] + f32(t + 1) * A[(p - t) % P] - A[(p + t) % P];
}
EOF
"$AXE" fmt --check turn.axe || fail "the form of turn.axe"
moved() { grep -q "moved    $1 bytes between devices, as planned" out || fail "$2 moved: $(grep moved out)"; }
for n in $teams; do
    right turn.axe rounds M=6 --devices $n
    moved $((2 * (n - 1) * n * 6 * 4)) "rounds on $n"
    right turn.axe back --devices $n
    right turn.axe others M=12 K=3 --devices $n
    moved $(ask "
n, all = $n, $n * ($n - 1)
still = lambda a, b: sum((a * p + b) % n == p for p in range(n))
turned = lambda a, b: n - still(a, b)
sums = min(turned(1, 1) + turned(1, -1) + n - 1, all)
print(4 * (36 * (n > 1) + turned(n - 1, n - 1) + turned(3, 1) + sums + turned(2, 0) + n - 1))") "others on $n"
    right $D/all_reduce.axe ring M=$((n * 5)) --devices $n
    moved $((2 * (n - 1) * n * 5 * 4)) "the ring on $n"
done
"$AXE" explain turn.axe rounds M=6 P=4 >e || fail "explain"
[ "$(grep -c 'as loops go on, by .*; here by 1' e)" = 2 ] && [ "$(grep -c '^    permute' e)" = 2 ] ||
    fail "a plan as loops go on"

for n in $teams; do
    for k in one_shot ring_reduce_scatter ring; do
        right $D/all_reduce.axe $k M=$((n == 4 ? 3 : 10)) --devices $n
        runs $D/all_reduce.axe $k X=x$n.npy Y=y.npy --devices $n
        same "assert (L('y') == L('x$n').sum(0)).all()" "$k on $n"
    done
    for causal in 0 1; do
        right $D/ring_attention.axe S=13 H=2 --devices $n --set CAUSAL=$causal --set BM=4
        runs $D/ring_attention.axe Q=q.npy K=k.npy V=v.npy O=o.npy --devices $n --set CAUSAL=$causal
        same "assert np.allclose(L('o'), sequence_attention($causal)(L('q'), L('k'), L('v')), atol=2e-5)" \
            "ring_attention $causal on $n"
        for f in $D/transformer.axe sequence.axe; do
            [ $causal = 1 ] || right $f T=7 H=20 A=5 D=4 F=26 --devices $n
            runs $f X=t_X.npy gain=t_gain.npy WQ=t_WQ.npy WK=t_WK.npy WV=t_WV.npy WO=t_WO.npy \
                G=t_G.npy U=t_U.npy W=t_W.npy Y=y.npy --devices $n --set CAUSAL=$causal
            same "names = 'X gain WQ WK WV WO G U W'.split()
want = transformer($causal)(*(L('t_' + n) for n in names))
assert np.allclose(L('y'), want, atol=1e-4), abs(L('y') - want).max()" "$f $causal on $n"
        done
    done
    for pick in any one last; do
        # as many slots as one device may need, and fewer
        for c in 38 2; do
            runs $D/all2all.axe dispatch X=tokens.npy pick=pick_$pick.npy slot=slot.npy row=row.npy \
                expert=expert.npy count=count.npy used=used.npy C=$c E=9 --devices $n --check
            ! grep 'check .*: ' out | grep -qv ': ok, ' || fail "dispatch $pick on $n: $(cat out)"
            # counts to all, twice; rows of 6 and their experts; counts of experts
            rows=$(ask "import numpy as np
u = np.minimum(np.load('used.npy'), $c)
print(u.sum() - np.trace(u))")
            moved $((4 * (2 * n * n * (n - 1) + rows * 7 + (n - 1) * 9))) "dispatch $pick on $n"
            same "x, pick = L('tokens'), L('pick_$pick')
row, expert, slot, count, used = dispatched(x, pick, 9, $n, $c)
for n, a in dict(row=row, expert=expert, slot=slot, count=count, used=used).items():
    assert (L(n) == a).all(), n" "dispatch $pick on $n"
            runs $D/all2all.axe combine row=row.npy pick=pick_$pick.npy slot=slot.npy used=used.npy \
                w=w.npy Y=y.npy E=9 --devices $n --check
            moved $((4 * (n * n * (n - 1) + rows * 6))) "combine $pick on $n"
            same "x, w, slot = L('tokens'), L('w'), L('slot')
assert (L('y') == (w * (slot < $c)).sum(1)[:, None] * x).all()" "combine $pick on $n"
        done
    done
done

# a bound of one number for a row, of what is gathered; a condition that is none
cat >below.axe <<'EOF'
mesh gpu[P];

kernel below(in f32 X[P @ gpu, C, H], in i64 n[P @ gpu], out f32 Y[P, C, H], out f32 Z[P, C, H])
{
    index p, c, h;

    Y[p, c, h] = c < n[p] ? X[p, c, h] : f32(c) + 0.5;
    Z[p, c, h] = c < n[p] + 1 ? X[p, c, h] : 0;
}
EOF
"$PYTHON" - <<'PY' || fail "make arrays"
import numpy as np
np.save("b_x", np.arange(3 * 5 * 2, dtype="f4").reshape(3, 5, 2))
np.save("b_n", np.array([2, -1, 9]))
PY
runs below.axe X=b_x.npy n=b_n.npy Y=y.npy Z=z.npy --devices 3 --check
! grep 'check .*: ' out | grep -qv ': ok, ' || fail "below: $(cat out)"
# to two others each: 3 numbers; 2, 0 and 5 rows of 2, and all 15 of these
moved $((2 * (3 * 8 + (2 + 5) * 2 * 4 + 15 * 2 * 4))) "below"
same "x, n, c = L('b_x'), L('b_n'), np.arange(5)[None, :, None]
assert (L('y') == np.where(c < n[:, None, None], x, c + .5)).all()" "below"
exit $failed
