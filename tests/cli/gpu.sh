#!/usr/bin/env bash
# A GPU's kernels ahead of time, linked with a driver that writes down what it
# is asked, and what the command says where there is no GPU, no NVRTC.
set -u
fake=$(dirname "$AXE")/tests/libfake_cuda.so
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache
bad=0

fail() {
    echo "FAILED: $*"
    bad=1
}

# What `axe $1...` says, with exit status 1.
says() {
    local want=$1
    shift
    "$AXE" "$@" >out 2>&1
    [ $? = 1 ] && grep -q "$want" out || {
        fail "axe $*: no '$want'"
        cat out
    }
}

add="$SRC/kernels/elementwise.axe add"
# shellcheck disable=SC2086
AXE_CUDA=/none AXE_NVRTC=/none says "needs its driver, but there is no /none" \
    run $add -t sm_80 --random M=4 N=8
# shellcheck disable=SC2086
AXE_NVRTC=/none says "compiled by NVRTC, but there is no /none" \
    compile $add -t sm_80 -o k.cubin
# shellcheck disable=SC2086
says "are for a GPU: give --target" compile $add -o k.cubin
says "hold one kernel" compile "$SRC/kernels/elementwise.axe" -t sm_80 -o k.cu

# shellcheck disable=SC2086
"$AXE" compile $add -t sm_80 -o probe.cubin >out 2>&1 || {
    grep -q "there is no libnvrtc" out && exit 77
    fail "compile"
    cat out
}

# NVRTC puts handlers of its own in front: a signal ends the command all the same.
"$AXE" compile "$SRC/kernels/gemm_sm90.axe" -o long.cubin >out 2>&1 &
sleep 1
kill -TERM $! 2>/dev/null
for _ in {1..100}; do kill -0 $! 2>/dev/null && sleep 0.1; done
kill -KILL $! 2>/dev/null && fail "SIGTERM while NVRTC compiles"

# shellcheck disable=SC2086
"$AXE" compile $add -t sm_80 -o k.cu k.cubin k.c k.h || fail "all four"
"$AXE" compile $add -t sm_80 -o l.cubin && cmp -s k.cubin l.cubin ||
    fail "the same text gives other code"
head -c 4 k.cubin | grep -q ELF || fail "k.cubin is no ELF file"
grep -q "__global__" k.cu || fail "k.cu has no kernel"

# A driver with sanitizers in it wants a program that has them, too.
case $(ldd "$fake") in *asan*) exit $bad ;; esac

cat >main.c <<'EOF'
#include <stdio.h>

#include "k.h"

const char *fake_log(void);

int
main(void)
{
    static _Alignas(16) float x[33 * 136];
    int bad = add(x, x, NULL, 33, 136, NULL);
    int near = add(x, x + 1, x, 32, 136, NULL); /* read by 16 bytes */
    int none = add(NULL, NULL, NULL, 0, 136, NULL);
    int good = add(x, x, x, 33, 136, NULL);
    int large = add(x, x, x, INT64_C(1) << 31, 1, NULL);

    printf("%d %d %d %d %d\n%s", bad, near, none, good, large, fake_log());
    return 0;
}
EOF
cc=${CC:-cc}
$cc -std=c11 -Wall -Wextra -Werror -O1 main.c k.c "$fake" -lpthread -o main \
    2>err || {
    fail "the C does not compile"
    cat err
}
LD_LIBRARY_PATH=$(dirname "$fake") ./main >got 2>&1 || fail "main ends badly"
cat >want <<'EOF'
1 1 0 0 2
library of an ELF
kernel add
attribute 8 = 0
launch 9x1x1 of 256x1x1, 0 bytes
EOF
cmp -s got want || {
    fail "launches"
    diff want got
}

# The same for any size.
"$AXE" compile "$SRC/kernels/elementwise.axe" add -t sm_90a --wide -o k.c k.h ||
    fail "--wide"
"$AXE" compile "$SRC/kernels/elementwise.axe" add -t cpu-avx2 --wide >/dev/null 2>err &&
    fail "--wide for a CPU"
grep -q '^error: --wide is for GPUs, and this is for a CPU$' err &&
    grep -q '^  help: leave it out' err || fail "--wide for a CPU: $(cat err)"
$cc -std=c11 -Wall -Wextra -Werror -O1 main.c k.c "$fake" -lpthread -o main ||
    fail "the wide C does not compile"
LD_LIBRARY_PATH=$(dirname "$fake") ./main >got 2>&1 || fail "main ends badly"
grep -q '^1 1 0 0 0$' got && grep -q 'launch 536870912x1x1' got || {
    fail "wide launches"
    cat got
}

# Loops and branches around launches are the host's.
cat >loops.axe <<'EOF'
kernel loops(inout f32 X[M], in i32 steps)
{
    index m;

    for (t : steps) {
        cta (i : M by 4) X[i*4 + m] = X[i*4 + m] + f32(t);
        if (t % 2 == 1) {
            for (u : t..2*t) cta (i : M by 1) X[i] = 2 * X[i] - f32(u);
        } else
            cta (i : M by 8) X[i*8 + m] = 3 * X[i*8 + m];
    }
}
EOF
"$AXE" compile loops.axe -t sm_90a -o k.c k.h || fail "loops"
cat >main.c <<'EOF'
#include <stdio.h>

#include "k.h"

const char *fake_log(void);
long long fake_value(int i);

int
main(void)
{
    static float x[8];
    int bad = loops(x, -1, 8, NULL), good = loops(x, 4, 8, NULL);

    printf("%d %d: %lld %lld %lld %lld\n%s", bad, good, fake_value(2), fake_value(3),
           fake_value(4), fake_value(5), fake_log());
    return 0;
}
EOF
$cc -std=c11 -Wall -Wextra -Werror -O1 main.c k.c "$fake" -lpthread -o main \
    2>err || {
    fail "the C of loops does not compile"
    cat err
}
LD_LIBRARY_PATH=$(dirname "$fake") ./main >got 2>&1 || fail "loops ends badly"
[ "$(sed -n 's/x1x1 of .*//; s/^launch //p' got | tr '\n' ' ')" = \
    "2 1 2 8 2 1 2 8 8 8 " ] && grep -q '^1 0: 8 4 3 2$' got || {
    fail "launches of loops"
    cat got
}
[ "$(grep '^launch' got | sed 's/.*bytes//' | uniq -c | tr -s ' \n' ' ')" = \
    " 1 9 , with 6 = 1 " ] || {
    fail "all launches of a call but the first may begin early"
    cat got
}

# Only behind a launch of the same call: not behind one that has no CTAs, nor
# behind memory that is set for the map of an empty tensor; never on sm_80.
cat >early.axe <<'EOF'
kernel early(in f32 A[R, N], in f32 B[M, N], inout f32 X[M], inout f32 Y[R])
{
    index m, r, n;

    cta (i : R by 4) Y[i*4 + r] = 2 * Y[i*4 + r];
    cta (i : M by 64) {
        reg f32 x[64] = 0;
        pipeline ring[3] { shared f32 b[64, 32]; }
        for (t : cdiv(N, 32)) {
            produce ring ring.b[m, n] = B[i*64 + m, t*32 + n];
            consume ring x[m] += sum[n](ring.b[m, n]);
        }
        X[i*64 + m] = x[m];
    }
    cta (i : M by 8) X[i*8 + m] = 3 * X[i*8 + m];
}
EOF
cat >main.c <<'EOF'
#include <stdio.h>

#include "e.h"

const char *fake_log(void);

int
main(void)
{
    static _Alignas(16) float x[64 * 64];
    int all = early(x, x, x, x, 8, 64, 64, NULL);
    int second = early(x, x, x, x, 0, 64, 64, NULL);
    int set = early(x, x, x, x, 8, 0, 64, NULL);

    printf("%d %d %d\n%s", all, second, set, fake_log());
    return 0;
}
EOF
for on in 80 90a; do
    "$AXE" compile early.axe -t sm_$on -o e.c e.h >out 2>&1 || {
        fail "early"
        cat out
    }
    $cc -std=c11 -Wall -Wextra -Werror -O1 main.c e.c "$fake" -lpthread \
        -o main || fail "the C of early does not compile"
    LD_LIBRARY_PATH=$(dirname "$fake") ./main >got 2>&1 || fail "early ends badly"
    said=$(sed -nE 's/^launch ([0-9]*)x.* bytes/\1/p; /^set/p; 1p' got |
        tr '\n' ' ')
    [ $on = 80 ] && want="0 0 0 2 1 8 1 8 2 1 8 " ||
        want="0 0 0 2 1, with 6 = 1 8, with 6 = 1 1 8, with 6 = 1 2 set 16 bytes 1 8, with 6 = 1 "
    [ "$said" = "$want" ] || {
        fail "what may begin early on sm_$on: '$said'"
        cat got
    }
done

# Tensor maps, sizes that none can hold, a grid that stays on 4 SMs.
"$AXE" compile "$SRC/kernels/gemm_sm90.axe" -t sm_90a -o g.c g.h ||
    fail "gemm_sm90"
grep -A 1 'axe_encode(&map\[2\]' g.c | grep -q ' 1, &call' ||
    fail "an empty result is written where empty arguments are read"
cat >main.c <<'EOF'
#include <stdio.h>

#include "g.h"

const char *fake_log(void);

int
main(void)
{
    static uint16_t x[1 << 20];
    int odd = gemm_sm90(x, x, x, 300, 201, 520, NULL);
    int good = gemm_sm90(x, x, x, 300, 200, 520, NULL) |
               gemm_sm90(x, x, x, 300, 200, 520, NULL);
    int empty = gemm_sm90(NULL, NULL, x, 304, 0, 528, NULL);
    int none = gemm_sm90(NULL, x, NULL, 0, 208, 528, NULL);

    printf("%d %d %d %d\n%s", odd, good, empty, none, fake_log());
    return 0;
}
EOF
$cc -std=c11 -Wall -Wextra -Werror -O1 main.c g.c "$fake" -lpthread -o main ||
    fail "the C of gemm_sm90 does not compile"
LD_LIBRARY_PATH=$(dirname "$fake") ./main >got 2>&1 || fail "main ends badly"
for line in "^1 0 0 0$" \
    "^map type 6 rank 2 swizzle 3 64 of 1 by 0 128 of 1 by 16$" \
    "^map type 6 rank 2 swizzle 3 64 of 528 by 0 64 of 304 by 1056$" \
    "^map type 6 rank 2 swizzle 3 64 of 200 by 0 128 of 300 by 400$" \
    "^map type 6 rank 2 swizzle 3 64 of 200 by 0 128 of 520 by 400$" \
    "^launch [68]x1x1 of 384x1x1, [0-9]* bytes$"; do
    grep -q "$line" got || {
        fail "gemm_sm90: no $line"
        cat got
    }
done

# The second of two like calls makes no maps: 3 of the first, 3 of the empty one.
[ "$(grep -c '^map type' got) $(grep -c '^launch' got)" = "6 3" ] || {
    fail "gemm_sm90: maps are made again"
    cat got
}

# What boxes come from is zeros where there are no elements, and never where others go to: also of a tensor of the
# kernel's own.
"$AXE" compile "$SRC/examples/overlap_sm90.axe" -t sm_90a -o o.c o.h || fail "overlap_sm90"
[ "$(grep -A 1 'axe_encode(&map' o.c | grep -o '[01], &call' | tr -d '\n, &cal')" = 001001 ] ||
    fail "maps of empty tensors are elsewhere"

# A layer of experts: one launch of CTAs that are all there at once.  Where an array must begin, whatever is in a branch that
# asks an element.
"$AXE" compile "$SRC/kernels/moe_sm90.axe" -t sm_90a -o m.c m.h >out 2>&1 || {
    fail "moe_sm90"
    cat out
}
cat >main.c <<'EOF'
#include <stdio.h>

#include "m.h"

const char *fake_log(void);

int
main(void)
{
    static _Alignas(128) uint16_t x[1 << 16];
    static int32_t row[256], expert[2], at[60];
    static float w[60];
    int near = moe_sm90(x + 1, row, expert, x, x, at, w, x, 30, 72, 256, 2, 3, 136, 2, NULL);
    int good = moe_sm90(x, row, expert, x, x, at, w, x, 30, 72, 256, 2, 3, 136, 2, NULL);

    printf("%d %d\n%s", near, good, fake_log());
    return 0;
}
EOF
$cc -std=c11 -Wall -Wextra -Werror -O1 main.c m.c "$fake" -lpthread -o main ||
    fail "the C of moe_sm90 does not compile"
LD_LIBRARY_PATH=$(dirname "$fake") ./main >got 2>&1 || fail "moe_sm90 ends badly"
[ "$(sed -nE '1p; s/^launch ([0-9]*)x.* bytes/\1/p' got | tr '\n' ' ')" = "1 0 8, with 2 = 1 " ] || {
    fail "moe_sm90: $(sed -nE '1p; s/^launch ([0-9]*)x.* bytes/\1/p' got | tr '\n' ' ')"
    cat got
}

# Arrays may be called what the host's variables are.
cat >names.axe <<'EOF'
kernel names(in f32 map[M, N], in f32 grid[M, N], in f32 step[M, N],
             in f32 extent[M, N], inout f32 temp[M, N], inout f32 blocks[M, N])
{
    index m, n;
    global f32 own[M, N];
    cta (i : M by 64) {
        pipeline ring[3] { shared f32 x[64, 32]; }
        for (t : N by 32) {
            produce ring { ring.x[m, n] = map[i*64 + m, t*32 + n]; }
            consume ring {
                temp[i*64 + m, t*32 + n] += ring.x[m, n] + grid[i*64 + m, t*32 + n];
            }
        }
    }
    cta (i : M by 4) own[i*4 + m, n] = step[i*4 + m, n] + extent[i*4 + m, n];
    cta (i : M by 4) blocks[i*4 + m, n] += own[i*4 + m, n];
}
EOF
"$AXE" compile names.axe -t sm_90a -o n.c n.h >out 2>&1 || {
    fail "names"
    cat out
}
$cc -std=c11 -Wall -Wextra -Wshadow -Werror -O1 -c n.c || fail "the names of n.c"
exit $bad
