#!/bin/sh
# cute.sh - CuTe's results against `axe eval`: tests/vectors/cute.jsonl, and those
# of a folder of vectors (AXE_VECTORS) where there is one.
# Given: AXE the command, SRC the source directory.
set -eu

for file in "$SRC/tests/vectors/cute.jsonl" "${AXE_VECTORS:-/nowhere}/cute.jsonl"; do
    if [ -f "$file" ]; then
        "${PYTHON:-python3}" "$SRC/tests/cute.py" "$AXE" "$file"
    fi
done
# The judge sees one wrong number.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for op in composition coalesce complement logical_divide upcast; do
    grep -m 1 "\"op\":\"$op\"" "$SRC/tests/vectors/cute.jsonl" |
        sed -e 's/"out":{"shape":\[*[0-9]*/&9/' -e 's/"map":\[0/"map":[9/' \
            >"$dir/bad.jsonl"
    if "${PYTHON:-python3}" "$SRC/tests/cute.py" "$AXE" "$dir/bad.jsonl" >/dev/null; then
        echo "FAILED: a wrong $op passes"
        exit 1
    fi
done
