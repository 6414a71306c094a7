/* test_simt_tmem.c - statements on tensor memory: how they are written anew,
 * what is refused, how many columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "plan/simt.h"

#define HEAD                                                                   \
    "kernel g(in f16 A[M, K], in f16 B[N, K], in f32 S[M], out f32 C[M, N]) "  \
    "target sm_100a { index m, n, k; cta (i : M by 128, j : N by 128) "        \
    "threads "                                                                 \
    "128 { pipeline r[2] { shared f16 a[128, 64]; shared f16 b[128, 64]; } "
#define LOOP                                                                   \
    "for (t : K by 64) { produce r { r.a[m, k] = A[i*128 + m, t*64 + k]; "     \
    "r.b[n, k] = B[j*128 + n, t*64 + k]; } consume r "                         \
    "acc[m, n] += r.a[m, k] * r.b[n, k]; } "
#define OUT "C[i*128 + m, j*128 + n] = acc[m, n]; } }"

static axe_status
plan(axe_ctx *cx, const char *text, const axe_plan **p)
{
    int32_t            src = axe_source_add(cx, "t.axe", text, strlen(text));
    const axe_module  *m;
    const axe_kernel  *k;
    const axe_machine *mc;
    axe_inst           inst = {.machine = "sm_100a"};

    AXE_TRY(axe_machine_find(cx, inst.machine, &mc));
    AXE_TRY(axe_module_parse(cx, src, &m));
    AXE_TRY(axe_module_instantiate(cx, m, &inst, &k));
    AXE_TRY(axe_kernel_verify(cx, k));
    return axe_plan_kernel(cx, k, mc, p);
}

static const struct {
    const char *name, *text;
    const char *want; /* of the plan's text, or of the errors */
    int         columns;
} row[] = {
    {"a plain one", HEAD "tmem f32 acc[128, 128] = 0; " LOOP OUT,
     "acc.held[m, n] = acc[m, n]", 128},
    {"by parts",
     HEAD "tmem f32 acc[128, 128] = 0; reg f32 y[128, 128] = 1; " LOOP
          "y[m, n] += acc[m, n]; C[i*128 + m, j*128 + n] = "
          "y[m, n]; } }",
     "acc.held[m, n] = acc[m, part*32 + n]", 128},
    {"a fold",
     HEAD "tmem f32 acc[128, 128] = 0; reg f32 y[128] = 0; " LOOP
          "y[m] max= acc[m, n]; C[i*128 + m, j*128 + n] = y[m]; } }",
     "y[m] max= acc.held[m, n]", 128},
    {"scaled in place",
     HEAD "tmem f32 acc[128, 128] = 0; " LOOP "acc[m, n] *= S[i*128 + m]; " OUT,
     "tc.st.32x32b", 128},
    {"two tiles",
     HEAD "tmem f32 acc[128, 128] = 0; tmem f32 more[128, 40]; " LOOP
          "more[m, n] = acc[m, n + 8]; "
          "C[i*128 + m, j*128 + n] = more[m, n]; } }",
     "columns 128 to 167: f32 more", 256},
    {"too many columns",
     HEAD "tmem f32 acc[128, 128] = 0; "
          "tmem f32 more[128, 400] = 0; " LOOP
          "C[i*128 + m, j*128 + n] = acc[m, n] + "
          "more[m, n + 3]; } }",
     "a CTA needs 528 columns of tensor memory; one of sm_100a has 512", 0},
    {"too many lanes",
     HEAD "tmem f32 acc[128, 128] : (128, 128) : (2@tlane, "
          "1@tcol) = 0; " LOOP OUT,
     "reaches lane 254 of tensor memory; there are 128", 0},
    {"a layout that no product makes",
     HEAD
     "tmem f32 acc[128, 128] : (128, 128) : (1@tlane, 2@tcol); acc[m, n] = "
     "0; " LOOP OUT,
     "tensor memory takes sums of products, and moves", 0},
    {"not on registers",
     HEAD "tmem f32 acc[128, 128] : (128, 128) : (1@lane, "
          "1@tcol) = 0; " LOOP OUT,
     "axis lane of the layout of acc has no meaning for a tmem tile", 0},
    {"one warp",
     "kernel g(in f32 X[M, 32], out f32 Y[M, 32]) target sm_100a { index m, n; "
     "cta (i : M by 128) warps 2 { tmem f32 x[128, 32]; roles { warp (0) "
     "x[m, n] = X[i*128 + m, n]; warp (1) Y[i*128 + m, n] = 1; } } }",
     "no row of sm_100a moves x from registers of the 32 threads here", 0},
};

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx        *cx = axe_ctx_new();
        axe_buf         said = {.cx = cx};
        const axe_plan *p = NULL;
        bool            ok = plan(cx, row[i].text, &p) == AXE_OK;
        if (ok)
            axe_plan_print(cx, &said, p, NULL);
        else
            axe_diags_print(cx, &said, false);
        if (ok != (row[i].columns > 0) || !strstr(said.text, row[i].want))
            fail_msg("%s: %s", row[i].name, said.text);
        if (ok)
            assert_int_equal(p->simt->launch[0].tmem_columns, row[i].columns);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
