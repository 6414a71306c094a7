/* reduce.c - reductions of many threads.
 *
 * Every thread folds its own iterations, many of them into a few sums side by
 * side, as each step waits for the one before; then lanes exchange what they
 * have, until all that share the reduction hold the result; then warps, through
 * shared memory.  No lane is told apart: the result is replicated. */
#include <string.h>

#include "lower/code/build.h"
#include "lower/simt/map.h"

/* Sums at once that hide a step's latency, and iterations that each is
 * worth; where other warps hide it too. */
enum { SUMS = 4, WORTH = 16 };

static const axe_op fold_op[] = {
    [AXE_FOLD_SUM] = AXE_OP_add,
    [AXE_FOLD_MUL] = AXE_OP_mul,
    [AXE_FOLD_MAX] = AXE_OP_max,
    [AXE_FOLD_MIN] = AXE_OP_min,
};

static int64_t
n_iteration(const axe_map_lowering *x, int nest)
{
    int64_t n = 1;

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (axe_map_counts(x, i, nest))
            n *= x->simt->work.digit[i].of.extent;
    return n;
}

static int64_t
n_sum(const axe_map_lowering *x)
{
    return n_iteration(x, 0);
}

/* Into how many sums a thread folds its iterations, each. */
static int64_t
n_part(const axe_map_lowering *x, int nest)
{
    int64_t n = 1, iterations = n_iteration(x, nest);
    int64_t worth = x->sl->lw.plan->machine->simt->on_core ? 1 : WORTH;

    while (2 * n * n_sum(x) <= SUMS && iterations % (2 * n) == 0 &&
           iterations >= 2 * n * worth)
        n *= 2;
    return n;
}

/* sum[at] = sum[at] op value */
static void
fold(axe_map_lowering *x, axe_lblock *b, int nest, const axe_node *at,
     const axe_node *value)
{
    axe_fold        f = x->s->nest[nest].reduce->u.reduce.fold;
    const axe_node *old = axe_simt_element(x->sl, x->sum[nest], at);

    axe_simt_calc(x->sl, b, x->sum[nest], at,
                  axe_node2(x->sl->lw.cx, fold_op[f], old, value), NULL);
}

/* What a fold of nothing is: that of its own type, as sums are kept. */
static const axe_node *
unit_of(axe_map_lowering *x, int nest)
{
    const axe_node *r = x->s->nest[nest].reduce;
    axe_ctx        *cx = x->sl->lw.cx;
    axe_type        t = x->sum[nest]->type;
    const axe_node *unit = axe_fold_unit(cx, r->u.reduce.fold, r->type);

    return axe_type_is_float(t) ? axe_fconst(cx, AXE_NOWHERE, t, unit->u.f)
                                : axe_iconst(cx, AXE_NOWHERE, t, unit->u.i);
}

/* The first n sums. */
static void
clear(axe_map_lowering *x, axe_lblock *b, int nest, int64_t n)
{
    const axe_node *unit = unit_of(x, nest);
    const axe_node *at = axe_simt_unrolled(x->sl, &b, "clear", n);

    axe_simt_calc(x->sl, b, x->sum[nest], at, unit, NULL);
}

/* Where the sum of a part is, for an iteration of nest 0. */
static const axe_node *
part_index(axe_map_lowering *x, const axe_node *iteration, const axe_node *part)
{
    return axe_sum(
        &x->sl->lw, iteration,
        axe_scaled(&x->sl->lw, part, (axe_stride){n_sum(x), AXE_UNIT_ONE}));
}

/* The sums of all parts into those of the first. */
static void
fold_parts(axe_map_lowering *x, axe_lblock *b, int nest, int64_t n)
{
    const axe_node *part, *at;

    if (n == 1)
        return;
    part = axe_simt_unrolled(x->sl, &b, "part", n - 1);
    part = axe_sum(&x->sl->lw, part, axe_int(&x->sl->lw, 1));
    at = axe_simt_unrolled(x->sl, &b, "turn", n_sum(x));
    fold(x, b, nest, at,
         axe_simt_element(x->sl, x->sum[nest], part_index(x, at, part)));
}

/* What the nest's loops leave of a thread's iterations. */
static void
fold_iteration(axe_map_lowering *x, axe_lblock *b, int nest, int64_t n)
{
    const axe_nest *own = &x->s->nest[nest];
    axe_ctx        *cx = x->sl->lw.cx;
    axe_type        t = x->sum[nest]->type;
    const axe_node *value, *in, *at;

    axe_map_load(x, b, nest);
    b = axe_map_iterations(x, b, &x->s->nest[0]);
    b = axe_map_iterations(x, b, own);
    value = axe_map_converted(x, axe_map_value(x, own->reduce->arg[0]), t);
    in = axe_map_bounds(x, own);
    if (in)
        value = axe_node_new(cx, AXE_OP_select, t, AXE_NOWHERE, 3,
                             (const axe_node *[]){in, value, unit_of(x, nest)});
    at = axe_map_iteration(x, 0);
    if (n > 1)
        at = part_index(x, at,
                        axe_node2(cx, AXE_OP_mod, axe_map_iteration(x, nest),
                                  axe_int(&x->sl->lw, n)));
    fold(x, b, nest, at, value);
    axe_map_forget_iterations(x, own);
    axe_map_forget_iterations(x, &x->s->nest[0]);
}

/* The thread's own iterations; apart those that reach no edge, which load
 * into arrays of their own. */
static void
fold_iterations(axe_map_lowering *x, axe_lblock *b, int nest, int64_t n)
{
    size_t             bytes = (size_t)x->s->n_operand * sizeof *x->array;
    const axe_tensor **before =
        axe_new_array(x->sl->lw.cx, const axe_tensor *, x->s->n_operand);
    const axe_node *whole;
    axe_lir        *l;

    b = axe_map_loops(x, b, nest);
    whole = axe_map_whole(x, nest);
    if (!whole) {
        fold_iteration(x, b, nest, n);
        return;
    }
    memcpy(before, x->array, bytes);
    l = axe_emit(&x->sl->lw, b, AXE_LIR_IF);
    l->value = whole;
    x->whole = true;
    fold_iteration(x, &l->body, nest, n);
    x->whole = false;
    memcpy(x->array, before, bytes);
    fold_iteration(x, &l->other, nest, n);
}

/* The digits of nest's own indices that threads of the axis count. */
static bool
is_shared_by(const axe_map_lowering *x, int i, const axe_nest *nest, bool lanes)
{
    const axe_work_digit *d = &x->simt->work.digit[i];
    const axe_simt_plan  *sp = x->sl->sp;

    return axe_nest_has(nest, d->of.var) &&
           (lanes ? d->axis == sp->lane
                  : d->axis == sp->warp || d->axis == sp->wid);
}

axe_status
axe_map_exchange(axe_map_lowering *x, axe_lblock *b, const axe_tensor *to,
                 const axe_tensor *from, const axe_node *at, int distance)
{
    int             param;
    const axe_atom *a = axe_simt_find_exchange(
        x->sl->lw.cx, x->sl->lw.plan->machine, from->type, distance, &param);

    if (!a)
        return axe_fail(x->sl->lw.cx, x->s->stmt->at, AXE_EUNSUPPORTED,
                        "%s has no row by which lanes exchange elements of "
                        "type %s",
                        x->sl->lw.plan->machine->name,
                        axe_type_table[from->type].name);
    axe_arg arg[2] = {axe_simt_reg(to, axe_int(&x->sl->lw, 0)),
                      axe_simt_reg(from, at)};
    axe_simt_atom(x->sl, b, a, param, 2, arg, NULL);
    return AXE_OK;
}

static axe_status
exchange(axe_map_lowering *x, axe_lblock *b, int nest, int distance)
{
    const axe_tensor *sum = x->sum[nest], *other;
    const axe_node   *at, *zero = axe_int(&x->sl->lw, 0);

    other = axe_simt_array(x->sl, "other", sum->type, 1);
    at = axe_simt_unrolled(x->sl, &b, "turn", n_sum(x));
    AXE_TRY(axe_map_exchange(x, b, other, sum, at, distance));
    fold(x, b, nest, at, axe_simt_element(x->sl, other, zero));
    return AXE_OK;
}

/* By one row that folds over all the lanes that share the reduction; false:
 * there is none, or exchanges cost less. */
static bool
fold_by_row(axe_map_lowering *x, axe_lblock *b, int nest)
{
    const axe_work   *w = &x->simt->work;
    const axe_tensor *sum = x->sum[nest];
    const axe_atom   *row;
    const axe_node   *at;
    int64_t           bits = 0;
    int               param;

    for (int i = 0; i < w->n_digit; i++)
        if (is_shared_by(x, i, &x->s->nest[nest], true))
            bits |= (w->digit[i].of.extent - 1) * w->digit[i].stride;
    row = axe_simt_find_reduce(x->sl->lw.cx, x->sl->lw.plan->machine,
                               x->s->nest[nest].reduce->u.reduce.fold,
                               sum->type, (int)bits, &param);
    if (!row)
        return false;
    at = axe_simt_unrolled(x->sl, &b, "turn", n_sum(x));
    axe_simt_atom(x->sl, b, row, param, 2,
                  (axe_arg[]){axe_simt_reg(sum, at), axe_simt_reg(sum, at)},
                  NULL);
    return true;
}

static axe_status
fold_lanes(axe_map_lowering *x, axe_lblock *b, int nest)
{
    const axe_work *w = &x->simt->work;

    if (fold_by_row(x, b, nest))
        return AXE_OK;
    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        if (!is_shared_by(x, i, &x->s->nest[nest], true))
            continue;
        for (int64_t s = 1; s < d->of.extent; s *= 2)
            AXE_TRY(exchange(x, b, nest, (int)(s * d->stride)));
    }
    return AXE_OK;
}

const axe_node *
axe_map_slot(axe_map_lowering *x, const axe_nest *nest, int64_t n,
             const axe_node *iteration, const axe_node *other)
{
    const axe_thread_group *c = x->simt->threads;
    const axe_work         *w = &x->simt->work;
    axe_lowering           *lw = &x->sl->lw;
    const axe_node         *at = axe_simt_thread(x->sl, c);
    int64_t                 seen = 1;

    for (int i = w->n_digit - 1; i >= 0 && other; i--) {
        const axe_work_digit *d = &w->digit[i];
        const axe_node       *v = other;
        if (!is_shared_by(x, i, nest, false))
            continue;
        if (seen > 1)
            v = axe_node2(lw->cx, AXE_OP_div, v, axe_int(lw, seen));
        v = axe_node2(lw->cx, AXE_OP_mod, v, axe_int(lw, d->of.extent));
        v = axe_node2(lw->cx, AXE_OP_sub, v, x->value[i]);
        at = axe_sum(lw, at,
                     axe_scaled(lw, v,
                                (axe_stride){d->stride * x->sl->sp->lanes,
                                             AXE_UNIT_ONE}));
        seen *= d->of.extent;
    }
    at = axe_sum(
        lw, at,
        axe_scaled(lw, iteration, (axe_stride){c->n_thread, AXE_UNIT_ONE}));
    return axe_sum(lw, at,
                   axe_scaled(lw, axe_simt_entity(x->sl, c),
                              (axe_stride){c->n_thread * n, AXE_UNIT_ONE}));
}

static const axe_node *
slot(axe_map_lowering *x, int nest, const axe_node *iteration,
     const axe_node *other)
{
    return axe_map_slot(x, &x->s->nest[nest], n_sum(x), iteration, other);
}

/* Every thread leaves what it has, and reads what the other warps left. */
static axe_status
fold_warps(axe_map_lowering *x, axe_lblock *b, int nest)
{
    const axe_work    *w = &x->simt->work;
    const axe_machine *mc = x->sl->lw.plan->machine;
    const axe_tensor  *sum = x->sum[nest], *scratch, *other;
    axe_ctx           *cx = x->sl->lw.cx;
    const axe_node    *zero = axe_int(&x->sl->lw, 0), *at, *from;
    int64_t            n = 1;
    int                param;
    axe_lblock        *in = b;

    for (int i = 0; i < w->n_digit; i++)
        if (is_shared_by(x, i, &x->s->nest[nest], false))
            n *= w->digit[i].of.extent;
    if (n == 1)
        return AXE_OK;
    scratch = axe_simt_scratch(x->sl, x->simt->threads, sum->type);
    other = axe_simt_array(x->sl, "other", sum->type, 1);
    AXE_TRY(axe_simt_barrier(x->sl, b, x->simt->threads));
    at = axe_simt_unrolled(x->sl, &in, "turn", n_sum(x));
    axe_simt_atom(x->sl, in,
                  axe_simt_find_move(cx, mc, AXE_ATOM_STORE, AXE_ARG_SHARED,
                                     AXE_ARG_REG, sum->type, 1, &param),
                  1, 2,
                  (axe_arg[]){axe_simt_shared(scratch, slot(x, nest, at, NULL)),
                              axe_simt_reg(sum, at)},
                  NULL);
    AXE_TRY(axe_simt_barrier(x->sl, b, x->simt->threads));
    clear(x, b, nest, n_sum(x));
    at = axe_simt_unrolled(x->sl, &b, "turn", n_sum(x));
    from = axe_simt_unrolled(x->sl, &b, "from", n);
    axe_simt_atom(
        x->sl, b,
        axe_simt_find_move(cx, mc, AXE_ATOM_LOAD, AXE_ARG_REG, AXE_ARG_SHARED,
                           sum->type, 1, &param),
        1, 2,
        (axe_arg[]){axe_simt_reg(other, zero),
                    axe_simt_shared(scratch, slot(x, nest, at, from))},
        NULL);
    fold(x, b, nest, at, axe_simt_element(x->sl, other, zero));
    return AXE_OK;
}

axe_status
axe_map_reduce(axe_map_lowering *x, axe_lblock *b, int nest)
{
    const axe_node *r = x->s->nest[nest].reduce;
    int64_t         n = n_part(x, nest);

    x->sum[nest] =
        axe_simt_array(x->sl, axe_fold_name(r->u.reduce.fold),
                       axe_compute_of(&x->sl->lw, r->type), n_sum(x) * n);
    clear(x, b, nest, n_sum(x) * n);
    fold_iterations(x, b, nest, n);
    fold_parts(x, b, nest, n);
    AXE_TRY(fold_lanes(x, b, nest));
    return fold_warps(x, b, nest);
}
