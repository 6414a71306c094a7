#!/usr/bin/env bash
# Every kernel of kernels/ against NumPy, one run in eight against --check, too.
set -u
"$PYTHON" -c '' || exit 77
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
"$PYTHON" "$SRC/tests/kernels.py" || exit 1
# names without a row are an error, but as PTX, which has rows of its own (cli.ptx_slow)
! "$PYTHON" "$SRC/tests/kernels.py" none >out || { cat out; exit 1; }
PTX=1 "$PYTHON" "$SRC/tests/kernels.py" softmax
