#!/usr/bin/env bash
# axe pack: a kernel does the same with packed weights, bit for bit, in every
# type and at odd sizes; weights packed otherwise are refused.
set -u
"$PYTHON" -c '' || exit 77
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
k=$SRC/kernels/linear.axe
n_bad=0

fail() {
    n_bad=$((n_bad + 1))
    echo "FAILED: $*"
}

# no TEXT COMMAND...: fails, saying this.
no() {
    local text=$1
    shift
    if "$@" >out 2>&1; then fail "$* passed"; fi
    grep -qF -- "$text" out || { fail "$*: no '$text' in:"; cat out; }
}

make() { # TYPE M N K
    "$PYTHON" - "$@" <<'PY'
import sys
import numpy as np
t, m, n, k = sys.argv[1], *map(int, sys.argv[2:])
r = np.random.default_rng(n)
for name, shape in ("x", (m, k)), ("w", (n, k)):
    a = 10 * r.standard_normal(shape)
    kind = {"f32": "f4", "f64": "f8", "f16": "f2", "bf16": "u2", "i8": "i1"}[t]
    a = a.astype("f4").view("u4") >> 16 if t == "bf16" else a
    np.save(name + ".npy", a.astype(kind))
PY
}

# TYPE M N K, one a line.
while read -r t size; do
    # shellcheck disable=SC2086
    make $t $size
    set -- --set "T=$t" --threads 2
    "$AXE" pack "$k" W=w.npy --set "T=$t" -o w.axt || fail "pack $t $size"
    "$AXE" run "$k" "$@" X=x.npy W=w.axt Y=packed.npy >out 2>&1 ||
        { fail "$t $size, packed"; cat out; }
    "$AXE" run "$k" "$@" X=x.npy W=w.npy Y=rows.npy >out 2>&1 ||
        { fail "$t $size"; cat out; }
    cmp -s packed.npy rows.npy || fail "$t $size: results differ"
done <<'ROWS'
f32 1 40 30
f32 130 391 1033
f32 0 5 4
bf16 37 91 133
i8 37 91 133
ROWS

# Every processor has a way to read them, whatever this one is.
for t in cpu-base cpu-avx2 cpu-avx512 cpu-avx512-bf16; do
    for type in f64 f32 f16 bf16 i8 u8; do
        "$AXE" explain "$k" -t "$t" --set "T=$type" --order W=packed >out 2>&1 &&
            grep -q "no memory: W is packed" out ||
            { fail "$type on $t"; cat out; }
    done
done

make f32 3 40 30
"$AXE" pack "$k" W=w.npy -t cpu-base -o base.axt
"$AXE" pack "$k" W=w.npy -t cpu-base -o again.axt
cmp -s base.axt again.axt || fail "packing is not deterministic"
[ "$(head -c 5 base.axt)" = "axt 1" ] || fail "no head"
"$AXE" run "$k" -t cpu-base X=x.npy W=base.axt Y=y.npy >out 2>&1 || fail base
head -c 300 base.axt >short.axt
no "not a packed matrix" "$AXE" run "$k" X=x.npy W=short.axt Y=y.npy
no "the program takes" \
    "$AXE" run "$k" -t cpu-avx2 X=x.npy W=base.axt Y=y.npy
no "W has elements of f32 packed as" \
    "$AXE" run "$k" --order W=packed X=x.npy W=w.npy Y=y.npy
no "X cannot be packed" "$AXE" pack "$k" X=x.npy -o x.axt
no "one PARAMETER=FILE.npy" "$AXE" pack "$k" -o x.axt
no "the reference does not read W packed" \
    "$AXE" run "$k" -t cpu-base X=x.npy W=base.axt Y=y.npy --check
exit $((n_bad > 0))
