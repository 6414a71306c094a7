#!/bin/sh
# fragments.sh - the machine's fragments against vectors made elsewhere, where
# there is a folder of them beside the checkout (or in AXE_VECTORS).
# Given: SRC the source directory.
set -eu

file=${AXE_VECTORS:-$SRC/../shared/vectors}/fragments.jsonl
if [ ! -f "$file" ]; then
    echo "no vectors of fragments"
    exit 77
fi
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
"${CC:-cc}" -E -P -x c -I "$SRC/src" "$SRC/src/machine/nvidia/atoms.def" >"$rows"
"${PYTHON:-python3}" "$SRC/tests/fragments.py" "$rows" "$file"
