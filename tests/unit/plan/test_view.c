/* test_view.c - which factors of products are read where they come from, and
 * why the others are not; which writes of tiles end early. */
#include <stdio.h>

#include "plan/cpu/schedule.h"
#include "planned.h"

static const axe_plan *
plan(axe_ctx *cx, const char *machine, const char *text)
{
    const axe_plan *p = NULL;

    if (plan_for(cx, text, machine, &p) != AXE_OK)
        fail_msg("%s: %s", text, axe_last_error(cx));
    return p;
}

/* c[m, n] += a[m, k] * b[k, n] for blocks of 16 x 48 x 32. */
#define GEMM(T, T2, S, more, tiles, a, b, after)                               \
    "kernel k(in " T " A[M, K], in " T2 " B[K, N], out " S " C[M, N]" more     \
    ") { index m, n, k; cta (i : M by 16, j : N by 48) { reg " S               \
    " c[16, 48] = 0; " tiles " for (t : K by 32) { " a " " b                   \
    " c[m, n] += a[m, k] * b[k, n]; " after                                    \
    " } C[i*16 + m, j*48 + n] = c[m, n]; } }"
/* The same of X, which a scope before fills with A; the sums go to `to`. */
#define OWN(args, own, to)                                                     \
    "kernel k(in f32 A[M, K], in f32 B[K, N], " args ") { index m, n, k; " own \
    " cta (i : M by 16, j : K by 48) X[i*16 + m, j*48 + n] ="                  \
    " A[i*16 + m, j*48 + n] + 1; cta (i : M by 16) { for (j : N by 48) {"      \
    " reg f32 c[16, 48] = 0; for (t : K by 32) { " TILES                       \
    " a[m, k] = X[i*16 + m, t*32 + k]; " B " c[m, n] += a[m, k] * b[k, n]; }"  \
    " " to "[i*16 + m, j*48 + n] = c[m, n]; } } }"
#define TILES "shared f32 a[16, 32]; shared f32 b[32, 48];"
#define BYTES "shared u8 a[16, 32]; shared i8 b[32, 48];"
#define A "a[m, k] = A[i*16 + m, t*32 + k];"
#define B "b[k, n] = B[t*32 + k, j*48 + n];"

#define COPY "it is no plain copy of what nobody writes here"
#define OTHERS "others read it, too, or at another time"
#define ACROSS "it is transposed"
#define EDGES "it may be read beyond its edges"
#define GROUPS "groups of the sum do not lie together"
#define COLUMNS "its columns do not lie together"
#define UNEVEN "its layout is uneven"
#define WITHIN "an iteration may end within a group of the sum"
#define TURNS "what is left of it is another number in each iteration"

/* clang-format off */
static const struct {
    const char *text, *machine, *a, *b; /* NULL: read where it comes from */
} views[] = {
    {GEMM("f32", "f32", "f32", "", TILES, A, B, ""), "cpu-avx512", NULL, NULL},
    /* another statement wants the tile, or the same one twice */
    {GEMM("f32", "f32", "f32", "", "reg f32 s[16] = 0; " TILES, A, B, "s[m] += a[m, k];"), "cpu-avx512", OTHERS, NULL},
    {"kernel k(in f32 A[M, K], out f32 C[M, 48]) { index m, n, k; cta (i : M by 48) { reg f32 c[48, 48] = 0;"
     " shared f32 a[48, 32] : (48, 32) : (1, 48); for (t : K by 32) { a[m, k] = A[i*48 + m, t*32 + k]; c[m, n] += a[m, k] * a[n, k]; }"
     " C[i*48 + m, n] = c[m, n]; } }", "cpu-avx512", OTHERS, OTHERS},
    /* it holds what an earlier iteration left there */
    {GEMM("f32", "f32", "f32", "", TILES, "for (u : K - t) " A, B, ""), "cpu-avx512", OTHERS, NULL},
    /* elements may be missing elsewhere than behind an end */
    {GEMM("f32", "f32", "f32", "", TILES, "a[m, k] = A[i*16 + m - 3, t*32 + k];", B, ""), "cpu-avx512", COPY, NULL},
    {GEMM("f32", "f32", "f32", "", TILES, "a[m, k] = A[i*16 + m, t*32 + k] * 2;", B, ""), "cpu-avx512", COPY, NULL},
    /* of a tensor of its own, which another scope fills, and which this one does, too; of what is written besides */
    {OWN("out f32 C[M, N]", "global f32 X[M, K];", "C"), "cpu-avx512", NULL, NULL},
    {OWN("out f32 C[M, N]", "global f32 X[M, K];", "X"), "cpu-avx512", COPY, NULL},
    {OWN("inout f32 X[M, K], out f32 C[M, N]", "", "C"), "cpu-avx512", COPY, NULL},
    /* rows of a register tile are not evenly apart */
    {GEMM("f32", "f32", "f32", "", "shared f32 a[16, 32] : ((4, 4), 32) : ((1, 200), 4); shared f32 b[32, 48];", A, B, ""),
     "cpu-avx512", UNEVEN, NULL},
    /* nor where one index walks the tile twice */
    {"kernel k(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N]) { index m, n, k, r; cta (i : M by 16, j : N by 48) {"
     " reg f32 c[16, 48] = 0; shared f32 a[16, 32, 16]; shared f32 b[32, 48]; for (t : K by 32) {"
     " a[m, k, r] = A[i*16 + m, t*32 + k]; " B " c[m, n] += a[m, k, m] * b[k, n]; } C[i*16 + m, j*48 + n] = c[m, n]; } }",
     "cpu-avx512", UNEVEN, NULL},
    /* a scope that is left */
    {GEMM("f32", "f32", "f32", "", TILES, "warp (w : 0..1) a[m, k] = A[i*16 + m, t*32 + w*32 + k];", B, ""), "cpu-avx512", OTHERS, NULL},
    /* columns */
    {GEMM("f32", "f32", "f32", "", TILES, A, "b[k, n] = B[j*48 + n, t*32 + k];", ""), "cpu-avx512", NULL, ACROSS},
    {GEMM("f32", "f32", "f32", ", in f32 D[K, N, 2]", TILES, A, "b[k, n] = D[t*32 + k, j*48 + n, 1];", ""), "cpu-avx512", NULL, COLUMNS},
    {GEMM("f32", "f32", "f32", ", in f32 D[K, N, P]", TILES "for (p : P) ", A, "b[k, n] = D[t*32 + k, j*48 + n, p];", ""), "cpu-avx512", NULL, COLUMNS},
    /* in vectors whose number a tile cannot choose */
    {"kernel k(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N]) { index m, n, k; cta (i : M by 16, j : N by 96) {"
     " reg f32 c[16, 96] : (16, (2, 48)) : (48, (768, 1)) = 0; shared f32 a[16, 32]; shared f32 b[32, 96]; for (t : K by 32) {"
     " a[m, k] = A[i*16 + m, t*32 + k]; b[k, n] = B[t*32 + k, j*96 + n]; c[m, n] += a[m, k] * b[k, n]; }"
     " C[i*16 + m, j*96 + n] = c[m, n]; } }", "cpu-avx512", NULL, UNEVEN},
    /* all of them alike */
    {GEMM("f32", "f32", "f32", ", in f32 D[K]", TILES, A, "b[k, n] = D[t*32 + k];", ""), "cpu-avx512", NULL, EDGES},
    /* of a product that wants the signs of one factor flipped */
    {GEMM("i8", "i8", "i32", "", "shared i8 a[16, 32]; shared i8 b[32, 48];", A, B, ""), "cpu-avx512-bf16", COPY, ACROSS},
    /* groups */
    {GEMM("u8", "i8", "i32", "", BYTES, A, B, ""), "cpu-avx512-bf16", NULL, ACROSS},
    {GEMM("u8", "i8", "i32", ", in u8 D[M, K, 2]", BYTES, "a[m, k] = D[i*16 + m, t*32 + k, 1];", B, ""), "cpu-avx512-bf16", GROUPS, ACROSS},
    {GEMM("u8", "i8", "i32", ", in u8 D[M, K, P]", BYTES "for (p : P) ", "a[m, k] = D[i*16 + m, t*32 + k, p];", B, ""), "cpu-avx512-bf16", GROUPS, ACROSS},
    {GEMM("u8", "i8", "i32", ", in i8 D[K, N, 2]", BYTES, A, "b[k, n] = D[t*32 + k, j*48 + n, 1];", ""), "cpu-avx512-bf16", NULL, GROUPS},
    {"kernel k(in u8 A[M, K], in i8 B[K, N], out i32 C[M, N]) { index m, n, k; cta (i : M by 16, j : N by 48) {"
     " reg i32 c[16, 48] = 0; " BYTES " for (t : K by 30) { a[m, k] = A[i*16 + m, t*30 + k];"
     " b[k, n] = B[t*30 + k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; } C[i*16 + m, j*48 + n] = c[m, n]; } }",
     "cpu-avx512-bf16", WITHIN, ACROSS},
    {"kernel k(in u8 A[M, K], in i8 B[K, N], out i32 C[M, N]) { index m, n, k; cta (i : M by 16, j : N by 48) {"
     " reg i32 c[16, 48] = 0; " BYTES " for (t : 4) { a[m, k] = A[i*16 + m, t*32 + k];"
     " b[k, n] = B[t*32 + k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; } C[i*16 + m, j*48 + n] = c[m, n]; } }",
     "cpu-avx512-bf16", WITHIN, ACROSS},
    /* sums of two lengths */
    {GEMM("f32", "f32", "f32", ", in f32 D[L, N]", TILES, A, "b[k, n] = D[t*32 + k, j*48 + n];", ""), "cpu-avx512", NULL, EDGES},
    /* columns, or rows, by turns of a loop */
    {"kernel k(in f32 A[M, 32], in f32 B[32, N], out f32 C[M, N]) { index m, n, k; cta (i : M by 16) {"
     " shared f32 a[16, 32]; a[m, k] = A[i*16 + m, k]; for (j : N by 48) { shared f32 b[32, 48]; reg f32 c[16, 48] = 0;"
     " b[k, n] = B[k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; C[i*16 + m, j*48 + n] = c[m, n]; } } }",
     "cpu-avx512", TURNS, NULL},
    {"kernel k(in f32 A[M, 32], in f32 B[32, N], out f32 C[M, N]) { index m, n, k; cta (j : N by 48) {"
     " shared f32 b[32, 48]; b[k, n] = B[k, j*48 + n]; for (i : M by 16) { shared f32 a[16, 32]; reg f32 c[16, 48] = 0;"
     " a[m, k] = A[i*16 + m, k]; c[m, n] += a[m, k] * b[k, n]; C[i*16 + m, j*48 + n] = c[m, n]; } } }",
     "cpu-avx512", NULL, TURNS},
};
/* clang-format on */

static bool
agrees(int row, char name, const axe_view *v, const char *want)
{
    const char *got = v->source ? NULL : v->why;

    if (got == want || (got && want && strcmp(got, want) == 0))
        return true;
    print_error("row %d: %c: want '%s', got '%s'\n", row, name,
                want ? want : "a view", got ? got : "a view");
    return false;
}

static void
test_views(void **state)
{
    bool ok = true;

    (void)state;
    for (int i = 0; i < AXE_LEN(views); i++) {
        axe_ctx            *cx = axe_ctx_new();
        const axe_schedule *s =
            contraction(plan(cx, views[i].machine, views[i].text));
        ok = agrees(i, 'a', &s->core->view[0], views[i].a) && ok;
        ok = agrees(i, 'b', &s->core->view[1], views[i].b) && ok;
        axe_ctx_free(cx);
    }
    assert_true(ok);
}

/* Two products with one left factor, in register tiles of 8 rows and of r. */
#define TWO(r)                                                                 \
    "kernel k(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N], out f32 D[M, "  \
    "N]) { index m, n, k; cta (i : M by 24, j : N by 48) { reg f32 c[24, 48] " \
    "= 0; reg f32 d[24, 48] = 0; shared f32 a[24, 32]; shared f32 b[32, 48]; " \
    "for (t : K by 32) { a[m, k] = A[i*24 + m, t*32 + k]; "                    \
    "b[k, n] = B[t*32 + k, j*48 + n]; "                                        \
    "c[m, n] += a[m, k] * b[k, n] tile = (8, 3); "                             \
    "d[m, n] += a[m, k] * b[k, n] tile = (" r ", 3); } "                       \
    "C[i*24 + m, j*48 + n] = c[m, n]; D[i*24 + m, j*48 + n] = d[m, n]; } }"
/* What an iteration fills is stored by the next, further to the front. */
#define BACKWARDS(n, fill, store)                                              \
    "kernel k(in f32 X[L], out f32 Y[N]) { index m; cta (i : N by 40) { "      \
    "pipeline p[" n "] { shared f32 a[8]; } " fill                             \
    " for (t : 5) { produce p p.a[m] = X[i*40 + t*8 + m]; " store " } } }"
#define STORE "consume p Y[i*40 + 32 - t*8 + m] = p.a[m];"
/* Signed bytes on both sides; what a is, and what else reads it. */
#define SIGNED(a, more)                                                        \
    "kernel k(in i8 A[M, K], in i8 B[K, N], out i32 C[M, N]) { "               \
    "index m, n, k; cta (i : M by 16, j : N by 48) { reg i32 c[16, 48] = 0; "  \
    "reg i32 s[16] = 0; shared i8 a[16, 32]" a "; shared i8 b[32, 48]; "       \
    "for (t : K by 32) { a[m, k] = A[i*16 + m, t*32 + k]; "                    \
    "b[k, n] = B[t*32 + k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; " more     \
    " } C[i*16 + m, j*48 + n] = c[m, n] + s[m]; } }"
#define GROUP(bk)                                                              \
    "kernel k(in u8 A[M, K], in i8 B[K, N], out i32 C[M, N]) { "               \
    "index m, n, k; cta (i : M by 16, j : N by 48) { reg i32 c[16, 48] = 0; "  \
    "shared u8 a[16, " bk "]; shared i8 b[" bk ", 48]; "                       \
    "for (t : K by " bk ") { a[m, k] = A[i*16 + m, t*" bk " + k]; "            \
    "b[k, n] = B[t*" bk " + k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; } "    \
    "C[i*16 + m, j*48 + n] = c[m, n]; } }"

/* Sums that start from zeros in each iteration of a loop and have two readers;
 * what stands between. */
#define ZEROED(between)                                                        \
    "kernel k(in f32 A[M, 32], in f32 B[32, N], out f32 C[M, N]) { "           \
    "index m, n, k; cta (i : M by 16) { shared f32 a[16, 32]; "                \
    "a[m, k] = A[i*16 + m, k]; for (j : N by 48) { shared f32 b[32, 48]; "     \
    "reg f32 c[16, 48] = 0; reg f32 s[16] = 0; " between                       \
    " b[k, n] = B[k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; "                \
    "s[m] += c[m, n]; C[i*16 + m, j*48 + n] = c[m, n] + s[m]; } } }"

/* clang-format off */
static const struct {
    const char *text, *machine, *has, *lacks; /* in the plan */
} facts[] = {
    /* a tile is not filled where no reader goes, in whole register tiles */
    {TWO("4"), "cpu-avx512", "  m >= cdiv(min(M - i.at, i.step), 8)*8\n", "  m >= cdiv(min(M - i.at, i.step), 4)*4\n"},
    {TWO("6"), "cpu-avx512", "c.0 >= cdiv(min(M - i.at, i.step), 8)*8\n", "  m >= cdiv(min(M - i.at, i.step)"},
    /* by the limit of this iteration, unless the next one reads it */
    {BACKWARDS("1", "", STORE), "cpu-avx512", "skips     m >= N - (i*40 + t*-8 + 32)", "p.read"},
    {BACKWARDS("2", "produce p p.a[m] = X[i*40 + m];", STORE), "cpu-avx512", "Y is written where m < N", "skips"},
    /* groups of 4 do not divide 30, of 2 they do */
    {GROUP("32"), "cpu-avx512-bf16", "vdpus: d +=", "the extent of k is not a multiple"},
    {GROUP("30"), "cpu-avx512-bf16", "b: [n/16]*480 + [k/2]*32", "vdpus: d +="},
    {"kernel k(in u8 A[16, K], in i8 B[K, 48], out i32 C[16, 48]) { index m, n, k; cta (i : 1) { C[m, n] = 0;"
     " C[m, n] += A[m, k] * B[k, n]; } }", "cpu-avx512-bf16", "the extent of k is not a multiple of 4", "vdpus: d +="},
    /* rows that do not lie together are not counted as lines of L1 */
    {GEMM("f32", "f32", "f32", "", TILES, A, B, ""), "cpu-avx512", "read in A: 8 rows get at most", "pieces of 32 bytes"},
    {GEMM("f32", "f32", "f32", ", in f32 D[M, K, 2]", TILES, "a[m, k] = D[i*16 + m, t*32 + k, 1];", B, ""), "cpu-avx512",
     "pieces of 32 bytes, 8 apart", "8 rows get at most"},
    /* signs are flipped where the tile is laid out for it and for nothing else */
    {SIGNED("", ""), "cpu-avx512-bf16", "signs flipped for vdpss", "vfma"},
    {SIGNED("", "s[m] += i32(a[m, k]);"), "cpu-avx512-bf16", "vdpww: d +=", "vdpss: d +="},
    {SIGNED(" : (16, 32) : (96, 1)", ""), "cpu-avx512-bf16", "vfma: d +=", "vdpss: d +="},
    {"kernel k(in i8 A[16, 32], in i8 B[32, N], out i32 C[16, N]) { index m, n, k; cta (j : N by 48) {"
     " reg i32 c[16, 48] = 0; shared i8 b[32, 48]; b[k, n] = B[k, j*48 + n]; c[m, n] += A[m, k] * b[k, n];"
     " C[m, j*48 + n] = c[m, n]; } }", "cpu-avx512-bf16", "vfma: d +=", "vdpss: d +="},
    /* results that go on where the factors end are stored by themselves */
    {"kernel k(in f32 A[M, K], in f32 B[K, N], out f32 C[64, N]) { index m, n, k; cta (i : 2, j : N by 48) {"
     " reg f32 c[32, 48] = 0; shared f32 a[32, 16]; shared f32 b[16, 48]; for (t : K by 16) {"
     " a[m, k] = A[i*32 + m, t*16 + k]; b[k, n] = B[t*16 + k, j*48 + n]; c[m, n] += a[m, k] * b[k, n]; }"
     " C[i*32 + m, j*48 + n] = c[m, n]; } }", "cpu-avx512", "m >= M - i*32", "the last iteration does"},
    /* one element beyond the end of what is known to be there */
    {"kernel k(in f32 X[24], out f32 Y[24]) { index m; cta (i : 1) { reg f32 y[24]; y[m] = X[m + 1]; Y[m] = y[m]; } }",
     "cpu-avx512", "X is read, else zero, where m < 23\n", "scratch: 0"},
    /* zeros are written where the sums are not, unless they are read or replaced before */
    {ZEROED(""), "cpu-avx512", "merged    c.0 < s4.zeros is left to the sums written there", "\n\n\n"},
    {ZEROED("s[m] += c[m, n];"), "cpu-avx512", "s5  c[m, n] +=", "zeros is left"},
    {ZEROED("c[m, n] = f32(m + n);"), "cpu-avx512", "s5  c[m, n] +=", "zeros is left"},
};
/* clang-format on */

static void
test_facts(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(facts); i++) {
        axe_ctx *cx = axe_ctx_new();
        axe_buf  out = {.cx = cx};
        axe_plan_print(cx, &out, plan(cx, facts[i].machine, facts[i].text),
                       NULL);
        if (!strstr(out.text, facts[i].has))
            fail_msg("row %d: no '%s' in\n%s", i, facts[i].has, out.text);
        if (strstr(out.text, facts[i].lacks))
            fail_msg("row %d: '%s' in\n%s", i, facts[i].lacks, out.text);
        axe_ctx_free(cx);
    }
}

/* Where an atom of groups of 4 is all that there is, a sum of 30 is refused. */
static void
test_groups_alone(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *all;
    axe_machine        mc;
    axe_atom           atom[64];
    const axe_plan    *p;
    int                n = 0;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "cpu-avx512-bf16", &all), AXE_OK);
    mc = *all;
    assert_in_range(mc.n_atom, 1, AXE_LEN(atom));
    for (int i = 0; i < mc.n_atom; i++)
        if (mc.atom[i].kind != AXE_ATOM_CONTRACT ||
            strcmp(mc.atom[i].name, "vdpus") == 0)
            atom[n++] = mc.atom[i];
    mc.atom = atom;
    mc.n_atom = n;
    assert_int_equal(plan_on(cx, GROUP("32"), &mc, &p), AXE_OK);
    assert_int_equal(plan_on(cx, GROUP("30"), &mc, &p), AXE_EUNSUPPORTED);
    assert_non_null(strstr(axe_last_error(cx), "no contract atom fits"));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views),
                                       cmocka_unit_test(test_facts),
                                       cmocka_unit_test(test_groups_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
