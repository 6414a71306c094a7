/* test_says.c - what stages must say, and must not: of choices whose results
 * are right either way, or wrong where no test on numbers sees it. */
#include <stdio.h>

#include "planned.h"

#include "axe/compile.h"

/* clang-format off */
static const struct {
    const char *file, *text; /* one of kernels/, or a text */
    const char *kernel, *machine;
    axe_stage   stage;
    const char *has, *lacks;
    const char *set; /* a constant to 1 */
} row[] = {
    /* a ninth batch index has no room */
    {NULL, "kernel k(in f32 A[2, 2, 2, 2, 2, 2, 2, 2, 2, 9, 9], in f32 B[2, 2, 2, 2, 2, 2, 2, 2, 2, 9, 9], inout f32 C[2, 2, 2, 2, 2, 2, 2, 2, 2, 9, 9]) {"
     " index a, b, c, d, e, f, g, h, i, m, n, k; cta (u : 1)"
     " C[a, b, c, d, e, f, g, h, i, m, n] += A[a, b, c, d, e, f, g, h, i, m, k] * B[a, b, c, d, e, f, g, h, i, k, n]; }",
     "k", "cpu-avx2", AXE_STAGE_PLAN, "schedule  map", "schedule  contract", NULL},
    /* what a tile is given is of the tile's type, though it is kept as f32 */
    {NULL, "kernel k(in bf16 A[M, K], in bf16 B[K, N], out f32 C[M, N]) { index m, n, k; cta (i : M by 64, j : N by 64) {"
     " reg f32 c[64, 64] = 0; for (t : K by 32) { shared bf16 a[64, 32]; shared bf16 b[32, 64];"
     " a[m, k] = max(A[i*64 + m, t*32 + k]*A[i*64 + m, t*32 + k], A[i*64 + m, t*32 + k]);"
     " b[k, n] = B[t*32 + k, j*64 + n]; c[m, n] += a[m, k] * b[k, n]; } C[i*64 + m, j*64 + n] = c[m, n]; } }",
     "k", "cpu-avx2", AXE_STAGE_C, "bf16_to_f32x4(to_bf16_f32x4(", NULL, NULL},
    /* chains are of the innermost loop */
    {"elementwise", NULL, "add", "cpu-avx2", AXE_STAGE_LOWER, "for m_3 = 0 .. 4 by 1\n", " by 4\n", NULL},
    /* elements of a byte are bytes, and so are their pointers */
    {NULL, "kernel k(in f8e4m3 X[M, 64], in bool B[M, 64], out f8e4m3 Y[M, 64]) { index m, n; cta (i : M by 4) Y[i*4 + m, n] = B[i*4 + m, n] ? X[i*4 + m, n] : f8e4m3(1); }",
     "k", "sm_90a", AXE_STAGE_C, "const u8 *t_X, const u8 *t_B, u8 *t_Y", NULL, NULL},
    /* a byte that comes is put into its register's word */
    {"dequantise", NULL, "dequantise", "sm_80", AXE_STAGE_C, "put8(", "get8(t_", NULL},
    /* an index that was loaded is long once */
    {"gemm_grouped_sm90", NULL, "gemm_grouped_sm90", "sm_90a", AXE_STAGE_C, "(i64)r_", "(i64)(i64)", NULL},
    /* cores that a loop's end names alone, within another loop, are told */
    {NULL, "kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 64) { reg f32 s[64] = 0; for (u : cores) s[m] = s[m] + X[i*64 + m]; Y[i*64 + m] = s[m]; } }",
     "k", "sm_80", AXE_STAGE_C, ", i64 n_cores)", NULL, NULL},
    {NULL, "kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 64) { reg f32 s[64] = 0; for (t : M) for (u : cores) s[m] = s[m] + X[i*64 + m]; Y[i*64 + m] = s[m]; } }",
     "k", "sm_80", AXE_STAGE_C, ", i64 n_cores)", NULL, NULL},
    /* a stage's iteration that a loop's end names alone has its variable */
    {NULL, "kernel k(in f32 X[M, 32], out f32 Y[M, 32]) { index m, n; cta (i : M by 32) { pipeline ring[2] { shared f32 x[32, 32]; } reg f32 s[32, 32] = 0;"
     " for (t : 4) { produce ring { for (u : t + 1) ring.x[m, n] = X[i*32 + m, n]; } consume ring s[m, n] = s[m, n] + ring.x[m, n]; }"
     " Y[i*32 + m, n] = s[m, n]; } }",
     "k", "sm_80", AXE_STAGE_C, "const int v_t = ", NULL, NULL},
    /* runs of 6 go by 2 where a masked store is dear, and by 4 where it is not */
    {"gemm_t", NULL, "gemm_tn", "cpu-avx2", AXE_STAGE_PLAN, "m < 6 by 2\n", "m < 6 by 4\n", NULL},
    {NULL, "kernel k(in f32 X[M, 48], out f32 Y[M, 48]) { index m, n; cta (i : M by 8) { shared f32 a[8, 48] : (8, (8, 6)) : (6, (64, 1)); a[m, n] = X[i*8 + m, n]; Y[i*8 + m, n] = a[m, n] + 1; } }",
     "k", "cpu-avx512", AXE_STAGE_PLAN, "n < 6 by 4\n", "n < 6 by 2\n", NULL},
    {NULL, "kernel k(in f32 X[M, 48], out f32 Y[M, 48]) { index m, n; cta (i : M by 8) { shared f32 a[8, 48] : (8, (8, 6)) : (6, (64, 1)); a[m, n] = X[i*8 + m, n]; Y[i*8 + m, n] = a[m, n] + 1; } }",
     "k", "cpu-avx2", AXE_STAGE_PLAN, "n < 6 by 2\n", "n < 6 by 4\n", NULL},
    /* places that begin far beyond 0 are each thread's own */
    {NULL, "kernel k(in f32 X[M], out f32 Y[M]) { index m; global f32 T[3000]; cta (i : M by 256) { T[i*256 + m + 1000] = 2*X[i*256 + m]; Y[i*256 + m] = T[i*256 + m + 1000] + 1; } }",
     "k", "sm_80", AXE_STAGE_C, "t_T + ", "barrier_cta", NULL},
    /* a CTA of a cluster keeps no rows */
    {NULL, "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n; cluster (2) cta (i : M by 8) { reg f32 top[8]; top[m] = max[n](X[i*8 + m, n]); Y[i*8 + m, n] = X[i*8 + m, n] - top[m]; } }",
     "k", "sm_90a", AXE_STAGE_C, "cluster_dims", "barrier_cta", NULL},
    /* an index of one value, of what an atom does, is among its dimensions */
    {NULL, "kernel k(in f32 A[M, K], in f32 B[K, 64], out f32 Y[M, 64]) { index n, r; const V = 8; cta (i : M) for (j : 64 by V) { reg f32 acc[1, V] = 0; for (k : K) { reg f32 a[1]; reg f32 b[V]; atom sload (a[0], A[i, k]); atom vload (b[n], B[k, j*V + n]); atom vfma (acc[r, n], a[r], b[n]); } atom vstore (Y[i, j*V + n], acc[0, n]); } }",
     "k", "cpu-avx2", AXE_STAGE_PLAN, "3 of 3 maps into tiles equal", NULL, NULL},
    /* a tile lies as the one that is made of it */
    {NULL, "kernel k(in f32 X[M, 32, 8], out f32 Y[M, 32, 8]) { index p, q; cta (i : M) warps 1 { reg f32 a[32, 8]; reg f32 b[32, 8] : ((16, 2), 8) : ((1@lane, 16@lane), 1@reg); a[p, q] = X[i, p, q]; b[p, q] = a[p, q]; Y[i, p, q] = b[p, q]; } }",
     "k", "sm_80", AXE_STAGE_PLAN, "auto: as the threads of statement 1 read it", NULL, NULL},
    /* a tile is taken from the queue by two addresses */
    {"gemm_sm100", NULL, "gemm_sm100", "sm_100a", AXE_STAGE_C, "clc_take_multicast(u32 d, u32 a)\n", NULL, "DYNAMIC"},
    /* a value that is cast, too, is told from one that is moved */
    {NULL, "kernel k(in bf16 X[M, N], out f32 Y[N, M]) { index m, n; cta (i : N by 32, j : M by 32) Y[i*32 + n, j*32 + m] = f32(2 * X[j*32 + m, i*32 + n]); }",
     "k", "cpu-avx2", AXE_STAGE_PLAN, "the value is computed, not moved", NULL, NULL},
    /* a part of a loop's variable is none of the scope's */
    {NULL, "kernel k(in f32 X[M], out f32 Y[M]) { index m; global f32 T[3000, 2, 256]; cta (i : M by 256) { for (u : 4) { T[i, u/2, m] = 2*X[i*256 + m]; Y[i*256 + m] = T[i, u/2, m] + 1; } } }",
     "k", "sm_80", AXE_STAGE_C, "t_T + ", "barrier_cta", NULL},
    /* rows of A are prefetched ahead of those in use where L1 has room for both */
    {"gemm", NULL, "gemm", "cpu-avx2", AXE_STAGE_C, "s3$a$room ? 6 : 0)", NULL, NULL},
    /* columns of tensor memory are asked for when the launch before has given its own back */
    {NULL, "kernel k(in f16 A[M, 64], in f16 B[64, 64], out f32 Z[M, 64]) { index m, n, k; global f16 T[M, 64]; cta (i : M by 128) T[i*128 + m, n] = 2 * A[i*128 + m, n];"
     " cta (i : M by 128) warpgroups 1 { shared f16 a[128, 64]; shared f16 b[64, 64]; tmem f32 c[128, 64]; reg f32 x[128, 64];"
     " a[m, k] = T[i*128 + m, k]; b[n, k] = B[n, k]; c[m, n] = 0; c[m, n] += a[m, k] * b[n, k]; x[m, n] = c[m, n]; Z[i*128 + m, n] = x[m, n]; } }",
     "k", "sm_100a", AXE_STAGE_C, "    grid_prior();\n    if (warp == 0) {\n        tc_alloc_64(", NULL, NULL},
    /* the first thing of a launch is to admit the next one; a machine without it has launches one by one */
    {"jacobi", NULL, "jacobi", "sm_90a", AXE_STAGE_C, "];\n    grid_admit();\n    grid_prior();\n", NULL, NULL},
    {"jacobi", NULL, "jacobi", "sm_80", AXE_STAGE_C, "__global__", "grid_", NULL},
    {"jacobi", NULL, "jacobi", "sm_90a", AXE_STAGE_PLAN, "; begins while the launch before it ends", NULL, NULL},
    {"jacobi", NULL, "jacobi", "sm_80", AXE_STAGE_PLAN, "launches", "begins while", NULL},
    /* exponentials stay in front of a wait for products */
    {"attention_sm90", NULL, "attention_sm90", "sm_90a", AXE_STAGE_C, "                wgmma_pause();\n", NULL, NULL},
};
/* clang-format on */

static char *
text_of(axe_ctx *cx, const char *file)
{
    enum { MAX = 1 << 16 };
    char *text = axe_alloc(cx, MAX);
    FILE *f =
        fopen(axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, file), "rb");

    assert_non_null(f);
    text[fread(text, 1, MAX - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *text = row[i].file ? text_of(cx, row[i].file) : row[i].text;
        int32_t     source = axe_source_add(cx, "k", text, strlen(text));
        axe_compile_spec   spec = {.kernel = row[i].kernel,
                                   .machine = row[i].machine,
                                   .n_set = row[i].set != NULL,
                                   .set_name = &row[i].set,
                                   .set_value = (const char *const[]){"1"}};
        const axe_program *p;
        axe_buf            out = {.cx = cx};

        if (axe_compile(cx, source, &spec, row[i].stage, &p) != AXE_OK ||
            axe_program_emit(cx, p, row[i].stage, &out) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        if (!strstr(out.text, row[i].has))
            fail_msg("row %d: no '%s' in\n%s", i, row[i].has, out.text);
        if (row[i].lacks && strstr(out.text, row[i].lacks))
            fail_msg("row %d: '%s' in\n%s", i, row[i].lacks, out.text);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
