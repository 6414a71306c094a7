/* test_interleave.c - roles as one, for a CPU: in which order their statements
 * are done, and which are refused. */
#include <stdio.h>

#include "planned.h"

#define HEAD                                                                   \
    "kernel k(in f32 X[M, 8], in i32 off[F], inout f32 Y[M, 8], out f32 "      \
    "Z[M, 8]) { index m; cta (i : M) warps 4 { "                               \
    "pipeline p[1] { shared f32 x[8]; } pipeline q[2] { shared f32 y[8]; } "   \
    "roles { "
#define TAIL " } } }"
#define FILL(ring, tile) "produce " ring " " ring "." tile "[m] = X[i, m]; "
#define READ(ring, tile) "consume " ring " Y[i, m] += " ring "." tile "[m]; "

/* clang-format off */
/* +p: a stage of p is filled, -p: is read; n{}: a loop; then what is written. */
static const struct {
    const char *roles, *order;
} good[] = {
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (1) for (t : 4) " READ("p", "x"),
     "4{+p{p.x}-p{Y}}"},
    /* The first iteration is wanted before the reader's loop, */
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (1) { " READ("p", "x") "for (t : 1..4) " READ("p", "x") "}",
     "+p{p.x}-p{Y}3{+p{p.x}-p{Y}}"},
    /* the last behind it. */
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (1) { for (t : 3) " READ("p", "x") READ("p", "x") "}",
     "3{+p{p.x}-p{Y}}+p{p.x}-p{Y}"},
    {"warp (0) for (t : max(1, cdiv(M, 8))) " FILL("p", "x")
     "warp (1) { " READ("p", "x")
     "for (t : 1..max(1, cdiv(M, 8))) " READ("p", "x") "}",
     "+p{p.x}-p{Y}?{+p{p.x}-p{Y}}"},
    /* One stage of p is ahead of q, in loops of which the reader's is shorter. */
    {"warp (0) for (t : 4) { " FILL("p", "x") FILL("q", "y") "} "
     "warp (1) { " READ("p", "x")
     "for (t : 1..4) { " READ("p", "x") READ("q", "y") "} " READ("q", "y") "}",
     "+p{p.x}-p{Y}+q{q.y}3{+p{p.x}-p{Y}-q{Y}+q{q.y}}-q{Y}"},
    /* A stage is held while others go by. */
    {"warp (0) { " FILL("p", "x") "for (t : 4) " FILL("q", "y") "} "
     "warp (1) consume p for (t : 4) consume q Y[i, m] = p.x[m] + q.y[m]; ",
     "+p{p.x}-p{4{+q{q.y}-q{Y}}}"},
    /* Two that read, and their own tiles. */
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (w : 1..3) { reg f32 s[4] = 0; "
     "for (t : 4) consume p s[m] += p.x[(w - 1)*4 + m]; "
     "Y[i, (w - 1)*4 + m] = s[m]; } ",
     "s.w1s.w24{+p{p.x}-p{s.w1s.w2}}YY"},
    /* Two that fill a part each. */
    {"warp (w : 0..2) for (t : 3) produce p for (c : 4) p.x[w*4 + c] = X[i, w*4 + c]; "
     "warp (2) for (t : 3) " READ("p", "x"),
     "3{+p{p.xp.x}-p{Y}}"},
    /* Through a role between. */
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (1) for (t : 4) produce q consume p q.y[m] = p.x[m]; "
     "warp (2) for (t : 4) " READ("q", "y"),
     "4{+q{+p{p.x}-p{q.y}}-q{Y}}"},
    /* A sum over a loop, handed on. */
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (1) produce q { q.y[m] = 0; for (t : 4) consume p q.y[m] += p.x[m]; } "
     "warp (2) " READ("q", "y"),
     "+q{q.y4{+p{p.x}-p{q.y}}}-q{Y}"},
    /* The same condition, of scalars of their own. */
    {"warp (0) { i32 r = off[i]; if (r < off[i + 1]) " FILL("p", "x") "} "
     "warp (1) { i32 n = off[i + 1]; i32 r = off[i]; if (r < n) " READ("p", "x")
     "r += 1; } ",
     "nr.1cond.1rcond?(+p{p.x}-p{Y}|)r.1"},
};

static const struct {
    const char *roles, *why;
} bad[] = {
    {"warp (0) for (t : 4) " FILL("p", "x")
     "warp (1) { i64 t = 0; while (t < 4) { " READ("p", "x") "t += 1; } } ",
     "stages are filled or read by scopes inside of a role, or in a loop "
     "without a count"},
    {"warp (0) for (t : M) " FILL("p", "x")
     "warp (1) { " READ("p", "x") "for (t : 1..M) " READ("p", "x") "}",
     "another role needs its first iteration, and it may have none"},
    {"warp (0) for (t : M) " FILL("p", "x")
     "warp (1) for (t : F) " READ("p", "x"),
     "loops around stages of one ring run differently often"},
    {"warp (0) for (t : 16) " FILL("p", "x")
     "warp (1) { for (t : 10) " READ("p", "x")
     "for (t : 6) " READ("p", "x") "}",
     "loops around stages of one ring run differently often"},
    {"warp (0) { i32 r = off[i]; if (r < off[i + 1]) " FILL("p", "x") "} "
     "warp (1) { i32 r = off[i]; r += 1; if (r < off[i + 1]) " READ("p", "x") "} ",
     "roles go on under different conditions"},
};
/* clang-format on */

static void
put_order(axe_ctx *cx, axe_buf *out, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        int64_t         e;
        if (s->kind == AXE_STMT_INDEX)
            axe_puts(out, s->dst->u.tensor->name);
        if (s->kind == AXE_STMT_FOR && axe_is_iconst(s->var[0]->extent, &e))
            axe_putf(out, "%d{", (int)e);
        else if (s->kind == AXE_STMT_FOR)
            axe_puts(out, "?{");
        if (s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME)
            axe_putf(out, "%c%s{", s->kind == AXE_STMT_PRODUCE ? '+' : '-',
                     s->pipeline->name);
        if (s->kind == AXE_STMT_IF)
            axe_puts(out, "?(");
        put_order(cx, out, s->n_body, s->body);
        if (s->kind == AXE_STMT_IF) {
            axe_puts(out, "|");
            put_order(cx, out, s->n_other, s->other);
            axe_puts(out, ")");
        }
        if (s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_PRODUCE ||
            s->kind == AXE_STMT_CONSUME)
            axe_puts(out, "}");
    }
}

static void
orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        axe_ctx        *cx = axe_ctx_new();
        axe_buf         got = {.cx = cx};
        const axe_plan *p;
        const char     *text = axe_textf(cx, HEAD "%s" TAIL, good[i].roles);
        if (plan_for(cx, text, "cpu-avx2", &p) != AXE_OK)
            axe_diags_print(cx, &got, false);
        else
            put_order(cx, &got, p->kernel->body[0]->n_body,
                      p->kernel->body[0]->body);
        assert_string_equal(got.text, good[i].order);
        axe_ctx_free(cx);
    }
}

static void
refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        axe_ctx        *cx = axe_ctx_new();
        axe_buf         said = {.cx = cx};
        const axe_plan *p;
        const char     *text = axe_textf(cx, HEAD "%s" TAIL, bad[i].roles);
        assert_int_equal(plan_for(cx, text, "cpu-avx2", &p), AXE_EUNSUPPORTED);
        axe_diags_print(cx, &said, false);
        if (!strstr(said.text, bad[i].why))
            fail_msg("not \"%s\":\n%s", bad[i].why, said.text);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
