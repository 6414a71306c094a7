#!/usr/bin/env bash
# moe.sh - a layer of experts beside PyTorch and oneDNN; with the Python of
# build/peers (tests/peers/run makes it) or of build/venv that has PyTorch.
set -euo pipefail
package=$(dirname "$AXE")/python
[ -e "$package/axe/_axe.abi3.so" ] || { echo "skipped: built without Python.h"; exit 0; }
grep -q avx512_bf16 /proc/cpuinfo || { echo "skipped: no products of bf16"; exit 0; }
for python in "$SRC/build/peers/bin/python" "$SRC/build/venv/bin/python" "$PYTHON"; do
    "$python" -c 'import torch' 2>/dev/null || continue
    for threads in 1 "$(nproc)"; do
        PYTHONPATH=$package "$python" "$SRC/bench/moe.py" --threads "$threads" "$@"
    done
    exit 0
done
echo "skipped: no PyTorch"
