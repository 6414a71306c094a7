#!/bin/sh
# gate_slow.sh - the GPU code of the library's kernels, compiled and looked at, where
# there is an nvcc.  Given: AXE the command, SRC the source directory.
set -eu

if ! command -v nvcc >/dev/null 2>&1; then
    echo "no nvcc"
    exit 77
fi
"${PYTHON:-python3}" "$SRC/tests/gate/gate.py" "$AXE" "$SRC"
[ "${UPDATE:-0}" != 1 ] || bash "$SRC/tests/cli/targets.sh"
