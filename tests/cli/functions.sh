#!/usr/bin/env bash
# Functions of integers and bits are what Python says they are.
set -eu
cd "$SRC"
"$PYTHON" tests/functions.py
