/* test_gpu.c - the way to a GPU without one: a driver that writes down what it
 * is asked (tests/fake/cuda.c), and NVRTC where it is installed. */
#define _XOPEN_SOURCE 700

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "lower/lower.h"
#include "plan/plan.h"
#include "print/aot/gpu.h"
#include "run/gpu/gpu_int.h"
#include "run/gpu/nvrtc.h"
#include "run/program.h"

static char cache[] = "/tmp/axe_gpu_XXXXXX";

static const char *(*fake_log)(void);
static long long (*fake_value)(int i);
static int (*fake_depth)(void);
static void (*fake_clear)(void);

static bool
has_nvrtc(axe_ctx *cx)
{
    const char *id;
    axe_mark    m = axe_ctx_mark(cx);
    bool        has = axe_nvrtc_id(cx, &id) == AXE_OK;

    axe_ctx_release(cx, m);
    return has;
}

/* ----------------------------------------------------------------- programs */

static const char text[] =
    "kernel k(in f32 X[M, N], out f32 Y[M, N]) {\n"
    "    index m, n;\n"
    "    cta (i : M by 4) Y[i*4 + m, n] = X[i*4 + m, n];\n"
    "}\n";

static const char code[] =
    "struct alignas(64) TMap { unsigned char b[128]; };\n"
    "extern \"C\" __global__ void __launch_bounds__(128, 1)\n"
    "k(const __grid_constant__ TMap m0, const float *X, float *Y,\n"
    "  long long M, long long N) { Y[0] = X[0] + m0.b[0] + M + N; }\n";

static const axe_simt    simt = {.lanes = 32, .n_sm = 132};
static const axe_machine machine = {.name = "sm_90a",
                                    .family = "nvidia",
                                    .kind = AXE_KIND_simt,
                                    .language = AXE_LANGUAGE_cuda,
                                    .arch = "sm_90a",
                                    .simt = &simt};

static const axe_node *
number(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

/* A program with one grid by hand: ceil(M/4) CTAs, a map of X. */
static axe_program *
make_program_of(axe_ctx *cx, const char *kernel, const char *printed)
{
    const axe_module *module;
    const axe_kernel *k;
    axe_inst          inst = {.kernel = "k", .machine = "nvidia"};
    int32_t      source = axe_source_add(cx, "k.axe", kernel, strlen(kernel));
    axe_program *p = axe_new(cx, axe_program);
    axe_plan    *plan = axe_new(cx, axe_plan);
    axe_lowered *l = axe_new(cx, axe_lowered);
    axe_map     *map = axe_new(cx, axe_map);

    assert_int_equal(axe_module_parse(cx, source, &module), AXE_OK);
    assert_int_equal(axe_module_instantiate(cx, module, &inst, &k), AXE_OK);
    const axe_node *m = axe_var_node(cx, AXE_NOWHERE, k->size[0]);
    const axe_node *n = axe_var_node(cx, AXE_NOWHERE, k->size[1]);
    *map = (axe_map){.tensor = k->param[0],
                     .rank = 2,
                     .size = {n, m},
                     .stride = {number(cx, 1), n},
                     .box = {32, 4},
                     .swizzle = 128};
    *plan = (axe_plan){.kernel = k, .machine = &machine};
    l->plan = plan;
    l->n_grid = l->n_host = 1;
    l->grid = axe_new(cx, axe_grid);
    l->host = axe_new(cx, axe_host);
    *l->grid =
        (axe_grid){.name = "k",
                   .n_thread = 128,
                   .lanes = 32,
                   .cluster = 1,
                   .blocks = axe_node2(cx, AXE_OP_cdiv, m, number(cx, 4)),
                   .shared_bytes = 1024,
                   .n_map = 1,
                   .map = map};
    *p = (axe_program){
        .kernel = k, .plan = plan, .lowered = l, .c_text = printed};
    return p;
}

static axe_program *
make_program(axe_ctx *cx)
{
    return make_program_of(cx, text, code);
}

static axe_array
make_array(const char *name, float *data, int64_t *shape)
{
    return (axe_array){name, "f32", 2, shape, NULL, data};
}

static void
check_said(axe_ctx *cx, const char *part)
{
    axe_buf b = {.cx = cx};

    axe_diags_print(cx, &b, false);
    if (!b.text || !strstr(b.text, part))
        fail_msg("no \"%s\" in:\n%s", part, b.text ? b.text : "");
}

/* -------------------------------------------------------------------- tests */

static void
device_is_described(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;

    (void)state;
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    assert_string_equal(axe_gpu_name(g), "Fake GPU");
    assert_string_equal(axe_gpu_machine(g), "sm_90a");
    assert_int_equal(axe_gpu_n_sm(g), 4);
    axe_gpu_free(g);
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.number = 3}, &g),
                     AXE_EDEVICE);
    check_said(cx, "there is no GPU 3: the driver knows 1");
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

static void
old_device_is_refused(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;

    (void)state;
    setenv("FAKE_CC", "70", 1);
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){0}, &g), AXE_EUNSUPPORTED);
    check_said(cx, "compute capability 7.0");
    unsetenv("FAKE_CC");
    axe_ctx_free(cx);
}

/* What is for no generation alone runs on later ones. */
static void
code_runs_on_later_ones(void **state)
{
    static const struct {
        const char *arch;
        bool        runs;
    } row[] = {{"sm_80", true},  {"sm_90", true},  {"sm_90a", true},
               {"sm_91", false}, {"sm_95", false}, {"sm_80a", false}};
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;

    (void)state;
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    for (size_t i = 0; i < AXE_LEN(row); i++) {
        axe_program  *p = make_program(cx);
        axe_plan     *plan = axe_new(cx, axe_plan);
        axe_machine   mc = machine;
        axe_gpu_exec *e;

        mc.name = mc.arch = row[i].arch;
        *plan = *p->plan;
        plan->machine = &mc;
        p->plan = plan;
        p->c_text = "not reached";
        assert_true(axe_gpu_exec_new(cx, g, p, &e) != AXE_OK);
        if (!strstr(axe_last_error(cx), "kernel k is for sm_") != row[i].runs)
            fail_msg("%s: %s", row[i].arch, axe_last_error(cx));
    }
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

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
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
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
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
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

static void
maps_have_limits(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 31], y[10 * 31];
    int64_t       shape[2] = {10, 31};
    axe_array     a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};

    (void)state;
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    assert_int_equal(axe_gpu_run(cx, e, 2, a, 0, NULL), AXE_EUNSUPPORTED);
    check_said(cx, "X: a step of bytes 124 has no tensor map");
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
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
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
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
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
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

static int
count_of(const char *said, const char *word)
{
    int n = 0;

    for (const char *s = said; (s = strstr(s, word)); s++)
        n++;
    return n;
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
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    int32_t at = axe_source_add(cx, "k.axe", loops, strlen(loops));
    assert_int_equal(axe_compile(cx, at, &spec, AXE_STAGE_C, &p), AXE_OK);
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
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
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_compile(cx, at, &spec, AXE_STAGE_C, &p), AXE_OK);
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
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

/* A map that the grid does not use at these sizes may be one that no tensor
 * has. */
static void
maps_are_made_where_used(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 31], y[10 * 31];
    int64_t       shape[2] = {10, 31};
    axe_array     a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
    axe_program  *p;
    axe_map      *map;

    (void)state;
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    p = make_program(cx);
    map = axe_new(cx, axe_map);
    *map = p->lowered->grid->map[0];
    map->when = axe_node2(cx, AXE_OP_eq, map->size[0], number(cx, 32));
    p->lowered->grid->map = map;
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    fake_clear();
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    assert_null(strstr(fake_log(), "map type"));
    shape[1] = 32;
    shape[0] = 9;
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    assert_non_null(strstr(fake_log(), "map type"));
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

/* A map is made once for as long as its tensor is the same. */
static void
maps_are_made_once(void **state)
{
    static float x[2][10 * 32], y[10 * 32];
    static const struct {
        int     at;
        int64_t rows;
        bool    made;
    } row[] = {{0, 10, true}, {0, 10, false}, {0, 5, true}, {0, 5, false},
               {1, 5, true},  {0, 5, true},   {0, 10, true}};
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;

    (void)state;
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    for (int i = 0; i < AXE_LEN(row); i++) {
        int64_t   shape[2] = {row[i].rows, 32};
        axe_array a[2] = {make_array("X", x[row[i].at], shape),
                          make_array("Y", y, shape)};
        fake_clear();
        assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
        if (!strstr(fake_log(), "map type") == row[i].made)
            fail_msg("launch %d: %s", i, fake_log());
        assert_non_null(strstr(fake_log(), "launch "));
    }
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

/* Nothing is launched for no row; of no column there is a map of one zero. */
static void
empty_tensors_have_maps(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[32], y[32];
    int64_t       wide[2] = {0, 32}, high[2] = {10, 0};
    axe_array     a[2] = {make_array("X", x, wide), make_array("Y", y, wide)};
    axe_array     b[2] = {make_array("X", x, high), make_array("Y", y, high)};

    (void)state;
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    fake_clear();
    assert_int_equal(axe_gpu_run(cx, e, 2, a, 0, NULL), AXE_OK);
    assert_string_equal(fake_log(), "");
    for (int i = 0; i < 2; i++) {
        fake_clear();
        assert_int_equal(axe_gpu_run(cx, e, 2, b, 0, NULL), AXE_OK);
        assert_string_equal(
            fake_log(), i > 0 ? "launch 3x1x1 of 128x1x1, 1024 bytes\n"
                              : "map type 7 rank 2 swizzle 3 32 of 1 by 0 4 of "
                                "1 by 16\n"
                                "launch 3x1x1 of 128x1x1, 1024 bytes\n");
    }
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

/* Sizes that indices of 32 bits do not hold have code of their own, which is
 * loaded when it is first asked for; no box has such coordinates. */
static void
large_sizes_have_code(void **state)
{
    static const struct {
        int64_t rows;
        int     n_load;
    } row[] = {{10, 0}, {INT64_C(1) << 31, 1}, {INT32_MAX - 5, 0}, {10, 0}};
    axe_ctx      *cx = axe_ctx_new();
    float        *x = (float *)(uintptr_t)(UINT64_C(1) << 40);
    float        *y = (float *)(uintptr_t)(UINT64_C(1) << 41);
    axe_gpu      *g;
    axe_gpu_exec *e;

    (void)state;
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    axe_program *p = make_program(cx);
    p->lowered->grid->n_map = 0;
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    for (size_t i = 0; i < AXE_LEN(row); i++) {
        int64_t   shape[2] = {row[i].rows, 4};
        axe_array a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
        fake_clear();
        if (axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL) != AXE_OK)
            fail_msg("%lld rows: %s", (long long)row[i].rows,
                     axe_last_error(cx));
        assert_int_equal(count_of(fake_log(), "load an ELF"), row[i].n_load);
        assert_non_null(
            strstr(fake_log(), axe_textf(cx, "launch %lldx1x1 ",
                                         (long long)(row[i].rows + 3) / 4)));
        assert_int_equal(fake_value(2), row[i].rows);
    }
    axe_gpu_exec_free(e);
    int64_t   shape[2] = {INT64_C(1) << 31, 4};
    axe_array a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL),
                     AXE_EUNSUPPORTED);
    check_said(cx, "X: extent 2147483648 has no tensor map, which needs one "
                   "below 2^31");
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

static void
failures_are_decoded(void **state)
{
    static const struct {
        const char *fail, *says;
    } row[] = {
        {"ModuleLoadData:209", "for another architecture"},
        {"LaunchKernel:701", "too many registers or too much shared memory"},
        {"StreamSynchronize:700", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
        {"MemAlloc_v2:2", "free device memory"},
        {"TensorMapEncodeTiled:1", "the tensor map of X"},
        {"ModuleGetFunction:500", "loading kernel k"},
    };
    static float x[10 * 32], y[10 * 32];
    int64_t      shape[2] = {10, 32};
    axe_array    a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx      *cx = axe_ctx_new();
        axe_gpu      *g;
        axe_gpu_exec *e;
        axe_status    st;
        if (!has_nvrtc(cx)) {
            axe_ctx_free(cx);
            skip();
        }
        assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                         AXE_OK);
        setenv("FAKE_FAIL", row[i].fail, 1);
        st = axe_gpu_exec_new(cx, g, make_program(cx), &e);
        if (st == AXE_OK) {
            st = axe_gpu_run(cx, e, 2, a, 0, NULL);
            axe_gpu_exec_free(e);
        }
        unsetenv("FAKE_FAIL");
        assert_int_equal(st, AXE_EDEVICE);
        check_said(cx, row[i].says);
        axe_gpu_free(g);
        assert_int_equal(fake_depth(), 0);
        axe_ctx_free(cx);
    }
}

static void
bad_text_is_told(void **state)
{
    axe_ctx  *cx = axe_ctx_new();
    axe_bytes b;

    (void)state;
    if (!has_nvrtc(cx)) {
        axe_ctx_free(cx);
        skip();
    }
    assert_int_equal(axe_nvrtc_compile(cx, "__global__ void k() { x = 1; }",
                                       "sm_90a", NULL, &b),
                     AXE_ETOOL);
    check_said(cx, "identifier \"x\" is undefined");
    assert_int_equal(axe_nvrtc_compile(cx, "", "sm_1", NULL, &b), AXE_ETOOL);
    axe_ctx_free(cx);
}

/* A box counts elements of the map's type, and a barrier bytes of the tensor's:
 * were they of other sizes, its phase would never end. */
static void
elements_of_maps_have_their_size(void **state)
{
    /* by the numbers of CUtensorMapDataType; of 13 two are a byte */
    static const int bits[] = {8,  16, 32, 32, 64, 64, 16,
                               32, 64, 16, 32, 32, 32, 4};

    (void)state;
    for (axe_type t = 0; t < AXE_N_TYPE; t++) {
        int number = axe_map_type(t);
        assert_in_range(number, 0, AXE_LEN(bits) - 1);
        if (bits[number] != axe_type_table[t].bits)
            fail_msg("%s: %d bits in maps", axe_type_table[t].name,
                     bits[number]);
    }
}

static int
setup(void **state)
{
    void *h = dlopen(FAKE_CUDA, RTLD_NOW);

    (void)state;
    if (!h || !mkdtemp(cache))
        return -1;
    *(void **)&fake_log = dlsym(h, "fake_log");
    *(void **)&fake_value = dlsym(h, "fake_value");
    *(void **)&fake_depth = dlsym(h, "fake_depth");
    *(void **)&fake_clear = dlsym(h, "fake_clear");
    return setenv("AXE_CUDA", FAKE_CUDA, 1);
}

static int
teardown(void **state)
{
    char line[64];

    (void)state;
    snprintf(line, sizeof line, "rm -rf %s", cache);
    return system(line);
}

/* A child of fork has no context: it is told, and frees what it has without
 * asking the driver. */
static void
a_child_has_no_gpu(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;
    int      status;
    pid_t    pid;

    (void)state;
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    fake_clear();
    pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        void *at;
        int   bad = axe_gpu_alloc(cx, g, 16, &at) != AXE_EDEVICE;
        bad += !strstr(axe_last_error(cx), "before this process was forked");
        bad += axe_gpu_wait(cx, g, NULL) != AXE_EDEVICE;
        axe_gpu_free(g);
        bad += fake_log()[0] != '\0';
        _exit(bad);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(axe_gpu_wait(cx, g, NULL), AXE_OK);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_described),
        cmocka_unit_test(old_device_is_refused),
        cmocka_unit_test(code_runs_on_later_ones),
        cmocka_unit_test(launch_is_what_the_grid_says),
        cmocka_unit_test(persistent_grid_fits),
        cmocka_unit_test(maps_have_limits),
        cmocka_unit_test(elements_of_maps_have_their_size),
        cmocka_unit_test(arrays_begin_where_they_can),
        cmocka_unit_test(launches_have_own_tensors),
        cmocka_unit_test(host_loops_launch),
        cmocka_unit_test(early_behind_own_launches),
        cmocka_unit_test(maps_are_made_where_used),
        cmocka_unit_test(maps_are_made_once),
        cmocka_unit_test(empty_tensors_have_maps),
        cmocka_unit_test(large_sizes_have_code),
        cmocka_unit_test(failures_are_decoded),
        cmocka_unit_test(bad_text_is_told),
        cmocka_unit_test(a_child_has_no_gpu),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
