#!/usr/bin/env bash
# examples/embed.c, built against the library beside the command, is exact.
set -eu
lib=$(dirname "$AXE")/libaxe.a
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache

[ -e "$lib" ] || exit 77
if nm "$lib" 2>/dev/null | grep -qE '__(asan|ubsan|gcov)_'; then
    exit 77
fi
gcc -std=c11 -Wall -Wextra -Werror -I"$SRC/include" "$SRC/examples/embed.c" \
    "$lib" -lm -ldl -lpthread -o embed
./embed | tee out
grep -qx 'C = A B^T, 100 x 70 x 90: exact' out
