#!/usr/bin/env bash
# The console examples of README and docs print what they say.
set -eu
cd "$SRC"
python3 tests/docs.py README.md docs/*.md
