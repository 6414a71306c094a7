/* test_gpu_launch.c - what the driver of a GPU is asked for launches: CTAs,
 * arguments, memory, order. */
#define _XOPEN_SOURCE 700

#include "fake_gpu.h"

static void
launch_is_what_the_grid_says(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 32], y[10 * 32];
    int64_t       shape[2] = {10, 32};
    axe_array     a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    fake_clear();
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    assert_int_equal(axe_gpu_run(cx, e, 2, a, 0, NULL), AXE_OK);
    assert_string_equal(fake_log(), "load an ELF\n"
                                    "function k\n"
                                    "attribute 8 = 1024\n"
                                    "map type 7 rank 2 swizzle 3 32 of 32 by 0"
                                    " 4 of 10 by 128\n"
                                    "launch 3x1x1 of 128x1x1, 1024 bytes\n");
    assert_int_equal(fake_value(3), 10);
    assert_int_equal(fake_value(4), 32);
    axe_ctx *other = axe_ctx_new();
    assert_int_equal(axe_gpu_run(other, e, 2, a, 0, NULL), AXE_OK);
    axe_ctx_free(other);
    double once = 0;
    assert_int_equal(axe_gpu_time(cx, e, 2, a, 0, NULL, 1, &once), AXE_OK);
    assert_true(once == 1e-3);
    axe_gpu_exec_free(e);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    assert_true(axe_gpu_exec_cached(e));
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

/* A persistent grid is as many CTAs as fit at once: 8 on a GPU of 4 SMs, less
 * what does not fill a cluster, and as many clusters as the driver says. */
static void
persistent_grid_fits(void **state)
{
    static const struct {
        int         cluster, rows;
        const char *clusters; /* that the driver says fit, if it does */
        const char *blocks;
    } row[] = {{1, 3200, NULL, "launch 8x1x1 "},
               {3, 3200, NULL, "launch 6x1x1 "},
               {1, 10, NULL, "launch 3x1x1 "},
               {2, 3200, "1", "launch 2x1x1 "},
               {3, 3200, "1", "launch 3x1x1 "},
               {3, 3200, "1", "clusters of 3 of 6 CTAs of "},
               {3, 3200, "0", "launch 6x1x1 "},
               {1, 3200, "1", "launch 8x1x1 "}};
    axe_ctx      *cx = axe_ctx_new();
    static float  x[3200 * 32], y[3200 * 32];
    axe_gpu      *g;
    axe_gpu_exec *e;

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    for (size_t i = 0; i < AXE_LEN(row); i++) {
        int64_t   shape[2] = {row[i].rows, 32};
        axe_array a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
        axe_program *p = make_program(cx);
        axe_grid    *grid = p->lowered->grid;

        grid->persistent = true;
        grid->cluster = row[i].cluster;
        if (row[i].clusters)
            setenv("FAKE_CLUSTERS", row[i].clusters, 1);
        fake_clear();
        assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
        assert_int_equal(axe_gpu_run(cx, e, 2, a, 0, NULL), AXE_OK);
        if (!strstr(fake_log(), row[i].blocks))
            fail_msg("no \"%s\" in:\n%s", row[i].blocks, fake_log());
        axe_gpu_exec_free(e);
        unsetenv("FAKE_CLUSTERS");
    }
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

/* What is accessed by 16 bytes begins at 16, where it is so accessed. */
static void
arrays_begin_where_they_can(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 32 + 16], y[10 * 32];
    int64_t       shape[2] = {10, 32};
    float        *even = x + (16 - (uintptr_t)x % 16) % 16 / sizeof *x;
    axe_array a[2] = {make_array("X", even, shape), make_array("Y", y, shape)};

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    axe_program    *p = make_program(cx);
    const axe_node *n = axe_var_node(cx, AXE_NOWHERE, p->kernel->size[1]);
    axe_begin       begin = {p->kernel->param[0], 16,
                             axe_node2(cx, AXE_OP_eq,
                                       axe_node2(cx, AXE_OP_mod, n, number(cx, 4)),
                                       number(cx, 0))};
    p->lowered->grid->n_map = 0;
    p->lowered->grid->n_begin = 1;
    p->lowered->grid->begin = &begin;
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    a[0].data = even + 1;
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_EARG);
    check_said(cx, "X: its data begins at no multiple of 16 bytes, and kernel "
                   "k accesses 16 at a time where ");
    shape[1] = 31;
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

/* Launches that may be in flight at the same time have tensors of their own. */
static void
launches_have_own_tensors(void **state)
{
    static const char with[] =
        "kernel k(in f32 X[M, N], out f32 Y[M, N]) {\n"
        "    index m, n;\n"
        "    global f32 t[M, N];\n"
        "    cta (i : M by 4) Y[i*4 + m, n] = X[i*4 + m, n];\n"
        "}\n";
    static const char its[] =
        "extern \"C\" __global__ void __launch_bounds__(128, 1)\n"
        "k(const float *X, float *Y, float *t, long long M, long long N)\n"
        "{ Y[0] = X[0] + t[0] + M + N; }\n";
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 32], y[10 * 32];
    int64_t       shape[2] = {10, 32};
    axe_array     a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
    int           one, two;
    long long     at[2];

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    axe_program *p = make_program_of(cx, with, its);
    p->lowered->grid->n_map = 0;
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, &one), AXE_OK);
    at[0] = fake_value(2);
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, &two), AXE_OK);
    at[1] = fake_value(2);
    assert_true(at[0] != 0 && at[1] != 0 && at[0] != at[1]);
    assert_int_equal(axe_gpu_wait(cx, g, &one), AXE_OK);
    assert_int_equal(axe_gpu_wait(cx, g, &two), AXE_OK);
    setenv("FAKE_FAIL", "MemAllocAsync:2", 1);
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, &one), AXE_EDEVICE);
    unsetenv("FAKE_FAIL");
    check_said(cx, "1280 bytes of the kernel's own tensors");
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

/* Loops and branches around launches; the turns are arguments behind the sizes.
 */
static void
host_loops_launch(void **state)
{
    static const char loops[] =
        "kernel k(inout f32 X[M], in f32 T[N]) {\n"
        "    index m;\n"
        "    for (t : N) {\n"
        "        cta (i : M by 4) X[i*4 + m] = X[i*4 + m] + f32(t);\n"
        "        if (t % 2 == 1) {\n"
        "            for (u : t) cta (i : M by 1) X[i] = 2 * X[i] - f32(u - "
        "t);\n"
        "        } else cta (i : M by 8) X[i*8 + m] = 3 * X[i*8 + m];\n"
        "    }\n"
        "}\n";
    /* the CTAs of each launch, in order */
    static const int         want[] = {2, 1, 2, 8, 2, 1, 2, 8, 8, 8};
    static const int         last[] = {8, 4, 3, 2}; /* M, N, t, u */
    static const char *const early[] = {", 0 bytes\n",
                                        ", 0 bytes, with 6 = 1\n"};
    axe_ctx                 *cx = axe_ctx_new();
    axe_gpu                 *g;
    axe_gpu_exec            *e;
    static float             x[8], s[4];
    int64_t                  m[1] = {8}, n[1] = {4};
    axe_array                a[2] = {
                       {.name = "X", .type = "f32", .rank = 1, .shape = m, .data = x},
                       {.name = "T", .type = "f32", .rank = 1, .shape = n, .data = s}};
    axe_compile_spec   spec = {.kernel = "k", .machine = "sm_90a"};
    const axe_program *p;
    double             seconds;

    (void)state;
    need_nvrtc(cx);
    int32_t at = axe_source_add(cx, "k.axe", loops, strlen(loops));
    assert_int_equal(axe_compile(cx, at, &spec, AXE_STAGE_C, &p), AXE_OK);
    g = new_gpu(cx);
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    fake_clear();
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    const char *log = fake_log();
    for (int i = 0; i < AXE_LEN(want); i++) {
        log = strstr(log, "launch ");
        assert_non_null(log);
        assert_int_equal(atoi(log += strlen("launch ")), want[i]);
        /* behind a launch of the same call it may begin early */
        assert_true(!strncmp(log + strcspn(log, ","), early[i > 0],
                             strlen(early[i > 0])));
    }
    assert_null(strstr(log, "launch "));
    for (int i = 0; i < AXE_LEN(last); i++)
        assert_int_equal(fake_value(2 + i), last[i]);
    /* calls that are timed: two to warm up, and one */
    fake_clear();
    assert_int_equal(axe_gpu_time(cx, e, 2, a, 0, NULL, 1, &seconds), AXE_OK);
    assert_int_equal(count_of(fake_log(), "launch "), 3 * AXE_LEN(want));
    assert_int_equal(count_of(fake_log(), ", 0 bytes\n"), 3);
    n[0] = 0;
    fake_clear();
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    assert_null(strstr(fake_log(), "launch "));
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

static const char early_text[] =
    "kernel k(in f32 A[R], in f32 B[M, N], inout f32 X[M], inout f32 Y[R]) {\n"
    "    index m, r, n;\n"
    "    cta (i : R by 4) Y[i*4 + r] = 2 * Y[i*4 + r] + A[i*4 + r];\n"
    "    cta (i : M by 64) {\n"
    "        reg f32 x[64] = 0;\n"
    "        pipeline ring[3] { shared f32 b[64, 32]; }\n"
    "        for (t : cdiv(N, 32)) {\n"
    "            produce ring ring.b[m, n] = B[i*64 + m, t*32 + n];\n"
    "            consume ring x[m] += sum[n](ring.b[m, n]);\n"
    "        }\n"
    "        X[i*64 + m] = x[m];\n"
    "    }\n"
    "    cta (i : M by 8) X[i*8 + m] = 3 * X[i*8 + m];\n"
    "}\n";

/* 'e' for each launch that may begin early, "... bytes, with 6 = 1", '-' for
 * others. */
static const char *
early_ones(axe_ctx *cx)
{
    axe_buf b = {.cx = cx};

    for (const char *s = fake_log(); (s = strstr(s, "launch ")); s++)
        axe_putc(&b, s[strcspn(s, "\n") - 1] == '1' ? 'e' : '-');
    axe_putc(&b, '\0');
    return b.text;
}

/* Not behind memory that is filled for the map of an empty tensor, which is so
 * once. */
static void
early_behind_own_launches(void **state)
{
    axe_ctx                   *cx = axe_ctx_new();
    axe_gpu                   *g;
    axe_gpu_exec              *e;
    static _Alignas(128) float x[4][64];
    double                     seconds[2];
    int64_t                    r[1] = {8}, m[1] = {64}, mn[2] = {64, 0};
    axe_array                  a[4] = {{"A", "f32", 1, r, NULL, x[0]},
                                       {"B", "f32", 2, mn, NULL, x[1]},
                                       {"X", "f32", 1, m, NULL, x[2]},
                                       {"Y", "f32", 1, r, NULL, x[3]}};
    axe_compile_spec           spec = {.kernel = "k", .machine = "sm_90a"};
    const axe_program         *p;
    int32_t at = axe_source_add(cx, "k.axe", early_text, strlen(early_text));

    (void)state;
    need_nvrtc(cx);
    assert_int_equal(axe_compile(cx, at, &spec, AXE_STAGE_C, &p), AXE_OK);
    g = new_gpu(cx);
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    fake_clear();
    assert_int_equal(axe_gpu_launch(cx, e, 4, a, 0, NULL, NULL), AXE_OK);
    assert_string_equal(early_ones(cx), "--e");
    fake_clear();
    assert_int_equal(axe_gpu_time(cx, e, 4, a, 0, NULL, 2, seconds), AXE_OK);
    assert_string_equal(early_ones(cx), "-ee-ee-ee-ee");
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_is_what_the_grid_says),
        cmocka_unit_test(persistent_grid_fits),
        cmocka_unit_test(arrays_begin_where_they_can),
        cmocka_unit_test(launches_have_own_tensors),
        cmocka_unit_test(host_loops_launch),
        cmocka_unit_test(early_behind_own_launches),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
