/* test_sums.c - sums over several indices: loops that become some of them, what
 * of the sums is left out, and rows of a source that come a few at a time. */
#include <stdio.h>

#include "lower/lower.h"
#include "plan/cpu/schedule.h"
#include "planned.h"

#define CONV(T, loops, dst, f)                                                 \
    "kernel k(in " T " X[C, H, W], in " T " F[O, C, 3, 3], out " T             \
    " Y[H, O, W]) { index o, c, p, q, y, x; "                                  \
    "cta (u : H by 4, v : W by 32, i : O by 16) { "                            \
    "reg " T " acc[4, 16, 32] = 0; shared " T " f[3, 3, 16, 8]; "              \
    "shared " T " t[8, 6, 34]; for (k : C by 8) { "                            \
    "f[p, q, o, c] = F[i*16 + o, k*8 + c, p, q]; "                             \
    "t[c, y, x] = X[k*8 + c, u*4 + y - 1, v*32 + x - 1]; "                     \
    "for (r : 4) " loops " acc[" dst "] += " f " * t[c, r + g, x + h]; } "     \
    "Y[u*4 + y, i*16 + o, v*32 + x] = acc[y, o, x]; } }"
#define BOTH "for (g : 3) for (h : 3)"

/* Loops of the contraction, where they end, and the layouts of its factors; a
 * view shows that the factor is read where it lies. */
static const struct {
    const char *text, *loops, *ends, *f, *t;
    bool        view;
} row[] = {
    /* both loops are sums; f lies as its source, t in rows */
    {CONV("f32", BOTH, "r, o, x", "f[g, h, o, c]"), "o4 x8 g1 h1 c1", "o c x",
     "(3, 3, 16, 8) : (3, 1, 72, 9)", "(8, 6, 34) : (34, 272, 1)", true},
    /* nothing depends on s: it is added twice */
    {CONV("f32", "for (s : 2) " BOTH, "r, o, x", "f[g, h, o, c]"),
     "o4 x8 g1 h1 c1", "o c x", "(3, 3, 16, 8) : (3, 1, 72, 9)",
     "(8, 6, 34) : (34, 272, 1)", true},
    /* one factor alone depends on h: no index of the sum */
    {CONV("f32", BOTH, "r, o, x", "f[g, 0, o, c]"), "o4 x8 c1", "o c x",
     "(3, 3, (4, 4), 8) : (384, 128, (32, 1), 4)", "(8, 6, 34) : (34, 272, 1)",
     false},
    /* sums that iterations round are summed iteration by iteration */
    {CONV("bf16", BOTH, "r, o, x", "f[g, h, o, c]"), "o4 x8 c1", "o c x",
     "(3, 3, (4, 4), 8) : (384, 128, (32, 1), 4)", "(8, 6, 34) : (34, 272, 1)",
     false},
};

static const axe_operand *
operand_of(const axe_schedule *s, const char *name)
{
    for (int i = 0; i < s->n_operand; i++)
        if (strcmp(s->operand[i].tensor->name, name) == 0)
            return &s->operand[i];
    fail_msg("no operand %s", name);
    return NULL;
}

static const char *
layout_of(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
          const char *name)
{
    return axe_layout_text(cx,
                           p->place[operand_of(s, name)->tensor->id].layout);
}

static void
test_sums(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        axe_buf         loops = {.cx = cx}, ends = {.cx = cx};
        if (plan_for(cx, row[i].text, "cpu-avx2", &p) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        const axe_schedule *s = contraction(p);
        for (int k = 0; k < s->nest[0].n_digit; k++)
            axe_putf(&loops, "%s%s%d", k ? " " : "",
                     s->nest[0].digit[k].var->name,
                     (int)s->nest[0].digit[k].weight);
        for (int k = 0; k < s->n_bound; k++)
            axe_putf(&ends, "%s%s", k ? " " : "", s->bound[k].var->name);
        assert_string_equal(loops.text, row[i].loops);
        assert_string_equal(ends.text, row[i].ends);
        assert_string_equal(layout_of(cx, p, s, "f"), row[i].f);
        assert_string_equal(layout_of(cx, p, s, "t"), row[i].t);
        assert_int_equal(s->core->view[0].source != NULL, row[i].view);
        axe_ctx_free(cx);
    }
}

/* What of t nobody reads is not filled: x + h ends two behind x. */
static void
test_reach(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_plan *p;
    const char     *end = NULL;

    (void)state;
    assert_int_equal(plan_for(cx, row[0].text, "cpu-avx2", &p), AXE_OK);
    for (int i = 0; i < p->n_schedule; i++)
        for (int k = 0; k < p->schedule[i]->n_bound; k++)
            if (strcmp(p->schedule[i]->operand[0].tensor->name, "t") == 0 &&
                strcmp(p->schedule[i]->bound[k].var->name, "x") == 0)
                end = axe_node_text(cx, p->schedule[i]->bound[k].limit);
    assert_non_null(end);
    assert_string_equal(end, "cdiv(W - v*32, 8)*8 + 2");
    assert_string_equal(contraction(p)->core->idle.var->name, "r");
    assert_string_equal(axe_node_text(cx, contraction(p)->core->idle.limit),
                        "H - u*4");
    axe_ctx_free(cx);
}

#define PACK(source, index)                                                    \
    "kernel k(in f32 A[" source "], in f32 B[N, K], out f32 C[M, N]) "         \
    "{ index m, n, k; cta (i : M by 48, j : N by 48) { "                       \
    "reg f32 c[48, 48] = 0; shared f32 a[48, 64]; shared f32 b[48, 64]; "      \
    "for (t : K by 64) { a[m, k] = A[" index "]; "                             \
    "b[n, k] = B[j*48 + n, t*64 + k]; c[m, n] += a[m, k] * b[n, k]; } "        \
    "C[i*48 + m, j*48 + n] = c[m, n]; } }"

/* Short runs of long rows: eight rows at a time; where rows lie as they are
 * read, one by one. */
static const struct {
    const char *text, *loops;
} pack[] = {
    {PACK("K, M", "t*64 + k, i*48 + m"), "k8 m6 k1 m1"},
    {PACK("M, K", "i*48 + m, t*64 + k"), "m1 k1"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(pack); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        axe_buf         loops = {.cx = cx};
        assert_int_equal(plan_for(cx, pack[i].text, "cpu-avx2", &p), AXE_OK);
        for (int n = 0; n < p->n_schedule; n++) {
            const axe_schedule *s = p->schedule[n];
            if (strcmp(s->operand[0].tensor->name, "a") != 0)
                continue;
            for (int k = 0; k < s->nest[0].n_digit; k++)
                axe_putf(&loops, "%s%s%d", k ? " " : "",
                         s->nest[0].digit[k].var->name,
                         (int)s->nest[0].digit[k].weight);
        }
        assert_string_equal(loops.text, pack[i].loops);
        axe_ctx_free(cx);
    }
}

/* Quotients without divisions, and factors that are gathered: words that the
 * loops have, and a word that they have not. */
static const struct {
    const char *text, *has, *not ;
} lowered[] = {
    {"kernel k(in i32 X[M, 64], out i32 Y[M, 64]) { index m, n; "
     "cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n] / 8; }",
     "quo2", " div "},
    {"kernel k(out f32 Y[M, 64]) { index m, n; "
     "cta (i : M by 8) Y[i*8 + m, n] = f32((n - 20) % 16); }",
     " and ", " mod "},
    {"kernel k(out f32 Y[M, 64]) { index m, n; cta (i : M by 8) { "
     "i64 q = i - 3; Y[i*8 + m, n] = f32((n - 20) / q); } }",
     " quo ", " div "},
    {"kernel k(in f32 X[M, 64], in f32 W[64, 4], out f32 Y[M, 64]) { "
     "index m, n, j; cta (i : M by 8) Y[i*8 + m, n] = "
     "sum[j](X[i*8 + m + j, n] * W[n, j]); }",
     "f32x8", "f32x1"},
};

static void
test_lowered(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(lowered); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_plan    *p;
        const axe_lowered *l;
        axe_buf            out = {.cx = cx};
        if (plan_for(cx, lowered[i].text, "cpu-avx2", &p) != AXE_OK ||
            axe_lower(cx, p, &l) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        axe_lowered_print(cx, &out, l);
        if (!strstr(out.text, lowered[i].has) ||
            strstr(out.text, lowered[i].not ))
            fail_msg("row %d:\n%s", i, out.text);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_lowered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
