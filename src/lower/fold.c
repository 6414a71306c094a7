/* fold.c - reductions inside expressions: loops of their own around sums in
 * registers, of several elements of the result where loops do those in one go.
 *
 * The first of them that asks opens the loops, in which each has sums of its
 * own; the others find what theirs came to. */
#include <assert.h>

#include "lower/lower_int.h"

/* What mentions v is to be computed again. */
static void
forget(lowering *lw, const axe_var *v)
{
    for (int l = 0; l <= lw->top; l++) {
        memo  *known = NULL;
        taken *number = NULL;
        for (const memo *m = lw->level[l].known; m; m = m->next)
            if (!axe_mentions(m->node, v)) {
                memo *kept = axe_new(lw->cx, memo);
                *kept = *m;
                kept->next = known;
                known = kept;
            }
        for (const taken *t = lw->level[l].number; t; t = t->next)
            if (!axe_mentions(t->node, v)) {
                taken *kept = axe_new(lw->cx, taken);
                *kept = *t;
                kept->next = number;
                number = kept;
            }
        lw->level[l].known = known;
        lw->level[l].number = number;
    }
}

int
axe_jam_turns(const jam *j)
{
    int n = 1;

    for (; j; j = j->next)
        n *= j->by;
    return n;
}

void
axe_jam_take(lowering *lw, const jam *j, int turn)
{
    lw->turn = turn;
    for (; j; j = j->next) {
        int step = turn % j->by;
        if (j->at->step != step)
            forget(lw, j->at->of.var);
        j->at->step = step;
        turn /= j->by;
    }
}

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
static void
fold_into(lowering *lw, axe_lblock *b, axe_lop op, axe_reg acc, axe_reg x)
{
    axe_emit_op(lw, b, op, acc.type, acc.lanes, 2, (axe_reg[]){acc, x});
    b->item[b->n - 1]->dst = acc;
}

enum { MAX_CHAIN = 24 };

/* Accumulators: as wide as the loops outside, and of the nest's own lanes; of
 * each turn as many as there are chains. */
typedef struct folding {
    const axe_node *node;
    axe_lop         op;
    int             outside; /* lanes of the loops around the reduction */
    int             chains, one_chains;
    const jam      *jam;
    int             turns;
    axe_reg         one[MAX_CHAIN], many[MAX_CHAIN];
    axe_reg         unit; /* as wide as many */
} folding;

static axe_status
fold_body(lowering *lw, void *user)
{
    folding *f = user;
    bool     one = lw->lanes == f->outside;
    axe_reg *acc = one ? f->one : f->many, x;
    int      chains = one ? f->one_chains : f->chains;

    for (int t = 0; t < f->turns; t++) {
        if (f->jam)
            axe_jam_take(lw, f->jam, t);
        AXE_TRY(axe_value_in(lw, f->node->arg[0], acc->lanes, &x));
        axe_lblock *b = lw->level[lw->top].block;
        if (lw->part && acc == f->many)
            x = axe_emit_part(lw, b, x, f->unit);
        fold_into(lw, b, f->op, acc[t * chains + lw->chain], x);
    }
    if (f->jam)
        axe_jam_take(lw, f->jam, 0);
    return AXE_OK;
}

/* All chains of a turn into the first, pairwise, and that into one lane. */
static void
join(lowering *lw, axe_lblock *b, const folding *f, int turn, bool across)
{
    const axe_reg *acc = (across ? f->many : f->one) + turn * f->chains;
    axe_reg        one = f->one[turn * f->one_chains];

    for (int step = f->chains / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            fold_into(lw, b, f->op, acc[i], acc[i + step]);
    if (across)
        fold_into(lw, b, f->op, one,
                  axe_emit_op(lw, b, fold_across[f->node->u.reduce.fold],
                              one.type, 1, 1, acc));
}

static const axe_nest *
nest_of(const lowering *lw, const axe_node *reduce)
{
    int i = 1;

    while (lw->s->nest[i].reduce != reduce)
        i++;
    assert(i < lw->s->n_nest);
    return &lw->s->nest[i];
}

/* Accumulators of all turns, and of all chains where those are not joined
 * across lanes. */
static void
start_fold(lowering *lw, axe_lblock *b, folding *f, const axe_nest *nest)
{
    const axe_node *n = f->node,
                   *unit = axe_fold_unit(lw->cx, n->u.reduce.fold, n->type);
    int all = f->turns * f->chains;

    assert(all <= MAX_CHAIN);
    f->op = fold_lop[n->u.reduce.fold];
    for (int i = 0; i < f->turns * f->one_chains; i++)
        f->one[i] = axe_constant(lw, b, unit, f->outside);
    for (int i = 0; nest->lanes > 1 && i < all; i++)
        f->many[i] = axe_constant(lw, b, unit, nest->lanes);
    if (nest->parts && nest->lanes > 1)
        f->unit = axe_constant(lw, b, unit, nest->lanes);
}

/* What is known of the reduction from another value done in the same go. */
static const folded *
known_fold(const lowering *lw, const axe_node *n)
{
    const folded *k = lw->jam ? lw->folded : NULL;

    while (k && (k->node != n || k->turn != lw->turn))
        k = k->next;
    return k;
}

axe_status
axe_lower_fold(lowering *lw, int l, const axe_node *n, int lanes, axe_reg *out)
{
    lowering     *saved = axe_new(lw->cx, lowering);
    axe_nest      nest = *nest_of(lw, n);
    const folded *known = known_fold(lw, n);
    folding       f = {.node = n,
                       .outside = lanes,
                       .chains = nest.chains,
                       .jam = lw->jam,
                       .turns = axe_jam_turns(lw->jam)};
    axe_lblock   *b = lw->level[l].block;

    if (known) {
        *out = known->reg;
        return AXE_OK;
    }
    *saved = *lw;
    if (lanes > 1)
        nest.lanes = 1;
    else {
        lw->vector = NULL;
        lw->lanes = 1;
        lw->part = NULL;
    }
    lw->top = l;
    lw->chain = 0;
    lw->jam = NULL;
    f.one_chains = nest.lanes > 1 ? 1 : f.chains;
    start_fold(lw, b, &f, &nest);
    AXE_TRY(axe_nest_open(lw, &nest, fold_body, &f));
    saved->n_reg = lw->n_reg;
    saved->n_var = lw->n_var;
    for (int t = 0; t < f.turns; t++) {
        join(lw, b, &f, t, nest.lanes > 1);
        axe_reg r = axe_wrap(lw, b, n, f.one[t * f.one_chains]);
        if (t == 0)
            *out = r;
        if (f.jam) {
            folded *k = axe_new(lw->cx, folded);
            *k = (folded){n, t, r, saved->folded};
            saved->folded = k;
        }
    }
    saved->n_reg = lw->n_reg;
    for (int i = 0; i <= l; i++)
        saved->level[i] = lw->level[i];
    *lw = *saved;
    return AXE_OK;
}
