/* test_tidy.c - an integer stays where anything mentions it, and goes where
 * nothing does, or only what goes as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower/code/build.h"
#include "lower/lower_int.h"
#include "lower/pass/pass.h"

typedef enum where {
    BEGIN,
    END,
    VALUE,
    MEM,
    CHOICE_0,
    CHOICE_1,
    PLACE,
    CTA,
    COORDINATE,
    PREDICATE,
    IN_BODY,
    IN_OTHER,
    UNUSED_LET,
    NOWHERE,
    N_WHERE
} where;

static axe_arg *
add_arg(axe_lowering *lw, axe_lir *l)
{
    axe_arg *a = axe_new(lw->cx, axe_arg);

    *a = (axe_arg){.space = AXE_ARG_GLOBAL};
    l->arg = a;
    l->n_arg = 1;
    return a;
}

static void
mention(axe_lowering *lw, axe_lblock *b, where w, const axe_node *v)
{
    axe_lir *l = axe_emit(lw, b, w == UNUSED_LET ? AXE_LIR_LET : AXE_LIR_LOOP);
    const axe_node **coord;

    l->var = axe_loop_var(lw, "x");
    switch (w) {
    case BEGIN:
        l->begin = v;
        break;
    case END:
        l->end = v;
        break;
    case VALUE:
    case UNUSED_LET:
        l->value = axe_sum(lw, v, axe_int(lw, 1));
        break;
    case MEM:
        l->mem.at = v;
        break;
    case CHOICE_0:
        l->choice[0].at = v;
        break;
    case CHOICE_1:
        l->choice[1].at = v;
        break;
    case PLACE:
        add_arg(lw, l)->at = v;
        break;
    case CTA:
        add_arg(lw, l)->cta = v;
        break;
    case COORDINATE:
        coord = axe_new(lw->cx, const axe_node *);
        *coord = v;
        add_arg(lw, l);
        l->arg->coord = coord;
        l->arg->n_at = 1;
        break;
    case PREDICATE:
        l->pred = v;
        break;
    case IN_BODY:
        mention(lw, &l->body, VALUE, v);
        break;
    case IN_OTHER:
        mention(lw, &l->other, VALUE, v);
        break;
    case NOWHERE:
    case N_WHERE:
        break;
    }
}

static void
test_mentions(void **state)
{
    (void)state;
    for (where w = BEGIN; w < N_WHERE; w++) {
        axe_ctx     *cx = axe_ctx_new();
        axe_kernel   k = {0};
        axe_plan     p = {.kernel = &k};
        axe_lowering lw = {.cx = cx, .plan = &p};
        axe_lblock   b = {0};
        int          want = w == NOWHERE ? 1 : w == UNUSED_LET ? 0 : 2;
        axe_lir     *let = axe_emit(&lw, &b, AXE_LIR_LET);
        let->var = axe_loop_var(&lw, "v");
        let->value = axe_int(&lw, 5);
        mention(&lw, &b, w, axe_ivar(&lw, let->var));
        axe_tidy(&lw, &b);
        if (b.n != want)
            fail_msg("place %d: %d left, not %d", (int)w, b.n, want);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mentions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
