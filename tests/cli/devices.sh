#!/usr/bin/env bash
# `axe devices`, with libraries that stand in for the drivers, and without any.
set -u
fakes=$(dirname "$AXE")/tests
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
bad=0

fail() {
    echo "FAILED: $*"
    cat out
    bad=1
}

# says STATUS ARGS... <<< lines that are all in the output
says() {
    local want=$1 line
    shift
    "$AXE" devices "$@" >out 2>&1
    [ $? = "$want" ] || fail "axe devices $*: exit status"
    while IFS= read -r line; do
        grep -qF -- "$line" out || fail "axe devices $*: no '$line'"
    done
}

export AXE_CUDA=$fakes/libfake_cuda.so AXE_OPENCL=$fakes/libfake_opencl.so
FAKE_EXT=cl_intel_required_subgroup_size says 0 <<'END'
cuda 0    Fake GPU, compute capability 9.0, 4 SMs: sm_90a
opencl 0  Fake.device (gpu), Fake platform, driver 1.0
          OpenCL 3.0, OpenCL C 1.2
          sub-groups of 8 32
          has f64 width
END
grep -q '^cpu       cpu' out || fail "no CPU"
grep -q ' $' out && fail "blanks at a line's end"
FAKE_CC=70 FAKE_DEVICES=2 says 0 <<'END'
compute capability 7.0, 4 SMs: no machine in the table runs on it
opencl 1  Fake.device
3 units, 8589934592.0 GiB, 1024 KiB at once; groups of 256 items, 1 KiB of local memory
END
AXE_CUDA=/none AXE_OPENCL=/none says 0 <<'END'
cuda      none: an NVIDIA GPU needs its driver, but there is no /none
opencl    none: OpenCL is reached through libOpenCL, but there is no /none
            help: install a loader
END
FAKE_PLATFORMS=0 says 0 <<<"opencl    none: libOpenCL knows no platform"
FAKE_DEVICES=0 says 0 <<<"opencl    none: no platform has a device"
FAKE_FAIL=DeviceGetAttribute:999 says 0 <<<"cuda"

FAKE_EXT=cl_khr_fp16 says 0 --json <<'END'
"cuda": {"devices": [{"number": 0, "name": "Fake GPU", "machine": "sm_90a", "major": 9, "minor": 0, "sms": 4}], "missing": null}
"opencl": {"devices": [{"number": 0, "name": "Fake.device", "kind": "gpu"
"most_items": 256, "widths": [], "features": ["f16", "f64"]}], "missing": null}}
END
"$PYTHON" -m json.tool <out >/dev/null || fail "no JSON"
AXE_CUDA=/none FAKE_PLATFORMS=0 says 0 --json <<'END'
"cuda": {"devices": [], "missing": "an NVIDIA GPU needs its driver, but there is no /none"}
"opencl": {"devices": [], "missing": "libOpenCL knows no platform
END
"$PYTHON" -m json.tool <out >/dev/null || fail "no JSON"

says 2 --jsn <<<"did you mean"
says 2 more <<<"axe devices: unexpected 'more'"
says 0 --help <<<"usage: axe devices"
exit $bad
