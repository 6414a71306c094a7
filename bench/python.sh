#!/usr/bin/env bash
# python.sh - what a call from Python costs beyond the kernel, beside NumPy's and
# PyTorch's, and what `import axe` costs; with the Python of build/venv, if it is
# there, else the system's.
set -euo pipefail
package=$(dirname "$AXE")/python
[ -e "$package/axe/_axe.abi3.so" ] || { echo "skipped: built without Python.h"; exit 0; }
python=$SRC/build/venv/bin/python
[ -x "$python" ] || python=$PYTHON
PYTHONPATH=$package "$python" "$SRC/bench/python.py" "$@"
