/* test_overlap.c - which launches of a call admit the next one while they run,
 * and which wait for the one before. */
#include "plan/simt/simt.h"
#include "planned.h"

#define K(body)                                                                \
    "kernel k(inout f32 X[M], in f32 Y[M, N], out f32 Z[M, N],\n"              \
    "in f32 U[N, M], out f32 V[N, M], in i32 n) {\n"                           \
    "index m, r;\n" body "}"
#define CTA "cta (i : M by 256) X[i*256 + m] = 2 * X[i*256 + m];\n"
#define ROWS                                                                   \
    "cta (i : M by 8) { reg f32 top[8]; top[m] = max[r](Y[i*8 + m, r]);\n"     \
    "Z[i*8 + m, r] = Y[i*8 + m, r] - top[m]; }\n"
/* Rows of another length: their forms are others' business. */
#define OTHERS                                                                 \
    "cta (i : N by 8) { reg f32 top[8]; top[m] = max[r](U[i*8 + m, r]);\n"     \
    "V[i*8 + m, r] = U[i*8 + m, r] - top[m]; }\n"

/* For so many rows, and no others. */
#define FOR(when) "cta (i : " when " ? M : 0) X[i] = 2 * X[i];\n"

/* a: it admits the next one; w: it waits. */
static const struct {
    const char *text, *machine, *want;
} rows[] = {
    {K(CTA), "sm_90a", "-"},
    {K(CTA CTA), "sm_90a", "a w"},
    {K(CTA CTA), "sm_100a", "a w"},
    {K(CTA CTA), "sm_80", "- -"},
    {K(CTA CTA CTA), "sm_90a", "a aw w"},
    /* its own iteration before */
    {K("for (t : n) " CTA), "sm_90a", "aw"},
    {K("for (t : n) { " CTA CTA "}"), "sm_90a", "aw aw"},
    {K(CTA "for (t : n) " CTA), "sm_90a", "a aw"},
    {K("for (t : n) " CTA CTA), "sm_90a", "aw w"},
    /* one branch or the other */
    {K("if (n > 3) " CTA "else " CTA), "sm_90a", "- -"},
    {K("if (n > 3) " CTA "else " CTA CTA), "sm_90a", "a a w"},
    {K(CTA "if (n > 3) " CTA "else " CTA), "sm_90a", "a w w"},
    {K(CTA "if (n > 3) " CTA CTA), "sm_90a", "a aw w"},
    {K("for (t : n) if (t > 3) " CTA "else " CTA), "sm_90a", "aw aw"},
    /* forms of one scope for short and for long rows, of which one runs */
    {K(ROWS), "sm_90a", "- - - -"},
    {K(ROWS CTA), "sm_90a", "a a a a w"},
    {K(CTA ROWS), "sm_90a", "a w w w w"},
    {K("for (t : n) " ROWS), "sm_90a", "aw aw aw aw"},
    {K(FOR("N <= 5") FOR("5 < N")), "sm_90a", "- -"},
    {K(FOR("5 < N") FOR("N <= 5")), "sm_90a", "- -"},
    {K(FOR("N <= 5") FOR("6 < N")), "sm_90a", "- -"},
    {K(FOR("N <= 5") FOR("4 < N")), "sm_90a", "a w"},
    {K(FOR("4 < N && N <= 8") FOR("8 < N && N <= 16")), "sm_90a", "- -"},
    {K(FOR("4 < N && N <= 8") FOR("7 < N && N <= 16")), "sm_90a", "a w"},
    {K(ROWS OTHERS), "sm_90a", "a a a a w w w w"},
};

static void
test_overlap(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p = NULL;
        axe_buf         b = {.cx = cx};

        if (plan_for(cx, rows[i].text, rows[i].machine, &p) != AXE_OK) {
            axe_diags_print(cx, &b, false);
            fail_msg("row %d: %s", i, b.text);
        }
        for (int k = 0; k < p->simt->n_launch; k++) {
            const axe_simt_launch *l = &p->simt->launch[k];
            axe_putf(&b, "%s%s%s%s", k ? " " : "", l->admits ? "a" : "",
                     l->waits ? "w" : "", l->admits || l->waits ? "" : "-");
        }
        if (strcmp(b.text, rows[i].want) != 0)
            fail_msg("row %d: %s, not %s", i, b.text, rows[i].want);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
    };

    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
