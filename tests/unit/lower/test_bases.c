/* test_bases.c - which part of an address and of a limit is computed before a
 * written-out loop, in lowered code made by hand.
 *
 * A loop over e of 0 .. 8 loads X at an address, if a condition holds; a is an
 * array that it may change. */
#include "grids.h"
#include "lower/lower_int.h"
#include "lower/pass/pass.h"

typedef enum where {
    LANE, /* lane * 4 */
    E,    /* the loop's variable */
    ARRAY /* a[0] */
} where;

typedef struct row {
    int         n;
    where       at[3];        /* the address, a sum */
    where       below;        /* e + lane * 4 is below this plus M */
    const char *named[3];     /* values before the loop, in order */
    const char *place, *pred; /* in the loop */
} row;

/* clang-format off */
static const row rows[] = {
    {2, {LANE, E}, LANE, {"M + lane*4 - lane*4", "lane*4"}, "at_2 + e", "e < end_1"},
    {2, {E, LANE}, LANE, {"M + lane*4 - lane*4", "lane*4"}, "at_2 + e", "e < end_1"},
    {1, {E}, LANE, {"M + lane*4 - lane*4"}, "e", "e < end_1"},
    {1, {LANE}, LANE, {"M + lane*4 - lane*4"}, "lane*4", "e < end_1"},
    /* elements may change */
    {2, {ARRAY, E}, LANE, {"M + lane*4 - lane*4"}, "a[0] + e", "e < end_1"},
    {3, {LANE, ARRAY, E}, LANE, {"M + lane*4 - lane*4", "lane*4"}, "at_2 + (a[0] + e)", "e < end_1"},
    {2, {LANE, E}, ARRAY, {"lane*4"}, "at_1 + e", "lane*4 + e < M + a[0]"},
    /* and so does the loop's variable */
    {2, {LANE, E}, E, {"lane*4"}, "at_1 + e", "lane*4 + e < M + e"},
};
/* clang-format on */

static const axe_node *
part(maker *m, where w, const axe_node *e, const axe_tensor *a)
{
    return w == LANE ? mul(m, id(m, AXE_ID_LANE), 4)
           : w == E  ? e
                     : element(m, a, num(m, 0));
}

static void
expect(maker *m, int i, const axe_node *n, const char *want)
{
    const char *got = axe_node_text(m->cx, n);

    if (strcmp(got, want) != 0)
        fail_msg("row %d: %s, not %s", i, got, want);
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const row        *r = &rows[i];
        axe_ctx          *cx = axe_ctx_new();
        maker            *m = grid_new(cx, "sm_90a", "k", 32);
        const axe_tensor *a = new_array(m, AXE_TYPE_i32, "a", 8);
        const axe_tensor *y = new_array(m, AXE_TYPE_f16, "y", 8);
        const axe_tensor *x = new_param(m, AXE_DIR_IN, AXE_TYPE_f16, "X");
        const axe_node   *size = new_size(m, "M");
        axe_lblock       *b = m->at;
        const axe_node   *e = loop(m, "e", num(m, 8), true), *at = NULL;
        axe_lowering      lw = {.cx = cx, .plan = &m->plan};
        int               n = 0;

        for (int k = 0; k < r->n; k++) {
            const axe_node *p = part(m, r->at[k], e, a);
            at = at ? add(m, at, p) : p;
        }
        axe_lir *l =
            ATOM_IF(m,
                    op(m, AXE_OP_lt, add(m, mul(m, id(m, AXE_ID_LANE), 4), e),
                       add(m, size, part(m, r->below, e, a))),
                    "ld.global.b16", 0, reg(y, e), global(x, at));
        (void)grid_done(m);
        axe_name_bases(&lw, b);
        while (n < 3 && r->named[n])
            n++;
        if (b->n != n + 1)
            fail_msg("row %d: %d named, not %d", i, b->n - 1, n);
        for (int k = 0; k < n; k++)
            expect(m, i, b->item[k]->value, r->named[k]);
        expect(m, i, l->arg[1].at, r->place);
        expect(m, i, l->pred, r->pred);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
