/* turn.c - barriers of entities that take turns: those of each copy of the
 * group follow one another, one for each entity. */
#include "lower/simt/node.h"

static const axe_node *
barrier_of(axe_simt_lowering *sl, const axe_sync_item *item)
{
    const axe_thread_group *c = item->threads;
    const axe_node         *own = axe_simt_entity(sl, c);

    switch (item->bar) {
    case AXE_BAR_OWN:
        return own;
    case AXE_BAR_AFTER:
        return op2(sl, AXE_OP_mod, axe_sum(&sl->lw, own, axe_int(&sl->lw, 1)),
                   axe_int(&sl->lw, c->n_entity));
    default:
        return axe_int(&sl->lw, 0);
    }
}

void
axe_simt_turn(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item)
{
    const axe_thread_group *c = item->threads;
    const axe_node         *first = axe_threads_number(sl->lw.cx, c->in);
    axe_lir                *l;

    if (item->entity >= 0) {
        l = axe_emit(&sl->lw, b, AXE_LIR_IF);
        l->value = op2(sl, AXE_OP_eq, axe_simt_entity(sl, c),
                       axe_int(&sl->lw, item->entity));
        b = &l->body;
    }
    first = op2(sl, AXE_OP_mul, first, axe_int(&sl->lw, c->n_entity));
    first = axe_sum(&sl->lw, axe_int(&sl->lw, c->turn), first);
    axe_arg arg[2] = {
        axe_simt_number(axe_sum(&sl->lw, first, barrier_of(sl, item))),
        axe_simt_number(axe_int(&sl->lw, 2 * (int64_t)c->n_thread))};
    axe_simt_atom(sl, b, item->row, 0, 2, arg, NULL);
}
