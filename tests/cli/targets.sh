#!/usr/bin/env bash
# What README.md and docs/targets.md say of GPUs is what the gate's golden, the
# simulator's list, the results and the model say.  UPDATE=1 writes it anew.
set -eu
cd "$SRC"
"${PYTHON:-python3}" tests/targets.py
