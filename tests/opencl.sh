# opencl.sh - for tests to source: OpenCL's runtimes, where tools/setup has put
# them, with their caches in the current folder.
export POCL_CACHE_DIR=$PWD/pocl
[ ! -r "$SRC/build/opencl/vendors" ] ||
    export OCL_ICD_VENDORS=${OCL_ICD_VENDORS-$SRC/build/opencl/vendors}

# A line for each device: its number, then the machines that it runs programs
# for, and `spirv` if it takes that.  None under the sanitizers, which take what
# runtimes keep to the end for leaks.
opencl_devices() {
    [ -z "${AXE_SHARE-}" ] || return 0
    "$AXE" devices --json | "$PYTHON" -c '
import json, sys
for d in json.load(sys.stdin)["opencl"]["devices"]:
    has = d["features"]
    widths = [w for w in d["widths"] if w in (8, 16, 32, 64)]
    if not all(f in has for f in ("subgroups", "shuffle", "width")):
        widths = []
    print(d["number"], "opencl", *("opencl-sg%d" % w for w in widths),
          *(["spirv"] if "spirv" in has else []))'
}
