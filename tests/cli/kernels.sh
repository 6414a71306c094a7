#!/usr/bin/env bash
# Every kernel of kernels/ against NumPy, one run in eight against --check, too.
set -u
"$PYTHON" -c '' || exit 77
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
"$PYTHON" "$SRC/tests/kernels.py"
