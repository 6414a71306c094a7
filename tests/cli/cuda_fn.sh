#!/bin/sh
# cuda_fn.sh - the helpers of printed CUDA C that are plain arithmetic, compiled
# for the host and compared with their definitions.
# Given: SRC the source directory.
set -eu

cxx=${CXX:-c++}
if ! command -v "$cxx" >/dev/null 2>&1; then
    echo "no C++ compiler"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${PYTHON:-python3}" - "$SRC/src/print/cuda/fn.def" >"$tmp/helpers.inc" <<'EOT'
import re
import sys

WANT = """floor_div floor_mod shl shr mulhi popcount clz get16 put16 get8
put8 from_bf16 from_tf32 to_tf32 from_f8e4m3 f8e4m3_of pack_f8e4m3 to_f8e4m3 f8e5m2_of pack_f8e5m2 to_f8e5m2
from_f8e8m0 to_f8e8m0 pack_f8e8m0 f32_odd exp32 quotient_mid quotient_up""".split()
found = 0
for m in re.finditer(r'FN\( (\w+), "\w*",\n((?:\s+".*"\n?)+) \)', open(sys.argv[1]).read()):
    if m[1] in WANT:
        found += 1
        text = "".join(re.findall(r'^\s+"(.*)"', m[2], re.M))
        text = text.replace("\\n", "\n").replace('\\"', '"')
        print(text.replace("__device__ __forceinline__", "static"))
if found != len(WANT):
    sys.exit("helpers are missing")
EOT
"$cxx" -std=c++17 -O1 -I"$tmp" -o "$tmp/check" "$SRC/tests/gate/helpers.cc"
"$tmp/check"
