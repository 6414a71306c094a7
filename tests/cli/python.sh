#!/usr/bin/env bash
# The Python package of the build tree, by pytest: its tests, the examples in its
# docstrings.  build/venv, made by tools/setup test, has what they need.
set -euo pipefail
package=$(dirname "$AXE")/python
venv=$SRC/build/venv
[ -e "$package/axe/_axe.abi3.so" ] || { echo "skipped: built without Python.h"; exit 77; }
[ -e "$venv/ready" ] || { echo "skipped: no build/venv (tools/setup test)"; exit 77; }

export PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 PATH=$(dirname "$AXE"):$PATH
cd /
"$venv/bin/python" -m pytest -q -p no:cacheprovider --hypothesis-seed=0 \
    "$SRC/python/tests"
