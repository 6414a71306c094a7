/* window.c - a subscript that moves over a dimension of several iters.
 *
 * The dimension's layout cuts it into digits; the subscript is a sum of indices
 * and outer variables, each with a step.  Where every one of them steps over
 * all that the smaller ones reach, nothing carries, and each counts digits of
 * its own: those of weight from its step on.  Outer variables, whose reach is
 * not known, count together all digits beyond the block that indices stay
 * within. */
#include <inttypes.h>

#include "ir/range.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/target.h"

typedef struct window {
    axe_planner       *p;
    const axe_request *r;
    const axe_affine  *inner, *outer;
    int                n;
    const axe_iter    *it;
} window;

/* The digits of weight [from, to), slow to fast; false if that cuts one
 * unevenly. */
static bool
digits_between(const window *w, int64_t from, int64_t to, int *n, axe_iter *out)
{
    int64_t low = 1;

    *n = 0;
    for (int i = w->n - 1; i >= 0; low *= w->it[i--].extent) {
        int64_t high = low * w->it[i].extent;
        int64_t a = low > from ? low : from, b = high < to ? high : to;
        if (a >= b)
            continue;
        if (a % low != 0 || high % a != 0 || b % a != 0)
            return false;
        for (int k = (*n)++; k > 0; k--)
            out[k] = out[k - 1];
        out[0] = w->it[i];
        out[0].extent = b / a;
        out[0].stride *= a / low;
    }
    return true;
}

/* The next larger step of an index than `step`, or -1. */
static int
index_beyond(const axe_affine *inner, int64_t step)
{
    int next = -1;

    for (int i = 0; i < inner->n; i++)
        if (inner->coef[i] > step &&
            (next < 0 || inner->coef[i] < inner->coef[next]))
            next = i;
    return next;
}

static int64_t
extent_of(const window *w, const axe_var *v)
{
    return axe_dim_extent(axe_request_dim(w->r, v));
}

/* How far the indices reach; 0: not known, or two of them move one digit. */
static int64_t
reach_of(const window *w)
{
    int64_t reach = 1, step = 0, e;

    for (int done = 0; done < w->inner->n; done++) {
        int next = index_beyond(w->inner, step);
        if (next < 0 || w->inner->coef[next] < reach)
            return 0;
        step = w->inner->coef[next];
        e = extent_of(w, w->inner->var[next]);
        if (e == 0 || !axe_mul(step, e - 1, &e) || !axe_add(reach, e, &reach))
            return 0;
    }
    return reach;
}

/* A block that outer variables move by multiples of, and that the indices stay
 * within: as many fast iters as can be, or else what the steps have in common.
 * 0: none. */
static int64_t
block_of(const window *w)
{
    int64_t reach = reach_of(w), block = 1, step = w->outer->constant;

    for (int i = 0; i < w->outer->n; i++)
        step = axe_gcd(step, w->outer->coef[i]);
    step = axe_gcd(step, 0);
    for (int i = 0; i < w->n; i++)
        block *= w->it[i].extent;
    for (int i = 0; i < w->n; i++) {
        if (i > 0 && reach > 0 && reach <= block && step % block == 0)
            return block;
        block /= w->it[i].extent;
    }
    return reach > 0 && (reach <= step || step == 0) ? step : 0;
}

/* The indices, each with the digits that it counts. */
static bool
add_digits(const window *w, axe_operand *op)
{
    for (int i = 0; i < w->inner->n; i++) {
        const axe_var *v = w->inner->var[i];
        int64_t        from = w->inner->coef[i];
        axe_iter      *part = axe_new_array(w->p->cx, axe_iter, w->n + 1);
        int            n;
        if (!digits_between(w, from, from * extent_of(w, v), &n, part))
            return false;
        op->term[op->n_term++] = (axe_term){v, n, part};
    }
    return true;
}

/* Each iter takes its digit of the number. */
static void
take_digits(const window *w, const axe_node *number, int n, const axe_iter *it,
            axe_operand *op)
{
    axe_ctx *cx = w->p->cx;
    int64_t  weight = 1;

    for (int i = n - 1; i >= 0; i--) {
        const axe_node *d = number;
        if (weight > 1)
            d = axe_node2(cx, AXE_OP_div, d, axe_index_const(w->p->cx, weight));
        if (i > 0)
            d = axe_node2(cx, AXE_OP_mod, d,
                          axe_index_const(w->p->cx, it[i].extent));
        d = axe_node2(cx, AXE_OP_mul, d,
                      axe_index_const(w->p->cx, it[i].stride));
        op->base = axe_node2(cx, AXE_OP_add, op->base, d);
        weight *= it[i].extent;
    }
}

/* The digits beyond the block, by outer variables. */
static bool
add_blocks(const window *w, int64_t block, axe_operand *op)
{
    axe_iter  *part = axe_new_array(w->p->cx, axe_iter, w->n + 1);
    int64_t   *by = axe_new_array(w->p->cx, int64_t, w->outer->n + 1);
    axe_affine o = {w->outer->n, w->outer->var, by, w->outer->constant / block};
    int        n;

    for (int i = 0; i < o.n; i++)
        by[i] = w->outer->coef[i] / block;
    if (!digits_between(w, block, INT64_MAX, &n, part))
        return false;
    take_digits(w, axe_affine_node(w->p, &o), n, part, op);
    return true;
}

axe_status
axe_window_move(axe_planner *p, const axe_request *r, const axe_node *at,
                const axe_affine *inner, const axe_affine *outer, int n,
                const axe_iter *it, axe_operand *op)
{
    window  w = {p, r, inner, outer, n, it};
    int     n_term = op->n_term;
    int64_t block = block_of(&w);
    bool    still = outer->n == 0 && outer->constant == 0;

    if ((block > 0 || still) && reach_of(&w) > 0 && add_digits(&w, op) &&
        (still || add_blocks(&w, block, op)))
        return AXE_OK;
    op->n_term = n_term;
    if (inner->n == 0) {
        take_digits(&w, axe_affine_node(p, outer), n, it, op);
        return AXE_OK;
    }
    block = 1;
    for (int i = 1; i < n; i++)
        block *= it[i].extent;
    axe_fail(p->cx, at->at, AXE_EUNSUPPORTED,
             "the subscript %s moves within blocks of %" PRId64
             " that the layout of %s keeps together; move it by multiples of "
             "%" PRId64 ", or declare a layout where the dimension is one iter",
             axe_node_text(p->cx, at), block, op->tensor->name, block);
    if (op->tensor->space == AXE_SPACE_REG && !p->target->alone)
        axe_help(p->cx, "or declare %s `shared`", op->tensor->name);
    return AXE_EUNSUPPORTED;
}

/* ----------------------------------------------------------------- guards */

static const axe_node *
extent_in(const void *user, const axe_var *v)
{
    const axe_dim *d = axe_request_dim(user, v);

    return d ? d->extent : NULL;
}

bool
axe_tile_guarded(axe_planner *p, const axe_request *r, const axe_node *at,
                 int64_t full)
{
    axe_reach    in = {p->cx, extent_in, r, NULL};
    axe_affine   a;
    axe_interval g;

    if (!axe_affine_of(p->cx, at, &a))
        return false; /* computed */
    g = axe_reach_of(&in, &a);
    return !g.has_lo || !g.has_hi || g.lo < 0 || g.hi >= full;
}
