#!/usr/bin/env bash
# The console examples of README and docs print what they say, and functions
# are in the files that tables name.
set -eu
cd "$SRC"
[ ! -r build/opencl/vendors ] ||
    export OCL_ICD_VENDORS=${OCL_ICD_VENDORS-$SRC/build/opencl/vendors}
python3 tests/docs.py README.md docs/*.md docs/design/*.md
