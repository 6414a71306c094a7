/* test_convert.c - the printed helpers: conversions of every f16 and bf16, and
 * of floats at, just below and just above every rounding boundary; functions
 * against the C library in the next wider type.  Each through a kernel, vectors
 * and scalar tails alike, on the widest and the narrowest plans. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/run.h"

static const char *const machine[] = {"cpu", "cpu-avx2", "cpu-base"};

static void
check(axe_ctx *cx, axe_status st)
{
    axe_buf out = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &out, false);
    fail_msg("%s", out.text);
}

/* y = f(x) for n elements, by a kernel of this text. */
static void
run(const char *mc, const char *text, const char *tx, void *x, const char *ty,
    void *y, int64_t n)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_device        *dev;
    axe_exec          *ex;
    const axe_program *p;
    int32_t            src = axe_source_add(cx, "t.axe", text, strlen(text));
    int64_t            shape[2] = {1, n};
    axe_array          a[2] = {
                 {.name = "X", .type = tx, .rank = 2, .shape = shape, .data = x},
                 {.name = "Y", .type = ty, .rank = 2, .shape = shape, .data = y},
    };

    check(cx, axe_compile(cx, src, &(axe_compile_spec){.machine = mc},
                          AXE_STAGE_C, &p));
    check(cx, axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev));
    check(cx, axe_exec_new(cx, dev, p, &ex));
    check(cx, axe_launch(cx, ex, 2, a, 0, NULL));
    axe_exec_free(ex);
    axe_device_free(dev);
    axe_ctx_free(cx);
}

#define KERNEL(tx, ty, body)                                                   \
    "kernel k(in " tx " X[M, N], out " ty " Y[M, N]) { index n; "              \
    "cta (i : M) { Y[i, n] = " body "; } }"

static float
float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The value of a small float with e exponent and m mantissa bits. */
static double
decode(uint32_t h, int e, int m)
{
    uint32_t mant = h & ((1u << m) - 1), ex = h >> m & ((1u << e) - 1);
    int      bias = (1 << (e - 1)) - 1;
    double   v = ex == 0 ? ldexp(mant, 1 - bias - m)
                         : ldexp(mant + (1u << m), (int)ex - bias - m);

    if (ex == (1u << e) - 1)
        v = mant ? NAN : INFINITY;
    return h >> (e + m) & 1 ? -v : v;
}

static bool
same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void
widen(const char *mc, const char *text, const char *type, int e, int m)
{
    enum { N = 1 << 16 };
    uint16_t *x = malloc(N * sizeof *x);
    float    *y = malloc(N * sizeof *y);

    for (int i = 0; i < N; i++)
        x[i] = (uint16_t)i;
    run(mc, text, type, x, "f32", y, N - 3);
    for (int i = 0; i < N - 3; i++)
        if (!same(y[i], decode((uint32_t)i, e, m)))
            fail_msg("%s %s %04x gives %g, not %g", mc, type, (unsigned)i, y[i],
                     decode((uint32_t)i, e, m));
    free(x);
    free(y);
}

static void
test_widen(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(machine); i++) {
        widen(machine[i], KERNEL("f16", "f32", "X[i, n]"), "f16", 5, 10);
        widen(machine[i], KERNEL("bf16", "f32", "X[i, n]"), "bf16", 8, 7);
    }
}

/* Nearest of the finite values, ties to the even pattern; beyond the last
 * midpoint infinity.  lo: a pattern whose magnitude is at most |x|'s. */
static uint32_t
nearest(float x, uint32_t lo, int e, int m)
{
    double   a = fabs((double)x), top = decode(lo + 1, e, m);
    double   below = decode(lo, e, m);
    uint32_t inf = ((1u << e) - 1) << m;

    if (lo + 1 == inf)
        top = ldexp(1.0, 1 << (e - 1));
    if (a - below < top - a)
        return lo;
    if (a - below > top - a)
        return lo + 1;
    return lo & 1 ? lo + 1 : lo;
}

static void
narrow(const char *mc, const char *text, const char *type, int e, int m)
{
    const uint32_t inf = ((1u << e) - 1) << m;
    int64_t        n = 0;
    float         *x = malloc((size_t)inf * 10 * sizeof *x + 64);
    uint32_t      *lo = malloc((size_t)inf * 10 * sizeof *lo + 64);
    uint16_t      *y;

    for (uint32_t h = 0; h < inf; h++) {
        double top =
            h + 1 == inf ? ldexp(1.0, 1 << (e - 1)) : decode(h + 1, e, m);
        float at[5] = {(float)decode(h, e, m)};
        at[1] = nextafterf(at[0], INFINITY);
        at[2] = (float)(decode(h, e, m) / 2 + top / 2);
        at[3] = nextafterf(at[2], 0);
        at[4] = nextafterf(at[2], INFINITY);
        for (int k = 0; k < 5; k++) {
            if (isinf(at[k]))
                continue;
            x[n] = at[k];
            lo[n++] = h;
            x[n] = -at[k];
            lo[n++] = h;
        }
    }
    y = malloc((size_t)n * sizeof *y);
    run(mc, text, "f32", x, type, y, n);
    for (int64_t i = 0; i < n; i++) {
        uint32_t want = nearest(x[i], lo[i], e, m);
        want |= signbit(x[i]) ? 0x8000u : 0;
        if (y[i] != want)
            fail_msg("%s %s of %a is %04x, not %04x", mc, type, x[i],
                     (unsigned)y[i], (unsigned)want);
    }
    free(x);
    free(lo);
    free(y);
}

static void
test_narrow(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(machine); i++) {
        narrow(machine[i], KERNEL("f32", "f16", "f16(X[i, n])"), "f16", 5, 10);
        narrow(machine[i], KERNEL("f32", "bf16", "bf16(X[i, n])"), "bf16", 8,
               7);
    }
}

static void
test_specials(void **state)
{
    float x[] = {INFINITY,
                 -INFINITY,
                 NAN,
                 -NAN,
                 0.0f,
                 -0.0f,
                 float_of(0x7fffffff),
                 float_of(0xffffffff),
                 3.4e38f,
                 -3.4e38f,
                 1e-45f,
                 65519.9f,
                 65520.0f};
    enum { N = sizeof x / sizeof x[0] };
    uint16_t y[N];

    (void)state;
    for (int i = 0; i < AXE_LEN(machine); i++) {
        run(machine[i], KERNEL("f32", "f16", "f16(X[i, n])"), "f32", x, "f16",
            y, N);
        assert_int_equal(y[0], 0x7c00);
        assert_int_equal(y[1], 0xfc00);
        for (int k = 2; k < 8; k++)
            assert_true(same(decode(y[k], 5, 10), x[k]) ||
                        (isnan(x[k]) && (y[k] & 0x7c00) == 0x7c00 &&
                         (y[k] & 0x3ff) != 0));
        assert_int_equal(y[8], 0x7c00);
        assert_int_equal(y[10], 0);
        assert_int_equal(y[11], 0x7bff);
        assert_int_equal(y[12], 0x7c00);
        run(machine[i], KERNEL("f32", "bf16", "bf16(X[i, n])"), "f32", x,
            "bf16", y, N);
        assert_int_equal(y[0], 0x7f80);
        for (int k = 2; k < 8; k++)
            assert_true(same(decode(y[k], 8, 7), x[k]));
    }
}

/* Ends of an integer type, and one of its elements. */
static int64_t
whole_of(double x, double lo, int64_t hi)
{
    x = nearbyint(x);
    return isnan(x)          ? 0
           : x < lo          ? (int64_t)lo
           : x >= (double)hi ? hi
                             : (int64_t)x;
}

static int64_t
read_whole(const void *y, int bytes, bool sign, int i)
{
    int64_t v = 0;

    memcpy(&v, (const char *)y + i * bytes, (size_t)bytes);
    v = (int64_t)((uint64_t)v << (64 - 8 * bytes));
    return sign ? v >> (64 - 8 * bytes)
                : (int64_t)((uint64_t)v >> (64 - 8 * bytes));
}

static const struct whole_row {
    const char *type;
    int         bytes;
    bool        sign;
    int64_t     hi;
} whole_rows[] = {
    {"i8", 1, true, INT8_MAX},   {"u8", 1, false, UINT8_MAX},
    {"i16", 2, true, INT16_MAX}, {"u16", 2, false, UINT16_MAX},
    {"i32", 4, true, INT32_MAX}, {"u32", 4, false, UINT32_MAX},
    {"i64", 8, true, INT64_MAX},
};

/* Integers of real numbers in f32 or f64: ties, both ends, beyond, NaN. */
static void
whole(const char *mc, const struct whole_row *r, bool wide)
{
    static const double at[] = {
        0,          0.5,        1.5,        2.5,        0.49999997,
        1e-40,      126.5,      127.4,      127.5,      128.5,
        254.5,      255.5,      32767.5,    65535.5,    4194303.5,
        8388607.5,  16777217,   2147483520, 2147483647, 2147483647.5,
        2147483648, 4294967040, 4294967295, 4294967296, 4503599627370495.5,
        9.2e18,     9.3e18,     1e30,       INFINITY,   NAN};
    enum { N = 2 * AXE_LEN(at) };
    double  x[N];
    float   f[N];
    int64_t y[N + 1];
    char    text[256];

    for (int i = 0; i < N; i++) {
        x[i] = i % 2 ? -at[i / 2] : at[i / 2];
        f[i] = (float)x[i];
        x[i] = wide ? x[i] : (double)f[i];
    }
    snprintf(text, sizeof text, KERNEL("%s", "%s", "%s(X[i, n])"),
             wide ? "f64" : "f32", r->type, r->type);
    run(mc, text, wide ? "f64" : "f32", wide ? (void *)x : (void *)f, r->type,
        y, N - 1);
    for (int i = 0; i < N - 1; i++) {
        int64_t got = read_whole(y, r->bytes, r->sign, i);
        int64_t want = whole_of(x[i], r->sign ? -(double)r->hi - 1 : 0, r->hi);
        if (got != want)
            fail_msg("%s: %s(%.17g) is %lld, should be %lld", mc, r->type, x[i],
                     (long long)got, (long long)want);
    }
}

static void
test_whole(void **state)
{
    (void)state;
    for (int m = 0; m < AXE_LEN(machine); m++)
        for (int i = 0; i < AXE_LEN(whole_rows); i++) {
            whole(machine[m], &whole_rows[i], false);
            whole(machine[m], &whole_rows[i], true);
        }
}

static double
ulps(double got, double want, int digits)
{
    int e;

    if (same(got, want) || (got == 0 && fabs(want) < 1e-320))
        return 0;
    frexp(want, &e);
    if (digits == 24 && e < -125)
        e = -125;
    if (digits == 53 && e < -1021)
        e = -1021;
    return fabs(got - want) / ldexp(1.0, e - digits);
}

/* A function, the numbers it is tried on (evenly spaced, or evenly by their bit
 * patterns) and its error. */
static const struct fn_row {
    const char *name;
    bool        by_bits;
    double      lo, hi, lo64, hi64, bound; /* [ulps] */
    double (*f)(double);
    long double (*fl)(long double);
} fn_rows[] = {
    {"exp", false, -110, 95, -750, 712, 1.1, exp, expl},
    {"exp2", false, -155, 130, -1080, 1026, 1.1, exp2, exp2l},
    {"log", false, 0.3, 3, 0.3, 3, 1.1, log, logl},
    {"log", true, 1e-45, 3.4e38, 5e-324, 1.7e308, 1.1, log, logl},
    {"tanh", true, 1e-45, 25, 5e-324, 50, 2, tanh, tanhl},
    {"tanh", false, -3, 3, -3, 3, 2, tanh, tanhl},
};

static const double special[] = {
    0.0,   INFINITY, NAN,  88.72283, 88.8, 709.78271289338397,
    709.8, 1e30,     -1.0, 1024.0,   0.25, -1022.5,
    1e-3,  128.0,    1.0,  -149.5,   2.0,  -150.5,
    0.5,   1e-310,
};

enum { N_SAMPLE = 1 << 18 };

static double
sample(const struct fn_row *r, bool wide, int i)
{
    double lo = wide ? r->lo64 : r->lo, hi = wide ? r->hi64 : r->hi;
    double at = (double)i / N_SAMPLE;

    if (i < 2 * AXE_LEN(special))
        return i % 2 ? -special[i / 2] : special[i / 2];
    if (!r->by_bits)
        return lo + (hi - lo) * at;
    double x = exp2(log2(lo) + (log2(hi) - log2(lo)) * at);
    return i % 2 && *r->name == 't' ? -x : x;
}

/* What the result should be: the function in a wider type, rounded. */
static double
true_value(const struct fn_row *r, bool wide, double x)
{
    double v = wide ? (double)r->fl((long double)x) : r->f(x);

    if (!wide && fabs(v) >= 0x1.ffffffp127)
        v = v > 0 ? (double)INFINITY : -(double)INFINITY;
    return v;
}

static void
function(const char *mc, const struct fn_row *r, bool wide)
{
    double *x = malloc(N_SAMPLE * sizeof *x), *y = malloc(N_SAMPLE * sizeof *y);
    float  *f = malloc(N_SAMPLE * sizeof *f), *g = malloc(N_SAMPLE * sizeof *g);
    char    text[256], body[32];
    double  worst = 0, least = wide ? 1e-320 : 1e-50;
    const char *type = wide ? "f64" : "f32";

    for (int i = 0; i < N_SAMPLE; i++) {
        x[i] = sample(r, wide, i);
        f[i] = (float)x[i];
        x[i] = wide ? x[i] : (double)f[i];
    }
    snprintf(body, sizeof body, "%s(X[i, n])", r->name);
    snprintf(text, sizeof text, KERNEL("%s", "%s", "%s"), type, type, body);
    run(mc, text, type, wide ? (void *)x : f, type, wide ? (void *)y : g,
        N_SAMPLE - 1);
    for (int i = 0; i < N_SAMPLE - 1; i++) {
        double want = true_value(r, wide, x[i]),
               got = wide ? y[i] : (double)g[i];
        double u = fabs(want) < least && fabs(got) < least
                       ? 0
                       : ulps(got, want, wide ? 53 : 24);
        worst = u > worst ? u : worst;
        if (!(u <= r->bound))
            fail_msg("%s: %s %s(%.17g) = %.17g, should be %.17g: %g ulps", mc,
                     type, r->name, x[i], got, want, u);
    }
    print_message("%s %s: at most %.2f ulps\n", type, r->name, worst);
    free(x);
    free(y);
    free(f);
    free(g);
}

static void
test_functions(void **state)
{
    (void)state;
    for (int m = 0; m < AXE_LEN(machine); m++)
        for (int i = 0; i < 2 * AXE_LEN(fn_rows); i++)
            function(machine[m], &fn_rows[i / 2], i % 2);
}

/* Smaller and larger of two, and of a row, with a NaN on either side, first,
 * among the chains, and last: NaN if there is any. */
static void
extremes(const char *mc, const char *type, const char *body, double sign)
{
    enum { N = 211 };
    static const int at[] = {0, 1, 17, 33, 64, 150, 208, 209, N};
    float            x[N], y[N];
    double           wide[N], z[N];
    bool             is_wide = strcmp(type, "f64") == 0;
    char             text[256];

    snprintf(text, sizeof text,
             "kernel k(in %s X[M, N], out %s Y[M, N]) { index k, n; "
             "cta (i : M) { Y[i, n] = %s; } }",
             type, type, body);
    for (int k = 0; k < AXE_LEN(at); k++) {
        for (int i = 0; i < N; i++)
            wide[i] = x[i] = i == at[k] ? NAN : (float)(sign * (i * 37 % N));
        run(mc, text, type, is_wide ? (void *)wide : x, type,
            is_wide ? (void *)z : y, N - 1);
        for (int i = 0; i < N - 1; i++) {
            bool   row = strchr(body, '[') < strchr(body, '(');
            double got = is_wide ? z[i] : (double)y[i];
            bool   nan = row ? at[k] < N - 1 : i == at[k];
            double want = row || i * 37 % N > 100 ? got : sign * 100;
            if (nan != (bool)isnan(got) || (!nan && got != want))
                fail_msg("%s: %s in %s with NaN at %d gives %g at %d", mc, body,
                         type, at[k], got, i);
        }
    }
}

static void
test_extremes(void **state)
{
    static const char *const type[] = {"f32", "f64"};

    (void)state;
    for (int i = 0; i < 2 * AXE_LEN(machine); i++) {
        extremes(machine[i / 2], type[i % 2], "max(X[i, n], 100.0)", 1);
        extremes(machine[i / 2], type[i % 2], "max(100.0, X[i, n])", 1);
        extremes(machine[i / 2], type[i % 2], "min(X[i, n], -100.0)", -1);
        extremes(machine[i / 2], type[i % 2], "min(-100.0, X[i, n])", -1);
        extremes(machine[i / 2], type[i % 2], "max[k](X[i, k])", 1);
        extremes(machine[i / 2], type[i % 2], "min[k](X[i, k])", 1);
    }
}

/* Integer values keep their low bits, and the C compiler may not reason that
 * they never overflow. */
static void
test_wrap(void **state)
{
    enum { N = 45 };
    int32_t x[N], y[N], one[N];

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = i % 3 == 0   ? INT32_MAX - i / 3
               : i % 3 == 1 ? INT32_MIN + i / 3
                            : i * 65537;
    for (int m = 0; m < AXE_LEN(machine); m++) {
        run(machine[m], KERNEL("i32", "i32", "X[i, n] * X[i, n] + X[i, n]"),
            "i32", x, "i32", y, N);
        run(machine[m], KERNEL("i32", "i32", "X[i, n] + 1 > X[i, n] ? 1 : 0"),
            "i32", x, "i32", one, N);
        for (int i = 0; i < N; i++) {
            uint32_t u = (uint32_t)x[i];
            assert_int_equal((uint32_t)y[i], u * u + u);
            assert_int_equal(one[i], x[i] != INT32_MAX);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrap),     cmocka_unit_test(test_widen),
        cmocka_unit_test(test_narrow),   cmocka_unit_test(test_specials),
        cmocka_unit_test(test_whole),    cmocka_unit_test(test_functions),
        cmocka_unit_test(test_extremes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
