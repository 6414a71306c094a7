#!/bin/sh
# random_trn.sh - random kernels on the simulated Trainium against the reference.
# Given: AXE the command, SRC the source directory.
exec "${PYTHON:-python3}" "$SRC/tests/random_trn.py" "$AXE" $((16 / ${AXE_SHARE:-1}))
