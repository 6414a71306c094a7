#!/usr/bin/env bash
# The kernel of examples/minilm, small, against NumPy.
set -u
"$PYTHON" -c '' || exit 77
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
"$PYTHON" "$SRC/tests/minilm.py"
