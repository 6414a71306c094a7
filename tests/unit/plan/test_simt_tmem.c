/* test_simt_tmem.c - statements on tensor memory: how they are written anew,
 * what is refused, how many columns. */
#include <stdio.h>

#include "plan/simt/simt.h"
#include "planned.h"

#define HEAD                                                                   \
    "kernel g(in f16 A[M, K], in f16 B[N, K], in f32 S[M], out f32 C[M, N]) "  \
    "target sm_100a { index m, n, k; cta (i : M by 128, j : N by 128) "        \
    "threads "                                                                 \
    "128 { pipeline r[2] { shared f16 a[128, 64]; shared f16 b[128, 64]; } "
#define LOOP                                                                   \
    "for (t : K by 64) { produce r { r.a[m, k] = A[i*128 + m, t*64 + k]; "     \
    "r.b[n, k] = B[j*128 + n, t*64 + k]; } consume r "                         \
    "acc[m, n] += r.a[m, k] * r.b[n, k]; } "
/* (A B^T) S by way of p, which the product reads where it lies. */
#define CHAIN(p, sums, product, store)                                         \
    "kernel g(in f16 A[M, 64], in f16 B[N, 64], in f16 S[64, 128], out f32 "   \
    "C[M, 128]) target sm_100a { index m, n, k, d; cta (i : M by 128) "        \
    "threads 128 { " p sums "shared f16 s[64, 128]; reg f16 x[128, 64]; "      \
    "s[n, d] = S[n, d]; x[m, n] = A[i*128 + m, n]; " product store "} }"
#define INTO "p[m, n] = x[m, n]; acc[m, d] = 0; "
#define SUM "tmem f32 acc[128, 128]; "
#define STORE "C[i*128 + m, d] = acc[m, d]; "
#define TIMES INTO "acc[m, d] += p[m, n] * s[n, d]; "
#define OUT "C[i*128 + m, j*128 + n] = acc[m, n]; } }"

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
    {"a factor", CHAIN("tmem f16 p[128, 64]; ", SUM, TIMES, STORE),
     "atoms     tc.f32.f16.m128.ts<128>: ", 256},
    {"where a factor lies", CHAIN("tmem f16 p[128, 64]; ", SUM, TIMES, STORE),
     "f16 p as (128, 64) : (1@tlane, 1@tcol)\n", 256},
    {"how a factor is read", CHAIN("tmem f16 p[128, 64]; ", SUM, TIMES, STORE),
     "address   p from tensor memory, where it is\n", 256},
    {"a factor of the columns",
     CHAIN("tmem f16 p[128, 64]; ", "tmem f32 acc[128, 128]; ",
           "p[m, n] = x[m, n]; acc[d, m] = 0; acc[d, m] += s[n, d] * p[m, n]; ",
           "C[i*128 + m, d] = acc[d, m]; "),
     "f32 acc as (128, 128) : (1@tcol, 1@tlane)\n", 256},
    {"a factor that lies by columns",
     CHAIN("tmem f16 p[64, 128]; ", SUM,
           "p[n, m] = x[m, n]; acc[m, d] = 0; "
           "acc[m, d] += p[n, m] * s[n, d]; ",
           STORE),
     "f16 p as (64, 128) : (1@tcol, 1@tlane)\n", 256},
    {"a part of a tile as factor",
     CHAIN("tmem f16 p[128, 128]; ", SUM,
           "p[m, n + 64] = x[m, n]; acc[m, d] = 0; "
           "acc[m, d] += p[m, n + 64] * s[n, d]; ",
           STORE),
     "f16 p as (128, 128) : (1@tlane, 1@tcol)\n", 256},
    {"a factor at a column that is no multiple",
     CHAIN("tmem f16 p[128, 72] : (128, 72) : (1@tlane, 1@tcol); ", SUM,
           "p[m, n + 8] = x[m, n]; acc[m, d] = 0; "
           "acc[m, d] += p[m, n + 8] * s[n, d]; ",
           STORE),
     "tc.f32.f16.m128.ts<128>", 256},
    {"a factor in every other column",
     CHAIN("tmem f16 p[128, 64] : (128, 64) : (1@tlane, 2@tcol); ", SUM, TIMES,
           STORE),
     "tc.f32.f16.m128.ts: its rows and sums are not in the lanes and columns "
     "that the atom reads",
     0},
    {"a factor of a type that no row takes there",
     CHAIN("tmem f32 p[128, 64]; ", SUM,
           "p[m, n] = f32(x[m, n]); acc[m, d] = 0; "
           "acc[m, d] += p[m, n] * s[n, d]; ",
           STORE),
     "no atom of sm_100a takes these types in 128 x 128 x 64", 0},
    {"two factors in tensor memory",
     CHAIN("tmem f16 p[128, 64]; tmem f16 q[64, 128]; ", SUM,
           "reg f16 y[64, 128]; y[n, d] = S[n, d]; q[n, d] = y[n, d]; " INTO
           "acc[m, d] += p[m, n] * q[n, d]; ",
           STORE),
     "no atom of sm_100a takes these types in 128 x 128 x 64", 0},
    {"the first step overwrites, in a consume in a consume",
     "kernel g(in f16 A[M, 64], in f16 B[N, 64], out f32 C[M, N]) target "
     "sm_100a { index m, n, k; cta (i : M by 128, j : N by 128) threads 128 { "
     "pipeline f[1] { shared f16 a[128, 64]; } pipeline g[1] { shared f16 "
     "b[128, 64]; } tmem f32 acc[128, 128]; produce f f.a[m, k] = "
     "A[i*128 + m, k]; produce g g.b[n, k] = B[j*128 + n, k]; acc[m, n] = 0; "
     "consume f consume g acc[m, n] += f.a[m, k] * g.b[n, k]; "
     "C[i*128 + m, j*128 + n] = acc[m, n]; } }",
     "merged    the first step of the sum overwrites, in place of the zeros",
     128},
};

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx        *cx = axe_ctx_new();
        axe_buf         said = {.cx = cx};
        const axe_plan *p = NULL;
        bool            ok = plan_for(cx, row[i].text, "sm_100a", &p) == AXE_OK;
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
