#!/bin/sh
# Kernels of the library on the simulated Trainium 1, and their text for NKI executed
# by the shim.  Given: AXE the command, SRC the source folder, PYTHON one with NumPy.
exec "$PYTHON" "$SRC/tests/trn_kernels.py" "$AXE" "$SRC"
