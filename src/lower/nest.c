/* nest.c - the loops of a nest, with their edges.
 *
 * An index variable v may be bounded twice: the destination's guard cuts the
 * domain (writing outside does nothing), a load's guard splits it (reading
 * outside gives zero).  Both act at v's fastest digit, where all slower digits
 * are known:
 *
 *     [0, mid)    all operands inside
 *     [mid, end)  those guarded on v read zero
 *
 * and each range runs `lanes` at a time, then one at a time.  In `full` code
 * the guards are known to hold, and extents are constants. */
#include <string.h>

#include "lower/lower_int.h"

/* What bounds one variable. */
typedef struct limits {
    const axe_node *cut;  /* or NULL */
    const axe_node *zero; /* or NULL */
    unsigned        mask; /* operands that read zero beyond `zero` */
} limits;

typedef struct nest_walk {
    lowering       *lw;
    const axe_nest *nest;
    body_fn        *body;
    void           *user;
} nest_walk;

static bool
same(lowering *lw, const axe_node *a, const axe_node *b)
{
    axe_mark m = axe_ctx_mark(lw->cx);
    bool     eq = a == b ||
              strcmp(axe_node_text(lw->cx, a), axe_node_text(lw->cx, b)) == 0;

    axe_ctx_release(lw->cx, m);
    return eq;
}

static axe_status
limits_of(lowering *lw, const axe_nest *nest, const axe_var *v, limits *out)
{
    *out = (limits){0};
    if (lw->full)
        return AXE_OK;
    for (int i = 0; i < lw->s->n_bound; i++)
        if (lw->s->bound[i].var == v)
            out->cut = lw->s->bound[i].limit;
    for (int i = 0; i < lw->s->n_operand; i++) {
        const axe_operand *op = &lw->s->operand[i];
        for (int g = 0; g < op->n_guard; g++) {
            const axe_node *l = op->guard[g].limit;
            if (op->guard[g].var != v)
                continue;
            if (i == 0 && !nest->reduce)
                out->cut = l;
            else if (out->cut && same(lw, out->cut, l))
                continue;
            else if (out->zero && !same(lw, out->zero, l))
                return axe_fail(lw->cx, op->load->at, AXE_EUNSUPPORTED,
                                "operands leave their tensors at different "
                                "values of %s: %s and %s",
                                v->name, axe_node_text(lw->cx, out->zero),
                                axe_node_text(lw->cx, l));
            else {
                out->zero = l;
                out->mask |= 1u << i;
            }
        }
    }
    return AXE_OK;
}

static const axe_node *
let(lowering *lw, const char *name, const axe_node *value)
{
    int64_t k;

    if (axe_is_iconst(value, &k) || value->op == AXE_OP_var)
        return value;
    axe_lir *l = axe_emit(lw, lw->level[lw->top].block, AXE_LIR_LET);
    l->var = axe_loop_var(lw, name);
    l->value = value;
    return axe_ivar(lw, l->var);
}

static axe_status walk(nest_walk *w, int j);

/* One loop over digit j, from begin to end by `lanes`, its body `chains` times
 * in a row. */
static axe_status
loop(nest_walk *w, int j, const axe_node *begin, const axe_node *end, int lanes,
     int chains, unsigned zero)
{
    lowering        *lw = w->lw;
    const axe_digit *d = &w->nest->digit[j];
    int64_t          b, e;
    axe_lblock       hold = {0};
    axe_lir         *l;
    bound            bd;

    if (axe_is_iconst(begin, &b) && axe_is_iconst(end, &e) && b >= e)
        return AXE_OK;
    if (lw->top + 1 == MAX_LEVEL)
        return axe_fail(lw->cx, lw->s->stmt->at, AXE_ELIMIT,
                        "a statement needs over %d nested loops", MAX_LEVEL);
    l = axe_emit(lw, &hold, AXE_LIR_LOOP);
    l->var = axe_loop_var(lw, d->var->name);
    l->begin = begin;
    l->end = end;
    l->step = (int64_t)lanes * chains;
    bd = (bound){*d, l->var, 0, lw->bound};

    lowering saved = *lw;
    lw->bound = &bd;
    lw->zero |= zero;
    lw->level[++lw->top] = (level){&l->body, d->var, NULL};
    if (lanes > 1) {
        lw->vector = d->var;
        lw->lanes = lanes;
        lw->vector_level = lw->top;
    }
    for (int i = 0; i < chains; i++) {
        lw->level[lw->top].known = NULL;
        lw->chain = i;
        bd.step = (int64_t)lanes * i;
        AXE_TRY(walk(w, j + 1));
    }
    lw->chain = saved.chain;
    lw->top = saved.top;
    lw->bound = saved.bound;
    lw->zero = saved.zero;
    lw->vector = saved.vector;
    lw->lanes = saved.lanes;
    lw->vector_level = saved.vector_level;
    *axe_emit(lw, lw->level[lw->top].block, AXE_LIR_LOOP) = *l;
    return AXE_OK;
}

/* As much of a range as goes by `lanes` in `chains`; *begin becomes what is
 * left. */
static axe_status
part(nest_walk *w, int j, const axe_node **begin, const axe_node *end,
     int lanes, int chains, unsigned zero)
{
    lowering       *lw = w->lw;
    int64_t         step = (int64_t)lanes * chains;
    const axe_node *mid = axe_node2(lw->cx, AXE_OP_sub, end, *begin);

    mid = axe_node2(lw->cx, AXE_OP_div, mid, axe_int(lw, step));
    mid = axe_node2(lw->cx, AXE_OP_mul, mid, axe_int(lw, step));
    mid = let(lw, "whole", axe_sum(lw, *begin, mid));
    AXE_TRY(loop(w, j, *begin, mid, lanes, chains, zero));
    *begin = mid;
    return AXE_OK;
}

/* A range of digit j: lanes at a time, in several chains first, then one by
 * one. */
static axe_status
range(nest_walk *w, int j, const axe_node *begin, const axe_node *end,
      unsigned zero)
{
    bool last = j == w->nest->n_digit - 1;
    int  lanes = last ? w->nest->lanes : 1;
    int  chains = last && !zero ? w->nest->chains : 1;

    if (chains > 1)
        AXE_TRY(part(w, j, &begin, end, lanes, chains, zero));
    if (lanes > 1)
        AXE_TRY(part(w, j, &begin, end, lanes, 1, zero));
    return loop(w, j, begin, end, 1, 1, zero);
}

static const axe_node *
clamp_to(lowering *lw, const axe_node *a, const axe_node *hi)
{
    a = axe_node2(lw->cx, AXE_OP_max, a, axe_int(lw, 0));
    return axe_node2(lw->cx, AXE_OP_min, a, hi);
}

static axe_status
walk(nest_walk *w, int j)
{
    lowering *lw = w->lw;
    limits    lim;

    if (j == w->nest->n_digit)
        return w->body(lw, w->user);

    const axe_digit *d = &w->nest->digit[j];
    const axe_node  *end = axe_int(lw, d->extent), *mid;
    for (int i = 0; i < w->nest->n_dim && d->extent == 0; i++)
        if (w->nest->dim[i].var == d->var)
            end = w->nest->dim[i].extent;
    AXE_TRY(limits_of(lw, w->nest, d->var, &lim));
    if (!lim.cut && !lim.zero)
        return range(w, j, axe_int(lw, 0), end, 0);

    const axe_node *before = axe_index_so_far(lw, d->var);
    if (lim.cut) {
        const axe_node *left = axe_node2(lw->cx, AXE_OP_sub, lim.cut, before);
        if (d->weight > 1)
            left = axe_node2(lw->cx, AXE_OP_cdiv, left, axe_int(lw, d->weight));
        end = let(lw, "end", clamp_to(lw, left, end));
    }
    if (!lim.zero || d->weight > 1)
        return range(w, j, axe_int(lw, 0), end, 0);
    mid =
        let(lw, "inside",
            clamp_to(lw, axe_node2(lw->cx, AXE_OP_sub, lim.zero, before), end));
    AXE_TRY(range(w, j, axe_int(lw, 0), mid, 0));
    return range(w, j, mid, end, lim.mask);
}

axe_status
axe_nest_open(lowering *lw, const axe_nest *nest, body_fn *body, void *user)
{
    nest_walk w = {lw, nest, body, user};

    return walk(&w, 0);
}
