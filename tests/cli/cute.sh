#!/bin/sh
# cute.sh - CuTe's results against `axe eval`, where there is a folder of
# vectors beside the checkout (or in AXE_VECTORS).
# Given: AXE the command, SRC the source directory.
set -eu

file=${AXE_VECTORS:-$SRC/../shared/vectors}/cute.jsonl
if [ ! -f "$file" ]; then
    echo "no vectors of CuTe"
    exit 77
fi
exec "${PYTHON:-python3}" "$SRC/tests/cute.py" "$AXE" "$file"
