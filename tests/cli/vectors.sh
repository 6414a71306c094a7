#!/bin/sh
# vectors.sh - every layout vector through `axe eval`: our own, and those of a
# folder of vectors beside the checkout (or in AXE_VECTORS) when there is one.
# Given: AXE the command, SRC the source directory.
set -eu

more=${AXE_VECTORS:-$SRC/../shared/vectors}
set -- "$SRC"/tests/vectors/layout_*.jsonl
for f in "$more"/layout_*.jsonl; do
    if [ -f "$f" ]; then
        set -- "$@" "$f"
    fi
done
if [ ! -d "$more" ]; then
    echo "no folder of further vectors: only our own are run"
fi
exec "${PYTHON:-python3}" "$SRC/tests/vectors.py" "$AXE" "$@"
