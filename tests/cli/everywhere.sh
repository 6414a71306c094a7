#!/usr/bin/env bash
# What docs/machines.md says of kernels and machines is so.  UPDATE=1 writes it.
set -eu
cd "$SRC"
"${PYTHON:-python3}" tests/everywhere.py
