/* test_opencl_fn.c - the helpers of printed OpenCL C (print/opencl/fn.def) on
 * every device that is installed, compared with this library's own numbers: all
 * bits of narrow types, and floats of all exponents with the ones beside what
 * is rounded. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

#include "axe/opencl.h"
#include "base/ctx.h"
#include "ir/number.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static const struct {
    const char *name, *needs, *text;
} fns[] = {
#define FN(name, needs, text) {#name, needs, text},
#include "print/opencl/fn.def"
};

static const struct {
    axe_type    type;
    const char *name;
    int         n; /* patterns */
} narrow[] = {
    {AXE_TYPE_f16, "f16", 1 << 16},      {AXE_TYPE_bf16, "bf16", 1 << 16},
    {AXE_TYPE_f8e4m3, "f8e4m3", 1 << 8}, {AXE_TYPE_f8e5m2, "f8e5m2", 1 << 8},
    {AXE_TYPE_f8e8m0, "f8e8m0", 1 << 8},
};

static const struct {
    axe_type    type;
    const char *name, *result;
} whole[] = {
    {AXE_TYPE_i8, "i8", "int"},   {AXE_TYPE_u8, "u8", "int"},
    {AXE_TYPE_i16, "i16", "int"}, {AXE_TYPE_u16, "u16", "int"},
    {AXE_TYPE_i32, "i32", "int"}, {AXE_TYPE_u32, "u32", "u32"},
    {AXE_TYPE_i64, "i64", "i64"}, {AXE_TYPE_u64, "u64", "u64"},
};

static axe_ctx            *cx;
static axe_opencl         *cl;
static axe_opencl_program *program;
static char                cache[] = "/tmp/axe_opencl_XXXXXX";

/* All helpers but those of f64, and a kernel around each conversion. */
static const char *
text_of(void)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "typedef uchar u8; typedef char i8; typedef ushort u16;\n"
                 "typedef short i16; typedef uint u32; typedef long i64;\n"
                 "typedef ulong u64;\n");
    for (int i = 0; i < AXE_LEN(fns); i++)
        if (!strstr(fns[i].text, "double"))
            axe_puts(&b, fns[i].text);
    for (int i = 0; i < AXE_LEN(narrow); i++)
        axe_putf(&b,
                 "kernel void k_from_%s(global const u32 *x, global float *y)\n"
                 "{ int i = get_global_id(0); y[i] = from_%s(x[i]); }\n"
                 "kernel void k_to_%s(global const float *x, global u32 *y)\n"
                 "{ int i = get_global_id(0); y[i] = to_%s(x[i]); }\n",
                 narrow[i].name, narrow[i].name, narrow[i].name,
                 narrow[i].name);
    for (int i = 0; i < AXE_LEN(whole); i++)
        axe_putf(&b,
                 "kernel void k_to_%s(global const float *x, global %s *y)\n"
                 "{ int i = get_global_id(0); y[i] = nearest_%s(x[i]); }\n",
                 whole[i].name, whole[i].result, whole[i].name);
    return b.text;
}

/* y[i] = kernel(x[i]) */
static void
run(const char *kernel, int n, const void *x, size_t x_bytes, void *y,
    size_t y_bytes)
{
    axe_opencl_buffer *in, *out;
    size_t             all = (size_t)n;

    assert_int_equal(axe_opencl_alloc(cx, cl, all * x_bytes, &in), AXE_OK);
    assert_int_equal(axe_opencl_alloc(cx, cl, all * y_bytes, &out), AXE_OK);
    assert_int_equal(axe_opencl_put(cx, in, 0, x, all * x_bytes), AXE_OK);
    axe_opencl_arg  arg[] = {{.buffer = in}, {.buffer = out}};
    axe_opencl_grid grid = {kernel, n / 64, 64, 2, arg};
    if (axe_opencl_launch(cx, program, &grid, NULL) != AXE_OK)
        fail_msg("%s: %s", kernel, axe_last_error(cx));
    assert_int_equal(axe_opencl_get(cx, out, 0, y, all * y_bytes), AXE_OK);
    axe_opencl_release(in);
    axe_opencl_release(out);
}

static void
test_from(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(narrow); k++) {
        int       n = narrow[k].n;
        uint32_t *x = axe_new_array(cx, uint32_t, n);
        float    *y = axe_new_array(cx, float, n);
        for (int i = 0; i < n; i++)
            x[i] = (uint32_t)i;
        run(axe_textf(cx, "k_from_%s", narrow[k].name), n, x, 4, y, 4);
        for (int i = 0; i < n; i++) {
            double want = axe_number_get(narrow[k].type, &x[i]);
            if (isnan(want) ? !isnan(y[i]) : y[i] != (float)want)
                fail_msg("%s %#x: %g, not %g", narrow[k].name, x[i],
                         (double)y[i], want);
        }
    }
}

enum { N_FLOAT = 1 << 18 };

/* All exponents and signs, with few and with random bits of their fractions. */
static float *
floats(void)
{
    float   *x = axe_new_array(cx, float, N_FLOAT);
    uint32_t seed = 1;

    for (int i = 0; i < N_FLOAT; i++) {
        uint32_t bits = (uint32_t)(i >> 9) << 23, k = (uint32_t)i & 511;
        seed = seed * 1664525u + 1013904223u;
        bits |=
            k < 256 ? (k & 63) << 17 | (((k >> 6) - 1) & 0x1ffff) : seed >> 9;
        bits &= (uint32_t)(i >> 9) << 23 | 0x7fffff;
        memcpy(&x[i], &bits, 4);
    }
    return x;
}

static void
test_to(void **state)
{
    const float *x = floats();
    uint32_t    *y = axe_new_array(cx, uint32_t, N_FLOAT);

    (void)state;
    for (int k = 0; k < AXE_LEN(narrow); k++) {
        run(axe_textf(cx, "k_to_%s", narrow[k].name), N_FLOAT, x, 4, y, 4);
        for (int i = 0; i < N_FLOAT; i++) {
            uint32_t want = 0;
            double   got;
            axe_number_put(narrow[k].type, &want, (double)x[i]);
            got = axe_number_get(narrow[k].type, &y[i]);
            if (isnan(x[i]) ? !isnan(got) : y[i] != want)
                fail_msg("%s of %a: %#x, not %#x", narrow[k].name, (double)x[i],
                         y[i], want);
        }
    }
}

/* The nearest integer of the type, ties to even, ends beyond them; of NaN 0. */
static uint64_t
nearest(axe_type t, double x)
{
    bool     sign = axe_type_table[t].cls == AXE_CLASS_INT;
    int      bits = axe_type_table[t].bits - sign;
    uint64_t most = ~UINT64_C(0) >> (64 - bits),
             all = sign ? 2 * most + 1 : most;

    x = rint(x);
    if (isnan(x) || (x < 0 && !sign))
        return 0;
    if (x >= ldexp(1, bits))
        return most;
    if (x < 0)
        return x <= -ldexp(1, bits) ? most + 1 : (uint64_t)(int64_t)x & all;
    return (uint64_t)x;
}

static void
test_whole(void **state)
{
    const float *x = floats();
    int64_t     *y = axe_new_array(cx, int64_t, N_FLOAT);

    (void)state;
    for (int k = 0; k < AXE_LEN(whole); k++) {
        size_t bytes = whole[k].result[1] == '6' ? 8 : 4;
        run(axe_textf(cx, "k_to_%s", whole[k].name), N_FLOAT, x, 4, y, bytes);
        for (int i = 0; i < N_FLOAT; i++) {
            uint64_t    want = nearest(whole[k].type, (double)x[i]), got = 0;
            const char *at = (const char *)y + (size_t)i * bytes;
            int64_t     size = axe_type_bytes(whole[k].type, 1);
            memcpy(&got, at, (size_t)size);
            if (got != want)
                fail_msg("%s of %a: %#llx, not %#llx", whole[k].name,
                         (double)x[i], (unsigned long long)got,
                         (unsigned long long)want);
        }
    }
}

static int device; /* that tests run on */

static int
begin(void **state)
{
    (void)state;
    cx = axe_ctx_new();
    return axe_opencl_new(cx,
                          &(axe_opencl_spec){.number = device, .cache = cache},
                          &cl) != AXE_OK ||
           axe_opencl_build(cx, cl, text_of(), "", NULL, &program) != AXE_OK;
}

static int
end(void **state)
{
    (void)state;
    axe_opencl_program_free(program);
    axe_opencl_free(cl);
    axe_ctx_free(cx);
    return 0;
}

int
main(void)
{
    static const char       own[] = AXE_SOURCE_DIR "/build/opencl/vendors";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from),
        cmocka_unit_test(test_to),
        cmocka_unit_test(test_whole),
    };
    const axe_opencl_facts *all;
    int                     n = 0, bad = 0;
    axe_ctx                *list;

    if (SANITIZED) {
        puts("skipped: runtimes keep memory to the end, leaks to a sanitizer");
        return 77;
    }
    list = axe_ctx_new();
    if (access(own, R_OK) == 0)
        setenv("OCL_ICD_VENDORS", own, 0);
    if (axe_opencl_list(list, &n, &all) != AXE_OK || n == 0) {
        printf("skipped: %s\n", axe_last_error(list));
        axe_ctx_free(list);
        return 77;
    }
    if (!mkdtemp(cache))
        return 1;
    for (device = 0; device < n; device++) {
        printf("on %s of %s\n", all[device].name, all[device].platform);
        fflush(stdout);
        bad += cmocka_run_group_tests(tests, begin, end);
    }
    bad += system(axe_textf(list, "rm -rf %s", cache)) != 0;
    axe_ctx_free(list);
    return bad > 0;
}
