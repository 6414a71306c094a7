#!/bin/sh
# Integers at the ends of their types, on CPUs with and without vectors, and in
# the simulator.  The printed text of GPUs: cli.ptx_slow.
exec "$PYTHON" "$SRC/tests/corners/corners.py" "$AXE" "$SRC/tests/corners" \
    cpu cpu-base sm_80
