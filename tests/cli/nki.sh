#!/bin/sh
# nki.sh - text of NKI, executed by the shim in tests/nki, and its record by
# `axe trace`.  Given: AXE the command, SRC the source folder, PYTHON one with NumPy.
set -u
exec "$PYTHON" "$SRC/tests/trn_nki.py" "$AXE" "$SRC"
