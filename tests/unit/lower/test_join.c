/* test_join.c - which iterations of written-out loops are done at once: those
 * that move words, and pairs that are rounded together; and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grids.h"
#include "lower/pass/pass.h"

/* What y[e + to] = value of x[e + from] is, over e of [begin, end); BESIDE: and
 * behind it z[e] = y[e + from]. */
typedef enum value { MOVED, CHOSEN, CHOSEN_BY_E, DOUBLED, OF_Y, BESIDE } value;

typedef struct row {
    axe_type type, other; /* of y and x */
    value    value;
    int64_t  begin, end, to, from;
    bool     unroll, pred;
    axe_join join;
    int64_t  step;
} row;

/* clang-format off */
static const row rows[] = {
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 0, 8, 0, 0, true, false, AXE_JOIN_MOVE, 2},
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 2, 6, 4, 2, true, false, AXE_JOIN_MOVE, 2},
    {AXE_TYPE_i8, AXE_TYPE_i8, MOVED, 0, 8, 0, 4, true, false, AXE_JOIN_MOVE, 4},
    {AXE_TYPE_f16, AXE_TYPE_f16, CHOSEN, 0, 8, 0, 0, true, false, AXE_JOIN_MOVE, 2},
    /* words that begin elsewhere, or conditions that change: rounded at least */
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 0, 8, 0, 1, true, false, AXE_JOIN_ROUND, 2},
    {AXE_TYPE_f16, AXE_TYPE_f16, CHOSEN_BY_E, 0, 8, 0, 0, true, false, AXE_JOIN_ROUND, 2},
    {AXE_TYPE_bf16, AXE_TYPE_f32, MOVED, 0, 8, 0, 3, true, false, AXE_JOIN_ROUND, 2},
    {AXE_TYPE_f16, AXE_TYPE_f16, DOUBLED, 0, 8, 0, 0, true, false, AXE_JOIN_ROUND, 2},
    {AXE_TYPE_f8e4m3, AXE_TYPE_f32, DOUBLED, 2, 8, 2, 0, true, false, AXE_JOIN_ROUND, 2},
    {AXE_TYPE_f8e4m3, AXE_TYPE_f8e4m3, MOVED, 2, 8, 2, 2, true, false, AXE_JOIN_ROUND, 2},
    /* an odd place, an odd end, a predicate, a loop that stays one */
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 0, 8, 1, 0, true, false, AXE_JOIN_NONE, 1},
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 0, 7, 0, 0, true, false, AXE_JOIN_NONE, 1},
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 1, 8, 0, 0, true, false, AXE_JOIN_NONE, 1},
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 0, 8, 0, 0, true, true, AXE_JOIN_NONE, 1},
    {AXE_TYPE_f16, AXE_TYPE_f16, MOVED, 0, 8, 0, 0, false, false, AXE_JOIN_NONE, 1},
    /* what it writes is read */
    {AXE_TYPE_f16, AXE_TYPE_f16, OF_Y, 0, 8, 0, 2, true, false, AXE_JOIN_NONE, 1},
    {AXE_TYPE_f16, AXE_TYPE_f16, BESIDE, 0, 8, 0, 2, true, false, AXE_JOIN_NONE, 1},
    /* whole words, and integers that are computed */
    {AXE_TYPE_f32, AXE_TYPE_f32, MOVED, 0, 8, 0, 0, true, false, AXE_JOIN_NONE, 1},
    {AXE_TYPE_i8, AXE_TYPE_i8, DOUBLED, 0, 8, 0, 0, true, false, AXE_JOIN_NONE, 1},
    {AXE_TYPE_i8, AXE_TYPE_i8, MOVED, 0, 8, 0, 2, true, false, AXE_JOIN_NONE, 1},
};
/* clang-format on */

static const axe_node *
value_of(maker *m, const row *r, const axe_tensor *x, const axe_tensor *y,
         const axe_node *e)
{
    const axe_node *from =
        element(m, r->value == OF_Y ? y : x, add(m, e, num(m, r->from)));
    const axe_node *odd = op(m, AXE_OP_eq, rem_of(m, e, 4), num(m, 0));
    const axe_node *zero = op(m, AXE_OP_eq, id(m, AXE_ID_LANE), num(m, 0));

    if (r->value == DOUBLED)
        return axe_node2(m->cx, AXE_OP_add, from, from);
    if (r->value != CHOSEN && r->value != CHOSEN_BY_E)
        return from;
    return axe_node_new(
        m->cx, AXE_OP_select, r->type, AXE_NOWHERE, 3,
        (const axe_node *[]){r->value == CHOSEN ? zero : odd, from,
                             element(m, x, add(m, e, num(m, r->from + 8)))});
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const row        *r = &rows[i];
        axe_ctx          *cx = axe_ctx_new();
        maker            *m = grid_new(cx, "sm_90a", "k", 32);
        const axe_tensor *y = new_array(m, r->type, "y", 32);
        const axe_tensor *x = new_array(m, r->other, "x", 32);
        axe_lblock       *around = m->at;
        const axe_node   *e = loop(m, "e", num(m, r->end), r->unroll);
        axe_lir          *l = around->item[around->n - 1];
        l->begin = num(m, r->begin);
        calc(m, y, add(m, e, num(m, r->to)), value_of(m, r, x, y, e));
        if (r->value == BESIDE)
            calc(m, new_array(m, r->type, "z", 32), e,
                 element(m, y, add(m, e, num(m, r->from))));
        if (r->pred)
            l->body.item[0]->pred =
                op(m, AXE_OP_eq, id(m, AXE_ID_LANE), num(m, 0));
        axe_join_iterations(cx, around);
        if (l->join != r->join || l->step != r->step)
            fail_msg("row %d: joined as %d by %d", i, (int)l->join,
                     (int)l->step);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
