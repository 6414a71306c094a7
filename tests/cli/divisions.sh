#!/usr/bin/env bash
# No integer divisions are left in inner loops of the library's kernels.
set -eu
cd "$SRC"
"$PYTHON" tests/divisions.py
