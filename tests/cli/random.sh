#!/bin/sh
# random.sh - random layouts through `axe eval` against the definition.
# Given: AXE the command, SRC the source directory.
exec "${PYTHON:-python3}" "$SRC/tests/random_eval.py" "$AXE" 60
