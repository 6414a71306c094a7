/* map_value.c - from the current values of a map's digits: its indices, the
 * elements of register arrays and memory that they name, and its value. */
#include "ir/rewrite.h"
#include "lower/code/build.h"
#include "lower/simt/map.h"

const axe_node *
axe_map_index(axe_map_lowering *x, const axe_var *v)
{
    const axe_work *w = &x->simt->work;
    const axe_node *sum = axe_int(&x->sl->lw, 0);

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].of.var == v && x->value[i])
            sum = axe_sum(
                &x->sl->lw, sum,
                axe_scaled(&x->sl->lw, x->value[i],
                           (axe_stride){w->digit[i].of.weight, AXE_UNIT_ONE}));
    return sum;
}

/* Loops of the digits that `nest` has and nest 0, if it is another, has not. */
axe_lblock *
axe_map_loops(axe_map_lowering *x, axe_lblock *b, int nest)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        const axe_node       *e = axe_extent_of(x->s, d->of.var);
        axe_lir              *l;
        if (d->axis != AXE_AXIS_M ||
            !axe_nest_has(&x->s->nest[nest], d->of.var))
            continue;
        l = axe_emit(&x->sl->lw, b, AXE_LIR_LOOP);
        l->var = axe_loop_var(&x->sl->lw, d->of.var->name);
        l->begin = axe_int(&x->sl->lw, 0);
        l->end = d->of.extent ? axe_int(&x->sl->lw, d->of.extent)
                              : axe_node2(x->sl->lw.cx, AXE_OP_cdiv, e,
                                          axe_int(&x->sl->lw, d->of.weight));
        x->value[i] = axe_ivar(&x->sl->lw, l->var);
        b = &l->body;
    }
    return b;
}

/* Is it one of iterations that run together? */
bool
axe_map_is_iteration(const axe_map_lowering *x, const axe_work_digit *d)
{
    return d->axis == x->sl->sp->reg && !d->apart;
}

/* Do different values of digit i mean different elements of the operand's
 * register array? */
bool
axe_map_is_kept(const axe_map_lowering *x, int op, int i)
{
    const axe_work_digit *d = &x->simt->work.digit[i];

    return axe_map_is_iteration(x, d) &&
           axe_operand_depends(&x->s->operand[op], d->of.var);
}

bool
axe_map_is_along(const axe_map_lowering *x, int op, int i)
{
    const axe_work_digit *d = &x->simt->work.digit[i];

    return d->of.var == x->simt->access[op].along && d->of.weight == 1 &&
           d->axis == x->sl->sp->reg;
}

/* How far apart those elements are; 1 along the vector that is moved at once.
 */
int64_t
axe_map_stride(const axe_map_lowering *x, int op, int i)
{
    const axe_work *w = &x->simt->work;
    int64_t         n = 1;

    if (axe_map_is_along(x, op, i))
        return 1;
    for (int k = 0; k < w->n_digit; k++)
        if (axe_map_is_along(x, op, k) || (k > i && axe_map_is_kept(x, op, k)))
            n *= w->digit[k].of.extent;
    return n;
}

int64_t
axe_map_size(const axe_map_lowering *x, int op)
{
    int64_t n = 1;

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (axe_map_is_kept(x, op, i))
            n *= x->simt->work.digit[i].of.extent;
    return n;
}

const axe_node *
axe_map_at(axe_map_lowering *x, int op)
{
    const axe_node *at = axe_int(&x->sl->lw, 0);

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (axe_map_is_kept(x, op, i) && x->value[i])
            at = axe_sum(&x->sl->lw, at,
                         axe_scaled(&x->sl->lw, x->value[i],
                                    (axe_stride){axe_map_stride(x, op, i),
                                                 AXE_UNIT_ONE}));
    return at;
}

/* The number of the operand that the load reads, or -1. */
int
axe_map_operand(const axe_map_lowering *x, const axe_node *load)
{
    for (int i = 0; i < x->s->n_operand; i++)
        if (x->s->operand[i].load == load)
            return x->same[i];
    return -1;
}

/* The operand's address for the current values of the digits. */
const axe_node *
axe_map_address(axe_map_lowering *x, const axe_operand *op)
{
    const axe_node *at = axe_map_value(x, op->base);

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (x->value[i])
            at = axe_moved(&x->sl->lw, at, op, &x->simt->work.digit[i].of,
                           x->value[i]);
    return at;
}

static const axe_node *
loaded(axe_map_lowering *x, const axe_node *load)
{
    int                k = axe_map_operand(x, load);
    const axe_operand *op = &x->s->operand[k];

    if (!x->array[k])
        return axe_simt_element(x->sl, axe_simt_tensor(x->sl, op->tensor),
                                axe_map_address(x, op));
    return axe_simt_element(x->sl, x->array[k], axe_map_at(x, k));
}

/* Does digit i count iterations of a thread, over an index of the nest? */
bool
axe_map_counts(const axe_map_lowering *x, int i, int nest)
{
    const axe_work_digit *d = &x->simt->work.digit[i];

    return d->axis == x->sl->sp->reg &&
           axe_nest_has(&x->s->nest[nest], d->of.var);
}

/* The number of an iteration of the nest. */
const axe_node *
axe_map_iteration(axe_map_lowering *x, int nest)
{
    const axe_work *w = &x->simt->work;
    const axe_node *at = axe_int(&x->sl->lw, 0);
    int64_t         stride = 1;

    for (int i = w->n_digit - 1; i >= 0; i--) {
        if (!axe_map_counts(x, i, nest))
            continue;
        if (x->value[i])
            at = axe_sum(&x->sl->lw, at,
                         axe_scaled(&x->sl->lw, x->value[i],
                                    (axe_stride){stride, AXE_UNIT_ONE}));
        stride *= w->digit[i].of.extent;
    }
    return at;
}

const axe_node *
axe_map_converted(axe_map_lowering *x, const axe_node *n, axe_type t)
{
    return n->type == t ? n : axe_cast(x->sl->lw.cx, n->at, t, n);
}

const axe_node *
axe_map_reduced(axe_map_lowering *x, const axe_node *reduce)
{
    for (int k = 1; k < x->s->n_nest; k++)
        if (x->s->nest[k].reduce == reduce)
            return axe_map_converted(
                x, axe_simt_element(x->sl, x->sum[k], axe_map_iteration(x, 0)),
                reduce->type);
    return reduce;
}

static const axe_node *
change_value(void *user, const axe_node *n)
{
    axe_map_lowering *x = user;

    if (n->op == AXE_OP_load)
        return loaded(x, n);
    if (n->op == AXE_OP_reduce)
        return axe_map_reduced(x, n);
    if (n->op == AXE_OP_var)
        return n->u.var->kind == AXE_VAR_INDEX ? axe_map_index(x, n->u.var) : n;
    return NULL;
}

const axe_node *
axe_map_value(axe_map_lowering *x, const axe_node *n)
{
    return axe_node_map(x->sl->lw.cx, n, change_value, x);
}

const axe_tensor *
axe_map_result(axe_map_lowering *x)
{
    const axe_tensor *t = x->s->operand[0].tensor;

    return t->space == AXE_SPACE_REG ? axe_simt_tensor(x->sl, t) : x->out;
}

const axe_node *
axe_map_result_at(axe_map_lowering *x)
{
    const axe_operand *dst = &x->s->operand[0];

    return dst->tensor->space == AXE_SPACE_REG ? axe_map_address(x, dst)
                                               : axe_map_at(x, 0);
}
