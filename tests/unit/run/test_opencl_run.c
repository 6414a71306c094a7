/* test_opencl_run.c - texts of OpenCL C on every device that is installed here:
 * PoCL's and Intel's CPU runtimes, where tools/setup could have them.  Each
 * test runs on each device.  Skipped where there is none, and under ASan, which
 * takes what runtimes keep for leaks. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/compile.h"
#include "axe/opencl.h"

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

static char        cache[] = "/tmp/axe_opencl_XXXXXX";
static axe_ctx    *cx;
static axe_opencl *cl;

static const char text[] =
    "kernel void scale(global const float *x, global float *y, float a, int "
    "n)\n"
    "{ int i = get_global_id(0); if (i < n) y[i] = a * x[i]; }\n"
    "kernel void sum(global const int *x, global int *y, local int *t, int n)\n"
    "{\n"
    "    int i = get_local_id(0), m = get_local_size(0);\n"
    "    t[i] = get_global_id(0) < n ? x[get_global_id(0)] : 0;\n"
    "    for (int s = m / 2; s > 0; s /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (i < s) t[i] += t[i + s];\n"
    "    }\n"
    "    if (i == 0) y[get_group_id(0)] = t[0];\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void fixed(global int *y) { y[get_global_id(0)] = 7; }\n";

static void
check_said(const char *part)
{
    axe_buf b = {.cx = cx};

    axe_diags_print(cx, &b, false);
    if (!b.text || !strstr(b.text, part))
        fail_msg("no \"%s\" in:\n%s", part, b.text ? b.text : "");
}

static axe_opencl_program *
build(const char *what, const char *options)
{
    axe_opencl_program *p = NULL;
    const char         *log;

    if (axe_opencl_build(cx, cl, what, options, &log, &p) != AXE_OK) {
        axe_buf b = {.cx = cx};
        axe_diags_print(cx, &b, false);
        fail_msg("%s", b.text);
    }
    return p;
}

static axe_opencl_buffer *
alloc(size_t bytes)
{
    axe_opencl_buffer *b = NULL;

    assert_int_equal(axe_opencl_alloc(cx, cl, bytes, &b), AXE_OK);
    return b;
}

/* -------------------------------------------------------------------- runs */

static void
odd_sizes(void **state)
{
    static const int    sizes[] = {0, 1, 63, 64, 65, 1000};
    static float        x[1000], y[1001];
    axe_opencl_program *p = build(text, NULL);
    axe_opencl_buffer  *from = alloc(sizeof x), *to = alloc(sizeof y);
    float               a = 3;

    (void)state;
    for (int i = 0; i < AXE_LEN(x); i++)
        x[i] = (float)i - 400;
    assert_int_equal(axe_opencl_put(cx, from, 0, x, sizeof x), AXE_OK);
    for (int s = 0; s < AXE_LEN(sizes); s++) {
        int            n = sizes[s];
        axe_opencl_arg arg[] = {{.buffer = from},
                                {.buffer = to},
                                {.value = &a, .bytes = sizeof a},
                                {.value = &n, .bytes = sizeof n}};
        double         seconds = -1;
        memset(y, 0, sizeof y);
        assert_int_equal(axe_opencl_put(cx, to, 0, y, sizeof y), AXE_OK);
        assert_int_equal(
            axe_opencl_launch(cx, p,
                              &(axe_opencl_grid){"scale", (n + 63) / 64, 64,
                                                 AXE_LEN(arg), arg},
                              &seconds),
            AXE_OK);
        assert_true(n == 0 ? seconds == 0 : seconds > 0 && seconds < 10);
        assert_int_equal(axe_opencl_get(cx, to, 0, y, sizeof y), AXE_OK);
        for (int i = 0; i < AXE_LEN(y); i++)
            assert_true(y[i] == (i < n ? 3 * x[i] : 0));
    }
    axe_opencl_release(from);
    axe_opencl_release(to);
    axe_opencl_program_free(p);
}

static void
local_memory_and_barriers(void **state)
{
    enum { N = 1000, ITEMS = 128, GROUPS = 8 };
    static int          x[N], y[GROUPS];
    axe_opencl_program *p = build(text, "-cl-std=CL1.2");
    axe_opencl_buffer  *from = alloc(sizeof x), *to = alloc(sizeof y);
    int                 n = N;
    axe_opencl_arg      arg[] = {{.buffer = from},
                                 {.buffer = to},
                                 {.bytes = ITEMS * sizeof *x},
                                 {.value = &n, .bytes = sizeof n}};

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = i * i % 97;
    assert_int_equal(axe_opencl_put(cx, from, 0, x, sizeof x), AXE_OK);
    assert_int_equal(
        axe_opencl_launch(
            cx, p, &(axe_opencl_grid){"sum", GROUPS, ITEMS, 4, arg}, NULL),
        AXE_OK);
    assert_int_equal(axe_opencl_wait(cx, cl), AXE_OK);
    /* the last half alone: buffers are copied from anywhere */
    assert_int_equal(
        axe_opencl_get(cx, to, sizeof y / 2, &y[GROUPS / 2], sizeof y / 2),
        AXE_OK);
    for (int g = GROUPS / 2; g < GROUPS; g++) {
        int want = 0;
        for (int i = g * ITEMS; i < (g + 1) * ITEMS && i < N; i++)
            want += x[i];
        assert_int_equal(y[g], want);
    }
    axe_opencl_release(from);
    axe_opencl_release(to);
    axe_opencl_program_free(p);
}

/* Every width that the device says it has is what kernels then get. */
static void
widths(void **state)
{
    static const char shape[] =
        "__attribute__((intel_reqd_sub_group_size(W)))\n"
        "kernel void k(global int *y)\n"
        "{\n"
        "    int i = get_sub_group_local_id();\n"
        "    y[2 * get_global_id(0)] = sub_group_reduce_add(i);\n"
        "    y[2 * get_global_id(0) + 1] = sub_group_shuffle_xor(i, 1);\n"
        "}\n";
    const axe_opencl_facts *f = axe_opencl_about(cl);
    static int              y[2 * 128];

    (void)state;
    if (axe_opencl_need(cx, cl, "width shuffle") != AXE_OK) {
        check_said("has no width: a kernel says how many lanes");
        skip();
    }
    assert_true(f->n_width > 0);
    for (int i = 0; i < f->n_width; i++) {
        int         w = f->width[i];
        const char *want = axe_textf(cx, "sg%d", w);
        assert_int_equal(axe_opencl_need(cx, cl, want), AXE_OK);
        axe_opencl_program *p =
            build(shape, axe_textf(cx, "-cl-std=CL3.0 -DW=%d", w));
        axe_opencl_buffer *b = alloc(sizeof y);
        axe_opencl_arg     arg = {.buffer = b};
        assert_int_equal(
            axe_opencl_launch(cx, p, &(axe_opencl_grid){"k", 1, 128, 1, &arg},
                              NULL),
            AXE_OK);
        assert_int_equal(axe_opencl_get(cx, b, 0, y, sizeof y), AXE_OK);
        for (int j = 0; j < 128; j++) {
            assert_int_equal(y[2 * j], w * (w - 1) / 2);
            assert_int_equal(y[2 * j + 1], (j % w) ^ 1);
        }
        axe_opencl_release(b);
        axe_opencl_program_free(p);
    }
}

static void
programs_are_kept(void **state)
{
    axe_opencl_program *p = build(text, "-DKEPT=1");
    axe_opencl_buffer  *b = alloc(128 * sizeof(int));
    axe_opencl_arg      arg = {.buffer = b};
    int                 y[128];

    (void)state;
    assert_false(axe_opencl_program_cached(p));
    axe_opencl_program_free(p);
    p = build(text, "-DKEPT=2");
    assert_false(axe_opencl_program_cached(p));
    axe_opencl_program_free(p);
    p = build(text, "-DKEPT=1");
    assert_true(axe_opencl_program_cached(p));
    assert_int_equal(
        axe_opencl_launch(cx, p, &(axe_opencl_grid){"fixed", 2, 64, 1, &arg},
                          NULL),
        AXE_OK);
    assert_int_equal(axe_opencl_get(cx, b, 0, y, sizeof y), AXE_OK);
    for (int i = 0; i < 128; i++)
        assert_int_equal(y[i], 7);
    axe_opencl_release(b);
    axe_opencl_program_free(p);
}

/* ------------------------------------------------------------------ errors */

static void
refused_text(void **state)
{
    axe_opencl_program *p;

    (void)state;
    assert_int_equal(axe_opencl_build(cx, cl,
                                      "kernel void k(global int *y)\n"
                                      "{ y[0] = no_such_name; }\n",
                                      NULL, NULL, &p),
                     AXE_ETOOL);
    check_said("refuses the text: CL_BUILD_PROGRAM_FAILURE (-11)");
    check_said("no_such_name");
}

static void
wrong_launches(void **state)
{
    const axe_opencl_facts *f = axe_opencl_about(cl);
    axe_opencl_program     *p = build(text, NULL);
    axe_opencl_buffer      *b = alloc(4096);
    int                     n = 1;
    axe_opencl_arg          one = {.buffer = b};
    axe_opencl_arg          arg[] = {{.buffer = b},
                                     {.buffer = b},
                                     {.bytes = (size_t)f->local_bytes + 1},
                                     {.value = &n, .bytes = sizeof n}};

    (void)state;
#define LAUNCH(...)                                                            \
    axe_opencl_launch(cx, p, &(axe_opencl_grid){__VA_ARGS__}, NULL)
    assert_int_equal(LAUNCH("nothing", 1, 1, 1, &one), AXE_ENAME);
    check_said("the program has no kernel `nothing`");
    check_said("scale");
    assert_int_equal(LAUNCH("fixed", 1, 64, 2, arg), AXE_EARG);
    check_said("kernel fixed: 2 arguments, but it takes 1");
    assert_int_equal(LAUNCH("fixed", 1, 0, 1, &one), AXE_EARG);
    check_said("kernel fixed: 1 groups of 0 items");
    assert_int_equal(LAUNCH("fixed", -1, 64, 1, &one), AXE_EARG);
    assert_int_equal(LAUNCH("fixed", 1, f->most_items + 1, 1, &one),
                     AXE_EUNSUPPORTED);
    check_said("use smaller groups");
    assert_int_equal(LAUNCH("fixed", INT64_MAX / 2, 64, 1, &one),
                     AXE_EUNSUPPORTED);
    check_said("are more than can be counted");
    assert_int_equal(LAUNCH("sum", 1, 16, 4, arg), AXE_EUNSUPPORTED);
    check_said("bytes of local memory; a group on ");
    arg[2].bytes = 64;
    arg[3].bytes = 1;
    assert_int_equal(LAUNCH("sum", 1, 16, 4, arg), AXE_EDEVICE);
    check_said("kernel sum: argument 3: CL_INVALID_ARG_SIZE (-51)");
    assert_int_equal(LAUNCH("fixed", 2, 32, 1, &one), AXE_EDEVICE);
    check_said("starting kernel fixed: CL_INVALID_WORK_GROUP_SIZE (-54)");
    check_said("the kernel asks for another size of groups");
    axe_opencl_release(b);
    axe_opencl_program_free(p);
}

static void
wrong_memory(void **state)
{
    const axe_opencl_facts *f = axe_opencl_about(cl);
    axe_opencl_buffer      *b = alloc(100), *none = alloc(0);
    char                    c[100] = {0};

    (void)state;
    assert_int_equal(axe_opencl_alloc(cx, cl, (size_t)f->most_bytes + 1, &none),
                     AXE_EDEVICE);
    check_said("at once, and has");
    assert_int_equal(axe_opencl_put(cx, b, 1, c, 100), AXE_EARG);
    check_said("axe_opencl_put: 100 bytes at 1 are not all in a buffer of 100");
    assert_int_equal(axe_opencl_get(cx, b, SIZE_MAX, c, 1), AXE_EARG);
    assert_int_equal(axe_opencl_get(cx, b, 99, c, 2), AXE_EARG);
    assert_int_equal(axe_opencl_put(cx, b, 100, NULL, 0), AXE_OK);
    assert_int_equal(axe_opencl_get(cx, none, 0, NULL, 0), AXE_OK);
    axe_opencl_release(b);
    axe_opencl_release(none);
}

static void
missing_features(void **state)
{
    axe_opencl *far;

    (void)state;
    assert_int_equal(axe_opencl_need(cx, cl, ""), AXE_OK);
    assert_int_equal(axe_opencl_need(cx, cl, "f64"), AXE_OK);
    assert_int_equal(axe_opencl_need(cx, cl, "f64 f128"), AXE_ENAME);
    check_said("`f128` is no feature of an OpenCL device");
    assert_int_equal(axe_opencl_need(cx, cl, "sg1024"), AXE_EUNSUPPORTED);
    check_said("has no sg1024: sub-groups of 1024 lanes");
    check_said("no device here has it");
    assert_int_equal(axe_opencl_need(cx, cl, "matrix f64"), AXE_EUNSUPPORTED);
    assert_int_equal(axe_opencl_new(cx, &(axe_opencl_spec){.number = 99}, &far),
                     AXE_EDEVICE);
    check_said("there is no OpenCL device 99");
    assert_int_equal(axe_opencl_new(cx, &(axe_opencl_spec){.number = -1}, &far),
                     AXE_EDEVICE);
}

/* ----------------------------------------------------------------- threads */

enum { N_CALLER = 2, N_TURN = 100, N_START = 30, N_MOST = 600 };

/* One of several threads, which has arguments of its own. */
typedef struct caller {
    pthread_t           thread;
    axe_opencl_program *p; /* of all */
    float               a;
    int                 n, wrong;
} caller;

static int
count_wrong(const caller *c, const float *x, const float *y, int64_t step)
{
    int wrong = 0;

    for (int i = 0; i < N_MOST; i++)
        wrong += y[i] != (i < c->n ? c->a * x[i * step % c->n] : 0);
    return wrong;
}

static void *
launch_often(void *user)
{
    caller            *c = user;
    axe_ctx           *own = axe_ctx_new();
    axe_opencl_buffer *from = NULL, *to = NULL;
    float              x[N_MOST], y[N_MOST] = {0};

    for (int i = 0; i < N_MOST; i++)
        x[i] = (float)i;
    c->wrong = axe_opencl_alloc(own, cl, sizeof x, &from) != AXE_OK ||
               axe_opencl_alloc(own, cl, sizeof y, &to) != AXE_OK ||
               axe_opencl_put(own, from, 0, x, sizeof x) != AXE_OK;
    axe_opencl_arg arg[] = {{.buffer = from},
                            {.buffer = to},
                            {.value = &c->a, .bytes = sizeof c->a},
                            {.value = &c->n, .bytes = sizeof c->n}};
    for (int i = 0; i < N_TURN && c->wrong == 0; i++) {
        axe_opencl_grid grid = {"scale", N_MOST / 60, 60, 4, arg};
        memset(y, 0, sizeof y);
        c->wrong = axe_opencl_put(own, to, 0, y, sizeof y) != AXE_OK;
        for (int k = 0; k < N_START && c->wrong == 0; k++)
            c->wrong = axe_opencl_launch(own, c->p, &grid, NULL) != AXE_OK;
        c->wrong += axe_opencl_get(own, to, 0, y, sizeof y) != AXE_OK ||
                    count_wrong(c, x, y, 1) > 0;
    }
    axe_opencl_release(from);
    axe_opencl_release(to);
    axe_ctx_free(own);
    return NULL;
}

/* A program lives in a ctx, so each thread has its own; by turns with indices
 * of 32 bits and of 64, which are built when first asked for. */
static void *
run_often(void *user)
{
    static const char kernel[] =
        "kernel k(in f32 a, in f32 X[M], in f32 W[N, K], out f32 Y[M])"
        "{ index m; cta (i : M by 8)"
        "  Y[i*8 + m] = a * X[(i*8 + m) * (N + 1) % M] + W[i, 0]; }";
    caller            *c = user;
    axe_ctx           *own = axe_ctx_new();
    axe_opencl_exec   *e = NULL;
    const axe_program *p;
    float              x[N_MOST], y[N_MOST];
    int64_t m = c->n, far[2] = {INT64_C(1) << 31, 0}, near[2] = {2, 0};
    int32_t source = axe_source_add(own, "k.axe", kernel, strlen(kernel));

    for (int i = 0; i < N_MOST; i++)
        x[i] = (float)i;
    c->wrong =
        axe_compile(own, source, &(axe_compile_spec){.machine = "opencl"},
                    AXE_STAGE_C, &p) != AXE_OK ||
        axe_opencl_exec_new(own, cl, p, &e) != AXE_OK;
    for (int i = 0; i < N_TURN / 10 && c->wrong == 0; i++) {
        int64_t  *shape = i % 2 ? far : near;
        axe_array array[] = {{"a", "f32", 0, NULL, NULL, &c->a},
                             {"X", "f32", 1, &m, NULL, x},
                             {"W", "f32", 2, shape, NULL, NULL},
                             {"Y", "f32", 1, &m, NULL, y}};
        memset(y, 0, sizeof y);
        c->wrong = axe_opencl_run(own, e, AXE_LEN(array), array, 0, NULL,
                                  NULL) != AXE_OK ||
                   count_wrong(c, x, y, shape[0] + 1) > 0;
    }
    axe_opencl_exec_free(e);
    axe_ctx_free(own);
    return NULL;
}

static void
call_side_by_side(void *(*what)(void *), axe_opencl_program *p)
{
    caller c[N_CALLER];

    for (int i = 0; i < N_CALLER; i++) {
        c[i] = (caller){.p = p, .a = (float)(i + 2), .n = N_MOST - 77 * i};
        assert_int_equal(pthread_create(&c[i].thread, NULL, what, &c[i]), 0);
    }
    for (int i = 0; i < N_CALLER; i++)
        assert_int_equal(pthread_join(c[i].thread, NULL), 0);
    for (int i = 0; i < N_CALLER; i++)
        assert_int_equal(c[i].wrong, 0);
}

static void
threads_share(void **state)
{
    axe_opencl_program *p = build(text, NULL);

    (void)state;
    call_side_by_side(launch_often, p);
    axe_opencl_program_free(p);
    setenv("AXE_OPENCL_OPTIONS", "-cl-opt-disable", 1); /* built sooner */
    call_side_by_side(run_often, NULL);
    unsetenv("AXE_OPENCL_OPTIONS");
}

/* ------------------------------------------------------------------- tests */

static int device; /* that tests run on */

static int
open_device(void **state)
{
    axe_opencl_spec spec = {.number = device, .cache = cache};

    (void)state;
    cx = axe_ctx_new();
    return axe_opencl_new(cx, &spec, &cl) != AXE_OK;
}

static int
close_device(void **state)
{
    (void)state;
    axe_opencl_free(cl);
    axe_ctx_free(cx);
    return 0;
}

int
main(void)
{
    static const char own[] = AXE_SOURCE_DIR "/build/opencl/vendors";
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_device, close_device)
    const struct CMUnitTest tests[] = {
        TEST(odd_sizes),     TEST(local_memory_and_barriers),
        TEST(widths),        TEST(programs_are_kept),
        TEST(refused_text),  TEST(wrong_launches),
        TEST(wrong_memory),  TEST(missing_features),
        TEST(threads_share),
    };
    axe_ctx                *own_cx;
    const axe_opencl_facts *all;
    int                     n = 0, bad = 0;

    if (SANITIZED) {
        puts("skipped: runtimes keep memory to the end, leaks to a sanitizer");
        return 77;
    }
    own_cx = axe_ctx_new();
    if (access(own, R_OK) == 0)
        setenv("OCL_ICD_VENDORS", own, 0);
    if (axe_opencl_list(own_cx, &n, &all) != AXE_OK || n == 0) {
        printf("skipped: %s\n", axe_last_error(own_cx));
        return 77;
    }
    if (!mkdtemp(cache))
        return 1;
    for (device = 0; device < n; device++) {
        printf("on %s of %s\n", all[device].name, all[device].platform);
        fflush(stdout);
        bad += cmocka_run_group_tests(tests, NULL, NULL);
    }
    bad += system(axe_textf(own_cx, "rm -rf %s", cache)) != 0;
    axe_ctx_free(own_cx);
    return bad > 0;
}
