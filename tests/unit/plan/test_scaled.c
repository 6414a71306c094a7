/* test_scaled.c - block-scaled products: which statements are planned by rows
 * with scales, where scales then lie and what brings them; and bugs put into
 * such a kernel, which findings or wrong numbers tell. */
#include "mutants.h"
#include "plan/access/scaled.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/tmem/copy.h"

/* ------------------------------------------------------------------- plans */

/* A kernel whose consume is `does`, with scales of type `ts` for each `per` of
 * k. */
static const char *
kernel_of(const char *ta, const char *tb, const char *ts, int bm, int bn,
          int bk, const char *does)
{
    return axe_textf(
        cx,
        "kernel g<BM = %d, BN = %d, BK = %d>(in %s A[M, K], in %s B[N, K], in "
        "%s SA[P, R, 32, 4, 4], in %s SB[Q, R, 32, 4, 4], out f32 C[M, N]) { "
        "index m, n, k, r, g, s; cta (i : M by BM, j : N by BN) { tmem f32 "
        "acc[BM, BN] = 0; shared %s sa[BM, BK / 32]; shared %s sb[BN, BK / "
        "32]; shared "
        "%s a[BM, BK]; shared %s b[BN, BK]; for (t : K by BK) { a[m, k] = "
        "A[i*BM + m, t*BK + k]; b[n, k] = B[j*BN + n, t*BK + k]; for (x : BM / "
        "128) for (y : BK / 128) sa[128*x + 32*g + r, 4*y + s] = SA[i*(BM / "
        "128) + x, t*(BK / 128) + y, r, g, s]; for (x : BN / 128) for (y : BK "
        "/ 128) sb[128*x + 32*g + r, 4*y + s] = SB[j*(BN / 128) + x, t*(BK / "
        "128) + y, r, g, s]; %s; } C[i*BM + m, j*BN + n] = acc[m, n]; } }",
        bm, bn, bk, ta, tb, ts, ts, ts, ts, ta, tb, does);
}

/* Factors of 4 bits, which boxes bring to the stage of a ring. */
static const char *
fourths_of(const char *ts, int per, int bk, const char *does)
{
    return axe_textf(
        cx,
        "kernel g<BK = %d>(in f4e2m1 A[M, K], in f4e2m1 B[N, K], in %s SA[P, "
        "R, 32, 4, 4], in %s SB[Q, R, 32, 4, 4], out f32 C[M, N]) { index m, "
        "n, k, r, g, s; cta (i : M by 128, j : N by 128) { tmem f32 acc[128, "
        "128] = 0; pipeline p[2] { shared %s sa[128, BK / %d]; shared %s "
        "sb[128, BK / %d]; shared f4e2m1 a[128, BK]; shared f4e2m1 b[128, "
        "BK]; } for (t : K by BK) { produce p { p.a[m, k] = A[i*128 + m, t*BK "
        "+ k]; p.b[n, k] = B[j*128 + n, t*BK + k]; for (y : BK / %d) { p.sa[32"
        "*g + r, 4*y + s] = SA[i, t*(BK / %d) + y, r, g, s]; p.sb[32*g + r, "
        "4*y + s] = SB[j, t*(BK / %d) + y, r, g, s]; } } consume p %s; } "
        "C[i*128 + m, j*128 + n] = acc[m, n]; } }",
        bk, ts, ts, ts, per, ts, per, 4 * per, 4 * per, 4 * per, does);
}

static const char *
layout_of(const axe_plan *p, const axe_tensor *t)
{
    return axe_layout_text(cx, p->place[t->id].layout);
}

/* The row, then how scales lie in tensor and in shared memory. */
static const char *
summary(const axe_plan *p)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "");
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_simt_contract *c = p->schedule[i]->simt->contract;
        if (c)
            axe_putf(&b, "%s %d", c->atom->name, c->param);
        for (int k = 0; c && k < 2 && c->scale[k].tensor; k++)
            axe_putf(&b, "; %s", layout_of(p, c->scale[k].tensor));
    }
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_simt_tcopy *c = p->schedule[i]->simt->tcopy;
        if (c)
            axe_putf(&b, "; %d of %s", c->n,
                     layout_of(p, p->schedule[i]->operand[1].tensor));
    }
    return b.len ? b.text : "none";
}

#define PRODUCT "acc[m, n] += sa[m, k/32] * a[m, k] * sb[n, k/32] * b[n, k]"
#define ROWS "((4, 32), 4) : ((4@tcol, 1@tlane), 1@tcol) + [4 : 32@tlane]"
#define BLOCK "1 of ((4, 32), 4) : ((4, 16), 1)"

/* clang-format off */
static const struct {
    const char *machine, *a, *b, *scale;
    int         bm, bn, bk;
    const char *does, *want;
} plans[] = {
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128, PRODUCT,
     "tc.f32.mx.e4m3.m128.ss 128; " ROWS "; " ROWS "; " BLOCK "; " BLOCK},
    {"sm_100a", "f8e5m2", "f8e5m2", "f8e8m0", 128, 128, 128, PRODUCT,
     "tc.f32.mx.e5m2.m128.ss 128; " ROWS "; " ROWS "; " BLOCK "; " BLOCK},
    /* factors in any order; rows may be those of the atom's columns */
    {"sm_100a", "f8e4m3", "f8e5m2", "f8e8m0", 128, 128, 128,
     "acc[m, n] += b[n, k] * sb[n, k/32] * (sa[m, k/32] * a[m, k])",
     "tc.f32.mx.e4m3.e5m2.m128.ss 128; " ROWS "; " ROWS "; " BLOCK "; " BLOCK},
    /* two of the atom along rows, two words along k */
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 256, 128, 256, PRODUCT,
     "tc.f32.mx.e4m3.m128.ss 128; "
     "((2, 4, 32), (2, 4)) : ((16@tcol, 4@tcol, 1@tlane), (32@tcol, 1@tcol)) + [4 : 32@tlane]; "
     "((4, 32), (2, 4)) : ((4@tcol, 1@tlane), (16@tcol, 1@tcol)) + [4 : 32@tlane]; "
     "4 of ((2, 4, 32), (2, 4)) : ((512, 4, 16), (1024, 1)); "
     "2 of ((4, 32), (2, 4)) : ((4, 16), (512, 1))"},
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 256, 128, PRODUCT,
     "tc.f32.mx.e4m3.m128.ss 256; " ROWS "; "
     "((8, 32), 4) : ((4@tcol, 1@tlane), 1@tcol) + [4 : 32@tlane]; " BLOCK "; "
     "2 of ((2, 4, 32), 4) : ((512, 4, 16), 1)"},
    /* no row: scales of another type, another block, scales of one side */
    {"sm_100a", "f8e4m3", "f8e4m3", "f32", 128, 128, 128, PRODUCT, "none"},
    {"sm_100a", "f16", "f16", "f8e8m0", 128, 128, 128, PRODUCT, "none"},
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128,
     "acc[m, n] += sa[m, k/64] * a[m, k] * sb[n, k/64] * b[n, k]", "none"},
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128,
     "acc[m, n] += sa[m, k/32] * a[m, k] * sb[n, k/64] * b[n, k]", "none"},
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128,
     "acc[m, n] += sa[m, k/32] * a[m, k] * sa[m, k/32] * b[n, k]", "none"},
    /* nor for two types of them, or a part of a tile */
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128,
     "shared f32 w[BN, 4]; w[n, s] = 1; "
     "acc[m, n] += sa[m, k/32] * a[m, k] * w[n, k/32] * b[n, k]", "none"},
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128,
     "shared f8e8m0 w[BN, 8]; w[n, s] = 1; "
     "acc[m, n] += sa[m, k/32] * a[m, k] * w[n, k/32] * b[n, k]", "none"},
    /* wherever it stands */
    {"sm_100a", "f8e4m3", "f8e4m3", "f8e8m0", 128, 128, 128,
     "if (t > 0) acc[m, n] = 0; else " PRODUCT,
     "tc.f32.mx.e4m3.m128.ss 128; " ROWS "; " ROWS "; " BLOCK "; " BLOCK},
};
/* clang-format on */

/* The summary, or the first error. */
static const char *
planned(const char *machine, const char *text)
{
    const axe_program *p = NULL;
    axe_compile_spec   spec = {.machine = machine};
    int32_t            src = axe_source_add(cx, "t.axe", text, strlen(text));

    if (axe_compile(cx, src, &spec, AXE_STAGE_PLAN, &p) != AXE_OK)
        return axe_diags(cx)->text;
    return summary(p->plan);
}

static void
test_plans(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(plans); i++) {
        cx = axe_ctx_new();
        const char *got = planned(
            plans[i].machine,
            kernel_of(plans[i].a, plans[i].b, plans[i].scale, plans[i].bm,
                      plans[i].bn, plans[i].bk, plans[i].does));
        if (strcmp(got, plans[i].want) != 0) {
            print_error("row %d:\n  %s\n  %s\n", i, got, plans[i].want);
            n_wrong++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

#define FOURTHS(per)                                                           \
    "acc[m, n] += p.sa[m, k/" #per "] * p.a[m, k] * p.sb[n, k/" #per           \
    "] * p.b[n, k]"
#define WORDS                                                                  \
    "((4, 32), (4, 4)) : ((4@tcol, 1@tlane), (16@tcol, 1@tcol)) + [4 : "       \
    "32@tlane]"
#define HALF                                                                   \
    "((4, 32), (2, 4)) : ((4@tcol, 1@tlane), (16@tcol, 1@tcol)) + [4 : "       \
    "32@tlane]"

/* clang-format off */
static const struct {
    const char *machine, *scale;
    int         per, bk;
    const char *does, *want;
} fourths[] = {
    {"sm_100a", "f8e4m3", 16, 256, FOURTHS(16),
     "tc.f32.nv.e2m1.m128.ss 128; " WORDS "; " WORDS "; 4 of ((4, 32), (4, 4)) : ((4, 16), (512, 1)); "
     "4 of ((4, 32), (4, 4)) : ((4, 16), (512, 1))"},
    {"sm_100a", "f8e8m0", 32, 256, FOURTHS(32),
     "tc.f32.mx.e2m1.m128.ss 128; " HALF "; " HALF "; 2 of ((4, 32), (2, 4)) : ((4, 16), (512, 1)); "
     "2 of ((4, 32), (2, 4)) : ((4, 16), (512, 1))"},
    {"sm_100a", "f8e8m0", 32, 128, FOURTHS(32),
     "tc.f32.mx.e2m1.m128.ss 128; " ROWS "; " ROWS "; " BLOCK "; " BLOCK},
    /* no row has these types and blocks, and no thread reads 4 bits */
    {"sm_100a", "f8e4m3", 32, 256, FOURTHS(32),
     "sm_100a has no row that moves one f4e2m1 between shared memory and registers"},
    {"sm_100a", "f8e8m0", 16, 256, FOURTHS(16),
     "sm_100a has no row that moves one f4e2m1 between shared memory and registers"},
};
/* clang-format on */

static void
test_fourths(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(fourths); i++) {
        cx = axe_ctx_new();
        const char *got = planned(fourths[i].machine,
                                  fourths_of(fourths[i].scale, fourths[i].per,
                                             fourths[i].bk, fourths[i].does));
        if (strcmp(got, fourths[i].want) != 0) {
            print_error("row %d:\n  %s\n  %s\n", i, got, fourths[i].want);
            n_wrong++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

/* -------------------------------------------------------------------- bugs */

enum { ONE, PAIR, NV, MXF4, N_WHICH };

#define ARRAYS                                                                 \
    {                                                                          \
        {"A", {256, 256}}, {"B", {256, 256}}, {"SA", {2, 2, 32, 4, 4}},        \
            {"SB", {2, 2, 32, 4, 4}}, {"C", {256, 256}},                       \
    }

#define FOURTH_ARRAYS(n)                                                       \
    {                                                                          \
        {"A", {256, 512}}, {"B", {256, 512}}, {"SA", {2, n, 32, 4, 4}},        \
            {"SB", {2, n, 32, 4, 4}}, {"C", {256, 256}},                       \
    }

static const subject subjects[N_WHICH] = {
    [ONE] = {.file = "gemm_mxfp8_sm100.axe",
             .machine = "sm_100a",
             .array = ARRAYS,
             .bn = "128",
             .more = {{"CLUSTER", "1"}}},
    [PAIR] = {.file = "gemm_mxfp8_sm100.axe",
              .machine = "sm_100a",
              .array = ARRAYS},
    [NV] = {.file = "gemm_nvfp4_sm100.axe",
            .machine = "sm_100a",
            .array = FOURTH_ARRAYS(8)},
    [MXF4] = {.file = "gemm_nvfp4_sm100.axe",
              .machine = "sm_100a",
              .array = FOURTH_ARRAYS(4),
              .more = {{"S", "f8e8m0"}, {"BLOCK", "32"}}},
};

#define MX "tc.f32.mx"
#define NVF "tc.f32.nv"

/* clang-format off */
static const mutation rows[] = {
    {"no scales of rows",             ONE,  "tc.cp", 0, DROP, 0, 0, K(UNINIT) | K(STALE)},
    {"no scales of columns",          ONE,  "tc.cp", 1, DROP, 0, 0, K(UNINIT) | K(STALE)},
    {"copied over the other's",       ONE,  "tc.cp", 1, ADD, 0, -16, K(BOUNDS) | K(UNINIT)},
    {"scales beyond the tile",        ONE,  MX, 0, ADD, 4, 16, K(BOUNDS)},
    {"a stage that is not there yet", ONE,  "tc.cp", 0, SET, 1, 512, K(RACE) | K(UNINIT)},
    {"from within a row",             ONE,  "tc.cp", 0, ADD, 1, 4, K(LAYOUT) | K(ALIGN) | K(BOUNDS) | K(UNINIT) | K(RACE)},
    {"no box of scales",              ONE,  "tma.load", 2, DROP, 0, 0, K(BYTES)},
    {"no scales of rows",             PAIR, "tc.pair.cp", 0, DROP, 0, 0, K(UNINIT) | K(STALE)},
    {"half of the columns' scales",   PAIR, "tc.pair.cp", 2, DROP, 0, 0, K(UNINIT) | K(STALE)},
    {"no box of scales",              PAIR, "tma.load.pair", 2, DROP, 0, 0, K(BYTES)},
    {"no scales of columns",          NV,   "tc.pair.cp", 5, DROP, 0, 0, K(UNINIT) | K(STALE)},
    {"half a piece further",          NV,   NVF, 0, ADD, 1, 16, K(LAYOUT)},
    {"an element further",            NV,   NVF, 0, ADD, 2, 1, K(LAYOUT)},
    {"no box of factors",             MXF4, "tma.load.pair", 0, DROP, 0, 0, K(BYTES)},
    {"a box within the swizzle",      MXF4, "tma.load.pair", 0, ADD, 0, 64, K(ALIGN)},
};

/* Nothing is amiss with memory or order, but sums are wrong. */
static const mutation values[] = {
    {"one part's for all",               ONE,  MX, ALL, SET, 4, 2, 0},
    {"one part's for all columns",       ONE,  MX, ALL, SET, 5, 3, 0},
    {"one part's for all, in two CTAs",  PAIR, MX, ALL, SET, 4, 1, 0},
    {"scales of other rows",             PAIR, "tc.pair.cp", 2, SET, 1, 0, 0},
    {"one step's factors for all",       NV,   NVF, ALL, SET, 1, 0, 0},
    {"one step's scales for all",        NV,   NVF, ALL, SET, 4, 16, 0},
    {"scales of the step before",        MXF4, MX, ALL, SET, 5, 2, 0},
};
/* clang-format on */

static const void *
run(const subject *s, const mutation *m)
{
    const axe_program *p = compile(s);
    axe_grid          *g = &p->lowered->grid[p->lowered->n_grid - 1];
    int                left = m ? m->nth : 0;

    if (m && edit_grid(cx, m, g, &left) == 0)
        fail_msg("%s: there is no %s number %d", m->what, m->atom, m->nth);
    axe_sim_report r = simulate(s, p, (axe_sim_options){0});
    if (r.n_finding > 0)
        fail_msg("%s: %s", m ? m->what : "as it is", said(&r));
    return made.data;
}

static void
test_values(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(values); i += share()) {
        const subject *s = &subjects[values[i].kernel];
        cx = axe_ctx_new();
        const void *right = run(s, NULL), *wrong = run(s, &values[i]);
        if (memcmp(right, wrong, (size_t)made_bytes) == 0)
            fail_msg("%s: all sums are right", values[i].what);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_fourths),
        cmocka_unit_test(test_values),
    };
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);

    return n_failed + run_mutants(N_WHICH, subjects, AXE_LEN(rows), rows);
}
