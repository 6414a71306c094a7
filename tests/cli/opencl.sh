#!/usr/bin/env bash
# `axe run` for OpenCL: what each fault says, with a library that stands in for the
# drivers; on the devices that are installed sizes around a tile's, none at all,
# indices of 64 bits, and what is printed.
set -u
fake=$(dirname "$AXE")/tests/libfake_opencl.so
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache
bad=0
fail() {
    echo "FAILED: $*"
    bad=1
}

# fault 'VARIABLE=VALUE...' 'ARGUMENTS' <<< lines that are all said, with status 1
fault() {
    local line
    # shellcheck disable=SC2086
    env AXE_OPENCL="$fake" FAKE_ARGS=6 $1 "$AXE" run \
        "$SRC/kernels/elementwise.axe" add $2 --random >out 2>&1
    [ $? = 1 ] || fail "$*: exit status"
    while IFS= read -r line; do
        grep -qxF -- "$line" out || { fail "$*: no '$line'"; cat out; }
    done
}
small="-t opencl M=4 N=8" large="-t opencl M=1024 N=1024"
fault AXE_OPENCL=/none "$small" <<'END'
error: OpenCL is reached through libOpenCL, but there is no /none
  help: install a loader (Debian: ocl-icd-libopencl1) and a runtime (for CPUs: pocl-opencl-icd), or name a library in AXE_OPENCL
END
fault FAKE_PLATFORMS=0 "$small" <<'END'
error: libOpenCL knows no platform: no vendor's runtime is installed, or none starts
  help: a runtime is named by a file in /etc/OpenCL/vendors, or in the folder that OCL_ICD_VENDORS names, and needs its own libraries to be found (LD_LIBRARY_PATH), without which it is left out in silence
END
fault FAKE_DEVICES=0 "$small" <<'END'
error: no platform of OpenCL has a device
  help: install a runtime (for CPUs: pocl-opencl-icd); `axe sim` runs programs for opencl without one
END
fault "" "$small --device 4" <<'END'
error: there is no OpenCL device 4: the platforms have 1
  help: `axe devices` lists them
END
fault "" "-t opencl-sg16 M=4 N=8" <<'END'
error: no OpenCL device here runs programs for opencl-sg16: it needs subgroups shuffle width sg16
  help: `axe devices` says what each has; --target opencl needs no sub-groups
END
fault "" "-t opencl-sg16 M=4 N=8 --device 0" <<'END'
error: Fake.device of Fake platform has no subgroups: groups of lanes
END
fault "" "M=4 N=8 --device 0 -t cpu-avx2" <<'END'
error: --device 0 is a device of OpenCL, and the kernel is for cpu-avx2
  help: --target opencl, or opencl-sg16, is for devices of OpenCL
END
fault "" "M=4 N=8 --device 0" <<'END'
  help: --target opencl, or opencl-sg16, is for devices of OpenCL
END
line=$("$AXE" compile "$SRC/kernels/elementwise.axe" add -t opencl |
    grep -n 'r_Z_v.*r_X_v.*+ r_Y_v' | cut -d : -f 1)
fault "FAKE_FAIL=BuildProgram:-11 FAKE_SAYS=1:$line:5:error:no" "$small" <<END
error: the compiler of Fake platform (1.0) refuses the text: CL_BUILD_PROGRAM_FAILURE (-11)
  note: 1:$line:5:error:no
  note: line $line of the text: $("$AXE" compile "$SRC/kernels/elementwise.axe" \
    add -t opencl | sed -n "$line{s/^ *//;p}")
  note: it is of statement 0, line 9: Z[i*4 + m, n] of the kernel
  help: the text is axe's own, so this is no fault of the kernel: \`axe compile --emit c\` shows it; --target opencl asks least of a driver
END
fault "FAKE_FAIL=BuildProgram:-43 AXE_OPENCL_OPTIONS=-bogus" "$small" <<'END'
error: the compiler of Fake platform (1.0) refuses the text: CL_INVALID_BUILD_OPTIONS (-43)
  help: AXE_OPENCL_OPTIONS adds '-bogus': try without it
END
fault "" "$small" <<'END'
error: kernel add: a group of 256 items; Fake.device takes 256 at most, of this kernel 128
  help: use smaller groups
END
# Quotients of f32 are correctly rounded where the device can.
exact=-cl-fp32-correctly-rounded-divide-sqrt
fault "FAKE_FLOATS=128 FAKE_OPTIONS=$exact" "$small" <<'END'
error: kernel add: a group of 256 items; Fake.device takes 256 at most, of this kernel 128
END
fault "FAKE_FLOATS=127 FAKE_OPTIONS=" "$small" <<'END'
error: kernel add: a group of 256 items; Fake.device takes 256 at most, of this kernel 128
END
fault "" "$large" <<'END'
error: allocating 4194304 bytes: Fake.device gives at most 1048576 at once, and has 9223372036854775807
  help: use smaller arrays, or another device
END
fault FAKE_FAIL=CreateBuffer:-4 "$small" <<'END'
error: allocating 128 bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)
  help: free device memory, or use smaller arrays
END

# The device is asked for before a plan is made where the kernel names the machine.
{
    echo 'kernel own(in f64 X[M], out f64 Y[M]) target opencl { index m;'
    echo 'cta (i : M by 64) Y[i*64 + m] = X[i*64 + m] * 2; }'
} >own.axe
AXE_OPENCL=$fake "$AXE" run own.axe --random M=5 --device 4 2>&1 |
    grep -qxF 'error: there is no OpenCL device 4: the platforms have 1' ||
    fail "--device of a kernel's own target"
"$AXE" sim own.axe --random M=5 2>&1 |
    grep -qF "(\`axe devices\`): a plan for device N (\`--device N\`)" ||
    fail "f64 of no device"
"$AXE" sim "$SRC/kernels/gemv.axe" gemv -t cpu --random M=5 K=3 2>&1 |
    grep -qxF "  help: name one as its machine, sm_90a, opencl-sg16 or trn1; on this CPU \`axe run\` runs it" ||
    fail "axe sim of a CPU"
"$AXE" tune "$SRC/kernels/softmax.axe" -t opencl --random M=4 N=9 >out 2>&1 &&
    fail "axe tune: exit status"
grep -qxF "  help: time values one by one: \`axe run --target opencl --set NAME=VALUE --time\`" out ||
    fail "axe tune"

# shellcheck source=tests/opencl.sh
. "$SRC/tests/opencl.sh"
opencl_devices | sed 's/ spirv$//; s/ opencl-sg16//; s/ opencl-sg64//' >devices

# Sizes below, at and above those of tiles and of sub-groups, and none.
export AXE_OPENCL_OPTIONS=-cl-opt-disable
run() { # DEVICE MACHINE FILE ARGUMENTS...
    local device=$1 machine=$2
    shift 2
    "$AXE" run "$@" -t "$machine" --device "$device" --random --check >out 2>&1 ||
        { fail "$* on $machine of device $device"; cat out; }
}
cat >far.axe <<'END'
// W has no elements, and as many rows as one likes.
kernel far(in f32 X[M], in f32 W[N, K], out f32 Y[M])
{
    index m;

    cta (i : M by 8) Y[i*8 + m] = X[(i*8 + m) * (N + 1) % M] + W[i, 0];
}
END
cat >once.axe <<'END'
// Each element is added to once, however many groups there are.
kernel once(in f32 X[M], inout f32 Y[M])
{
    index m;

    cta persistent (i : M by 8) Y[i*8 + m] = Y[i*8 + m] + X[i*8 + m] slow;
}
END
cat >exact.axe <<'END'
// A product is rounded before the difference: P has X * X rounded.
kernel exact(in f32 X[M], in f32 P[M], out f32 Y[M])
{
    index m;

    cta (i : M by 64) Y[i*64 + m] = X[i*64 + m] * X[i*64 + m] - P[i*64 + m];
}
END
"$PYTHON" -c 'import numpy as np
x = np.arange(1, 1000, dtype=np.float32) / 7
np.save("x.npy", x)
np.save("p.npy", x * x)' || fail "x.npy"
# Names that a driver's headers or our own text have already.
for name in half rest main dot to_bf16 float4; do
    echo "kernel $name(in f32 X[M, 7], out f32 Y[M]) { index n;"
    echo "cta (i : M) Y[i] = sum[n](exp(X[i, n]) / 3.0) * f32(max(i / 3, 7)); }"
done >names.axe
while read -r device machines; do
    run "$device" opencl once.axe once M=1000
    run "$device" opencl exact.axe X=x.npy P=p.npy Y=y.npy
    "$PYTHON" -c 'import numpy as np; assert not np.load("y.npy").any()' ||
        fail "products and differences are rounded together on device $device"
    for name in half rest main dot to_bf16 float4; do
        run "$device" opencl names.axe "$name" M=5
    done
    for machine in $machines; do
        for n in 0 1 7 8 31 33 255 257 1025; do
            run "$device" "$machine" "$SRC/kernels/softmax.axe" M=3 N=$n
        done
        for m in 0 1 4 5; do
            run "$device" "$machine" "$SRC/kernels/elementwise.axe" add M=$m N=17
        done
        run "$device" "$machine" "$SRC/kernels/gemm.axe" M=5 N=3 K=0
        for n in 97 2147483647 2147483649 8589934597; do
            run "$device" "$machine" far.axe M=70 N=$n K=0
        done
    done
    "$AXE" run "$SRC/kernels/elementwise.axe" add -t opencl --device "$device" \
        --random M=33 N=40 --time=3 >out 2>&1
    grep -qE '^  time: median [0-9.]+ ms, .* of 3;' out || { fail "no time"; cat out; }
done <devices
[ -s devices ] || { echo "no OpenCL device: nothing runs"; }
exit $bad
