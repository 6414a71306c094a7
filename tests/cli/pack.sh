#!/usr/bin/env bash
# Without a C compiler: the kernels that the library brings along run, and are
# right, all of pack.def; for anything else it is said what to install.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export AXE_CACHE=$tmp/cache
unset AXE_CC CC
fail() {
    echo "pack: $1" >&2
    exit 1
}
grep -aq 'gemm<T = f32> for cpu-avx2' "$AXE" || exit 77
grep -q ' avx2 ' /proc/cpuinfo || exit 77
"$PYTHON" -c '' || exit 77
nowhere() { PATH='' "$AXE" "$@"; }

# Every row, against NumPy.
cd "$tmp"
PACK=1 "$PYTHON" "$SRC/tests/kernels.py" >"$tmp/out" || fail "$(cat "$tmp/out")"

# The same numbers as with a compiler: what ran is the library's.
while read -r kernel sizes; do
    # shellcheck disable=SC2086
    for set in "" "-t cpu-avx2"; do
        rm -rf "$tmp/a" "$tmp/b"
        mkdir "$tmp/a" "$tmp/b"
        out=Y
        case $kernel in gemm*) out=C ;; reduce*) out=y ;; esac
        "$AXE" run "$SRC/kernels/"$kernel --random $sizes $set --check \
            "$out=$tmp/a/o.npy" >"$tmp/out" || fail "$kernel: $(cat "$tmp/out")"
        nowhere run "$SRC/kernels/"$kernel --random $sizes $set \
            "$out=$tmp/b/o.npy" --json >"$tmp/out" 2>"$tmp/err" ||
            fail "$kernel: $(cat "$tmp/err")"
        cmp -s "$tmp/a/o.npy" "$tmp/b/o.npy" || fail "$kernel differs"
    done
done <<'ROWS'
gemm.axe M=70 N=90 K=110
softmax.axe M=33 N=77
reduce.axe row_sum M=33 N=77
ROWS

# Weights that axe pack has laid out, bit for bit as those that it has not.
"$PYTHON" - <<'PY'
import numpy as np
r = np.random.default_rng(1)
for name, shape in ("x", (37, 133)), ("w", (91, 133)):
    a = r.standard_normal(shape).astype("f4")
    np.save(name + ".f32.npy", a)
    np.save(name + ".bf16.npy", (a.view("u4") >> 16).astype("u2"))
PY
for t in f32 bf16; do
    for set in "" "-t cpu-avx2"; do
        # shellcheck disable=SC2086
        set -- "$SRC/kernels/linear.axe" --set "T=$t" $set
        nowhere pack "$@" "W=w.$t.npy" -o w.axt || fail "axe pack $t"
        for w in w.axt "w.$t.npy"; do
            nowhere run "$@" "X=x.$t.npy" "W=$w" "Y=$w.y.npy" \
                >"$tmp/out" 2>"$tmp/err" || fail "$t, $w: $(cat "$tmp/err")"
        done
        cmp -s w.axt.y.npy "w.$t.npy.y.npy" || fail "linear, $t: packed differs"
    done
done

# What it does not have.
cat >"$tmp/k.axe" <<'K'
kernel mine(in f32 X[M], out f32 Y[M])
{
    index m;
    cta (i : M by 64) Y[i*64 + m] = X[i*64 + m] + 1;
}
K
! nowhere run "$tmp/k.axe" --random M=5 >"$tmp/out" 2>"$tmp/err" || fail "ran"
grep -q 'none of gcc, clang' "$tmp/err" || fail "$(cat "$tmp/err")"
grep -q "install one ('apt-get install gcc')" "$tmp/err" || fail "$(cat "$tmp/err")"
grep -q "the library's own kernels" "$tmp/err" || fail "$(cat "$tmp/err")"
! nowhere run "$SRC/kernels/gemm.axe" --random M=5 N=5 K=5 --set BM=48 \
    >"$tmp/out" 2>"$tmp/err" || fail "ran with other tiles"
