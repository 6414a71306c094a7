#!/usr/bin/env bash
# The Python package of the build tree, by pytest: its tests, the examples in its
# docstrings.  build/venv, made by tools/setup test, has what they need.
set -euo pipefail
package=$(dirname "$AXE")/python
venv=$SRC/build/venv
[ -e "$package/axe/_axe.abi3.so" ] || { echo "skipped: built without Python.h"; exit 77; }
[ -e "$venv/ready" ] || { echo "skipped: no build/venv (tools/setup test)"; exit 77; }

# A module with the sanitizers wants their libraries first; what the interpreter
# keeps to its end is no leak, and what they keep themselves looks like one.
more=()
if grep -q __asan_init "$package/axe/_axe.abi3.so"; then
    export ASAN_OPTIONS=detect_leaks=0
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
    more=(--ignore "$SRC/python/tests/test_spmd.py"
        -k "not test_nothing_leaks and not test_memory_is_constant and not test_checkers")
fi
export PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 PATH=$(dirname "$AXE"):$PATH
cd /
LD_PRELOAD=${LD_PRELOAD-} "$venv/bin/python" -m pytest -q -p no:cacheprovider \
    --hypothesis-seed=0 "${more[@]}" "$SRC/python/tests"
