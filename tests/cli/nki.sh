#!/bin/sh
# nki.sh - text of NKI, executed by the shim in tests/nki, and its record by
# `axe trace`, in both dialects.  Given: AXE the command, SRC the source folder, PYTHON one with NumPy.
set -u
"$PYTHON" "$SRC/tests/trn_nki.py" "$AXE" "$SRC" || exit 1
exec "$PYTHON" "$SRC/tests/trn_nki01.py" "$AXE" "$SRC"
