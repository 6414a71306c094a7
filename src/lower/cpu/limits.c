/* limits.c - what bounds the indices of a nest: guards cut it or split it, and
 * checks hold in a part of it. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

/* The lesser of two limits; a may be NULL. */
static const axe_node *
lesser(axe_lowering *lw, const axe_node *a, const axe_node *b)
{
    return !a || axe_node_same(a, b) ? b : axe_node2(lw->cx, AXE_OP_min, a, b);
}

/* An operand, read by `load`, is zero where v >= limit. */
static axe_status
add_zero(axe_lowering *lw, const axe_var *v, const axe_node *load,
         const axe_node *limit, axe_limits *lim)
{
    for (int k = 0; k < lim->n; k++)
        if (axe_node_same(lim->zero[k], limit))
            return AXE_OK;
    if (lim->n == MAX_SPLIT)
        return axe_fail(lw->cx, load->at, AXE_EUNSUPPORTED,
                        "operands leave their tensors at more than %d values "
                        "of %s; copy some into tiles first",
                        MAX_SPLIT, v->name);
    lim->zero[lim->n++] = limit;
    return AXE_OK;
}

bool
axe_reads_zero(const axe_lowering *lw, const axe_operand *op)
{
    for (const axe_outside *o = lw->outside; o; o = o->next)
        for (int g = 0; g < op->n_guard; g++)
            if (op->guard[g].var == o->var &&
                axe_node_same(op->guard[g].limit, o->limit))
                return true;
    return false;
}

axe_status
axe_limits_of(axe_lowering *lw, const axe_nest *nest, const axe_var *v,
              axe_limits *out)
{
    *out = (axe_limits){0};
    if (lw->full)
        return AXE_OK;
    for (int i = 0; i < lw->s->n_bound; i++)
        if (lw->s->bound[i].var == v)
            out->cut = lesser(lw, out->cut, lw->s->bound[i].limit);
    for (int i = 0; i < lw->s->n_operand; i++) {
        const axe_operand *op = &lw->s->operand[i];
        for (int g = 0; g < op->n_guard; g++) {
            const axe_node *l = op->guard[g].limit;
            if (op->guard[g].var != v)
                continue;
            if (i == 0 && !nest->reduce)
                out->cut = lesser(lw, out->cut, l);
            else if (!out->cut || !axe_node_same(out->cut, l))
                AXE_TRY(add_zero(lw, v, op->load, l, out));
        }
    }
    return AXE_OK;
}

/* min(max(a, lo), hi) */
const axe_node *
axe_clamp_to(axe_lowering *lw, const axe_node *lo, const axe_node *a,
             const axe_node *hi)
{
    a = axe_node2(lw->cx, AXE_OP_max, a, lo);
    return axe_node2(lw->cx, AXE_OP_min, a, hi);
}

/* What a check adds up to without the digit of v about to be opened: known
 * where loops are open, else its least or greatest value. */
static const axe_node *
rest_of(axe_lowering *lw, const axe_check *c, const axe_var *v, bool high)
{
    const axe_node *sum = axe_with_reads(lw, c->outer);

    for (int i = 0; i < c->index.n; i++) {
        const axe_var        *w = c->index.var[i];
        const axe_node       *at = axe_index_so_far(lw, w);
        const axe_open_digit *b = lw->bound;
        while (b && b->of.var != w)
            b = b->next;
        if (!b && w != v && (c->index.coef[i] > 0) == high)
            at = axe_node2(lw->cx, AXE_OP_sub, axe_extent_of(lw->s, w),
                           axe_int(lw, 1));
        sum = axe_sum(
            lw, sum,
            axe_scaled(lw, at, (axe_stride){c->index.coef[i], AXE_UNIT_ONE}));
    }
    return sum;
}

void
axe_narrow(axe_lowering *lw, const axe_check *c, const axe_var *v,
           const axe_node **lo, const axe_node **hi)
{
    int64_t         k = axe_affine_coef(&c->index, v);
    const axe_node *by = axe_int(lw, k < 0 ? -k : k), *last;
    const axe_node *from = rest_of(lw, c, v, false),
                   *to = rest_of(lw, c, v, true);

    last = axe_node2(lw->cx, AXE_OP_sub, c->size, axe_int(lw, 1));
    to = axe_node2(lw->cx, AXE_OP_sub, last, to);
    from = axe_node1(lw->cx, AXE_OP_neg, from);
    if (k < 0) {
        const axe_node *t = from;
        from = axe_node1(lw->cx, AXE_OP_neg, to);
        to = axe_node1(lw->cx, AXE_OP_neg, t);
    }
    from = axe_node2(lw->cx, AXE_OP_cdiv, from, by);
    to = axe_sum(lw, axe_node2(lw->cx, AXE_OP_div, to, by), axe_int(lw, 1));
    *lo = *lo ? axe_node2(lw->cx, AXE_OP_max, *lo, from) : from;
    *hi = *hi ? axe_node2(lw->cx, AXE_OP_min, *hi, to) : to;
}

const axe_node *
axe_nest_let(axe_lowering *lw, const char *name, const axe_node *value)
{
    int64_t k;

    if (axe_is_iconst(value, &k) || value->op == AXE_OP_var)
        return value;
    axe_lir *l = axe_emit(lw, lw->level[lw->top].block, AXE_LIR_LET);
    l->var = axe_loop_var(lw, name);
    l->value = value;
    return axe_ivar(lw, l->var);
}

const axe_node *
axe_nest_first(axe_lowering *lw, const axe_nest *nest, const axe_digit *d,
               const axe_node *before, const axe_node *end)
{
    const axe_node *begin = axe_int(lw, 0);

    for (int i = 0; i < lw->s->n_from && !nest->reduce; i++) {
        if (lw->s->from[i].var != d->var)
            continue;
        begin = axe_node2(lw->cx, AXE_OP_sub, lw->s->from[i].limit, before);
        begin = axe_node2(lw->cx, AXE_OP_max, begin, axe_int(lw, 0));
        begin = axe_node2(lw->cx, AXE_OP_div, begin, axe_int(lw, d->weight));
        begin = axe_node2(lw->cx, AXE_OP_min, begin, end);
    }
    return axe_nest_let(lw, "begin", begin);
}
