#!/usr/bin/env bash
# Functions are what Python and NumPy say they are.
set -eu
cd "$SRC"
"$PYTHON" tests/functions.py
"$PYTHON" tests/functions_real.py
