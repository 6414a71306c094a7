#!/bin/sh
# random_gpu.sh - random kernels for GPUs: they have a text or are refused by the
# plan, and some are what the reference says, simulated.  By hand, more of them,
# and as PTX: see tests/random_gpu.py.
# Given: AXE the command, SRC the source directory.
run="${PYTHON:-python3} $SRC/tests/random_gpu.py $AXE"
AXE_RACES=0 $run 40 1 text && AXE_RACES=0 $run $((8 / ${AXE_SHARE:-1})) 1 sim
