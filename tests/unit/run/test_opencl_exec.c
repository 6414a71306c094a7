/* test_opencl_exec.c - what is asked of OpenCL for programs of ours, by a
 * library that answers what it is told to (tests/fake/opencl.c): which
 * arguments a kernel gets, what is given back, whose code is kept. */
#define _XOPEN_SOURCE 700

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/compile.h"
#include "axe/opencl.h"

static char        cache[] = "/tmp/axe_opencl_XXXXXX";
static axe_ctx    *cx;
static axe_opencl *cl;
static int (*fake_count)(const char *name);
static uint64_t (*fake_value)(int i);
static uint64_t (*fake_items)(void);

static int
open_device(void **state)
{
    (void)state;
    cx = axe_ctx_new();
    return axe_opencl_new(cx, &(axe_opencl_spec){.cache = cache}, &cl) !=
           AXE_OK;
}

static int
close_device(void **state)
{
    (void)state;
    axe_opencl_free(cl);
    axe_ctx_free(cx);
    unsetenv("FAKE_ARGS");
    unsetenv("FAKE_ITEMS");
    return 0;
}

static void
ok(axe_status st)
{
    if (st != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
}

/* Whose driver made the code decides, too. */
static void
code_is_of_a_driver(void **state)
{
    static const char *const about[] = {"FAKE_NONE", "FAKE_DRIVER", "FAKE_NAME",
                                        "FAKE_PLATFORM", "FAKE_VERSION"};

    (void)state;
    for (int i = 0; i < AXE_LEN(about); i++) {
        setenv(about[i], "another", 1);
        for (int k = 0; k < 2; k++) {
            axe_opencl         *other;
            axe_opencl_program *p = NULL;
            ok(axe_opencl_new(cx, &(axe_opencl_spec){.cache = cache}, &other));
            ok(axe_opencl_build(cx, other, "of a driver", NULL, NULL, &p));
            if (axe_opencl_program_cached(p) != (k == 1))
                fail_msg("%s: %d", about[i], k);
            axe_opencl_program_free(p);
            axe_opencl_free(other);
        }
        unsetenv(about[i]);
    }
}

/* Grids of a program get its arguments in order, and take their time together.
 */
static void
programs_are_launched(void **state)
{
    static const char text[] =
        "kernel k(in f32 a, in f32 X[M, N], out f32 Y[M])"
        "{ index m, n; global f32 part[cores, N];"
        "  cta (c : cores) part[c, n] = f32(c) * a * X[c, n];"
        "  cta persistent (i : M by 2) Y[i*2 + m] = part[0, 0] + X[i*2 + m, "
        "0]; }";
    float              a = 2, x[90] = {0}, y[30];
    int64_t            shape[] = {30, 3};
    const axe_program *p;
    axe_opencl_exec   *e;
    double             seconds, each[3] = {0};
    axe_array          array[] = {{"a", "f32", 0, NULL, NULL, &a},
                                  {"X", "f32", 2, shape, NULL, x},
                                  {"Y", "f32", 1, shape, NULL, y}};
    int                made = fake_count("CreateBuffer"),
        gone = fake_count("ReleaseMemObject"),
        events = fake_count("ReleaseEvent"),
        got = fake_count("EnqueueReadBuffer"),
        kernels = fake_count("ReleaseKernel");

    (void)state;
    setenv("FAKE_ARGS", "7", 1); /* a, X, Y, part, M, N, cores */
    setenv("FAKE_ITEMS", "256", 1);
    ok(axe_compile(cx, axe_source_add(cx, "k.axe", text, strlen(text)),
                   &(axe_compile_spec){.machine = "opencl"}, AXE_STAGE_C, &p));
    ok(axe_opencl_exec_new(cx, cl, p, &e));
    ok(axe_opencl_run(cx, e, AXE_LEN(array), array, 0, NULL, &seconds));
    assert_true(seconds > 3.9e-6 && seconds < 4.1e-6);
    axe_ctx *other = axe_ctx_new();
    ok(axe_opencl_run(other, e, AXE_LEN(array), array, 0, NULL, NULL));
    axe_ctx_free(other);
    assert_true(fake_value(0) == 0x40000000);
    assert_true(fake_value(4) == 30 && fake_value(5) == 3);
    assert_true(fake_value(6) == 3 && fake_items() == 3 * 256);
    axe_opencl_exec_free(e);
    assert_int_equal(fake_count("CreateBuffer") - made, 6);
    assert_int_equal(fake_count("ReleaseMemObject") - gone, 6);
    assert_int_equal(fake_count("ReleaseEvent") - events, 4);
    assert_int_equal(fake_count("EnqueueReadBuffer") - got, 2);
    assert_int_equal(fake_count("ReleaseKernel") - kernels, 2);
    ok(axe_opencl_exec_new(cx, cl, p, &e));
    ok(axe_opencl_time(cx, e, AXE_LEN(array), array, 0, NULL, AXE_LEN(each),
                       each));
    for (int i = 0; i < AXE_LEN(each); i++)
        assert_true(each[i] > 3.9e-6 && each[i] < 4.1e-6);
    axe_opencl_exec_free(e);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_device, close_device)
    const struct CMUnitTest tests[] = {
        TEST(code_is_of_a_driver),
        TEST(programs_are_launched),
    };
    void *fake;
    int   bad;
    char  line[64];

    setenv("AXE_OPENCL", FAKE_OPENCL, 1);
    fake = dlopen(FAKE_OPENCL, RTLD_NOW);
    if (!fake || !mkdtemp(cache))
        return 1;
    *(void **)&fake_count = dlsym(fake, "fake_count");
    *(void **)&fake_value = dlsym(fake, "fake_value");
    *(void **)&fake_items = dlsym(fake, "fake_items");
    bad = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(line, sizeof line, "rm -rf %s", cache);
    bad += system(line) != 0;
    return bad > 0;
}
