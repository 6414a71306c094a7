#!/usr/bin/env bash
# Every plan of the library: text and JSON say the same, every statement has a
# certificate by algebra and reasons for what it is not.
set -eu
cd "$SRC"
"$PYTHON" tests/explain.py
