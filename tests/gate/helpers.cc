/* helpers.cc - helpers of printed CUDA C against what they are defined to be.
 * helpers.inc holds their texts; the few intrinsics that they use are here. */
#include <cmath>
#include <cstdio>
#include <cstring>

typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;

static int
__float_as_int(float f)
{
    int i;

    memcpy(&i, &f, sizeof i);
    return i;
}

static float
__int_as_float(int i)
{
    float f;

    memcpy(&f, &i, sizeof f);
    return f;
}

static float
__double2float_rz(double d)
{
    float f = (float)d;

    return fabs((double)f) > fabs(d) ? nextafterf(f, 0) : f;
}

static float
__fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static float
__saturatef(float a)
{
    return a > 1 ? 1 : a > 0 ? a : 0;
}

static int
__popc(u32 a)
{
    return __builtin_popcount(a);
}

static int
__popcll(u64 a)
{
    return __builtin_popcountll(a);
}

static int
__clz(int a)
{
    return a ? __builtin_clz((u32)a) : 32;
}

static int
__clzll(i64 a)
{
    return a ? __builtin_clzll((u64)a) : 64;
}

static i64
__mul64hi(i64 a, i64 b)
{
    return (i64)((__int128)a * b >> 64);
}

static u64
__umul64hi(u64 a, u64 b)
{
    return (u64)((unsigned __int128)a * b >> 64);
}

/* The hardware's functions, as far off as they may be: ex2 by 2^-22, rcp by one
 * unit in the last place; without subnormals. */
static int off;

static float
ex2(float x)
{
    double d = exp2((double)x) * (1 + off * 0x1p-22);

    return d < 0x1p-126 ? 0 : (float)d;
}

static float
rcp(float x)
{
    float y = 1 / x;

    if (y != 0 && fabsf(y) < INFINITY && off != 0)
        y = nextafterf(y, off > 0 ? INFINITY : 0);
    return fabsf(y) < 0x1p-126f ? 0 : y;
}

#include "helpers.inc"

static long n_bad;

static void
expect(bool ok, const char *what, double at)
{
    if (!ok && n_bad++ < 20)
        printf("%s at %a\n", what, at);
}

/* A byte of f8 with so many bits of mantissa, finite. */
static double
value(int a, int bits)
{
    int bias = bits == 3 ? 7 : 15, e = (a & 127) >> bits;
    int m = a & ((1 << bits) - 1);

    return ldexp(e ? (1 << bits) + m : m, (e ? e : 1) - bias - bits);
}

/* The nearest byte, ties to even; beyond the largest, that. */
static u32
nearest(float f, int bits)
{
    u32    sign = std::signbit(f) ? 0x80 : 0, best = 0;
    int    top = bits == 3 ? 0x7e : 0x7b;
    double a = fabs((double)f), least = INFINITY;

    if (std::isnan(f))
        return sign | 0x7f;
    if (a >= value(top, bits))
        return sign | (u32)top;
    for (int i = 0; i <= top; i++) {
        double d = fabs(value(i, bits) - a);
        if (d < least || (d == least && i % 2 == 0)) {
            least = d;
            best = (u32)i;
        }
    }
    return sign | best;
}

static u64
next(u64 *r)
{
    *r ^= *r << 13;
    *r ^= *r >> 7;
    *r ^= *r << 17;
    return *r;
}

/* All that f16 holds, so all ties of the narrower types, and others. */
static void
check_f8(u64 *r)
{
    for (int a = 0; a < 256; a++) {
        float g = from_f8e4m3((u32)a);
        expect((a & 127) == 127
                   ? g != g
                   : g == (a > 127 ? -value(a, 3) : value(a, 3)),
               "from_f8e4m3", a);
    }
    for (int i = 0; i < 200000; i++) {
        u32   e = 0x3a + (u32)(next(r) % 14);
        u32   b = (u32)(next(r) & 0x80ffffff) | e << 24;
        float f = __int_as_float((int)(i % 2 ? b : b & 0xfffc0000));
        if (i % 97 == 0)
            f = __int_as_float((int)next(r));
        expect(to_f8e4m3(f) == nearest(f, 3), "to_f8e4m3", f);
        expect(to_f8e5m2(f) == nearest(f, 2), "to_f8e5m2", f);
    }
}

/* Up to a power of two, the ends for what is beyond them. */
static u32
power_above(float f)
{
    u32 code = 0;

    if (f != f)
        return 255;
    while (code < 254 && ldexp(1, (int)code - 127) < (double)f)
        code++;
    return code;
}

static void
check_powers(u64 *r)
{
    for (int a = 0; a < 255; a++)
        expect(from_f8e8m0((u32)a) == ldexp(1, a - 127), "from_f8e8m0", a);
    expect(std::isnan(from_f8e8m0(255)), "from_f8e8m0", 255);
    for (int i = 0; i < 20000; i++) {
        u32   b = (u32)next(r);
        float f = __int_as_float((int)(i % 3 ? b : b & 0xff800000 | (i & 1)));
        expect(to_f8e8m0(f) == power_above(f), "to_f8e8m0", f);
        expect(pack_f8e8m0(1, f) == (127 | power_above(f) << 8), "pack_f8e8m0",
               f);
    }
}

static void
check_floats(u64 *r)
{
    for (int i = 0; i < 200000; i++) {
        double d = ldexp((double)(i64)next(r), (int)(next(r) % 60) - 90);
        float  z = __double2float_rz(d), o = f32_odd(d);
        expect(__float_as_int(o) == (__float_as_int(z) | (z != d)), "f32_odd",
               d);
        float  f = (float)d;
        double step = ldexp(1, ilogb(f) - 10), t = from_tf32(to_tf32(f));
        expect(t == step * nearbyint(f / step), "to_tf32", f);
    }
    expect(from_bf16(0x3f80) == 1 && from_bf16(0xc000) == -2, "from_bf16", 0);
    expect(std::isnan(from_tf32(to_tf32(NAN))), "to_tf32", NAN);
}

/* Is y within n units of 2^-23 of what it should be, or both too small? */
static bool
near(double y, double exact, double n)
{
    return y == exact || fabs(y - exact) <= n * 0x1p-23 * fabs(exact) ||
           (y >= 0 && y < 0x1p-125 && exact < 0x1p-125);
}

static void
check_exp(u64 *r)
{
    for (int i = 0; i < 300000; i++) {
        float x = (float)ldexp((double)(i64)next(r), (int)(next(r) % 9) - 64);
        float least = exp((double)x) < 0x1.fffffep127 ? 0 : INFINITY;
        off = i % 3 - 1;
        expect(exp32(x) >= least &&
                   (least > 0 || near(exp32(x), exp((double)x),
                                      fabsf(x) < 20 ? 4 : 5.5)),
               "exp32", x);
    }
    for (off = -1; off < 2; off++) {
        expect(exp32(-INFINITY) == 0 && exp32(INFINITY) == INFINITY, "exp32",
               INFINITY);
        expect(exp32(1e30f) == INFINITY && exp32(-1e30f) == 0, "exp32", 1e30);
        expect(std::isnan(exp32(NAN)), "exp32", NAN);
        expect(near(exp32(0), 1, 3.5) && near(exp32(-1e-40f), 1, 3.5), "exp32",
               0);
    }
}

static void
check_quotients(u64 *r)
{
    for (int i = 0; i < 300000; i++) {
        float a = (float)ldexp((double)(i64)next(r), (int)(next(r) % 80) - 100);
        float b = (float)ldexp(1 + (double)(next(r) >> 12) * 0x1p-52,
                               (int)(next(r) % 247) - 120);
        double exact = (double)a / b;
        off = i % 3 - 1;
        if (fabs(exact) < 0x1p-126 || fabs(exact) > 0x1p127)
            continue;
        expect(b > 0x1p125 || near(quotient_mid(a, b), exact, 2),
               "quotient_mid", b);
        expect(near(quotient_up(a, b), exact, b > 0x1p125 ? 4 : 2),
               "quotient_up", b);
    }
    off = 0;
    expect(quotient_up(3, INFINITY) == 0 && quotient_mid(0, 2) == 0,
           "quotient_up", INFINITY);
    expect(near(quotient_up(0x1p127f, 0x1.8p127f), 2 / 3.0, 4), "quotient_up",
           0x1p127);
}

static void
check_integers()
{
    u32 x[4] = {};

    for (int a = -20; a <= 20; a++)
        for (int b = -6; b <= 6; b++) {
            int q = b ? (int)floor((double)a / b) : 0;
            expect(floor_div(a, b) == q, "floor_div", a);
            expect(floor_mod(a, b) == a - q * b, "floor_mod", a);
        }
    expect(floor_div<i64>(-0x7fffffffffffffffll - 1, -1) < 0, "floor_div", 0);
    for (int i = 0; i < 16; i++)
        put8(x, i, (u32)(i * 37 & 255));
    for (int i = 0; i < 16; i++)
        expect(get8(x, i) == (u32)(i * 37 & 255), "get8", i);
    for (int i = 7; i >= 0; i--)
        put16(x, i, (u32)(i * 9377 & 0xffff));
    for (int i = 0; i < 8; i++)
        expect(get16(x, i) == (u32)(i * 9377 & 0xffff), "get16", i);
}

/* Shifts beyond a type, and bits of types that an int holds. */
static void
check_bits(void)
{
    for (int n = -1; n < 70; n++) {
        bool in = 0 <= n && n < 32;
        expect(shl<int>(5, n) == (in ? (int)(5u << n) : 0), "shl", n);
        expect(shr<int>(-5, n) == (in ? -5 >> n : -1), "shr", n);
        expect(shr<int>(0, n) == 0, "shr of 0", n);
        expect(shr<int>(7, n) == (in ? 7 >> n : 0), "shr", n);
        expect(shr<i64>(-5, n) == (0 <= n && n < 64 ? -5ll >> n : -1), "shr", n);
    }
    expect(shr<u64>(~0ull, 64) == 0 && shr<u32>(~0u, 32) == 0, "shr", 64);
    expect(popcount<8>(-1) == 8 && popcount<16>(-1) == 16, "popcount", -1);
    expect(popcount<64>(-1ll) == 64 && popcount<32>(-1) == 32, "popcount", -1);
    expect(clz<8>(0) == 8 && clz<8>(-1) == 0 && clz<16>(1) == 15, "clz", 8);
    expect(clz<64>(0ll) == 64 && clz<32>(1) == 31, "clz", 64);
    expect(mulhi<8>(-128, -128) == 64 && mulhi<8>(-1, 1) == -1, "mulhi", 8);
    expect(mulhi<8>(255u, 255u) == 254 && mulhi<32>(-1, 1) == -1, "mulhi", 8);
    expect(mulhi<64>(-1ll, 1ll) == -1 && mulhi<64>(~0ull, 2ull) == 1, "mulhi",
           64);
}

int
main()
{
    u64 r = 88172645463325252ull;

    check_f8(&r);
    check_powers(&r);
    check_floats(&r);
    check_integers();
    check_bits();
    check_exp(&r);
    check_quotients(&r);
    printf("%ld wrong\n", n_bad);
    return n_bad > 0;
}
