#!/bin/sh
# vectors.sh - every vector of layouts and of tensor cores' descriptors through
# `axe eval`: our own, and layouts of a folder of vectors beside the checkout (or
# in AXE_VECTORS) when there is one.
# Given: AXE the command, SRC the source directory.
set -eu

more=${AXE_VECTORS:-$SRC/../shared/vectors}
python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The judge sees one wrong bit, and a refusal that is not in its list.
for op in smem_descriptor instruction_descriptor scale_order scale_tmem scale_copy; do
    grep -m 1 "\"$op\"" "$SRC/tests/vectors/descriptors.jsonl" >"$dir/good.jsonl"
    "$python" "$SRC/tests/vectors.py" "$AXE" "$dir/good.jsonl" >/dev/null
    sed -e 's/"out":{"\(offset\|bytes\|columns\)":[0-9]*/"out":{"\1":7/' \
        -e 's/\("idesc":"0x[0-9a-f]*\)[0-9a-f]"/\1f"/' \
        -e 's/"column":0/"column":1/' \
        "$dir/good.jsonl" >"$dir/bad.jsonl"
    if cmp -s "$dir/good.jsonl" "$dir/bad.jsonl"; then
        echo "FAILED: nothing is wrong in the bad $op"
        exit 1
    fi
    sed 's/sm_100/sm_80/; s/sm_90/sm_80/' "$dir/good.jsonl" >"$dir/none.jsonl"
    for bad in bad none; do
        if "$python" "$SRC/tests/vectors.py" "$AXE" "$dir/$bad.jsonl" >/dev/null; then
            echo "FAILED: a wrong $op passes ($bad)"
            exit 1
        fi
    done
done

set -- "$SRC"/tests/vectors/layout_*.jsonl "$SRC"/tests/vectors/descriptors.jsonl
for f in "$more"/layout_*.jsonl; do
    if [ -f "$f" ]; then
        set -- "$@" "$f"
    fi
done
if [ ! -d "$more" ]; then
    echo "no folder of further vectors: only our own are run"
fi
"$python" "$SRC/tests/vectors.py" "$AXE" "$@"
