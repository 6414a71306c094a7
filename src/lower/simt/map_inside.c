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

    for (int i = 0; i < x->s->n_bound && !x->whole; i++)
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

    for (int i = 0; i < x->s->n_bound && !x->whole; i++)
        if (axe_operand_depends(op, x->s->bound[i].var))
            in = axe_simt_both(
                x->sl, in, below(x, x->s->bound[i].var, x->s->bound[i].limit));
    for (int i = 0; i < op->n_guard && !x->whole; i++)
        if (!is_bound(x->s, &op->guard[i]))
            in = axe_simt_both(x->sl, in,
                               below(x, op->guard[i].var, op->guard[i].limit));
    for (int i = 0; i < op->n_check; i++)
        in = axe_simt_both(x->sl, in, check_node(x, &op->check[i]));
    return in;
}

/* ------------------------------------------------------- whole iterations */

/* One more than the greatest value of an index in what the open loops leave. */
static const axe_node *
reach_of(axe_map_lowering *x, const axe_var *v)
{
    const axe_work *w = &x->simt->work;
    const axe_node *at = axe_int(&x->sl->lw, 0);
    int64_t         span = 1;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        if (d->of.var != v)
            continue;
        if (d->axis == AXE_AXIS_M)
            at = axe_sum(&x->sl->lw, at,
                         axe_scaled(&x->sl->lw, x->value[i],
                                    (axe_stride){d->of.weight, AXE_UNIT_ONE}));
        else
            span += (d->of.extent - 1) * d->of.weight;
    }
    return axe_sum(&x->sl->lw, at, axe_int(&x->sl->lw, span));
}

/* Are all loops of the index open? */
static bool
is_open(const axe_map_lowering *x, const axe_var *v, int nest)
{
    return axe_nest_has(&x->s->nest[0], v) ||
           axe_nest_has(&x->s->nest[nest], v);
}

/* Is it among what is joined by `and`? */
static bool
is_said(const axe_node *in, const axe_node *no)
{
    if (in && in->op == AXE_OP_and)
        return is_said(in->arg[0], no) || is_said(in->arg[1], no);
    return in && axe_node_same(in, no);
}

/* What the guards say, each once; `in`: what is said already. */
static const axe_node *
whole_of(axe_map_lowering *x, int nest, int n, const axe_guard *g,
         const axe_node *in)
{
    for (int i = 0; i < n; i++) {
        const axe_node *no = NULL;
        if (is_open(x, g[i].var, nest))
            no = axe_node2(x->sl->lw.cx, AXE_OP_le, reach_of(x, g[i].var),
                           g[i].limit);
        if (no && !is_said(in, no))
            in = axe_simt_both(x->sl, in, no);
    }
    return in;
}

const axe_node *
axe_map_whole(axe_map_lowering *x, int nest)
{
    const axe_schedule *s = x->s;
    const axe_node     *in = NULL;

    if (!x->simt->whole || x->whole)
        return NULL;
    in = whole_of(x, nest, s->n_bound, s->bound, NULL);
    for (int i = 0; i < s->n_operand; i++)
        in = whole_of(x, nest, s->operand[i].n_guard, s->operand[i].guard, in);
    return in;
}

/* ------------------------------------------------------------------- owners */

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
