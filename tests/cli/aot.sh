#!/usr/bin/env bash
# Kernels ahead of time: the example links them with libm and threads alone and
# is exact; headers are C and C++; every kernel makes C that compiles.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() {
    echo "aot: $1" >&2
    exit 1
}
compile() { "$AXE" compile "$@"; }

compile "$SRC/kernels/gemm.axe" --set BK=64 -o gemm.{h,a,c,o}
compile "$SRC/kernels/softmax_columns.axe" -o column.{h,a}
cp "$SRC/examples/aot/main.c" .
flags="-std=c11 -Wall -Wextra -Werror"
# shellcheck disable=SC2086
gcc $flags -I. main.c gemm.a column.a -lm -lpthread -o main
./main >out || fail "$(cat out)"
[ "$(grep -c ': 0 wrong' out)" = 3 ] || fail "$(cat out)"
[ "$(grep -c ': sum to 1' out)" = 3 ] || fail "$(cat out)"

# Nothing but libc and threads is asked for.
nm -u gemm.o | awk '{ print $2 }' | while read -r symbol; do
    case $symbol in
    pthread_* | sched_yield | posix_memalign | free | malloc | mem* | *GLOBAL_OFFSET* | \
        __stack_chk_fail | __cpu_*) ;;
    *) fail "gemm.o asks for $symbol" ;;
    esac
done

# The C file alone, without axe's flags and by the other compiler; the object.
# shellcheck disable=SC2086
gcc $flags -O2 -c gemm.c -o other.o
# shellcheck disable=SC2086
gcc $flags -I. main.c other.o column.a -lm -lpthread -o main
./main >out || fail "$(cat out)"
if command -v clang >/dev/null; then
    clang -O2 -ffp-contract=fast -c gemm.c -o other.o
    clang -I. main.c other.o column.a -lm -lpthread -o main
    ./main >out || fail "clang: $(cat out)"
fi
if command -v g++ >/dev/null; then
    printf '#include "gemm.h"\n#include "column.h"\nint main() { return 0; }\n' >h.cc
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only h.cc
fi

# A loop around scopes, of as many turns as an argument says.
cat >heat.axe <<'A'
kernel heat(inout f32 X[N], in u8 steps)
{
    index n;
    global f32 Y[N];

    for (t : steps) {
        cta (i : N by 64) Y[i*64 + n] = X[i*64 + n] + f32(t);
        cta (i : N by 64) X[i*64 + n] = Y[i*64 + n - 1];
    }
}
A
cat >use.c <<'C'
#include "heat.h"
int main(void)
{
    float x[70] = {1}, same[1] = {5};
    if (heat(x, 3, 70) != AXE_AOT_OK || heat(same, 0, 1) != AXE_AOT_OK)
        return 1;
    return x[0] != 0 || x[1] != 2 || x[3] != 4 || x[69] != 3 || same[0] != 5;
}
C
compile heat.axe -o heat.{c,h}
# shellcheck disable=SC2086
gcc $flags -I. use.c heat.c -lm -lpthread -o use
./use || fail "heat"

# Another machine, and strides as arguments.
compile "$SRC/kernels/elementwise.axe" add -t cpu-base --order X=strided \
    -o add.{h,o}
cat >use.c <<'C'
#include "add.h"
int main(void)
{
    float x[6] = {1, 4, 2, 5, 3, 6}, y[6] = {0}, z[6] = {0};
    if (add(x, y, z, 2, 3, 1, 2) != AXE_AOT_OK)
        return 1;
    for (int i = 0; i < 6; i++)
        if (z[i] != (float)(i + 1))
            return 2;
    return add(x, y, z, 2, 3, INT64_MAX, INT64_MAX) != AXE_AOT_EOVERFLOW;
}
C
grep -q 'int add(const float \*X, const float \*Y, float \*Z, int64_t M, int64_t N, int64_t X_stride0, int64_t X_stride1);' add.h ||
    fail "$(cat add.h)"
# shellcheck disable=SC2086
gcc $flags -I. use.c add.o -lm -lpthread -o use
./use || fail "strides: exit $?"

# A name that C has for itself; all kernels of a file in one.
cat >names.axe <<'K'
kernel double(in f32 int[M], out f32 Y[M])
{
    index m;
    cta (i : M) Y[i] = int[i] * 2;
}
kernel other(in i8 X[M], out i8 Y[M])
{
    index m;
    cta (i : M) Y[i] = X[i];
}
kernel read(in f32 status[size], out f32 ptr[size])
{
    cta (i : size) ptr[i] = status[i];
}
kernel read_(in f32 memcpy[M], out f32 given[M])
{
    cta (i : M) given[i] = memcpy[i];
}
kernel axe_call(in f32 float[M], out f32 n_thread[M]) { cta (i : M) n_thread[i] = float[i]; }
kernel printf(in f32 X[M], out f32 Y[M]) { cta (i : M) Y[i] = X[i]; }
K
compile names.axe -o names.{c,h,o}
nm names.o | awk '$2 == "T" { print $3 }' | grep -xE 'read|printf|double|axe_call' >out &&
    fail "functions of C or of ours: $(cat out)"
for name in double_ other read_ read__ axe_call_ printf_; do
    nm names.o | grep -q " T $name\$" || fail "no $name in names.o"
done
grep -q 'int double_(const float \*int_, float \*Y, int64_t M);' names.h ||
    fail "$(cat names.h)"
grep -q 'int other_threads(int n_thread, const int8_t' names.h || fail names
cat >names.c <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "names.h"
int main(void)
{
    float x[3] = {1, 2, 3}, y[3], z[3], u[3], v[3], w[3];
    if (double_(x, y, 3) || read_(y, z, 3) || read__(z, u, 3) ||
        axe_call_(u, v, 3) || printf_(v, w, 3))
        return 1;
    printf("%g %g %g\n", (double)w[0], (double)w[1], (double)w[2]);
    return read(0, w, 0) != 0;
}
C
# shellcheck disable=SC2086
gcc $flags -I. names.c names.o -lm -lpthread -o names
[ "$(./names </dev/null)" = "2 4 6" ] || fail "functions named as C's: $(cat names.h)"
grep -oE 'NAME\([^)]*' "$SRC/src/base/names.def" | LC_ALL=C sort -cu ||
    fail "names.def is not in order"

# Sizes whose products leave int64 are refused, as axe_launch refuses them, and
# others are not, however large one of them is.
cat >reach.axe <<'K'
kernel reach(in f32 X[L], out f32 Y[L], in f32 W[A], in f32 V[B])
{
    index m;
    cta (i : L by 8) Y[i*8 + m] = X[(A*B*B + 1) * (i*8 + m)];
}
K
compile reach.axe -o reach.{h,o}
cat >reach.c <<'C'
#include "reach.h"
int main(void)
{
    static float x[3] = {1, 2, 3}, y[3], w[8];
    if (reach(x, y, w, w, 3, 2, 0) || y[2] != 3)
        return 1;
    if (reach(x, y, w, w, 3, (int64_t)1 << 50, 2) || y[0] != 1 || y[1] != 0)
        return 2;
    if (reach(x, y, w, w, 3, 8, (int64_t)1 << 30) != AXE_AOT_EOVERFLOW)
        return 3;
    return reach(x, y, w, w, 3, (int64_t)1 << 31, (int64_t)1 << 31) !=
           AXE_AOT_EOVERFLOW;
}
C
# shellcheck disable=SC2086
gcc $flags -I. reach.c reach.o -lm -lpthread -o reach
./reach || fail "indices beyond int64: exit $?"

# Numbers are passed by value.
cat >number.axe <<'K'
kernel scaled(in f32 X[M], in f32 a, in i64 step, in f16 h, out f32 Y[M])
{
    index m;
    cta (i : 1) Y[m] = X[m + step] * a + f32(h);
}
K
compile number.axe -o number.{h,o}
grep -q 'int scaled(const float \*X, float a, int64_t step_, uint16_t h, float \*Y, int64_t M);' number.h ||
    fail "$(cat number.h)"
cat >number.c <<'C'
#include "number.h"
int main(void)
{
    float x[3] = {1, 2, 3}, y[3];
    return scaled(x, 2, 1, 0x3c00, y, 3) || y[0] != 5 || y[1] != 7 || y[2] != 1;
}
C
# shellcheck disable=SC2086
gcc $flags -I. number.c number.o -lm -lpthread -o number
./number || fail "numbers: exit $?"

# Every kernel there is for CPUs.
for k in $(grep -L '^ *target ' "$SRC"/kernels/*.axe); do
    compile "$k" -o all.c
    gcc -std=c11 -fsyntax-only -w all.c || fail "$k"
done

# What is wrong is said.
! CC=none compile "$SRC/kernels/gemm.axe" -o x.o 2>err || fail "no compiler"
grep -q "no C compiler 'none'" err || fail "$(cat err)"
! CC=none compile "$SRC/kernels/gemm.axe" -o x.{h,c,a} 2>err || fail "no compiler"
[ ! -e x.h ] && [ ! -e x.c ] || fail "files of a library that is not there"
! compile "$SRC/kernels/gemm.axe" -o no/x.h 2>err || fail "no folder"
! compile "$SRC/kernels/gemm.axe" gemm -o x.h other 2>err || fail "three names"
