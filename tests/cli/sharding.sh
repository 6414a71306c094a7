#!/bin/sh
# sharding.sh - shardings of other systems against `axe eval`.
# Given: AXE the command, SRC the source directory.
set -eu

file=$SRC/tests/vectors/sharding.jsonl
"${PYTHON:-python3}" "$SRC/tests/sharding.py" "$AXE" "$file"
# The judge sees an owner that is another.
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT
sed -n '2s/"owners":\[\[0/"owners":[[1/p' "$file" >"$bad"
if "${PYTHON:-python3}" "$SRC/tests/sharding.py" "$AXE" "$bad" >/dev/null; then
    echo "FAILED: a wrong owner passes"
    exit 1
fi
