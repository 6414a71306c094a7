/* map_inside.c - which elements of a map count: indices within their extents,
 * places inside tensors, and of threads that do the same one. */
#include "lower/code/build.h"
#include "lower/simt/map.h"

static const axe_node *
below(axe_map_lowering *x, const axe_var *v, const axe_node *limit)
{
    return axe_node2(x->sl->lw.cx, AXE_OP_lt, axe_map_index(x, v), limit);
}

const axe_node *
axe_map_bounds(axe_map_lowering *x, const axe_nest *nest)
{
    const axe_node *in = NULL;

    for (int i = 0; i < x->s->n_bound; i++)
        if (axe_nest_has(nest, x->s->bound[i].var))
            in = axe_simt_both(
                x->sl, in, below(x, x->s->bound[i].var, x->s->bound[i].limit));
    return in;
}

static bool
may_be_negative(const axe_check *c)
{
    axe_interval r = axe_interval_of(c->outer);
    bool         low = !r.has_lo || r.lo < 0;

    for (int k = 0; k < c->index.n; k++)
        low = low || c->index.coef[k] < 0;
    return low;
}

static const axe_node *
check_node(axe_map_lowering *x, const axe_check *c)
{
    axe_ctx        *cx = x->sl->lw.cx;
    const axe_node *at = axe_map_value(x, c->outer), *low = NULL;

    for (int k = 0; k < c->index.n; k++)
        at = axe_sum(&x->sl->lw, at,
                     axe_scaled(&x->sl->lw, axe_map_index(x, c->index.var[k]),
                                (axe_stride){c->index.coef[k], AXE_UNIT_ONE}));
    if (may_be_negative(c))
        low = axe_node2(cx, AXE_OP_le, axe_int(&x->sl->lw, 0), at);
    return axe_simt_both(x->sl, low, axe_node2(cx, AXE_OP_lt, at, c->size));
}

/* Does the statement stop there anyway? */
static bool
is_bound(const axe_schedule *s, const axe_guard *g)
{
    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].var == g->var &&
            axe_node_same(s->bound[i].limit, g->limit))
            return true;
    return false;
}

const axe_node *
axe_map_inside(axe_map_lowering *x, const axe_operand *op)
{
    const axe_node *in = NULL;

    for (int i = 0; i < x->s->n_bound; i++)
        if (axe_operand_depends(op, x->s->bound[i].var))
            in = axe_simt_both(
                x->sl, in, below(x, x->s->bound[i].var, x->s->bound[i].limit));
    for (int i = 0; i < op->n_guard; i++)
        if (!is_bound(x->s, &op->guard[i]))
            in = axe_simt_both(x->sl, in,
                               below(x, op->guard[i].var, op->guard[i].limit));
    for (int i = 0; i < op->n_check; i++)
        in = axe_simt_both(x->sl, in, check_node(x, &op->check[i]));
    return in;
}

const axe_node *
axe_map_owner(axe_map_lowering *x)
{
    const axe_work *w = &x->simt->work;
    const axe_node *own = NULL, *zero = axe_int(&x->sl->lw, 0);
    axe_ctx        *cx = x->sl->lw.cx;

    for (int i = 0; i < w->n_copy; i++)
        own = axe_simt_both(
            x->sl, own,
            axe_node2(cx, AXE_OP_eq,
                      axe_simt_digit(x->sl, x->simt->threads, w->copy[i]),
                      zero));
    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].axis != AXE_AXIS_M &&
            w->digit[i].axis != x->sl->sp->reg &&
            !axe_nest_has(&x->s->nest[0], w->digit[i].of.var))
            own = axe_simt_both(x->sl, own,
                                axe_node2(cx, AXE_OP_eq, x->value[i], zero));
    return own;
}
