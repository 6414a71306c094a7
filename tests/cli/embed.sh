#!/usr/bin/env bash
# The examples in C, built against the library beside the command, are exact.
set -eu
lib=$(dirname "$AXE")/libaxe.a
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache

[ -e "$lib" ] || exit 77
if nm "$lib" 2>/dev/null | grep -qE '__(asan|ubsan|gcov)_'; then
    exit 77
fi
for name in embed build_gemm; do
    gcc -std=c11 -Wall -Wextra -Werror -I"$SRC/include" \
        "$SRC/examples/$name.c" "$lib" -lm -ldl -lpthread -o $name
    ./$name | tee out
    grep -qx 'C = A B^T, 100 x 70 x 90: exact' out
done
grep -q 'acc\[m, n\] += a\[m, k\]\*b\[n, k\] over m:48, n:96 fold k:64' out
