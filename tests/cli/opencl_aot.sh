#!/usr/bin/env bash
# Kernels for OpenCL ahead of time: the example builds and launches a text and,
# where clang and its translator are, SPIR-V on the devices that are installed; a
# kernel with loops, numbers and tensors of its own; what is wrong is said.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache
# shellcheck source=tests/opencl.sh
. "$SRC/tests/opencl.sh"
bad=0
fail() {
    echo "FAILED: $*"
    bad=1
}
# What `axe compile $1...` says, with exit status 1.
says() {
    local want=$1
    shift
    PATH=${path-$PATH} "$AXE" compile "$@" >out 2>&1
    [ $? = 1 ] && grep -qF -- "$want" out || {
        fail "axe compile $*: no '$want'"
        cat out
    }
}

gemm=$SRC/kernels/gemm.axe
says "are for a device of OpenCL: give --target" "$gemm" -o k.cl
says "are for a GPU: give --target" "$gemm" -t opencl -o k.cu
says "hold one kernel: name it" "$SRC/kernels/elementwise.axe" -t opencl -o k.cl
says "SPIR-V is made for machines of OpenCL, and sm_80 is none" \
    "$gemm" -t sm_80 -o k.spv
mkdir none
path=$PWD/none says "no two such are on PATH" "$gemm" -t opencl -o k.spv
grep -q "apt-get install clang-14 llvm-spirv-14" out || fail "$(cat out)"

"$AXE" compile "$gemm" -t opencl-sg16 -o gemm.cl gemm.c gemm.h || fail compile
"$AXE" compile "$gemm" -t opencl-sg16 --emit c -o same.cl
cmp -s gemm.cl same.cl || fail "gemm.cl is not the text"
grep -q '^kernel __attribute__((reqd_work_group_size' gemm.cl || fail "no kernel"

# Nothing but libOpenCL and threads is asked for, and no header.
cc=${CC:-cc} flags="-std=c11 -Wall -Wextra -Wpedantic -Werror -O1"
# shellcheck disable=SC2086
$cc $flags -c gemm.c -o gemm.o || fail "the C does not compile"
nm -u gemm.o | awk '{ print $2 }' |
    grep -vE '^(cl[A-Z]|pthread_mutex_|malloc$|free$|str(str|len)$|_GLOBAL_|__stack_chk|__asan|__ubsan)' &&
    fail "it asks for more"
"$AXE" compile "$SRC/kernels/elementwise.axe" -t opencl -o all.c all.h &&
    $cc -std=c11 -w -fsyntax-only all.c || fail "all kernels of a file"
if command -v g++ >/dev/null; then
    printf '#include "gemm.h"\nint main() { return 0; }\n' >h.cc
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only h.cc ||
        fail "the header is no C++"
fi

# What a device lacks is told before the program is built; programs are given
# back; quotients are exact where the device says that it can.
fake=$(dirname "$AXE")/tests/libfake_opencl.so
sanitizers= # of the fake, which a program without them needs first
if ldd "$fake" | grep -q libasan; then
    sanitizers="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
fi
for lanes in 8 16; do
    "$AXE" compile "$SRC/kernels/elementwise.axe" add -t opencl-sg$lanes \
        -o add$lanes.c add$lanes.h || fail "add on $lanes lanes"
    sed -i "s/\\badd(/add$lanes(/; s/release_add/&$lanes/" add$lanes.c add$lanes.h
done
cat >lacks.c <<'END'
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "add8.h"
#include "add16.h"
#include "gemm.h"
int fake_count(const char *name);
const char *fake_options(void);
static char here;
static int bad;
static void expect(const char *what, int got, int want, int n_built)
{
    if (got != want || fake_count("BuildProgram") != n_built) {
        printf("%s: %d, %d built\n", what, got, fake_count("BuildProgram"));
        bad = 1;
    }
}
#define ADD(n) add##n(&here, &here, &here, 5, 7, &here)
#define ALL "cl_khr_subgroup_shuffle cl_intel_required_subgroup_size"
int main(void)
{
    expect("no sub-groups", ADD(8), AXE_AOT_EDEVICE, 0);
    setenv("FAKE_EXT", "cl_khr_subgroup_shuffles cl_khr_subgroups "
                       "cl_intel_required_subgroup_size", 1);
    expect("no shuffle", ADD(8), AXE_AOT_EDEVICE, 0);
    setenv("FAKE_EXT", "cl_intel_subgroups " ALL, 1);
    expect("no such width", ADD(16), AXE_AOT_EDEVICE, 0);
    expect("a group too large", ADD(8), AXE_AOT_EDEVICE, 1);
    setenv("FAKE_ITEMS", "256", 1);
    expect("all there", ADD(8), AXE_AOT_OK, 1);
    if (strcmp(fake_options(), "-cl-std=CL3.0") != 0)
        return puts(fake_options()), 1;
    axe_release_add8(&bad);
    expect("another context", ADD(8), AXE_AOT_OK, 1);
    axe_release_add8(&bad + 1), axe_release_add16(NULL);
    setenv("FAKE_FLOATS", "128", 1);
    for (int i = 0; i < 2; i++) {
        axe_release_add8(NULL);
        setenv("FAKE_EXT", i ? "cl_khr_subgroups " ALL /* either will do */
                             : "cl_intel_subgroups " ALL, 1);
        axe_release_add8(NULL);
        expect("given back", fake_count("ReleaseProgram"), i + 1, i + 1);
        expect("built again", ADD(8), AXE_AOT_OK, i + 2);
    }
    if (strcmp(fake_options(), "-cl-std=CL3.0 "
               "-cl-fp32-correctly-rounded-divide-sqrt") != 0)
        return puts(fake_options()), 1;
    expect("local memory", gemm(&here, &here, &here, 5, 7, 9, &here),
           AXE_AOT_EDEVICE, 3);
    return bad;
}
END
"$AXE" compile "$gemm" -t opencl -o gemm.c gemm.h
# shellcheck disable=SC2086
$cc $flags lacks.c add8.c add16.c gemm.c "$fake" -lpthread -o lacks || fail lacks
LD_PRELOAD=$sanitizers ./lacks || fail "what a device lacks"
"$AXE" compile "$gemm" -t opencl-sg16 -o gemm.c gemm.h

# A loop around scopes, of as many turns as a number says, with a tensor between;
# strides; a number of 16 bits.
cat >heat.axe <<'A'
kernel heat(inout f32 X[N, M], in u8 steps, in f16 h)
{
    index m;
    global f32 Y[N, M];

    for (t : steps) {
        cta (i : N by 1) Y[i, m] = X[i, m] + f32(t) * f32(h);
        cta (i : N by 1) X[i, m] = Y[i, m - 1];
    }
}
A
"$AXE" compile heat.axe -t opencl --order X=strided -o heat.c heat.h ||
    fail "heat"

# What is taken is given back, also where a call fails; a program is a device's;
# an array ends with its buffer; groups are as many as there may be.
cat >both.axe <<'A'
kernel gives(in f32 X[M, K], out f32 Y[M, N])
{
    index m, n;

    cta persistent (i : M by 2, j : N by 2) Y[i*2 + m, j*2 + n] = X[i*2 + m, 0];
}

kernel many(in f32 X[M, K], out f32 Y[M, N])
{
    index m, n;

    cta (i : M by 2, j : N by 2) Y[i*2 + m, j*2 + n] = X[i*2 + m, 0];
}
A
cat >gives.c <<'END'
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include "heat.h"
#include "both.h"
int fake_count(const char *name);
uint64_t fake_items(void);
static char here;
static int bad;
static void expect(const char *what, int64_t got, int64_t want)
{
    if (got != want) {
        printf("%s: %lld, not %lld\n", what, (long long)got, (long long)want);
        bad = 1;
    }
}
static void even(const char *what, int kernels, int buffers) /* not made */
{
    expect(what, fake_count("CreateKernel") - kernels,
           fake_count("ReleaseKernel"));
    expect(what, fake_count("CreateBuffer") - buffers,
           fake_count("ReleaseMemObject"));
}
/* 70 x 3 and 3 x 2 numbers, the first of which lie in 840 bytes */
#define HEAT() heat(&here, 2, 0, 70, 3, 1, 70, &here)
#define BACK(stride) heat(&here, 2, 0, 3, 2, 200, stride, &here)
int main(void)
{
    static const char *const fail[] = {"CreateKernel:-5", "CreateBuffer:-5",
        "GetKernelWorkGroupInfo:-5", "SetKernelArg:-5",
        "EnqueueNDRangeKernel:-5", "BuildProgram:-5",
        "CreateProgramWithSource:-5", "GetMemObjectInfo:-5",
        "GetCommandQueueInfo:-5", "GetDeviceInfo:-5"};
    const int64_t far = 1 << 30;

    setenv("FAKE_ITEMS", "256", 1);
    expect("heat", HEAT(), AXE_AOT_OK);
    expect("launches", fake_count("EnqueueNDRangeKernel"), 4);
    even("heat", 0, 0);
    for (int i = 0; i < 10; i++) {
        axe_release_heat(NULL);
        setenv("FAKE_FAIL", fail[i], 1);
        expect(fail[i], HEAT(), -5);
        unsetenv("FAKE_FAIL");
        even(fail[i], 1, i > 0);
        expect(fail[i], HEAT(), AXE_AOT_OK);
    }
    int built = fake_count("BuildProgram");
    setenv("FAKE_DEVICE", "1", 1);
    HEAT(), HEAT();
    expect("another device", fake_count("BuildProgram"), built + 1);
    setenv("FAKE_DEVICE", "0", 1);
    HEAT();
    expect("the first device", fake_count("BuildProgram"), built + 1);

    setenv("FAKE_BYTES", "840", 1);
    expect("all of X", HEAT(), AXE_AOT_OK);
    setenv("FAKE_BYTES", "839", 1);
    expect("less than X", HEAT(), AXE_AOT_EARG);
    setenv("FAKE_BYTES", "2000", 1);
    expect("forwards", BACK(70), AXE_AOT_OK);
    expect("backwards", BACK(-70), AXE_AOT_EARG);

    setenv("FAKE_BYTES", "9223372036854775807", 1);
    expect("gives", gives(&here, &here, 4, 1, 4, &here), AXE_AOT_OK);
    expect("as many groups as units", (int64_t)fake_items(), 3 * 256);
    expect("gives", gives(&here, &here, 2, 1, 4, &here), AXE_AOT_OK);
    expect("fewer groups", (int64_t)fake_items(), 2 * 256);
    expect("most", many(&here, &here, far, 0, 6, &here), AXE_AOT_OK);
    expect("items of all", (int64_t)fake_items(), far / 2 * 3 * 256);
    expect("too many", many(&here, &here, far, 0, 8, &here), AXE_AOT_EOVERFLOW);
    expect("too many", gives(&here, &here, far, 0, 8, &here),
           AXE_AOT_EOVERFLOW);
    return bad;
}
END
"$AXE" compile both.axe -t opencl -o both.c both.h || fail both
# shellcheck disable=SC2086
$cc $flags gives.c heat.c both.c "$fake" -lpthread -o gives || fail gives
LD_PRELOAD=$sanitizers ./gives || fail "what is given back"

library=$(ldconfig -p 2>/dev/null | sed -n 's/.*libOpenCL.so.1 .*=> //p' | head -n 1)
echo '#include <CL/cl.h>' >h.c
[ -n "$library" ] && $cc -DCL_TARGET_OPENCL_VERSION=300 -fsyntax-only h.c \
    2>/dev/null || { echo "no libOpenCL with headers: nothing runs"; exit $bad; }
opencl_devices >devices

cat >want <<'END'
gemm: status 0, 0 wrong
a buffer that is too small: 1
no queue: 1
no rows: 0
END
# example DEVICE WHAT: what gemm.c is now
example() {
    # shellcheck disable=SC2086
    $cc $flags -I. "$SRC/examples/opencl/main.c" gemm.c "$library" -lpthread \
        -o main || fail "the example does not compile"
    ./main "$1" >got 2>&1
    cmp -s want got || { fail "$2 on device $1"; diff want got; }
}

cat >heat.c.in <<'END'
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>
#include "heat.h"
static int run(cl_context ctx, cl_command_queue q, int n, int m, int steps)
{
    float x[210] = {0}, y[210], z[210];
    for (int i = 0; i < n * m; i++)
        x[i] = (float)i;
    cl_mem X = clCreateBuffer(ctx, CL_MEM_COPY_HOST_PTR, sizeof x, x, NULL);
    /* columns, a row of which is 70 long in memory */
    if (heat(X, (uint8_t)steps, 0x4000, n, m, 1, 70, q) != AXE_AOT_OK)
        return 1;
    clEnqueueReadBuffer(q, X, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
    for (int t = 0; t < steps; t++) {
        memcpy(z, x, sizeof z);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                x[j * 70 + i] =
                    j ? z[(j - 1) * 70 + i] + (float)(2 * t) : 0;
    }
    clReleaseMemObject(X);
    return memcmp(x, y, sizeof x) != 0;
}
int main(int argc, char **argv)
{
    cl_platform_id p[8];
    cl_device_id d = NULL, all[8];
    cl_uint np = 0, n, at = 0;
    clGetPlatformIDs(8, p, &np);
    for (cl_uint i = 0; i < np; i++, at += n) {
        n = 0;
        clGetDeviceIDs(p[i], CL_DEVICE_TYPE_ALL, 8, all, &n);
        for (cl_uint j = 0; j < n; j++)
            if (at + j == (cl_uint)atoi(argv[argc - 1]))
                d = all[j];
    }
    for (int c = 0; c < 2; c++) { /* another context is another program */
        cl_context ctx = clCreateContext(NULL, 1, &d, NULL, NULL, NULL);
        cl_command_queue q =
            clCreateCommandQueueWithProperties(ctx, d, NULL, NULL);
        if (run(ctx, q, 70, 3, 4) || run(ctx, q, 1, 1, 1) ||
            run(ctx, q, 0, 3, 2) || run(ctx, q, 70, 0, 2) ||
            run(ctx, q, 70, 3, 0))
            return 1;
        if (heat(NULL, 1, 0, -1, 3, 1, 70, q) != AXE_AOT_EARG ||
            heat(NULL, 1, 0, 70, 3, 1, 70, q) != AXE_AOT_EARG ||
            heat(NULL, 0, 0, INT32_MAX, 0, 1, 70, q) != AXE_AOT_EOVERFLOW)
            return 2;
        cl_queue_properties how[] = {CL_QUEUE_PROPERTIES,
            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
        cl_command_queue o =
            clCreateCommandQueueWithProperties(ctx, d, how, NULL);
        if (o && heat(NULL, 1, 0, 0, 3, 1, 70, o) != AXE_AOT_EARG)
            return 3;
        axe_release_heat(ctx);
        if (run(ctx, q, 70, 3, 4))
            return 4;
        axe_release_heat(c ? NULL : ctx);
    }
    return 0;
}
END
grep -qF 'int heat(void *X, uint8_t steps, uint16_t h, int64_t N, int64_t M, int64_t X_stride0, int64_t X_stride1, void *queue);' heat.h ||
    fail "$(cat heat.h)"
# shellcheck disable=SC2086
$cc $flags -x c heat.c.in heat.c -x none "$library" -lpthread -I. -o heat ||
    fail "heat does not compile"

spirv=
"$AXE" compile "$gemm" -t opencl-sg16 -o gemm.spv spirv.c gemm.h >out 2>&1 &&
    spirv=yes || grep -q "no two such are on PATH" out || fail "$(cat out)"
# A device is asked whether it takes SPIR-V before that is handed over.
cat >takes.c <<'END'
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include "add.h"
int fake_count(const char *name);
static char here;
static int bad;
static void expect(const char *version, const char *il, int want, int n)
{
    setenv("FAKE_VERSION", version, 1);
    setenv("FAKE_IL", il, 1);
    int got = add(&here, &here, &here, 5, 7, &here);
    if (got != want || fake_count("CreateProgramWithIL") != n) {
        printf("%s, '%s': %d\n", version, il, got);
        bad = 1;
    }
}
int main(void)
{
    setenv("FAKE_ITEMS", "256", 1);
    expect("OpenCL 3.0 x", "", AXE_AOT_EDEVICE, 0);
    expect("OpenCL 2.0 x", "SPIR-V_1.2", AXE_AOT_EDEVICE, 0);
    expect("OpenCL 1.2", "SPIR-V_1.2", AXE_AOT_EDEVICE, 0);
    expect("OpenCL 2.1 x", "SPIR-V_1.0 SPIR-V_1.2", AXE_AOT_OK, 1);
    expect("OpenCL 3.0 x", "", AXE_AOT_OK, 1); /* built already */
    return bad;
}
END
if [ -n "$spirv" ]; then
    "$AXE" compile "$SRC/kernels/elementwise.axe" add -t opencl \
        -o add.spv add.c add.h || fail "add as SPIR-V"
    # shellcheck disable=SC2086
    $cc $flags takes.c add.c "$fake" -lpthread -o takes || fail takes
    LD_PRELOAD=$sanitizers ./takes || fail "a device that takes no SPIR-V"
fi
while read -r device machines; do
    ./heat "$device" || fail "heat on device $device: $?"
    [[ $machines == *opencl-sg16* ]] || continue
    "$AXE" compile "$gemm" -t opencl-sg16 -o gemm.c gemm.h
    example "$device" text
    [[ $machines == *spirv ]] && [ -n "$spirv" ] || continue
    cp spirv.c gemm.c
    grep -q clCreateProgramWithIL gemm.c || fail "no SPIR-V in gemm.c"
    [ "$(od -An -tx4 -N4 gemm.spv)" = " 07230203" ] || fail "gemm.spv"
    example "$device" SPIR-V
done <devices
exit $bad
