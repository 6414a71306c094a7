/* fold.c - reductions inside expressions: loops of their own around sums in
 * registers, of several elements of the result where loops do those in one go.
 *
 * The first of them that asks opens the loops, in which each has sums of its
 * own; the others find what theirs came to. */
#include <assert.h>

#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

static const axe_lop fold_lop[] = {
    [AXE_FOLD_SUM] = AXE_LOP_add,
    [AXE_FOLD_MUL] = AXE_LOP_mul,
    [AXE_FOLD_MAX] = AXE_LOP_max,
    [AXE_FOLD_MIN] = AXE_LOP_min,
};

static const axe_lop fold_across[] = {
    [AXE_FOLD_SUM] = AXE_LOP_hsum,
    [AXE_FOLD_MUL] = AXE_LOP_hmul,
    [AXE_FOLD_MAX] = AXE_LOP_hmax,
    [AXE_FOLD_MIN] = AXE_LOP_hmin,
};

/* acc = acc op x, in place. */
void
axe_fold_into(axe_lowering *lw, axe_lblock *b, axe_lop op, axe_reg acc,
              axe_reg x)
{
    axe_emit_op(lw, b, op, acc.type, acc.lanes, 2, (axe_reg[]){acc, x});
    b->item[b->n - 1]->dst = acc;
}

/* All chains of an iteration into the first, pairwise, and that into one
 * lane. */
void
axe_fold_join(axe_lowering *lw, axe_lblock *b, const axe_folding *f,
              int iteration, bool across)
{
    const axe_reg *acc = (across ? f->many : f->one) + iteration * f->chains;
    axe_reg        one = f->one[iteration * f->one_chains];

    for (int step = f->chains / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            axe_fold_into(lw, b, f->op, acc[i], acc[i + step]);
    if (across)
        axe_fold_into(lw, b, f->op, one,
                      axe_emit_op(lw, b, fold_across[f->node->u.reduce.fold],
                                  one.type, 1, 1, acc));
}

const axe_nest *
axe_fold_nest(const axe_lowering *lw, const axe_node *reduce)
{
    int i = 1;

    while (lw->s->nest[i].reduce != reduce)
        i++;
    assert(i < lw->s->n_nest);
    return &lw->s->nest[i];
}

/* Accumulators of all iterations, and of all chains where those are not joined
 * across lanes. */
void
axe_fold_start(axe_lowering *lw, axe_lblock *b, axe_folding *f,
               const axe_nest *nest)
{
    const axe_node *n = f->node,
                   *unit = axe_fold_unit(lw->cx, n->u.reduce.fold, n->type);
    int all = f->iterations * f->chains;

    assert(all <= MAX_CHAIN);
    f->op = fold_lop[n->u.reduce.fold];
    for (int i = 0; i < f->iterations * f->one_chains; i++)
        f->one[i] = axe_constant(lw, b, unit, f->outside);
    for (int i = 0; nest->lanes > 1 && i < all; i++)
        f->many[i] = axe_constant(lw, b, unit, nest->lanes);
    if (nest->parts && nest->lanes > 1)
        f->unit = axe_constant(lw, b, unit, nest->lanes);
}

/* What is known of the reduction from another value done in the same go. */
const axe_folded *
axe_fold_known(const axe_lowering *lw, const axe_node *n)
{
    const axe_folded *k = lw->jam ? lw->folded : NULL;

    while (k && (k->node != n || k->iteration != lw->iteration))
        k = k->next;
    return k;
}
