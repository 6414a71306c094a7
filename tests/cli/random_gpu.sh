#!/bin/bash
# random_gpu.sh - random kernels for GPUs: they have a text or are refused by the
# plan, and some are what the reference says, simulated, and on the devices of
# OpenCL that are installed.  By hand, more of them, and as PTX: see
# tests/random_gpu.py.
# Given: AXE the command, SRC the source directory.
run="${PYTHON:-python3} $SRC/tests/random_gpu.py $AXE"
export AXE_RACES=0
$run 40 1 text && $run $((8 / ${AXE_SHARE:-1})) 1 sim || exit
[ -z "${AXE_SHARE-}" ] || exit 0
cd "$(mktemp -d)" || exit
trap 'rm -rf "$PWD"' EXIT
# shellcheck source=tests/opencl.sh
. "$SRC/tests/opencl.sh"
$run 12 100 opencl && $run 6 130 opencl-sim
