/* test_wave64.c - a machine whose waves have 64 lanes, which is a table in this
 * test's folder: kernels are planned, lowered and simulated for it as for any,
 * and compared with the reference. */
#include "lang/lang.h"
#include "map_rows.h"
#include "plan/plan.h"
#include "print/cuda/cuda.h"
#include "wave64.h"

/* clang-format off */
static const row rows[] = {
    {"copy", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 1024) Y[i*1024 + m] = X[i*1024 + m]; }",
     {3000}, "load.GLOBAL16 store.GLOBAL16", "load.GLOBAL4", 12000, 0},
    {"ragged copy", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 1024) Y[i*1024 + m] = X[i*1024 + m]; }",
     {3001}, "load.GLOBAL4 store.GLOBAL4", "GLOBAL16", 12004, 0},
    {"by shared memory", "kernel k(in f32 X[M, K], out f32 Y[K, M]) {"
     "index k, m; cta (i : M by 64, j : K by 64) { shared f32 a[64, 64];"
     "a[m, k] = X[i*64 + m, j*64 + k]; Y[j*64 + k, i*64 + m] = a[m, k]; } }",
     {130, 70}, "load.SHARED store.SHARED barrier.cta", "", 130 * 70 * 4, -1},
    {"map", "kernel k(in f16 X[M, N], in f32 a[N], out f16 Y[M, N]) {"
     "index m, n; cta (i : M by 8)"
     "Y[i*8 + m, n] = f16(exp(f32(X[i*8 + m, n])) * a[n]); }",
     {21, 136}, "load.GLOBAL", "", 21 * 272, 0},
    {"row sums", "kernel k(in f32 X[M, N], out f32 y[M]) { index m, n;"
     "cta (i : M by 4) { reg f32 s[4] = 0;"
     "s[m] += X[i*4 + m, n]; y[i*4 + m] = s[m]; } }",
     {9, 600}, "swap4", "", 36, -1},
    {"row maxima", "kernel k(in f32 X[M, N], out f32 y[M]) { index m, n;"
     "cta (i : M by 4) { reg f32 s[4] = -inf;"
     "s[m] max= X[i*4 + m, n]; y[i*4 + m] = s[m]; } }",
     {9, 601}, "swap4", "", 36, -1},
    {"softmax", "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;"
     "cta (i : M by 2) { reg f32 t[2] = -inf; reg f32 s[2] = 0;"
     "t[m] max= X[i*2 + m, n]; s[m] += exp(X[i*2 + m, n] - t[m]);"
     "Y[i*2 + m, n] = exp(X[i*2 + m, n] - t[m]) / s[m]; } }",
     {5, 300}, "swap4", "", 5 * 1200, -1},
    {"product", "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {"
     "index m, n, k; cta (i : M by 64, j : N by 64) { reg f32 c[64, 64] = 0;"
     "for (t : K by 16) { shared f32 a[64, 16]; shared f32 b[64, 16];"
     "a[m, k] = A[i*64 + m, t*16 + k]; b[n, k] = B[j*64 + n, t*16 + k];"
     "c[m, n] += a[m, k] * b[n, k]; } C[i*64 + m, j*64 + n] = c[m, n]; } }",
     {130, 50, 70}, "fma.f32 barrier.cta load.SHARED", "", 130 * 70 * 4, -1},
    {"product in a ring", "kernel k(in f16 A[M, K], in f16 B[N, K],"
     "out f16 C[M, N]) { index m, n, k; cta (i : M by 64, j : N by 32) {"
     "reg f32 c[64, 32] = 0; pipeline p[2] { shared f16 a[64, 16];"
     "shared f16 b[32, 16]; } for (t : K by 16) { produce p {"
     "p.a[m, k] = A[i*64 + m, t*16 + k]; p.b[n, k] = B[j*32 + n, t*16 + k]; }"
     "consume p c[m, n] += p.a[m, k] * p.b[n, k]; }"
     "C[i*64 + m, j*32 + n] = f16(c[m, n]); } }",
     {70, 48, 40}, "fma.f32 barrier.cta", "", 70 * 40 * 2, -1},
    {"product of a wave", "kernel k(in i32 A[M, K], in i32 B[N, K],"
     "out i32 C[M, N]) { index m, n, k; cta (i : M by 64, j : N by 64) {"
     "reg i32 c[64, 64] = 0; for (t : K by 16) { shared i32 a[64, 16];"
     "shared i32 b[64, 16]; a[m, k] = A[i*64 + m, t*16 + k];"
     "b[n, k] = B[j*64 + n, t*16 + k]; c[m, n] += a[m, k] * b[n, k]; }"
     "C[i*64 + m, j*64 + n] = c[m, n]; } }",
     {70, 50, 90}, "outer.i32 load.SHARED", "fma", 70 * 90 * 4, -1},
    /* 64 lanes of a wave, by number; 3 waves of a group. */
    {"lanes", "kernel k(in f32 X[N], out f32 Y[N]) { cta (i : N by 256)"
     "warp (w : 4) lane (l) Y[i*256 + w*64 + l] = 2 * X[i*256 + w*64 + l]; }",
     {512}, "load.GLOBAL", "", 2048, 0},
    {"all waves", "kernel k(in f32 X[N], out f32 Y[N]) { cta (i : N by 256)"
     "warps 4 warp (w) lane (l)"
     "Y[i*256 + w*64 + l] = 2 * X[i*256 + w*64 + l]; }",
     {512}, "load.GLOBAL", "", 2048, 0},
    {"groups", "kernel k(in f32 X[N], out f32 Y[N]) { cta (i : N by 384)"
     "warpgroup (g : 2) warp (w) thread (l)"
     "Y[i*384 + g*192 + w*64 + l] = X[i*384 + g*192 + w*64 + l]; }",
     {768}, "load.GLOBAL", "", 3072, 0},
    /* What a wave, and a group, does alone: it waits for itself. */
    {"a wave turns round", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 256) warp (w : 4) { shared f32 a[64];"
     "reg f32 b[64]; for (t : 3) { a[m] = X[i*256 + w*64 + m] + f32(t);"
     "b[m] = a[63 - m]; Y[i*256 + w*64 + m] = b[m]; } } }",
     {512}, "barrier.wave load.SHARED", "barrier.cta barrier.some", 3 * 2048, -1},
    {"a group turns round", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 384) warpgroup (g : 2) { shared f32 a[192];"
     "reg f32 b[192]; for (t : 3) { a[m] = X[i*384 + g*192 + m] + f32(t);"
     "b[m] = a[191 - m]; Y[i*384 + g*192 + m] = b[m]; } } }",
     {768}, "barrier.some load.SHARED", "barrier.cta", 3 * 3072, -1},
    /* Registers of other lanes, by one that differs in a bit and by number. */
    {"half waves change", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 128) threads 64 {"
     "reg f32 a[128] : (2, 2, 32) : (1@reg, 32@lane, 1@lane);"
     "reg f32 b[128] : (2, 2, 32) : (32@lane, 1@reg, 1@lane);"
     "a[m] = X[i*128 + m]; b[m] = a[m]; Y[i*128 + m] = b[m]; } }",
     {256}, "swap4", "SHARED", 1024, 0},
    {"backwards", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 64) threads 64 { reg f32 a[64] : (64) : (1@lane);"
     "reg f32 b[64] : (64) : (1@lane); a[m] = X[i*64 + m];"
     "b[m] = a[63 - m]; Y[i*64 + m] = b[m]; } }",
     {128}, "pick4", "SHARED", 512, 0},
    /* Whole waves of 64; threads that begin at the second group. */
    {"96 threads", "kernel k(in f32 X[N], out f32 Y[N]) { cta (i : N by 96)"
     "thread (t : 96) Y[i*96 + t] = 2 * X[i*96 + t]; }",
     {192}, "load.GLOBAL", "", 768, 0},
    {"the second group", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 192) threads 384 warpgroup (1)"
     "Y[i*192 + m] = 2 * X[i*192 + m]; }",
     {384}, "load.GLOBAL", "", 1536, 0},
    /* Lanes that differ in bit 4; lanes of the second wave; lanes whose numbers
     * are others' with bits turned round. */
    {"bit 4", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 128) threads 64 {"
     "reg f32 a[128] : (2, 2, 2, 16) : (1@reg, 32@lane, 16@lane, 1@lane);"
     "reg f32 b[128] : (2, 2, 2, 16) : (16@lane, 32@lane, 1@reg, 1@lane);"
     "a[m] = X[i*128 + m]; b[m] = a[m]; Y[i*128 + m] = b[m]; } }",
     {256}, "swap4", "SHARED", 1024, 0},
    {"two waves change", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 256) threads 128 {"
     "reg f32 a[256] : (2, 2, 2, 32) : (1@warp, 1@reg, 32@lane, 1@lane);"
     "reg f32 b[256] : (2, 2, 2, 32) : (1@warp, 32@lane, 1@reg, 1@lane);"
     "a[m] = X[i*256 + m]; b[m] = a[m]; Y[i*256 + m] = b[m]; } }",
     {512}, "swap4", "SHARED", 2048, 0},
    {"bits turned round", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 64) threads 64 { reg f32 a[64] : (64) : (1@lane);"
     "reg f32 b[64] : (2, 16, 2) : (1@lane, 2@lane, 32@lane);"
     "a[m] = X[i*64 + m]; b[m] = a[m]; Y[i*64 + m] = b[m]; } }",
     {128}, "pick4", "SHARED", 512, 0},
    {"bits turned round, backwards", "kernel k(in f32 X[N], out f32 Y[N]) {"
     "index m; cta (i : N by 64) threads 64 {"
     "reg f32 a[64] : (64) : (1@lane);"
     "reg f32 b[64] : (2, 16, 2) : (1@lane, 2@lane, 32@lane);"
     "a[m] = X[i*64 + m]; b[m] = a[63 - m]; Y[i*64 + m] = b[m]; } }",
     {128}, "pick4", "SHARED", 512, 0},
    /* Thread 32 + l of the first wave has what thread l of the second reads:
     * with 32 lanes they were one. */
    {"halves of waves change", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 128) threads 128 { shared f32 s[128];"
     "reg f32 a[128] : (2, 64) : (1@warp, 1@lane);"
     "reg f32 b[128] : (2, 2, 32) : (32@lane, 1@warp, 1@lane);"
     "a[m] = X[i*128 + m]; s[m] = a[m]; b[m] = s[m];"
     "Y[i*128 + m] = b[m]; } }",
     {256}, "barrier.cta", "", 1024, -1},
    {"so by global memory", "kernel k(in f32 X[N], out f32 S[N], out f32 Y[N])"
     "{ index m; cta (i : N by 128) threads 128 {"
     "reg f32 a[128] : (2, 64) : (1@warp, 1@lane);"
     "reg f32 b[128] : (2, 2, 32) : (32@lane, 1@warp, 1@lane);"
     "a[m] = X[i*128 + m]; S[i*128 + m] = a[m]; b[m] = S[i*128 + m];"
     "Y[i*128 + m] = b[m]; } }",
     {256}, "barrier.cta", "", 2048, -1},
    {"product of wide rows", "kernel k(in i64 A[M, K], in i64 B[N, K],"
     "out i64 C[M, N]) { index m, n, k; cta (i : M by 16, j : N by 64)"
     "threads 64 { reg i64 c[16, 64] = 0; for (t : K by 8) {"
     "shared i64 a[16, 8]; shared i64 b[64, 8];"
     "a[m, k] = A[i*16 + m, t*8 + k]; b[n, k] = B[j*64 + n, t*8 + k];"
     "c[m, n] += a[m, k] * b[n, k]; } C[i*16 + m, j*64 + n] = c[m, n]; } }",
     {20, 24, 70}, "outer.i64", "fma", 20 * 70 * 8, -1},
};
/* clang-format on */

static bool
compile_for_waves(run *x, const row *r)
{
    axe_program *p = axe_new(x->cx, axe_program);
    int32_t  source = axe_source_add(x->cx, r->name, r->text, strlen(r->text));
    axe_inst inst = {.machine = wave64.family, .model = wave64.name};
    const axe_module *m;

    x->p = p;
    p->machine = &wave64;
    p->reach = INT64_MAX;
    return axe_machine_use(x->cx, &wave64) == AXE_OK &&
           axe_module_parse(x->cx, source, &m) == AXE_OK &&
           axe_module_instantiate(x->cx, m, &inst, &p->kernel) == AXE_OK &&
           axe_kernel_verify(x->cx, p->kernel) == AXE_OK &&
           axe_plan_kernel(x->cx, p->kernel, &wave64, &p->plan) == AXE_OK &&
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
        if (!compile_for_waves(&x, &rows[i]))
            fail_row(x.cx, &rows[i]);
        run_compiled(dev, &rows[i], &x, -1);
    }
    axe_device_free(dev);
    axe_ctx_free(cx);
}

/* The lane's number has 6 bits, and which half it is in is one of them. */
static const struct {
    const char *kernel, *word;
} printed[] = {
    {"copy", "threadIdx.x >> 6"},
    {"copy", "threadIdx.x & 63"},
    {"a group turns round", "/* 384 threads"},
    {"half waves change", "lane >> 5 == 0 ?"},
    {"backwards", "pick4(r_a_in, r_a, 63 + lane * (-1))"},
};

static void
test_printed(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(printed); i++) {
        run     x = {.cx = axe_ctx_new()};
        axe_buf b = {.cx = x.cx};
        int     k = 0;
        while (strcmp(rows[k].name, printed[i].kernel) != 0)
            k++;
        if (!compile_for_waves(&x, &rows[k]) ||
            axe_print_cuda(x.cx, x.p->lowered, false, &b) != AXE_OK)
            fail_row(x.cx, &rows[k]);
        if (!strstr(b.text, printed[i].word))
            fail_msg("%s: no %s in\n%s", rows[k].name, printed[i].word, b.text);
        axe_ctx_free(x.cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
