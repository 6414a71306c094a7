/* test_parts128.c - a machine whose shared memory has two axes, which is a
 * table in this test's folder: kernels are planned, lowered and simulated for
 * it as for any, and compared with the reference; what it cannot do is refused.
 */
#include "lang/lang.h"
#include "map_rows.h"
#include "parts128.h"
#include "plan/plan.h"
#include "print/cuda/cuda.h"

/* clang-format off */
static const row rows[] = {
    {"copy", "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;"
     "cta (i : M by 128, j : N by 64) { shared f32 a[128, 64];"
     "a[m, n] = X[i*128 + m, j*64 + n];"
     "Y[i*128 + m, j*64 + n] = a[m, n]; } }",
     {256, 128}, "load.part16 store.part16 store.GLOBAL16", "", 256 * 512, 0},
    {"ragged copy", "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;"
     "cta (i : M by 128, j : N by 64) { shared f32 a[128, 64];"
     "a[m, n] = X[i*128 + m, j*64 + n];"
     "Y[i*128 + m, j*64 + n] = a[m, n]; } }",
     {130, 71}, "load.part store.part", "", 130 * 71 * 4, 0},
    {"fewer rows than partitions", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 96, j : N by 32) { shared f32 a[96, 32];"
     "a[m, n] = X[i*96 + m, j*32 + n]; Y[i*96 + m, j*32 + n] = a[m, n]; } }",
     {192, 64}, "load.part store.part", "", 192 * 256, 0},
    {"more rows than partitions", "kernel k(in f16 X[M, N], out f16 Y[M, N]) {"
     "index m, n; cta (i : M by 256, j : N by 32) { shared f16 a[256, 32];"
     "a[m, n] = X[i*256 + m, j*32 + n]; Y[i*256 + m, j*32 + n] = a[m, n]; } }",
     {512, 64}, "load.part store.part", "", 512 * 128, 0},
    {"columns out", "kernel k(in f32 X[M, N], out f32 Y[N, M]) { index m, n;"
     "cta (i : M by 128, j : N by 32) { shared f32 a[128, 32];"
     "a[m, n] = X[i*128 + m, j*32 + n];"
     "Y[j*32 + n, i*128 + m] = a[m, n]; } }",
     {256, 64}, "load.part store.part", "", 256 * 256, 0},
    {"three axes", "kernel k(in f32 X[M, 3, N], out f32 Y[M, 3, N]) {"
     "index m, k, n; cta (i : M by 128, j : N by 16) {"
     "shared f32 a[128, 3, 16]; a[m, k, n] = X[i*128 + m, k, j*16 + n];"
     "Y[i*128 + m, k, j*16 + n] = a[m, 2 - k, n]; } }",
     {128, 32}, "load.part store.part", "", 128 * 3 * 32 * 4, 0},
    {"map", "kernel k(in f32 X[M, N], in f32 g[N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 128, j : N by 64) { shared f32 a[128, 64];"
     "shared f32 b[128, 64]; a[m, n] = X[i*128 + m, j*64 + n];"
     "b[m, n] = exp(a[m, n]) * g[j*64 + n];"
     "Y[i*128 + m, j*64 + n] = b[m, n] + a[m, 63 - n]; } }",
     {256, 128}, "load.part16 store.part16", "", 256 * 512, 0},
    {"sums along F", "kernel k(in f32 X[M, N], out f32 y[M]) { index m, n;"
     "cta (i : M by 128) { reg f32 s[128] = 0; shared f32 a[128, 64];"
     "for (t : N by 64) { a[m, n] = X[i*128 + m, t*64 + n];"
     "s[m] += a[m, n]; } y[i*128 + m] = s[m]; } }",
     {256, 128}, "load.part16", "swap", 1024, 0},
    {"softmax", "kernel k(in f32 X[M, 128], out f32 Y[M, 128]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 128]; reg f32 t[128] = -inf;"
     "reg f32 s[128] = 0; a[m, n] = X[i*128 + m, n]; t[m] max= a[m, n];"
     "a[m, n] = exp(a[m, n] - t[m]); s[m] += a[m, n];"
     "Y[i*128 + m, n] = a[m, n] / s[m]; } }",
     {256}, "load.part16 store.part16", "swap", 256 * 512, 0},
    /* A row of the machine exchanges registers of a wave: 64 partitions. */
    {"sums along P", "kernel k(in f32 X[M, 32], out f32 Y[M, 32]) { index m, n;"
     "cta (i : M by 64) threads 64 { shared f32 a[64, 32];"
     "reg f32 s[32] = 0; a[m, n] = X[i*64 + m, n]; s[n] += a[m, n];"
     "Y[i*64 + m, n] = a[m, n] - s[n] / 64; } }",
     {128}, "load.part16 swap4", "", 128 * 128, 0},
    {"product of f32", "kernel k(in f32 A[K, M], in f32 B[K, N], out f32 C[M, N])"
     "{ index m, n, k; cta (i : M by 128, j : N by 64) {"
     "reg f32 c[128, 64] = 0; for (t : K by 128) {"
     "shared f32 a[128, 128]; shared f32 b[128, 64];"
     "a[k, m] = A[t*128 + k, i*128 + m]; b[k, n] = B[t*128 + k, j*64 + n];"
     "c[m, n] += a[k, m] * b[k, n]; }"
     "C[i*128 + m, j*64 + n] = c[m, n]; } }",
     {130, 100, 70}, "product.f32 barrier.cta", "load.part", 100 * 70 * 4, 0},
    {"product of f16", "kernel k(in f16 A[K, M], in f16 B[K, N], out f32 C[M, N])"
     "{ index m, n, k; cta (i : M by 128, j : N by 64) {"
     "reg f32 c[128, 64] = 0; for (t : K by 128) {"
     "shared f16 a[128, 128]; shared f16 b[128, 64];"
     "a[k, m] = A[t*128 + k, i*128 + m]; b[k, n] = B[t*128 + k, j*64 + n];"
     "c[m, n] += a[k, m] * b[k, n]; }"
     "C[i*128 + m, j*64 + n] = c[m, n]; } }",
     {130, 100, 70}, "product.f16 barrier.cta", "load.part", 100 * 70 * 4, 0},
    {"product of i32", "kernel k(in i32 A[K, M], in i32 B[K, N], out i32 C[M, N])"
     "{ index m, n, k; cta (i : M by 128, j : N by 64) {"
     "reg i32 c[128, 64] = 0; for (t : K by 128) {"
     "shared i32 a[128, 128]; shared i32 b[128, 64];"
     "a[k, m] = A[t*128 + k, i*128 + m]; b[k, n] = B[t*128 + k, j*64 + n];"
     "c[m, n] += a[k, m] * b[k, n]; }"
     "C[i*128 + m, j*64 + n] = c[m, n]; } }",
     {100, 100, 60}, "product.i32 barrier.cta", "load.part", 100 * 60 * 4, 0},
    {"product in a ring", "kernel k(in f32 A[K, M], in f32 B[K, N],"
     "out f32 C[M, N]) { index m, n, k; cta (i : M by 128, j : N by 32)"
     "threads 128 { reg f32 c[128, 32] = 0; pipeline p[2] {"
     "shared f32 a[128, 128]; shared f32 b[128, 32]; } for (t : K by 128) {"
     "produce p { p.a[k, m] = A[t*128 + k, i*128 + m];"
     "p.b[k, n] = B[t*128 + k, j*32 + n]; }"
     "consume p c[m, n] += p.a[k, m] * p.b[k, n]; }"
     "C[i*128 + m, j*32 + n] = c[m, n]; } }",
     {300, 100, 40}, "product.f32 barrier.cta", "load.part", 100 * 40 * 4, 0},
    {"in loops", "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 64];"
     "for (j : N by 64) { a[m, n] = X[i*128 + m, j*64 + n];"
     "for (t : 3) a[m, n] = 2 * a[m, n] + f32(t);"
     "if (j > 0) a[m, n] = -a[m, n];"
     "Y[i*128 + m, j*64 + n] = a[m, n]; } } }",
     {200, 100}, "load.part store.part", "", 200 * 400, 0},
    {"product by threads", "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {"
     "index m, n, k; cta (i : M by 128, j : N by 16) {"
     "reg f32 c[128, 16] = 0; shared f32 a[128, 32];"
     "for (t : K by 32) { a[m, k] = A[i*128 + m, t*32 + k];"
     "c[m, n] += a[m, k] * B[j*16 + n, t*32 + k] slow; }"
     "C[i*128 + m, j*16 + n] = c[m, n]; } }",
     {256, 64, 32}, "load.part store.part", "", 256 * 128, 0},
};
/* clang-format on */

/* What no row of the machine does is refused. */
static const struct {
    const char *name, *text, *says;
} refused[] = {
    {"other rows",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 64];"
     "a[m, n] = X[i*128 + m, n]; Y[i*128 + m, n] = a[127 - m, n]; } }",
     "a[127 - m, n] is in partitions that other threads reach: thread n of a "
     "cta of parts128 has partition n alone"},
    {"two tiles",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 64) { shared f32 a[64, 64]; shared f32 b[64, 64];"
     "a[m, n] = X[i*64 + m, n]; b[n, m] = a[m, n];"
     "Y[i*64 + m, n] = b[m, n]; } }",
     "is in partitions that other threads reach"},
    {"a wave's own tile",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 128) warp (w : 2) { shared f32 a[64, 64];"
     "a[m, n] = X[i*128 + w*64 + m, n]; Y[i*128 + w*64 + m, n] = a[m, n]; } }",
     "is in partitions that other threads reach"},
    {"sums of two waves",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 64]; reg f32 s[64] = 0;"
     "a[m, n] = X[i*128 + m, n]; s[n] += a[m, n];"
     "Y[i*128 + m, n] = s[n]; } }",
     "each thread reaches its own partition of it alone"},
    {"an odd number of rows",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 192) { shared f32 a[192, 64];"
     "a[m, n] = X[i*192 + m, n]; Y[i*192 + m, n] = a[m, n]; } }",
     "a has 192 rows; parts128 has 128 partitions"},
    {"too large",
     "kernel k(in f32 X[M, 65536], out f32 Y[M, 65536]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 65536];"
     "a[m, n] = X[i*128 + m, n]; Y[i*128 + m, n] = a[m, n]; } }",
     "262144 bytes of shared memory; one of parts128 may have 196608"},
    {"linear",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 64] : (128, 64) : (64, 1);"
     "a[m, n] = X[i*128 + m, n]; Y[i*128 + m, n] = a[m, n]; } }",
     "axis m of the layout of a has no meaning for a shared tile"},
    {"partitions that are not there",
     "kernel k(in f32 X[M, 64], out f32 Y[M, 64]) { index m, n;"
     "cta (i : M by 128) { shared f32 a[128, 64] : (128, 64) : (2@P, 1@F);"
     "a[m, n] = X[i*128 + m, n]; Y[i*128 + m, n] = a[m, n]; } }",
     "the layout of a reaches partition 254; parts128 has 128"},
};

static bool
compile_for_parts(run *x, const row *r)
{
    axe_program *p = axe_new(x->cx, axe_program);
    int32_t  source = axe_source_add(x->cx, r->name, r->text, strlen(r->text));
    axe_inst inst = {.machine = parts128.family, .model = parts128.name};
    const axe_module *m;

    x->p = p;
    p->machine = &parts128;
    p->reach = INT64_MAX;
    return axe_machine_use(x->cx, &parts128) == AXE_OK &&
           axe_module_parse(x->cx, source, &m) == AXE_OK &&
           axe_module_instantiate(x->cx, m, &inst, &p->kernel) == AXE_OK &&
           axe_kernel_verify(x->cx, p->kernel) == AXE_OK &&
           axe_plan_kernel(x->cx, p->kernel, &parts128, &p->plan) == AXE_OK &&
           axe_lower(x->cx, p->plan, &p->lowered) == AXE_OK;
}

static void
test_kernels(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *dev;

    (void)state;
    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev), AXE_OK);
    for (int i = 0; i < AXE_LEN(rows); i++) {
        run x = {.cx = axe_ctx_new()};
        if (!compile_for_parts(&x, &rows[i]))
            fail_row(x.cx, &rows[i]);
        run_compiled(dev, &rows[i], &x, -1);
    }
    axe_device_free(dev);
    axe_ctx_free(cx);
}

static void
test_refused(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(refused); i++) {
        run     x = {.cx = axe_ctx_new()};
        axe_buf b = {.cx = x.cx};
        row     r = {.name = refused[i].name, .text = refused[i].text};
        if (compile_for_parts(&x, &r))
            fail_msg("%s: compiled", r.name);
        axe_diags_print(x.cx, &b, false);
        if (!strstr(b.text, refused[i].says))
            fail_msg("%s: no %s in\n%s", r.name, refused[i].says, b.text);
        axe_ctx_free(x.cx);
    }
}

/* The first store to shared memory. */
static axe_lir *
find_store(const axe_lblock *b)
{
    axe_lir *found = NULL;

    for (int i = 0; i < b->n && !found; i++) {
        axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_ATOM && l->arg[0].space == AXE_ARG_SHARED)
            return l;
        found = find_store(&l->body);
    }
    return found;
}

/* What plans get wrong the simulator finds: here another thread's partition,
 * one that there is not, bytes that there are not in one. */
static void
test_judged(void **state)
{
    static const struct {
        int64_t     partitions, bytes;
        const char *says;
    } wrong[] = {
        {1, 0,
         "means bytes 0 to 15 of a in partition 1, and thread 0 does not "
         "reach it"},
        {128, 0, "of a in partition 128, which there is not"},
        {0, 16,
         "means bytes 256 to 271 of a in partition 0, which has not so "
         "many"},
        {0, 0, NULL},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(wrong); i++) {
        run             x = {.cx = axe_ctx_new()};
        axe_sim_options how = {.policy = AXE_SIM_LAZY};
        axe_sim_report  report;
        axe_buf         b = {.cx = x.cx};
        if (!compile_for_parts(&x, &rows[0]))
            fail_row(x.cx, &rows[0]);
        axe_lir *l = find_store(&x.p->lowered->grid[0].body);
        int64_t  more = wrong[i].partitions * (1 << 18) + wrong[i].bytes;
        l->arg[0].at = axe_node2(x.cx, AXE_OP_add, l->arg[0].at,
                                 axe_index_const(x.cx, more / 4));
        make_arrays(&x, &rows[0]);
        assert_int_equal(axe_program_simulate(x.cx, x.p, x.n_array, x.array,
                                              x.n_size, x.size, &how, &report),
                         AXE_OK);
        axe_sim_report_print(x.cx, &b, &report);
        if (wrong[i].says ? !strstr(b.text, wrong[i].says)
                          : report.n_finding > 0)
            fail_msg("no %s in\n%s", wrong[i].says, b.text);
        for (int k = 0; k < x.n_array; k++)
            free(x.array[k].data);
        axe_ctx_free(x.cx);
    }
}

static void
test_printed(void **state)
{
    run     x = {.cx = axe_ctx_new()};
    axe_buf b = {.cx = x.cx};

    (void)state;
    if (!compile_for_parts(&x, &rows[0]))
        fail_row(x.cx, &rows[0]);
    assert_int_equal(axe_print_cuda(x.cx, x.p->lowered, false, &b),
                     AXE_EUNSUPPORTED);
    assert_string_equal(
        axe_last_error(x.cx),
        "CUDA C has no shared memory in partitions, as parts128 has");
    axe_ctx_free(x.cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_judged),
        cmocka_unit_test(test_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
