#!/bin/sh
# triton.sh - Triton's linear layouts against `axe eval`.
# Given: AXE the command, SRC the source directory.
set -eu

file=$SRC/tests/vectors/triton_linear.jsonl
"${PYTHON:-python3}" "$SRC/tests/triton.py" "$AXE" "$file"
"${PYTHON:-python3}" "$SRC/tests/shared.py" "$AXE"
# The judge sees one wrong basis.
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT
sed -n '1s/"lane":\[\[1\]/"lane":[[3]/p' "$file" >"$bad"
if "${PYTHON:-python3}" "$SRC/tests/triton.py" "$AXE" "$bad" >/dev/null; then
    echo "FAILED: a wrong basis passes"
    exit 1
fi
