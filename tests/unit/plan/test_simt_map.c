/* test_simt_map.c - moves, elementwise statements and reductions of threads, in
 * the simulator: what they compute against the reference, and what they do it
 * with.  Sizes are ragged where the kernel lets them. */
#include "map_rows.h"
#include "plan/simt/simt.h"

/* X to Y by way of a tile with this swizzle. */
#define SWIZZLED(swizzle, type)                                                \
    "kernel k(in " type " X[M, K], out " type " Y[M, K]) { index k, m;"        \
    "cta (i : M by 64, j : K by 64) warps 4 {"                                 \
    "shared " type " a[64, 64] : " swizzle " o (64, 64) : (64, 1);"            \
    "a[m, k] = X[i*64 + m, j*64 + k]; Y[i*64 + m, j*64 + k] = a[m, k]; } }"

/* y[n] is what op= makes of x[0] to x[n], by tiles of bm rows and bn of n. */
#define RUNNING(type, space, op, unit, bm, bn)                                 \
    "kernel k(in " type " X[M, N], out " type " Y[M, N]) { index m, n;"        \
    "cta (i : M by " #bm ") { reg " type " s[" #bm "] = " unit ";" space       \
    " " type " x[" #bn ", " #bm "]; for (t : N by " #bn ") {"                  \
    "x[n, m] = X[i*" #bm " + m, t*" #bn " + n];"                               \
    "for (k : " #bn ") { s[m] " op "= x[k, m]; x[k, m] = s[m]; }"              \
    "Y[i*" #bm " + m, t*" #bn " + n] = x[n, m]; } } }"

/* clang-format off */
static const row rows[] = {
    /* Neighbours in vectors where rows are multiples of them, else one by one;
     * every element is written once, at the edge too. */
    {"vectors", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 1024) Y[i*1024 + m] = X[i*1024 + m]; }",
     {3000}, "ld.global.b128 st.global.b128", "ld.global.b32", 12000, 0},
    {"ragged", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 1024) Y[i*1024 + m] = X[i*1024 + m]; }",
     {3001}, "ld.global.b32 st.global.b32", "b128", 12004, 0},
    {"all of it", "kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : 1) Y[m] = X[m]; }",
     {1003}, "ld.global.b32", "b128", 4012, 0},
    {"narrow", "kernel k(in f16 X[M, 40], out f32 Y[M, 40]) { index m, n;"
     "cta (i : M by 64) Y[i*64 + m, n] = f32(X[i*64 + m, n]); }",
     {70}, "ld.global.b64 st.global.b128", "", 70 * 160, 0},
    {"odd rows", "kernel k(in f16 X[M, 9], out f16 Y[M, 9]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n]; }",
     {21}, "ld.global.b16", "b128", 21 * 18, 0},
    /* One text in two styles: the threads' own and the statement's. */
    {"motive by threads",
     "kernel k(in f16 G[M, N], out f16 S[64, 128]) { cta (i : 1)"
     "thread (t : 0..128) for (r : 8) for (v : 8)"
     "  S[t/16 + 8*r, t%16*8 + v] = G[16 + t/16 + 8*r, 64 + t%16*8 + v]; }",
     {80, 192}, "ld.global.b128 st.global.b128", "b16", 64 * 256, 0},
    {"motive by a statement",
     "kernel k(in f16 G[M, N], out f16 S[64, 128]) { index m, n;"
     "cta (i : 1) threads 128 S[m, n] = G[16 + m, 64 + n]; }",
     {80, 192}, "ld.global.b128 st.global.b128", "b16", 64 * 256, 0},
    /* No access is wider than what a swizzle of elements keeps together. */
    {"swizzle of 1", SWIZZLED("swizzle<1, 0, 1>", "bf16"), {64, 128},
     "st.shared.b16 ld.shared.b16", "shared.b32 shared.b64 cp.async.b128",
     64 * 256, -1},
    {"swizzle of 2", SWIZZLED("swizzle<2, 1, 3>", "bf16"), {64, 64},
     "cp.async.b32 ld.shared.b32", "cp.async.b64 cp.async.b128", 8192, -1},
    {"swizzle of 1, up", SWIZZLED("swizzle<2, 0, -2>", "f32"), {64, 64},
     "cp.async.b32 ld.shared.b32", "cp.async.b64 cp.async.b128", 16384, -1},
    {"swizzle of 4", SWIZZLED("swizzle<3, 2, 3>", "f32"), {64, 64},
     "cp.async.b128 ld.shared.b128", "", 16384, -1},
    {"swizzle of 1, wide", SWIZZLED("swizzle<2, 0, 2>", "bf16"), {64, 64},
     "st.shared.b16 ld.shared.b16", "shared.b32 cp.async.b128", 8192, -1},
    /* A reduction's threads: lanes, warps, both, and only some. */
    {"rows by lanes", "kernel k(in f32 X[M, N], out f32 Y[M]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m] = sum[n](X[i*8 + m, n]); }",
     {13, 301}, "shfl.bfly.b32", "ld.shared.b32", 13 * 4, 0},
    {"one row by all", "kernel k(in f32 X[M, N], out f32 Y[M]) { index n;"
     "cta (i : M) Y[i] = max[n](X[i, n]); }",
     {5, 2300}, "shfl.bfly.b32 ld.shared.b32 barrier.cta", "", 20, 0},
    {"products of i64", "kernel k(in i64 X[M, 70], out i64 Y[M]) { index n;"
     "cta (i : M) Y[i] = prod[n](X[i, n]); }",
     {5}, "shfl.bfly.b64", "", 40, 0},
    {"least f16", "kernel k(in f16 X[M, N], out f16 Y[M]) { index n;"
     "cta (i : M) Y[i] = min[n](X[i, n]); }",
     {5, 70}, "shfl.bfly.b32", "", 10, 0},
    {"two at once", "kernel k(in f32 X[M, N], out f32 Y[M]) { index n;"
     "cta (i : M) Y[i] = max[n](X[i, n]) - min[n](X[i, n]); }",
     {5, 700}, "shfl.bfly.b32", "", 20, 0},
    /* Running sums: in a thread, over lanes, over warps, in iterations of all that;
     * of elements that lie in memory; of those that a product leaves. */
    {"running sums of rows", RUNNING("f32", "reg", "+", "0", 16, 256),
     {21, 700}, "shfl.bfly.b32 ld.global.b128", "ld.shared barrier", 21 * 2800, 0},
    {"of a row by all", RUNNING("f32", "reg", "+", "0", 1, 4096), {3, 5001},
     "shfl.bfly.b32 ld.shared.b32 barrier.cta", "", 3 * 20004, 0},
    {"of integers", RUNNING("i64", "reg", "+", "0", 2, 512), {3, 601},
     "shfl.bfly.b64", "", 3 * 4808, 256},
    {"running extremes", RUNNING("f32", "shared", "max", "-inf", 16, 64),
     {17, 100}, "shfl.bfly.b32 ld.shared.b32 barrier.cta", "", 17 * 400, 256},
    {"in one thread", RUNNING("f32", "reg", "+", "0", 256, 4), {300, 12},
     "ld.global.b128", "shfl.bfly", 300 * 48, 0},
    {"of a product's columns", "kernel k(in f16 A[64, 64], in f16 B[64, 64],"
     "out f32 Y[64, 64]) { index m, n, l; cta (i : 1) threads 128 {"
     "reg f32 c[64, 64] = 0; reg f32 s[64] = 1; shared f16 a[64, 64];"
     "shared f16 b[64, 64]; a[m, l] = A[m, l]; b[n, l] = B[n, l];"
     "c[m, n] += a[m, l] * b[n, l];"
     "for (k : 64) { s[m] += 2 * c[m, k]; c[m, k] = s[m]; }"
     "Y[m, n] = c[m, n]; } }",
     {0}, "shfl.bfly.b32", "", 64 * 256, 16},
    {"not of the loop's own", "kernel k(in f32 X[16, 32], out f32 Y[16, 32]) {"
     "index m, n; cta (i : 1) { reg f32 s[32] = 0; shared f32 x[16, 32];"
     "x[n, m] = X[n, m]; for (k : 16) { s[m] += x[3, m]; x[k, m] = s[m]; }"
     "Y[n, m] = x[n, m]; } }",
     {0}, "ld.shared.b32", "shfl", 16 * 128, 0},
    {"nothing beyond", "kernel k(in f32 X[M, N], out f32 Y[M]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m] = max[n](X[i*8 + m, n] - 9)"
     " + sum[n](exp(X[i*8 + m, n])); }",
     {13, 301}, "shfl.bfly.b32", "", 13 * 4, 0},
    {"columns", "kernel k(in f32 X[M, N], out f32 Y[N]) { index m, n;"
     "cta (j : N by 64) Y[j*64 + n] = sum[m](X[m, j*64 + n]); }",
     {70, 130}, "shfl.bfly.b32 ld.shared.b32", "", 130 * 4, 0},
    /* Tiles in registers: what statements make of them, what they follow. */
    {"kept", "kernel k(in f32 X[M, 256], out f32 Y[M, 256]) { index m, n;"
     "cta (i : M by 4) { reg f32 x[4, 256]; reg f32 s[4];"
     "x[m, n] = X[i*4 + m, n]; s[m] = sum[n](x[m, n]);"
     "Y[i*4 + m, n] = x[m, n] - s[m] / 256; } }",
     {9}, "ld.global.b128", "", 9 * 1024, 0},
    {"declared", "kernel k(in f32 X[M, 8], out f32 Y[M, 8]) { index m, n;"
     "cta (i : M by 32) threads 32 {"
     "reg f32 x[32, 8] : (32, 8) : (1@lane, 1@reg);"
     "x[m, n] = X[i*32 + m, n]; Y[i*32 + m, n] = 2 * x[m, n]; } }",
     {70}, "ld.global.b128", "shfl st.shared.b32", 70 * 32, 0},
    {"elsewhere", "kernel k(in f32 X[M, 32], out f32 Y[32, M]) { index m, n;"
     "cta (i : M by 32) threads 32 {"
     "reg f32 x[32, 32] : (32, 32) : (1@lane, 1@reg);"
     "reg f32 y[32, 32] : (32, 32) : (1@reg, 1@lane);"
     "x[m, n] = X[i*32 + m, n]; y[m, n] = x[m, n] + 1;"
     "Y[n, i*32 + m] = y[m, n]; } }",
     {70}, "st.shared.b128 ld.shared barrier.cta", "", 32 * 280, 0},
    /* Turned tiles, whatever lies between. */
    {"turned", "kernel k(in f32 X[M, N], out f32 Y[N, M]) { index m, n;"
     "cta (i : M by 64, j : N by 64) { shared f32 t[64, 64];"
     "t[m, n] = X[i*64 + m, j*64 + n]; Y[j*64 + n, i*64 + m] = t[m, n]; } }",
     {68, 132}, "cp.async.b128 ld.shared.b128 st.global.b128", "b32",
     68 * 132 * 4, 0},
    {"turned, 16 bits", "kernel k(in f16 X[M, N], out f16 Y[N, M]) {"
     "index m, n; cta (i : M by 64, j : N by 64) { shared f16 t[64, 64];"
     "t[m, n] = X[i*64 + m, j*64 + n]; Y[j*64 + n, i*64 + m] = t[m, n]; } }",
     {69, 131}, "st.global.b16", "", 69 * 131 * 2, 0},
    {"turned by itself", "kernel k(in f32 X[M, N], in f32 Z[N, M], out f32 Y[N,"
     " M]) { index m, n; cta (i : M by 64, j : N by 64) Y[j*64 + n, i*64 + m] ="
     " X[i*64 + m, j*64 + n] * 2 + Z[j*64 + n, i*64 + m]; }",
     {68, 132}, "cp.async.b128 barrier ld.shared.b128 st.global.b128", "b32",
     68 * 132 * 4, 0},
    {"turned by itself, odd", "kernel k(in f16 X[A, M, N], out f16 Y[N, M, A])"
     "{ index m, n; cta (a : A, i : M by 64, j : N by 64) "
     "Y[j*64 + n, i*64 + m, a] = X[a, i*64 + m, j*64 + n]; }",
     {3, 69, 131}, "st.global.b16", "shared", 3 * 69 * 131 * 2, 0},
    {"turned in registers", "kernel k(in f32 X[M, N], out f32 Y[N, M]) {"
     "index m, n; cta (i : M by 8, j : N by 8) warps 1 "
     "Y[j*8 + n, i*8 + m] = X[i*8 + m, j*8 + n]; }",
     {68, 132}, "st.global", "shared", 68 * 132 * 4, 0},
    /* More than there are registers for, beside a tile that lives on. */
    {"parts", "kernel k(in f32 X[M, N], in f32 R[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 128, j : N by 128) { reg f32 x[128, 128];"
     "x[m, n] = X[i*128 + m, j*128 + n];"
     "Y[i*128 + m, j*128 + n] = x[m, n]"
     " + R[i*128 + m, j*128 + n] * x[m, n]; } }",
     {130, 164}, "ld.global.b128 st.global.b128", "b32", 130 * 164 * 4, 0},
    {"parts of a row", "kernel k(in f32 X[M, N], in f16 R[N], out f32 Y[M, N])"
     "{ index m, n; cta (i : M by 128, j : N by 128) { reg f32 x[128, 128];"
     "x[m, n] = X[i*128 + m, j*128 + n];"
     "Y[i*128 + m, j*128 + n] = x[m, n] * f32(R[j*128 + n])"
     " + X[i*128 + m, j*128 + n]; } }",
     {130, 163}, "ld.global.b32 ld.global.b16 st.global.b32", "b128",
     130 * 163 * 4, 0},
    /* Loops that count a register tile, or a part of one. */
    {"counted by loops", "kernel k(in f32 X[M, 32], out f32 Y[M, 32]) {"
     "index m, n; cta (i : M by 8) { reg f32 y[8, 32] = 0;"
     "for (r : 8) for (t : 4) y[r, n] = max(y[r, n], X[i*8 + r, n] * f32(t));"
     "for (r : 8) y[r, n] += X[i*8 + r, n] * f32(r);"
     "for (r : 4) y[r + 4, n] = y[r + 4, n] * 3.0;"
     "Y[i*8 + m, n] = y[m, n]; } }",
     {21}, "ld.global", "", 21 * 128, 0},
    /* Subscripts that are read. */
    {"gathered", "kernel k(in f32 X[V, N], in i32 R[M], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 8) Y[i*8 + m, n] = X[R[i*8 + m], n]; }",
     {7, 36, 21}, "ld.global.b128", "", 21 * 144, 0},
    {"scattered", "kernel k(in f32 X[M, N], in i32 R[M], inout f32 Y[V, N]) {"
     "index m, n; cta (j : N by 64) Y[R[m], j*64 + n] += X[m, j*64 + n]; }",
     {21, 132, 7}, "red.global.add", "st.global ld.global.b64", 0, 0},
    {"by several tasks", "kernel k(in i32 X[M], in i32 R[M], inout i32 Y[V]) {"
     "index m; cta (i : M by 64) Y[R[i*64 + m]] min= X[i*64 + m]; }",
     {200, 7}, "red.global.min.i32", "st.global", 0, 0},
    {"in order", "kernel k(in f32 X[M, N], in i32 R[M], inout f32 Y[V, N]) {"
     "index m, n; cta (j : N by 64) Y[R[m], j*64 + n] max= X[m, j*64 + n]; }",
     {21, 132, 7}, "st.global.b128", "red", 0, 0},
    {"read and written", "kernel k(in f32 X[M], inout f32 Y[M]) { index m;"
     "cta (i : M by 96) Y[i*96 + m] = Y[i*96 + m] * X[i*96 + m]; }",
     {200}, "st.global", "", 800, 0},
    {"added", "kernel k(in f32 X[M, N], inout f32 Y[M]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m] += X[i*8 + m, n]; }",
     {21, 77}, "shfl.bfly.b32", "", 84, 0},
    /* Scopes in a CTA. */
    {"each thread", "kernel k(in f32 X[N], out f32 Y[N]) { cta (i : N by 128)"
     "thread (t : 0..128) { f32 s = 0; for (k : 4) s = s + X[i*128 + t];"
     "if (t > 3) Y[i*128 + t] = s; else Y[i*128 + t] = -s; } }",
     {300}, "ld.global.b32", "barrier", 1200, 0},
    {"each warp", "kernel k(in f32 X[M, 64], out f32 Y[M]) { index n;"
     "cta (i : M by 4) warp (w : 0..4) { shared f32 x[64]; f32 s;"
     "x[n] = X[i*4 + w, n]; s = sum[n](x[n]); Y[i*4 + w] = s; } }",
     {9}, "barrier.warp ld.shared", "barrier.cta", 36, 0},
    {"two warpgroups", "kernel k(in f32 X[M, 512], out f32 Y[M]) { index n;"
     "cta (i : M by 2) warpgroup (w : 0..2) { f32 s;"
     "s = sum[n](X[i*2 + w, n]); Y[i*2 + w] = s; } }",
     {5}, "bar.sync ld.shared.b32", "barrier.cta", 20, 0},
    {"while", "kernel k(in f32 X[N], out f32 Y[N]) { index n;"
     "cta (i : N by 256) { f32 e; reg f32 x[256]; x[n] = X[i*256 + n];"
     "e = max[n](x[n]); while (e > 1) { x[n] = x[n] / 2; e = max[n](x[n]); }"
     "Y[i*256 + n] = x[n]; } }",
     {700}, "shfl.bfly.b32", "", 2800, 0},
    {"no rows", "kernel k(in f32 X[M, N], out f32 Y[M]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m] = sum[n](X[i*8 + m, n]); }",
     {0, 5}, "", "", 0, 0},
    {"no columns", "kernel k(in f32 X[M, N], out f32 Y[M]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m] = max[n](X[i*8 + m, n]); }",
     {9, 0}, "", "", 36, 0},
};
/* clang-format on */

static void
test_rows(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *dev;

    (void)state;
    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev), AXE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        run_row(dev, &rows[i], "sm_80", -1);
    axe_device_free(dev);
    axe_ctx_free(cx);
}

/* Statements in parts: beside `alive` registers, so many of what moves. */
static void
check_parts(const char *body, int at, int n_part, int n_register)
{
    run x = {.cx = axe_ctx_new()};
    row r = {.name = body,
             .text = axe_textf(x.cx,
                               "kernel k(in f32 X[128, 128], in f32 R[128], "
                               "inout f32 Y[128, 128]) { index m, n;"
                               "cta (i : 1) { reg f32 x[128, 128];"
                               "x[m, n] = X[m, n]; %s } }",
                               body)};
    int n = 1;

    if (!compile(&x, &r, "sm_80"))
        fail_row(x.cx, &r);
    const axe_simt_schedule *s = x.p->plan->schedule[at]->simt;
    for (int i = 0; i < s->work.n_digit; i++)
        n *= s->work.digit[i].apart ? (int)s->work.digit[i].of.extent : 1;
    if (n != n_part || s->n_register != n_register)
        fail_msg("%s: %d parts of %d registers", body, n, s->n_register);
    axe_ctx_free(x.cx);
}

static void
test_parts(void **state)
{
    (void)state;
    check_parts("Y[m, n] = x[m, n];", 1, 1, 64);
    check_parts("Y[m, n] = x[m, n] + X[m, n];", 1, 2, 64);
    check_parts("Y[m, n] += x[m, n] + X[m, n];", 1, 2, 64);
    /* What every part needs is loaded once. */
    check_parts("Y[m, n] = x[m, n] + X[m, n] * R[n];", 1, 4, 36);
    /* x is done with, and lives through the loop. */
    check_parts("Y[m, n] = X[m, n] * R[m];", 1, 1, 36);
    check_parts("for (t : 2) { reg f32 y[128, 128]; y[m, n] = x[m, n];"
                " Y[m, n] = y[m, n] + X[m, n]; }",
                2, 4, 32);
}

/* clang-format off */
static const struct {
    const char *name, *text, *said;
} refused[] = {
    {"threads", "kernel k(out f32 Y[N]) { cta (i : 1) thread (t : 0..2000) {"
     "f32 s = 1; if (t < N) Y[t] = s; } }",
     "this cta takes 2016 threads; one of sm_80 has at most 1024"},
    {"memory", "kernel k(in f32 X[256, 256], out f32 Y[256, 256]) {"
     "index m, n; cta (i : 1) { shared f32 x[256, 256];"
     "x[m, n] = X[m, n]; Y[m, n] = x[m, n]; } }",
     "a CTA needs 262144 bytes of shared memory; one of sm_80 may have 166912"},
    {"axis", "kernel k(in f32 X[32], out f32 Y[32]) { index m; cta (i : 1) {"
     "reg f32 x[32] : (32) : (1@cta); x[m] = X[m]; Y[m] = x[m]; } }",
     "axis cta of the layout of x has no meaning for a reg tile of a cta"},
    {"lane 62", "kernel k(in f32 X[32], out f32 Y[32]) { index m; cta (i : 1) {"
     "reg f32 x[32] : (32) : (2@lane); x[m] = X[m]; Y[m] = x[m]; } }",
     "the layout of x reaches lane 62; there are 32"},
    {"lane 5", "kernel k(in f32 X[8], out f32 Y[8]) { index m; cta (i : 1) {"
     "reg f32 x[8] : (8) : (1@lane) + 5@lane; x[m] = X[m]; Y[m] = x[m]; } }",
     "the layout of x begins at lane 5"},
    {"one place", "kernel k(in f32 X[8, 8], out f32 Y[8, 8]) { index m, n;"
     "cta (i : 1) { shared f32 x[8, 8] : (8, 8) : (4, 1);"
     "x[m, n] = X[m, n]; Y[m, n] = x[m, n]; } }",
     "the layout of x puts x[0, 4] and x[1, 0] in one place"},
    {"one register", "kernel k(in f32 X[64], out f32 Y[64]) { index m;"
     "cta (i : 1) { reg f32 x[64] : ((2, 32)) : ((0@reg, 1@lane));"
     "x[m] = X[m]; Y[m] = x[m]; } }",
     "the layout of x puts x[0] and x[32] in one place"},
    {"before", "kernel k(in f32 X[8], out f32 Y[8]) { index m; cta (i : 1) {"
     "shared f32 x[8] : (8) : (-1) + 6; x[m] = X[m]; Y[m] = x[m]; } }",
     "the layout of x has an element at -1 of axis m; places count from 0"},
    {"registers", "kernel k(out f32 Y[1]) { cta (i : 1) {"
     "reg f32 x[32768, 32768] = 0; Y[0] = x[0, 0]; } }",
     "each of 256 threads would hold 4194304 elements of x"},
    {"in part", "kernel k(in f32 X[4], out f32 Y[4]) { index m; cta (i : 1) {"
     "reg f32 x[8]; x[m + 4] = X[m]; Y[m] = x[m + 4]; } }",
     "x has no layout, and no statement of its scope fills it whole"},
    {"folds", "kernel k(in f32 X[M, N, L], in f32 W[K], out f32 Y[M, K]) {"
     "index m, n, l, k;"
     "cta (i : M by 4) Y[i*4 + m, k] = sum[n](max[l](X[i*4 + m, n, l] * W[k])); }",
     "max[l](X[i*4 + m, n, l]*W[k]) is folded again, along 'n', which it depends"},
    {"swizzle, beyond", SWIZZLED("swizzle<2, 30, 4>", "f32"),
     "the swizzle of tile a moves bits of addresses that no shared memory has"},
};
/* clang-format on */

static void
test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        run     x = {.cx = axe_ctx_new()};
        row     r = {.name = refused[i].name, .text = refused[i].text};
        axe_buf said = {.cx = x.cx};
        if (compile(&x, &r, "sm_80"))
            fail_msg("%s: not refused", r.name);
        axe_diags_print(x.cx, &said, false);
        if (!strstr(said.text, refused[i].said))
            fail_msg("%s: %s", r.name, said.text);
        axe_ctx_free(x.cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
