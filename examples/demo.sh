#!/usr/bin/env bash
# demo.sh - what `make demo` shows: a layout, then three kernels compiled
# through the layout algebra, run on NumPy arrays, checked and timed.
# Given: AXE the command, SRC the sources, PYTHON a Python with NumPy.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ln -s "$SRC/kernels" kernels

title() {
    printf '\n--- %s\n\n' "$1"
}

# Show a command as one would type it, then run it.
show() {
    local word
    printf '$ axe'
    for word; do
        case $word in
        *[\ \(]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$AXE" "$@"
}

title "A layout says who owns what: an 8 x 8 tile over 8 lanes and 8 registers"
show view '((2, 4), (4, 2)) : ((4@reg, 1@lane), (1@reg, 4@lane))'

title "A kernel leaves its layouts open; the compiler finds them"
sed -n '/^kernel/,$p' kernels/gemm.axe

title "NumPy arrays: A (500 x 300), B (400 x 300) column-major, X (1000 x 777)"
"$PYTHON" - <<'PY'
import numpy as np
r = np.random.default_rng(0)
np.save("a.npy", r.standard_normal((500, 300), "f4"))
np.save("b.npy", np.asfortranarray(r.standard_normal((400, 300), "f4")))
np.save("x.npy", r.standard_normal((1000, 777), "f4"))
PY
show run kernels/gemm.axe A=a.npy B=b.npy C=c.npy \
    --check --time
show run kernels/softmax.axe X=x.npy Y=s.npy --check --time
show run kernels/transpose.axe X=x.npy Y=t.npy --check --time

title "The same results by NumPy"
"$PYTHON" - <<'PY'
import numpy as np
a, b, c, x, s, t = (np.load(n + ".npy") for n in "abcxst")
d = x.astype("f8")
e = np.exp(d - d.max(1, keepdims=True))
rows = [("gemm", c, a.astype("f8") @ b.T.astype("f8"), 1e-4),
        ("softmax", s, e / e.sum(1, keepdims=True), 1e-7),
        ("transpose", t, x.T, 0)]
for name, got, want, bound in rows:
    worst = np.abs(got - want).max()
    print("  %-10s largest difference %.2g" % (name, worst))
    assert got.shape == want.shape and worst <= bound, name
PY

title "How the matrix product runs: the plan of its inner statement"
"$AXE" explain kernels/gemm.axe | sed -n '/^s[0-9].*+=/,/^$/p'
