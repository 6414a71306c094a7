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
    int lanes = nest->dot ? nest->lanes / nest->group : nest->lanes;

    assert(all <= MAX_CHAIN);
    f->op = fold_lop[n->u.reduce.fold];
    for (int i = 0; i < f->iterations * f->one_chains; i++)
        f->one[i] = axe_constant(lw, b, unit, f->outside);
    for (int i = 0; nest->lanes > 1 && i < all; i++)
        f->many[i] = axe_constant(lw, b, unit, lanes);
    if (nest->parts && nest->lanes > 1)
        f->unit = axe_constant(lw, b, unit, lanes);
}

const axe_operand *
axe_fold_factor(const axe_lowering *lw, const axe_folding *f, int i)
{
    const axe_node    *n = f->node->arg[0]->arg[i];
    const axe_operand *op = lw->s->operand;

    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    while (op->load != n)
        op++;
    return op;
}

const axe_node *
axe_fold_inside(axe_lowering *lw, const axe_folding *f)
{
    const axe_node *all = NULL;

    for (int i = 0; i < 2; i++) {
        const axe_node *in = axe_inside(lw, axe_fold_factor(lw, f, i));
        all = all && in ? axe_node2(lw->cx, AXE_OP_and, all, in)
              : in      ? in
                        : all;
    }
    return all;
}

/* A factor of a dot product: groups of neighbours, as words. */
static axe_reg
words(axe_lowering *lw, const axe_nest *nest, const axe_operand *op)
{
    int       l = axe_level_of(lw, op->load);
    axe_memo *m = axe_recall(lw, l, op->load, false);
    axe_mem   mem;
    axe_reg   r;

    if (m)
        return m->reg;
    mem = axe_mem_of(lw, op, axe_address(lw, op));
    mem.type = axe_word_of(mem.type, nest->group);
    r = axe_emit_load(lw, lw->level[l].block, op, mem, mem.type,
                      nest->lanes / nest->group);
    axe_remember(lw, l, op->load, false, r);
    return r;
}

void
axe_fold_dot(axe_lowering *lw, const axe_folding *f, axe_reg acc)
{
    axe_reg     src[2];
    axe_lblock *b;

    for (int i = 0; i < 2; i++) {
        const axe_operand *op = axe_fold_factor(lw, f, i);
        if (axe_reads_zero(lw, op))
            return;
        src[i] = words(lw, f->nest, op);
    }
    b = lw->level[lw->top].block;
    axe_emit_op(lw, b, AXE_LOP_dot, acc.type, acc.lanes, 2, src);
    b->item[b->n - 1]->dst = acc;
    b->item[b->n - 1]->atom = f->nest->dot;
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
