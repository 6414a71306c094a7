#!/usr/bin/env bash
# Kernels bound by memory beside NumPy; arguments go to ops.py.
"$PYTHON" "$(dirname "$0")/ops.py" "$@"
