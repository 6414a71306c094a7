#!/bin/sh
# random_kernels.sh - random kernels on this CPU against the reference.
# Given: AXE the command, SRC the source directory.
exec "${PYTHON:-python3}" "$SRC/tests/random_kernels.py" "$AXE" $((30 / ${AXE_SHARE:-1}))
