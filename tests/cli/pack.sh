#!/usr/bin/env bash
# Without a C compiler: the kernels that the library brings along run, and are
# right; for anything else it is said what to install.
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
nowhere() { PATH='' "$AXE" "$@"; }

# The same numbers as with a compiler; what ran is the library's.
while read -r kernel sizes; do
    # shellcheck disable=SC2086
    for set in "" "-t cpu-avx2"; do
        rm -rf "$tmp/a" "$tmp/b"
        mkdir "$tmp/a" "$tmp/b"
        out=Y
        case $kernel in gemm*) out=C ;; elem*) out=Z ;; reduce*) out=y ;; esac
        "$AXE" run "$SRC/kernels/"$kernel --random $sizes $set --check \
            "$out=$tmp/a/o.npy" >"$tmp/out" || fail "$kernel: $(cat "$tmp/out")"
        nowhere run "$SRC/kernels/"$kernel --random $sizes $set \
            "$out=$tmp/b/o.npy" --json >"$tmp/out" 2>"$tmp/err" ||
            fail "$kernel: $(cat "$tmp/err")"
        cmp -s "$tmp/a/o.npy" "$tmp/b/o.npy" || fail "$kernel differs"
    done
done <<'ROWS'
gemm.axe M=70 N=90 K=110
gemm_nn.axe M=70 N=90 K=110
softmax.axe M=33 N=77
layernorm.axe M=33 N=77
transpose.axe M=33 N=77
elementwise.axe add M=33 N=77
reduce.axe row_sum M=33 N=77
ROWS
nowhere run "$SRC/kernels/gemm.axe" --random M=33 N=20 K=65 --set T=bf16 \
    >"$tmp/out" 2>"$tmp/err" || fail "bf16: $(cat "$tmp/err")"

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
