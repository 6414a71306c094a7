/* test_check.c - programs that the checks of whole kernels must accept without
 * a word, beside the refusals of tests/bad and tests/warn; and IR text that no
 * program becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/check.h"
#include "lang/lang.h"

/* clang-format off */
static const char *const good[] = {
    /* which cta wrote an element follows from its subscripts */
    "kernel k(out f32 Y[M, N]) { index m, n; "
    "cta (i : M by 8, j : N by 4) Y[i*8 + m, j*4 + n] = 1; }",
    "kernel k(out f32 Y[64]) { index m; cta (i : 8) { reg f32 x[8] = 1; "
    "Y[56 - 8*i + m] = x[m]; } }",
    "kernel k(out f32 Y[96]) { cta (i : 4, j : 8) for (t : 3) "
    "Y[i*24 + j*3 + t] = 1; }",
    "kernel k(out f32 Y[96]) { cta (i : 4, j : 8) for (t : 3) "
    "Y[i + j*4 + t*32] = 1; }",
    "kernel k(out f32 Y[N, 4]) { cta (i : N) Y[i/4, i%4] = 1; }",
    "kernel k(out f32 Y[N, 4, 2]) { cta (i : N) for (c : 2) "
    "Y[i/4, i%4, c] = 1; }",
    "kernel k(out f32 Y[N]) { cta (i : 4, j : N) Y[i + j*4] = 1; }",
    /* one cta, or one value of a variable */
    "kernel k(out f32 Y[M]) { index m; cta (i : 1) Y[m] = 1; }",
    "kernel k(out f32 Y[M]) { index m; cta (i : M) if (i == 0) Y[m] = 1; }",
    "kernel k(out f32 Y[M, N]) { index m; cta (i : M by 8, j : N) "
    "if (j == i && i < 3) Y[i*8 + m, 0] = 1; }",
    "kernel k(out f32 Y[M]) { index m; cta (i : M) { if (i == 0) "
    "{ Y[m] = 1; Y[0] = 2; } } }",
    /* several accesses that tell the cta alike, or never conflict */
    "kernel k(in f32 X[M, N], inout f32 Y[M, N]) { index m, n; "
    "cta (i : M by 8) { Y[i*8 + m, n] += X[i*8 + m, n]; "
    "Y[i*8 + m, n] *= sum[n](X[i*8 + m, n]); } }",
    "kernel k(out f32 Y[2, M]) { index m; cta (i : M by 8) { "
    "Y[0, i*8 + m] = 1; Y[1, 8*i + m + 1] = 2; } }",
    "kernel k(inout f32 Y[2, M]) { index m; cta (i : M by 8) { reg f32 x[8]; "
    "x[m] = Y[1, 8*i + m + 1]; Y[0, i*8 + m] = x[m]; } }",
    "kernel k(out f32 Y[M]) { index m; cta (i : M by 16) { reg "
    "f32 x[8] = 1; for (t : 2) Y[i*16 + t*8 + m] = x[m]; Y[i*16 + 3] = 2; } }",
    /* parts of tiles that are all written before they are read */
    "kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 8) { "
    "reg f32 x[2, 8]; for (t : 2) x[t, m] = X[i*8 + m]; "
    "Y[i*8 + m] = x[0, m] + x[1, m]; } }",
    "kernel k(in f32 X[M], out f32 Y[M]) { index m, c; cta (i : M by 8) { "
    "reg f32 x[8, 4] = 0; x[m, 1] = X[i*8 + m]; "
    "Y[i*8 + m] = sum[c](x[m, c]); } }",
    /* as many dimensions as there may be */
    "kernel k(in f32 X[M], out f32 Y[M]) { index m; global f32 g[M, "
    "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; cta (i : M by 8) "
    "g[i*8 + m, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] = X[i*8 + m]; "
    "cta (i : M by 8) Y[i*8 + m] = "
    "g[i*8 + m, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]; }",
    /* results that are used in the next iteration, or by `op=` */
    "kernel k(in f32 X[M, N], out f32 Y[M]) { index m; cta (i : M by 8) { "
    "reg f32 x[8] = 0; reg f32 y[8] = 0; for (t : N) { y[m] += x[m]; "
    "x[m] = X[i*8 + m, t]; } Y[i*8 + m] = y[m]; } }",
    "kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 8) { "
    "reg f32 x[8] = 1; x[m] *= X[i*8 + m]; x[m] max= 0; Y[i*8 + m] = x[m]; } }",
    "kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 8) { "
    "reg f32 x[8] = 1; if (i > 2) x[m] = X[i*8 + m]; Y[i*8 + m] = x[m]; } }",
    "kernel k(out f32 Y[M]) { index m; cta (i : M by 8) { "
    "reg f32 x[8] = 1; x[0] = 5; Y[i*8 + m] = x[m]; } }",
    /* a result that is seen where an iteration leaves before the next one */
    "kernel k(in f32 X[M], in i64 stop, out f32 Y[M]) { index m; "
    "cta (i : M by 8) { reg f32 x[8] = 0; for (t : 4) { x[m] = 1; "
    "if (t == stop) break; x[m] = X[i*8 + m]; } Y[i*8 + m] = x[m]; } }",
};
/* clang-format on */

static void
test_good(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(good); i++) {
        axe_ctx *cx = axe_ctx_new();
        int32_t  source = axe_source_add(cx, "k", good[i], strlen(good[i]));
        axe_inst inst = {.machine = "cpu"};
        const axe_module *m;
        const axe_kernel *k;
        axe_buf           said = {.cx = cx};
        if (axe_module_parse(cx, source, &m) != AXE_OK ||
            axe_module_instantiate(cx, m, &inst, &k) != AXE_OK ||
            axe_diags(cx)) {
            axe_diags_print(cx, &said, false);
            print_error("%s\n%s\n", good[i], said.text);
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* In IR text a statement may walk a part of a tile: what it does not reach is
 * not lost. */
static void
test_overwritten_part(void **state)
{
    static const char head[] =
        "kernel k\nindex m\nin f32 X[8] : (1)\nout f32 Y[8] : (1)\n{\n"
        "cta (i : 1) {\nreg f32 x[8]\nx[m] = X[m] over m:8\n";
    static const char tail[] = "Y[m] = x[m] over m:8\n}\n}\n";
    static const int  extent[] = {8, 7, 4, 1};

    (void)state;
    for (int i = 0; i < AXE_LEN(extent); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_kernel *k;
        char   *text = axe_textf(cx, "%sx[m] = 2.0_f32 over m:%d\n%s", head,
                                 extent[i], tail);
        int32_t source = axe_source_add(cx, "ir", text, strlen(text));
        assert_int_equal(axe_kernel_read(cx, source, &k), AXE_OK);
        assert_int_equal(axe_kernel_check(cx, k), AXE_OK);
        if (extent[i] == 8)
            assert_string_equal(axe_diags(cx)->text,
                                "what this writes to `x` is overwritten before "
                                "anything reads it");
        else
            assert_null(axe_diags(cx));
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_overwritten_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
