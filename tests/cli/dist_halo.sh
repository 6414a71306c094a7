#!/usr/bin/env bash
# Statements between devices that look at what is around a device's own: halos of
# stencils and convolutions on 1 to 8 devices against the reference and NumPy, with
# the bytes that move; random subscripts; what `axe explain` and `axe sim` say.
# Given: AXE the command, SRC the source directory, PYTHON with NumPy.
set -u
export AXE_CC="${CC:-gcc} -O0" # kernels are small, and the compiler takes longest
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
D=$SRC/kernels/dist/stencil.axe

fail() {
    echo "FAILED $*"
    failed=1
}

runs() {
    "$AXE" run "$@" --check >out 2>&1 </dev/null && grep -q ': ok, ' out &&
        ! grep 'check .*: ' out | grep -qv ': ok, ' && return
    fail "axe run $*"
    sed 's/^/    /' out
}

# elements of f32 that a run has moved, counted where they are copied and by plans
moved() {
    local n
    n=$("$PYTHON" -c "from halo import *
print(4 * ($1))") || fail "the oracle of $2"
    grep -q "moved    $n bytes between devices, as planned" out ||
        fail "$2: $n bytes wanted, $(grep moved out)"
}

same() { "$PYTHON" -c "import numpy as np; from halo import *
L = lambda n: np.load(n + '.npy')
$1" || fail "NumPy: $2"; }

says() { grep -qF -- "$1" "$2" || fail "'$1' is not in $(cat "$2")"; }

# What devices have, and lack of windows, one dimension after the other; stencils.
cat >halo.py <<'PY'
import numpy as np

def block(n, p, q):
    """Indices that device q of p has of n."""
    b = -(-n // p)
    return range(min(q * b, n), min((q + 1) * b, n))

def near(n, p, q, before, behind):
    own = block(n, p, q)
    return range(max(own.start - before, 0), min(own.stop + behind, n)) if len(own) else own

def border(n, p, before, behind):
    """Of one dimension, what all devices lack."""
    return sum(len(near(n, p, q, before, behind)) - len(block(n, p, q)) for q in range(p))

def borders(h, w, p, r, across):
    """Of two over p by r devices: of windows in both, or in one at a time."""
    lack = 0
    for q in range(p):
        for s in range(r):
            own = len(block(h, p, q)) * len(block(w, r, s))
            tall, wide = len(near(h, p, q, 1, 1)), len(near(w, r, s, 1, 1))
            if across:
                lack += tall * wide - own
            else:
                lack += tall * len(block(w, r, s)) + len(block(h, p, q)) * wide - 2 * own
    return lack

def around(n, p, q):
    """What is next to a device's own, around the end, and that."""
    return {(x + d) % n for x in block(n, p, q) for d in (-1, 0, 1)}

def rings(n, p):
    """Of one dimension, what all devices lack."""
    return sum(len(around(n, p, q)) - len(block(n, p, q)) for q in range(p))

def torus(h, w, p, r):
    return sum(len(around(h, p, q)) * len(around(w, r, s)) - len(block(h, p, q)) * len(block(w, r, s))
               for q in range(p) for s in range(r))

def next_to(x, *way):
    return np.roll(x, way, (0, 1))

def ring(x, steps):
    x = x.astype("f8")
    for _ in range(steps):
        x = x + 0.125 * (next_to(x, 1, 0) + next_to(x, -1, 0) + next_to(x, 0, 1) + next_to(x, 0, -1) - 4 * x)
    return x

def life(x, steps):
    for _ in range(steps):
        s = sum(next_to(x, i, j) for i in (-1, 0, 1) for j in (-1, 0, 1))
        x = ((s == 3) | (s == 4) & (x == 1)).astype("i4")
    return x

def heat(x, steps):
    x = x.astype("f8")
    for _ in range(steps):
        a = np.pad(x, 1)
        x = x + 0.125 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * x)
    return x

def blur(x, k):
    a = np.pad(x, 1)
    return sum(k[i, j] * a[i:i + x.shape[0], j:j + x.shape[1]] for i in range(3) for j in range(3))

def causal(x, f):
    a = np.pad(x, ((len(f) - 1, 0), (0, 0)))
    return sum(f[r] * a[len(f) - 1 - r:len(a) - r] for r in range(len(f)))

def strided(x, f, o):
    a = np.pad(x, ((0, 2 * o + len(f)), (0, 0)))
    return sum(a[r:r + 2 * o:2] @ f[r].T for r in range(len(f)))
PY
export PYTHONPATH=$tmp
"$PYTHON" - <<'PY' || fail "make arrays"
import numpy as np
rng = np.random.default_rng(5)
for n, s in dict(x=(29, 40), big=(187, 210), k=(3, 3), s=(53, 6), f=(5, 6), g=(4, 3, 6), tiny=(3, 40), few=(3, 6)).items():
    np.save(n + ".npy", rng.standard_normal(s).astype("f4"))
for n, s in dict(cells=(187, 210), patch=(5, 7)).items():
    np.save(n + ".npy", rng.integers(0, 2, s).astype("i4"))
np.save("ones.npy", np.ones((3, 3), "i4"))
PY
"$AXE" fmt --check "$D" || fail "the form of stencil.axe"

teams="1 2 3 4 8"
[ "${AXE_SHARE:-1}" = 1 ] || teams=3
for n in $teams; do
    for x in x tiny; do
        runs "$D" heat N=1 X=$x.npy Y=y.npy --devices $n
        same "assert np.allclose(L('y'), heat(L('$x'), 4), atol=1e-5)" "heat of $x on $n"
        h=29
        [ $x = x ] || h=3
        moved "4 * 40 * border($h, $n, 1, 1)" "heat of $x on $n"
    done
    # around: devices at the ends get the border from each other
    for x in x tiny; do
        runs "$D" ring N=1 X=$x.npy Y=y.npy --devices $n
        same "assert np.allclose(L('y'), ring(L('$x'), 4), atol=1e-5)" "ring of $x on $n"
        h=29
        [ $x = x ] || h=3
        moved "4 * 40 * rings($h, $n)" "ring of $x on $n"
    done
    # longer than what a device has of a few rows
    for s in s few; do
        runs "$D" causal N=1 X=$s.npy F=f.npy Y=y.npy --devices $n
        same "assert np.allclose(L('y'), causal(L('$s'), L('f')), atol=1e-5)" "causal of $s on $n"
        [ $s = few ] || moved "6 * border(53, $n, 4, 0)" "causal of $s on $n"
    done
    runs "$D" strided N=1 X=s.npy F=g.npy Y=y.npy O=25 --devices $n
    same "assert np.allclose(L('y'), strided(L('s'), L('g'), 25), atol=1e-4)" "strided on $n"
    moved "6 * sum(len(set(range(2 * o[0], min(2 * o[-1] + 4, 53))) - set(block(53, $n, q)))
        for q in range($n) for o in [block(25, $n, q)] if len(o))" "strided on $n"
done
for mesh in "1 4" "2 2" "2 3" "4 2" "8 1"; do
    set -- $mesh
    [ "${AXE_SHARE:-1}" = 1 ] || [ "$mesh" = "2 3" ] || continue
    runs "$D" life X=cells.npy K=ones.npy Y=y.npy N=$1 P=$2 --devices $(($1 * $2))
    same "assert np.array_equal(L('y'), life(L('cells'), 4)) and L('y').any()" "life on $mesh"
    moved "4 * torus(187, 210, $1, $2)" "life on $mesh"
    runs "$D" life X=patch.npy K=ones.npy Y=y.npy N=$1 P=$2 --devices $(($1 * $2))
    same "assert np.array_equal(L('y'), life(L('patch'), 4))" "life of a patch on $mesh"
    runs "$D" heat2 X=x.npy Y=y.npy N=$1 P=$2 --devices $(($1 * $2))
    same "assert np.allclose(L('y'), heat(L('x'), 4), atol=1e-5)" "heat2 on $mesh"
    moved "4 * borders(29, 40, $1, $2, False)" "heat2 on $mesh"
    runs "$D" blur X=big.npy K=k.npy Y=y.npy N=$1 P=$2 --devices $(($1 * $2))
    same "assert np.allclose(L('y'), blur(L('big'), L('k')), atol=1e-5)" "blur on $mesh"
    moved "borders(187, 210, $1, $2, True)" "blur on $mesh"
    runs "$D" causal X=s.npy F=f.npy Y=y.npy N=$1 P=$2 --devices $(($1 * $2))
    moved "6 * border(53, $1 * $2, 4, 0)" "causal on $mesh"
done

# Windows that go by loops around; conditions, and zeros beyond the ends; a row for
# all; halves; what is clamped; two windows far apart; copies; a fold that is no sum.
cat >more.axe <<'EOF2'
mesh gpu[P], copy[2];

kernel more(in f32 X[M @ gpu, K], in f32 C[M], in f32 V[3], out f32 L[M @ gpu, K], out f32 G[M @ gpu, K],
            out f32 A[M @ gpu, K], out f32 H[M @ gpu, K], out f32 T[M @ gpu, K], out f32 F[M @ gpu, K],
            out f32 N[M @ gpu, K], out f32 R[M @ gpu, K])
{
    index m, k, j;

    L[m, k] = 0 * X[m, k];
    for (t : 3)
        for (u : 2) L[m, k] = L[m, k] + f32(t + 1) * X[m + 2*t + u - 4, k];
    G[m, k] = m > 0 ? X[m - 1, k] : 7 + X[m + 1, k];
    A[m, k] = X[m, k] + X[M / 2, k];
    H[m, k] = X[m / 2, k] + X[(m + 3) / 4 + 1, k];
    T[m, k] = X[min(m + 1, M - 1), k] - X[max(m - 1, 0), k];
    F[m, k] = X[m - 7, k] * X[m + 7, k] + C[m];
    N[m, k] = max[j](V[j] * X[m + j - 1, k]);
    R[m, k] = X[M - 1 - m, k] - X[M - m, k];
}
EOF2
"$AXE" fmt --check more.axe || fail "the form of more.axe"
for p in 1 2 3 4; do
    [ "${AXE_SHARE:-1}" = 1 ] || [ $p = 3 ] || continue
    for m in 23 2; do
        runs more.axe --random M=$m K=9 P=$p --devices $((2 * p))
        grep -q ' bytes between devices, as planned' out || fail "bytes of more on $p: $(grep moved out)"
    done
done

# Diagonals, of which a device looks at those of its own rows or columns and no more.
# Tensors that go around, where devices cannot be turned along an axis: node has four,
# gpu two, and what is turned by one of four is in halves elsewhere.
cat >around.axe <<'EOF2'
mesh node[N], gpu[P];

kernel diagonal(in f32 X[M @ gpu, M], in f32 C[M, M @ gpu], in f32 T[M, M, M @ gpu], out f32 D[M @ gpu])
{
    index m;

    D[m] = X[m, m] + C[m, m] * T[m, m, m] + X[m, M - 1 - m];
}

kernel trace(in f32 X[M, M @ gpu], out f32 Y[1])
{
    index i, m;

    Y[i] = sum[m](X[m, m] * X[m, (m + 1) % M]);
}

kernel around(in f32 X[H @ node, W @ gpu], in f32 V[W @ gpu], out f32 Y[H @ node, W @ gpu], out f32 U[W @ node])
{
    index h, w;

    Y[h, w] = X[(h + 1) % H, w] + X[(h + H - 1) % H, w] + X[h, (w + 1) % W] + X[h, (w + W - 1) % W] - 4 * X[h, w];
    U[w] = V[(w + 3) % W];
}
EOF2
"$AXE" fmt --check around.axe || fail "the form of around.axe"
for p in 1 3 4; do
    [ "${AXE_SHARE:-1}" = 1 ] || [ $p = 3 ] || continue
    for m in 7 2; do
        runs around.axe diagonal --random --save-random . M=$m N=1 D=d.npy --devices $p
        same "M = $m; i = np.arange(M); x = L('X'); d = x[i, i] + L('C')[i, i] * L('T')[i, i, i]
assert np.allclose(L('d'), d + x[i, M - 1 - i], atol=1e-6)" "diagonal of $m on $p"
        moved 0 "diagonal of $m on $p"
        runs around.axe trace --random --save-random . M=$m N=1 Y=t.npy --devices $p
        same "x = L('X'); i = np.arange($m)
assert np.allclose(L('t')[0], (x[i, i] * x[i, (i + 1) % $m]).sum(), atol=1e-5)" "trace of $m on $p"
    done
done
for size in "9 4" "4 4" "3 8"; do
    [ "${AXE_SHARE:-1}" = 1 ] || [ "$size" = "9 4" ] || continue
    set -- $size
    runs around.axe around --random --save-random . H=$1 W=$2 N=4 P=2 Y=y.npy U=u.npy --devices 8
    same "x = L('X'); assert np.allclose(L('y'), sum(np.roll(x, s, a) for s in (1, -1) for a in (0, 1)) - 4 * x, atol=1e-5)
assert (L('u') == np.roll(L('V'), -3)).all()" "around of $size"
done

# Around, and by loops; from below zero; far away; halves; backwards; wider than the
# dimension; beside what does not go around; another modulus, and a size that may be
# the extent; one row or column each, which turns devices alone, and with a window.
cat >wraps.axe <<'EOF2'
mesh gpu[P], copy[2];

kernel wraps(in f32 X[M @ gpu, K], in f32 V[5], in f32 C[Q], out f32 L[M @ gpu, K], out f32 G[M @ gpu, K],
              out f32 A[M @ gpu, K], out f32 H[M @ gpu, K], out f32 B[M @ gpu, K], out f32 F[M @ gpu, K],
              out f32 N[M @ gpu, K], out f32 R[M @ gpu, K], out f32 S[M @ gpu, K])
{
    index m, k, j;

    L[m, k] = 0 * X[m, k];
    for (t : 3)
        for (u : 2) L[m, k] = L[m, k] + f32(t + 1) * X[(m + 2*t + u - 4) % M, k];
    G[m, k] = X[(m - 1) % M, k] - X[(m + 1) % M, k] + X[(m + 3*M) % M, k];
    A[m, k] = X[m, k] + X[(m + M / 2 + 1) % M, k];
    H[m, k] = X[(m / 2 + 3) % M, k] - X[(2*m + 1) % M, k];
    B[m, k] = X[(2*M - 1 - m - 2) % M, k] * X[(0 - m) % M, k];
    F[m, k] = max[j](V[j] * X[(m + j - 2) % M, k]);
    N[m, k] = X[m + 1, k] - X[(m + 2) % M, k] + X[m - 1, k];
    R[m, k] = X[(m + 1) % max(M - 1, 1), k];
    S[m, k] = X[(m + 1) % Q, k] - X[(m + 2) % Q, k];
}
EOF2
"$AXE" fmt --check wraps.axe || fail "the form of wraps.axe"
for p in 1 2 3 4; do
    [ "${AXE_SHARE:-1}" = 1 ] || [ $p = 3 ] || continue
    for m in "23 Q=23" "2 Q=3" "1 Q=1" "4 Q=4"; do
        runs wraps.axe --random M=$m K=9 P=$p --devices $((2 * p))
        grep -q ' bytes between devices, as planned' out || fail "bytes of wraps on $p: $(grep moved out)"
    done
done
cat >turned.axe <<'EOF2'
mesh x[A], y[B];

kernel turned(in f32 X[M @ x, N @ y], out f32 Y[M @ x, N @ y])
{
    index m, n;

    Y[m, n] = X[(m + 1) % M, (n + 1) % N] - X[(m + M - 1) % M, (n + N - 1) % N] + X[M - 1 - m, (n + 2) % N];
}
EOF2
for size in "M=4 N=9 A=4 B=2" "M=4 N=2 A=4 B=2" "M=3 N=7 A=3 B=1"; do
    [ "${AXE_SHARE:-1}" = 1 ] || [ "$size" = "M=4 N=9 A=4 B=2" ] || continue
    a=${size#*A=}
    runs turned.axe --random $size --devices $((${a% *} * ${size#*B=}))
    grep -q ' bytes between devices, as planned' out || fail "bytes of turned: $(grep moved out)"
done

# random subscripts; the same in the simulator
"$PYTHON" - "${AXE_SHARE:-1}" <<'PY' || fail "make kernels"
import random, sys
rng = random.Random(20261129)

def term(v):
    return v if rng.random() < 0.6 else f"{rng.choice([2, 3])}*{v}" if rng.random() < 0.5 else f"(0 - {v})"

def sub(n, v, w):
    s = f"{term(v)} + {rng.randrange(-4, 5)}"
    if rng.random() < 0.2: s += f" + {term(w)}"
    if rng.random() < 0.3: s += " + j"
    if rng.random() < 0.2: s = f"({s}) / {rng.choice([2, 3])}"
    if rng.random() < 0.2: s = f"min(max({s}, 0), {n} - 1)"
    elif rng.random() < 0.3: s = f"({s} + {rng.randrange(3)}*{n}) % {n}"
    return v if rng.random() < 0.2 else s

for i in range(6 if sys.argv[1] == "1" else 1):
    lay = rng.choice(["M @ x, N @ y", "M @ y, N @ x", "M @ (x, y), N", "M @ x, N", "M, N @ y", "M, N"])
    body = outs = ""
    for s in range(4):
        value = " + ".join(f"X[{sub('M', 'm', 'n')}, {sub('N', 'n', 'm')}]" for _ in range(rng.choice([1, 2, 3])))
        fold, c = rng.choice(["sum", "max"]), rng.choice([1, 2, 4])
        outs += f", out f32 Y{s}[M @ x, N @ y]"
        body += f"    Y{s}[m, n] = {fold}[j](W{c}[j] * ({value}));\n"
    with open(f"random{i}.axe", "w") as f:
        f.write(f"mesh x[A], y[B];\n\nkernel k(in f32 X[{lay}], in f32 W1[1], in f32 W2[2], in f32 W4[4]{outs})\n{{\n    index m, n, j;\n\n{body}}}\n")
PY
i=0
for f in random*.axe; do
    for mesh in "A=2 B=2" "A=3 B=1" "A=4 B=2" "A=1 B=2"; do
        i=$((i + 1))
        a=${mesh#A=} b=${mesh#*B=}
        a=${a% *}
        [ $((i % 2)) = 0 ] || runs "$f" --random M=$((i * 5 % 17 + 1)) N=$((i * 7 % 13 + 1)) $mesh --devices $((a * b))
        grep -q ' bytes between devices, as planned' out || fail "bytes of $f: $(grep moved out)"
    done
    "$AXE" sim "$f" --random M=11 N=7 A=2 B=2 --check >out 2>&1 || {
        fail "axe sim $f"
        cat out
    }
done

# what it says
"$AXE" explain "$D" heat N=1 P=4 H=100 W=8 >e || fail explain
says '  of its dimension 0 devices look at h - 1, h + 1: device 0 at [0, 26), 1 at [24, 51), 2 at [49, 76), 3 at [74, 100)' e
says '    halo exchange' e
says '      bound   16 elements to the device that needs most, 48 to all: the plan has just these' e
# of both axes at once, one operand; of one at a time, two, and no corners
"$AXE" explain "$D" blur N=2 P=2 H=100 W=100 >e || fail explain
[ "$(grep -c 'halo exchange$' e)" = 1 ] || fail "halos of blur: $(cat e)"
says 'bound   101 elements to the device that needs most, 404 to all: the plan has just these' e
"$AXE" explain "$D" heat2 N=2 P=2 H=100 W=100 >e || fail explain
[ "$(grep -c 'halo exchange$' e)" = 2 ] || fail "halos of heat2: $(cat e)"
# around the end, with corners
"$AXE" explain "$D" life N=2 P=2 H=100 W=100 >e || fail explain
says 'at (h + H + i - 1)%H: device 0 at [99, 100) and [0, 51), 1 at [99, 100) and [0, 51), 2 at [49, 100) and [0, 1), 3' e
says '    halo exchange' e
says 'bound   204 elements to the device that needs most, 816 to all: the plan has just these' e
# what each needs of one other turns devices
"$AXE" explain "$D" ring N=1 P=4 H=4 W=8 >e || fail explain
says '      to      4@(gpu+3), 8' e
says '      to      4@(gpu+1), 8' e
grep -q 'devices look at' e && fail "windows where devices are turned: $(cat e)"
# what is not beside what a device has is no halo
cat >far.axe <<'EOF2'
mesh gpu[P];

kernel far(in f32 X[M @ gpu, K], out f32 Y[M @ gpu, K])
{
    index m, k;

    Y[m, k] = X[m / 8, k];
}
EOF2
"$AXE" explain far.axe M=800 P=8 >e || fail explain
says 'device 0 at [0, 13), 1 at [12, 25), 2 at [25, 38), 3 at [37, 50), ...' e
grep -q halo e && fail "it is no halo: $(cat e)"
"$AXE" explain more.axe M=230 P=4 >e || fail explain
says '  as loops go on, by 6 plans; here the one that moves most' e

# what is one operand, what is another, and what is none; plans of loops' values
cat >near.axe <<'EOF2'
mesh gpu[P];

kernel beside(in f32 X[M @ gpu], out f32 Y[M @ gpu])
{
    index m;

    Y[m] = X[m - 1] + X[m + 3];
}

// Of the last device the second is beyond the end.
kernel behind(in f32 X[M @ gpu], out f32 Y[M @ gpu])
{
    index m;

    Y[m] = X[m + 1] + X[m + 4];
}

// The window begins at the second.
kernel circle(in f32 X[M @ gpu], out f32 Y[M @ gpu])
{
    index m;

    Y[m] = X[(m + 1) % M] + X[(m + M - 1) % M];
}

// Half of all that blocks are comes either way.
kernel back(in f32 X[M @ gpu], out f32 Y[M @ gpu])
{
    index m;

    Y[m] = X[M - 1 - m];
}

// The second load's columns are rows' index, which differs from the first's.
kernel across(in f32 X[M @ gpu, M], out f32 Y[M @ gpu, M])
{
    index m, k;

    Y[m, k] = X[m - 1, k] + X[m - 1, m];
}

kernel mixed(in f32 X[M @ gpu], inout f32 Y[M @ gpu])
{
    index m;

    for (t : 3) Y[m] = Y[m] + X[m - 1] + X[m + t];
}

kernel choice(in f32 X[M @ gpu], inout f32 Y[M @ gpu])
{
    index m;

    for (t : 4)
        if (t > 2) Y[m] = Y[m] + X[m - 2*t];
    else Y[m] = Y[m] + X[m + t];
}

kernel many<N = 256>(in f32 X[M @ gpu], inout f32 Y[M @ gpu])
{
    index m;

    for (t : N) Y[m] = Y[m] + X[m + t];
}
EOF2
"$AXE" fmt --check near.axe || fail "the form of near.axe"
look='  of its dimension 0 devices look at'
near() { # TEXT KERNEL SIZE..: of what is explained, the only look
    local text=$1
    shift
    "$AXE" explain near.axe "$@" >e 2>&1 || fail "explain $*"
    says "$look $text" e
    [ "$(grep -c "^$look" e)" = 1 ] || fail "operands of $*: $(cat e)"
}
near 'm - 1, m + 3: device 0 at [0, 7), 1 at [3, 11), 2 at [7, 15), 3 at [11, 16)' beside M=16 P=4
near 'm - 1, m + 3: device 0 at [0, 0), 1 at [0, 1), 2 at [1, 2), 3 at [0, 0)' beside M=3 P=4
near 'm + 1, m + 4: device 0 at [1, 8), 1 at [5, 8)' behind M=8 P=2
near '(m + 1)%M, (m + M - 1)%M: device 0 at [15, 16) and [0, 5), 1 at [3, 9), 2 at [7, 13), 3 at [11, 16) and [0, 1)' \
    circle M=16 P=4
near 'm + t: device 0 at [255, 755), 1 at [755, 1000)' many M=1000 P=2
says '  as loops go on, by 256 plans; here the one that moves most' e
"$AXE" explain near.axe many --set N=257 M=1000 P=2 >e || fail explain
grep -q "^$look" e && fail "257 plans: $(cat e)"
"$AXE" explain near.axe back M=16 P=2 >e || fail explain
grep -q "^$look" e && fail "as much as without: $(cat e)"
"$AXE" explain near.axe beside M=5000 P=1025 >e || fail explain
grep -q "^$look" e && fail "windows of too many devices: $(cat e)"
"$AXE" explain near.axe across M=8 P=3 >e || fail explain
says "$look m - 1: device 0 at [0, 2), 1 at [2, 5), 2 at [5, 7)" e
says '  of its dimension 1 devices look at k, m: device 0 at [0, 8), 1 at [0, 8), 2 at [0, 8)' e
"$AXE" explain near.axe mixed M=16 P=4 >e || fail explain
says "$look m - 1: device 0 at [0, 3), " e
says "$look m + t: device 0 at [2, 6), 1 at [6, 10), 2 at [10, 14), 3 at [14, 16)" e
says '  as loops go on, by 3 plans; here the one that moves most' e
"$AXE" explain near.axe choice M=16 P=4 >e || fail explain
says "$look m - 2*t: device 0 at [0, 0), 1 at [0, 2), 2 at [2, 6), 3 at [6, 10)" e
says "$look m + t: device 0 at [2, 6), 1 at [6, 10), 2 at [10, 14), 3 at [14, 16)" e
for k in beside behind circle back across mixed choice; do
    runs near.axe $k --random M=11 P=3 --devices 3
    grep -q ' bytes between devices, as planned' out || fail "bytes of $k: $(grep moved out)"
done

for n in 1 2 3 4; do
    for k in "heat H=11 W=5" "ring H=11 W=5" "ring H=2 W=5" "life H=7 W=9" "causal S=13 C=3 R=4" "strided S=21 D=3 E=2 R=3 O=10"; do
        "$AXE" sim "$D" $k N=1 --random --devices $n --check >out 2>&1 && grep -q ': ok, ' out || {
            fail "axe sim $k on $n"
            cat out
        }
    done
done
"$AXE" sim more.axe --random M=23 K=3 P=3 --check >out 2>&1 || fail "axe sim more: $(cat out)"
"$AXE" sim wraps.axe --random M=23 Q=23 K=3 P=3 --check >out 2>&1 || fail "axe sim wraps: $(cat out)"

# Over many axes halos are planned for the choice that is made, not for each.
cat >axes.axe <<'EOF'
mesh a[A], b[B], c[C], d[D];

kernel ends(in f32 X[M @ (a, b, c, d)], out f32 Y[M @ (a, b, c, d)])
{
    index m;

    Y[m] = (m > 0 ? X[m - 1] : 0) + (m < M - 1 ? X[m + 1] : 0);
}
EOF
timeout 30 "$AXE" explain axes.axe M=1000 A=4 B=4 C=4 D=4 >e || fail "256 devices along four axes: $?"
says '2 elements to the device that needs most, 498 to all: the plan has just these' e
exit $failed
