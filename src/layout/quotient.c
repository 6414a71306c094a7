/* quotient.c - the replicas of a tile or a sum without those of one operand.
 *
 * On each axis and unit,
 *
 *     tile  T = W X + B, B within [0, W): quotient and remainder by W of the
 *           points, so X and B are unique
 *     sum   T = X + B: any X will do
 *
 * The strides themselves mostly answer: those that W divides are of X, others
 * of B, some split.  Where the known operand does not come out so, the points
 * decide whether there is an answer, and solve.c finds its progressions. */
#include <inttypes.h>

#include "layout/tile_of.h"

void
axe_list_begin(axe_ctx *cx, axe_list *v)
{
    v->cx = cx;
    v->n = 0;
    v->cap = AXE_FEW;
    v->iter = v->few;
}

static void
add(axe_list *v, axe_iter it)
{
    if (it.extent == 1)
        return;
    if (v->n == v->cap) {
        axe_iter *more = axe_new_array(v->cx, axe_iter, 2 * v->cap);
        axe_iters_copy(more, v->n, v->iter);
        v->iter = more;
        v->cap *= 2;
    }
    v->iter[v->n++] = it;
}

/* t[0..n), all on one place, as span * x + low, low within [0, span) where the
 * strides say so. */
static void
split_by_span(int n, const axe_iter *t, int64_t span, axe_list *x,
              axe_list *low)
{
    for (int k = 0; k < n; k++) {
        axe_iter it = t[k];
        int64_t  f = span / axe_gcd(span, it.stride);
        if (it.extent % f == 0) {
            axe_iter outer = it;
            outer.extent = it.extent / f;
            outer.stride = it.stride / (span / f);
            add(x, outer);
            it.extent = f;
        }
        add(low, it);
    }
    x->n = axe_replicas_absorb(x->iter, x->n);
    low->n = axe_replicas_absorb(low->iter, low->n);
}

axe_status
axe_no_replicas(const axe_question *q, axe_axis axis, axe_found found)
{
    if (found == AXE_UNDECIDED)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s: the replicas on axis %s are more than the search "
                        "can decide",
                        q->op, axe_axis_name(q->cx, axis));
    return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: on axis %s the replicas of %s are not those of %s "
                    "combined with others",
                    q->op, axe_axis_name(q->cx, axis), q->whole, q->part);
}

/* Solve fixed + sum x = target and add x, on the place `on`. */
static axe_status
solve(const axe_question *q, axe_iter on, const axe_runs *fixed,
      const axe_runs *target, axe_list *x)
{
    axe_iter  found[AXE_SUMMANDS];
    int       n;
    axe_found st = axe_sums_solve(q->cx, fixed, target, found, &n);

    if (st != AXE_FOUND)
        return axe_no_replicas(q, on.axis, st);
    for (int k = 0; k < n; k++) {
        on.extent = found[k].extent;
        on.stride = found[k].stride;
        add(x, on);
    }
    return AXE_OK;
}

/* The n points t, ascending from 0, as all sums span * high + low?  Returns how
 * many lows there are, which are the first points; 0 if they are not. */
static int64_t
count_lows(int64_t n, const int64_t *t, int64_t span)
{
    int64_t n_low = 0;

    while (n_low < n && t[n_low] < span)
        n_low++;
    for (int64_t k = 0; k < n; k++)
        if (n % n_low != 0 ||
            t[k] != t[k / n_low * n_low] / span * span + t[k % n_low])
            return 0;
    return n_low;
}

/* What axe_sums_equal and splitting by strides did not settle: one factor of
 * t = span * x + low from the points, the other being known. */
static axe_status
factor_points(const axe_question *q, int n, const axe_iter *t, int64_t span,
              int n_known, const axe_iter *known, bool want_x, axe_list *out)
{
    int64_t  n_point, n_low, n_high, zero = 0, *point, *high;
    axe_runs origin, part[2], have;

    point = axe_sums_points(q->cx, n, t, AXE_SET_MAX, &n_point);
    if (!point)
        return axe_no_replicas(q, t->axis, AXE_UNDECIDED);
    n_low = count_lows(n_point, point, span);
    if (n_low == 0)
        return axe_no_replicas(q, t->axis, AXE_NONE);
    n_high = n_point / n_low;
    high = axe_new_array(q->cx, int64_t, n_high);
    for (int64_t k = 0; k < n_high; k++)
        high[k] = point[k * n_low] / span;
    axe_runs_of_points(q->cx, 1, &zero, &origin);
    axe_runs_of_points(q->cx, n_low, point, &part[0]);
    axe_runs_of_points(q->cx, n_high, high, &part[1]);
    if (!axe_runs_of_sums(q->cx, n_known, known, 1, &have))
        return axe_no_replicas(q, t->axis, AXE_UNDECIDED);
    if (!axe_runs_same(&have, &part[!want_x]))
        return axe_no_replicas(q, t->axis, AXE_NONE);
    return solve(q, *t, &origin, &part[want_x], out);
}

/* t = span * x + low on one place, span >= 1: add x (or low) to out, the other
 * being known.  If t is the known low, x is 0. */
static axe_status
factor(const axe_question *q, int n, const axe_iter *t, int64_t span,
       int n_known, const axe_iter *known, bool want_x, axe_list *out)
{
    axe_list  x, low;
    axe_list *want = want_x ? &x : &low, *rest = want_x ? &low : &x;
    bool      same;

    if (want_x && n == n_known && axe_iters_same(n, t, known))
        return AXE_OK;
    axe_list_begin(q->cx, &x);
    axe_list_begin(q->cx, &low);
    split_by_span(n, t, span, &x, &low);
    AXE_TRY(axe_sums_equal(q->cx, rest->n, rest->iter, n_known, known, &same));
    if (!same && n == 0)
        return axe_no_replicas(q, known->axis, AXE_NONE);
    if (!same)
        return factor_points(q, n, t, span, n_known, known, want_x, out);
    for (int k = 0; k < want->n; k++)
        add(out, want->iter[k]);
    return AXE_OK;
}

/* t = known + x: take the iters of `known` out of t where they stand there. */
static bool
take_away(int n, const axe_iter *t, int n_known, const axe_iter *known,
          axe_list *out)
{
    int k = 0;

    for (int i = 0; i < n; i++)
        if (k < n_known && axe_iters_same(1, &t[i], &known[k]))
            k++;
        else
            add(out, t[i]);
    return k == n_known;
}

/* t = known + x on one place: add x to out. */
static axe_status
subtract(const axe_question *q, int n, const axe_iter *t, int n_known,
         const axe_iter *known, axe_list *out)
{
    int      from = out->n;
    int64_t  g = 0;
    axe_runs whole, part;

    if (take_away(n, t, n_known, known, out))
        return AXE_OK;
    out->n = from;
    for (int k = 0; k < n; k++)
        g = axe_gcd(g, t[k].stride);
    for (int k = 0; k < n_known; k++)
        if (g == 0 || known[k].stride % g != 0)
            return axe_no_replicas(q, known->axis, AXE_NONE);
    if (!axe_runs_of_sums(q->cx, n, t, g, &whole) ||
        !axe_runs_of_sums(q->cx, n_known, known, g, &part))
        return axe_no_replicas(q, t->axis, AXE_UNDECIDED);
    AXE_TRY(solve(q, *t, &part, &whole, out));
    for (int k = from; k < out->n; k++)
        out->iter[k].stride *= g;
    return AXE_OK;
}

bool
axe_next_place(int na, const axe_iter *a, int nb, const axe_iter *b,
               axe_place *p)
{
    bool in_a = na > 0, in_b = nb > 0;

    if (in_a && in_b && !axe_same_place(*a, *b)) {
        in_a = a->axis != b->axis ? a->axis < b->axis : a->unit < b->unit;
        in_b = !in_a;
    }
    if (!in_a && !in_b)
        return false;
    *p = (axe_place){(in_a ? a : b)->axis,
                     (in_a ? a : b)->unit,
                     in_a ? axe_place_run(na, a) : 0,
                     in_b ? axe_place_run(nb, b) : 0,
                     a,
                     b};
    return true;
}

axe_status
axe_other_replicas(const axe_question *q, const axe_fiber *t,
                   const axe_fiber *known, const axe_widths *w, bool want_x,
                   axe_list *out)
{
    int             na = t->n_replica, nb = known->n_replica;
    const axe_iter *a = t->replica, *b = known->replica;
    axe_place       p;
    bool            same;

    for (; axe_next_place(na, a, nb, b, &p);
         a += p.na, na -= p.na, b += p.nb, nb -= p.nb) {
        int64_t span = w ? axe_widths_span(w, p.axis) : 1;
        if (!w) {
            AXE_TRY(subtract(q, p.na, p.a, p.nb, p.b, out));
        } else if (span > 0) {
            int n = out->n;
            AXE_TRY(factor(q, p.na, p.a, span, p.nb, p.b, want_x, out));
            if (!want_x && p.nb > 0 && p.unit != AXE_UNIT_ONE && out->n > n)
                return axe_span_unknown(q->cx, q->op, p.axis);
        } else if (want_x) {
            AXE_TRY(axe_sums_equal(q->cx, p.na, p.a, p.nb, p.b, &same));
            if (!same)
                return axe_span_unknown(q->cx, q->op, p.axis);
        } else if (p.nb > 0) {
            return axe_span_unknown(q->cx, q->op, p.axis);
        } else {
            for (int k = 0; k < p.na; k++)
                add(out, p.a[k]);
        }
    }
    return AXE_OK;
}
