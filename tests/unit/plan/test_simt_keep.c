/* test_simt_keep.c - rows that a CTA reads more than once: when they are kept
 * in registers, by whom, and what keeps them from it; told by the bytes that
 * come from global memory. */
#include "map_rows.h"

#define SOFTMAX                                                                \
    "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;"                  \
    "cta (i : M by 8) { reg f32 top[8]; reg f32 all[8];"                       \
    "top[m] = max[n](X[i*8 + m, n]);"                                          \
    "all[m] = sum[n](exp(X[i*8 + m, n] - top[m]));"                            \
    "Y[i*8 + m, n] = exp(X[i*8 + m, n] - top[m]) / all[m]; } }"

/* Rows that are read again are kept: by warps, by CTAs of 256 threads and
 * of 1024 as long as they fit, which 32769 elements do not. */
/* clang-format off */
static const struct {
    row     row;
    int64_t read; /* [bytes] from global memory */
} kept[] = {
    {{"rows by warps", SOFTMAX, {13, 1024}, "shfl", "ld.shared", 13 * 4096, 0},
     13 * 4096},
    {{"ragged rows by warps", SOFTMAX, {13, 301}, "ld.global.b32",
     "ld.shared b128", 13 * 1204, 0},
     13 * 1204},
    {{"a row by a CTA", SOFTMAX, {3, 1028}, "ld.shared ld.global.b128",
     "ld.global.b32", 3 * 4112, 0},
     3 * 4112},
    {{"a ragged row by a CTA", SOFTMAX, {2, 8191}, "ld.shared ld.global.b32",
     "b128", 2 * 32764, 0},
     2 * 32764},
    {{"a row by 1024 threads", SOFTMAX, {2, 8200}, "ld.shared", "", 2 * 32800,
     0},
     2 * 32800},
    {{"a row that does not fit", SOFTMAX, {1, 32769}, "ld.shared", "", 131076,
     0},
     3 * 131076},
    {{"an empty row", SOFTMAX, {3, 0}, "", "", 0, 0},
     0},
    {{"kept in f32", "kernel k(in bf16 X[M, N], out f32 Y[M]) { index m, n;"
     "cta (i : M by 8) Y[i*8 + m] = max[n](f32(X[i*8 + m, n]))"
     " + sum[n](f32(X[i*8 + m, n])); }",
     {5, 1030}, "shfl", "", 20, 0},
     5 * 2060},
    {{"kept as it is", "kernel k(in bf16 X[M, N], out f32 Y[M]) { index m, n;"
     "cta (i : M by 8) { reg f32 t[8]; t[m] = max[n](f32(X[i*8 + m, n]));"
     "Y[i*8 + m] = t[m] + sum[n](f32(X[i*8 + m, n]) - t[m]); } }",
     {1, 32776}, "ld.global.b128", "ld.global.b16", 4, 0},
     65552},
    {{"as it is, and as another", "kernel k(in i8 X[M, N], out i32 Y[M]) {"
     "index m, n; cta (i : M by 8) { reg i8 t[8]; t[m] = max[n](X[i*8 + m, n]);"
     "Y[i*8 + m] = sum[n](i32(X[i*8 + m, n])) + i32(t[m]); } }",
     {5, 1100}, "shfl", "", 20, 0},
     5 * 1100},
    {{"of two arguments", "kernel k(in f32 X[M, N], in f32 R[M, N],"
     "out f32 Y[M, N]) { index m, n; cta (i : M by 4) { reg f32 s[4];"
     "s[m] = sum[n](X[i*4 + m, n] + R[i*4 + m, n]);"
     "Y[i*4 + m, n] = (X[i*4 + m, n] + R[i*4 + m, n]) / s[m]; } }",
     {5, 1100}, "shfl", "", 5 * 4400, 0},
     2 * 5 * 4400},
    {{"in a loop", "kernel k(in f32 X[M, N], out f32 Y[M, 3]) { index m, n;"
     "cta (i : M by 8) { reg f32 t[8] = 9; for (k : 3) {"
     "t[m] = max[n](X[i*8 + m, n] < t[m] ? X[i*8 + m, n] : -9);"
     "Y[i*8 + m, k] = t[m]; } } }",
     {9, 1100}, "shfl", "", 9 * 12, 0},
     9 * 4400},
    {{"in a loop as far as the CTA says", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 8) { reg f32 s[8]; s[m] = max[n](X[i*8 + m, n]);"
     "for (t : i + 1) for (u : t) s[m] = s[m] + f32(i);"
     "Y[i*8 + m, n] = X[i*8 + m, n] - s[m]; } }",
     {21, 1020}, "shfl", "", 21 * 4080, 0},
     21 * 4080},
    {{"a long row in such a loop", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 8) { reg f32 s[8]; s[m] = max[n](X[i*8 + m, n]);"
     "for (t : i + 1) s[m] = s[m] + f32(t);"
     "Y[i*8 + m, n] = X[i*8 + m, n] - s[m]; } }",
     {21, 1100}, "shfl", "", 21 * 4400, 0},
     2 * 21 * 4400},
    {{"a long row in one of the CTAs", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 8) { reg f32 s[8]; s[m] = max[n](X[i*8 + m, n]);"
     "if (i == 1) s[m] = s[m] + 1;"
     "Y[i*8 + m, n] = X[i*8 + m, n] - s[m]; } }",
     {21, 1100}, "shfl", "", 21 * 4400, 0},
     2 * 21 * 4400},
    {{"rows after the CTA's own", "kernel k(in f32 X[R, N], in i32 Z[M], inout f32 Y[R, N]) {"
     "index m, n; cta (i : M by 8) { reg f32 s[8];"
     "s[m] = max[n](X[i*8 + m + 1, n]);"
     "Y[i*8 + m + 1, n] = X[i*8 + m + 1, n] - s[m]; } }",
     {25, 1100, 24}, "shfl", "", 24 * 4400, 0},
     2 * 24 * 4400},
    {{"rows that go elsewhere", "kernel k(in f32 X[M, N], out f32 Y[Q, 8, N]) {"
     "index m, n; cta (i : M by 8) { reg f32 s[8];"
     "s[m] = max[n](X[i*8 + m, n]); Y[i, m, n] = X[i*8 + m, n] - s[m]; } }",
     {16, 1100, 2}, "shfl", "", 16 * 4400, 0},
     2 * 16 * 4400},
    {{"more rows than CTAs say", "kernel k(in f32 X[R, N], in i32 Z[M], out f32 Y[R, N]) {"
     "index m, n; cta (i : M by 4) { reg f32 s[8]; s[m] = max[n](X[i*8 + m, n]);"
     "Y[i*8 + m, n] = X[i*8 + m, n] - s[m]; } }",
     {16, 1100, 8}, "shfl", "", 16 * 4400, 0},
     2 * 16 * 4400},
    {{"threads that the text asks for", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 8) threads 64 { reg f32 s[8];"
     "s[m] = max[n](X[i*8 + m, n]); Y[i*8 + m, n] = X[i*8 + m, n] - s[m]; } }",
     {9, 100}, "shfl", "", 9 * 400, 0},
     2 * 9 * 400},
    {{"too many rows for some of each", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n; cta (i : M by 128) { reg f32 s[128];"
     "s[m] = max[n](X[i*128 + m, n]); Y[i*128 + m, n] = X[i*128 + m, n] - s[m]; } }",
     {9, 60}, "ld.shared", "", 9 * 240, 0},
     9 * 240},
    {{"folds in folds", "kernel k(in f32 X[M, N], out i64 Y[M]) {"
     "index m, n, l; cta (i : M by 8)"
     "Y[i*8 + m] = min[n](X[i*8 + m, n] == max[l](X[i*8 + m, l])"
     " ? n : 99999); }",
     {9, 1100}, "shfl", "", 72, 0},
     9 * 4400},
    {{"a fold in the fold of another row", "kernel k(in f32 X[M, N], out f32 Y[M])"
     "{ index m, n, l; cta (i : M by 8) Y[i*8 + m] ="
     " sum[n](X[i*8 + m, n] - max[l](X[0, l])); }",
     {9, 100}, "shfl", "", 36, 0},
     9 * 400 + 2 * 400},
    {{"by rows of others", "kernel k(in f32 X[M, N], out f32 Y[M, N]) {"
     "index m, n, l; cta (i : M by 8) { reg f32 s[8]; reg f32 t[8];"
     "s[m] = sum[n](X[i*8 + m, n]); t[m] = sum[l](s[l]);"
     "Y[i*8 + m, n] = X[i*8 + m, n] - t[m]; } }",
     {9, 1100}, "shfl", "", 9 * 4400, 0},
     2 * 9 * 4400},
    {{"what is written", "kernel k(inout f32 X[M, N]) { index m, n;"
     "cta (i : M by 8) { reg f32 s[8]; s[m] = sum[n](X[i*8 + m, n]);"
     "X[i*8 + m, n] = X[i*8 + m, n] - s[m]; } }",
     {9, 100}, "shfl", "", 9 * 400, 0},
     2 * 9 * 400},
};
/* clang-format on */

static void
test_kept(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *dev;

    (void)state;
    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev), AXE_OK);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        run_row(dev, &kept[i].row, "sm_80", kept[i].read);
    axe_device_free(dev);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
