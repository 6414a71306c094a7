#!/bin/sh
# ptx_slow.sh - the PTX of the library's kernels, run on the host and compared with
# NumPy, where there are an nvcc and a NumPy.
# Given: AXE the command, SRC the source directory.
set -eu

if ! command -v nvcc >/dev/null 2>&1; then
    echo "no nvcc"
    exit 77
fi
if ! "${PYTHON:-python3}" -c "import numpy" 2>/dev/null; then
    echo "no numpy"
    exit 77
fi
exec "${PYTHON:-python3}" "$SRC/tests/gate/run.py" "$AXE" "$SRC"
