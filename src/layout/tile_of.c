/* tile_of.c - tile and direct sum undone: given the result and one operand,
 * find the other.
 *
 * D is cut by the interleaved shape in its normal form, which has that cut
 * whenever it is such a result.  The known operand's blocks must stand there;
 * the others are the answer, divided by the span W if they were multiplied.
 * O is subtracted and divided.  For R, on each axis and unit,
 *
 *     tile  T = W X + B, B within [0, W): a point of T is one of X and one of
 * B, its quotient and remainder by W, so X and B are unique sum   T = X + B:
 * any X will do
 *
 * which the strides themselves mostly answer: those that W divides are of X,
 * others of B, some split.  Where B does not come out, solve.c searches. */
#include <inttypes.h>

#include "layout/set.h"

/* Iters found, growing. */
typedef struct list {
    axe_ctx  *cx;
    int       n, cap;
    axe_iter *iter;
    axe_iter  few[AXE_FEW];
} list;

static void
list_begin(axe_ctx *cx, list *v)
{
    v->cx = cx;
    v->n = 0;
    v->cap = AXE_FEW;
    v->iter = v->few;
}

static void
add(list *v, axe_iter it)
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

/* What is asked, and how messages call it. */
typedef struct question {
    axe_ctx    *cx;
    const char *op;
    const char *whole, *part; /* "the tiled layout", "the inner layout" */
} question;

static axe_status
check_shapes(const question *q, axe_shape whole, axe_shape part)
{
    if (whole.n != part.n)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: shapes %s and %s differ in rank", q->op,
                        axe_shape_text(q->cx, whole),
                        axe_shape_text(q->cx, part));
    for (int k = 0; k < whole.n; k++)
        if (whole.extent[k] < 1 || part.extent[k] < 1 ||
            whole.extent[k] % part.extent[k] != 0)
            return axe_fail(
                q->cx, AXE_NOWHERE, AXE_ESHAPE,
                "%s: at dim %d, %" PRId64 " of %s is no multiple of "
                "%" PRId64 " of %s",
                q->op, k, whole.extent[k], q->whole, part.extent[k], q->part);
    return AXE_OK;
}

/* (a0, b0, a1, b1, ...) of whole / part and part; part_first says which of the
 * two stands first. */
static axe_shape
interleaved(axe_ctx *cx, axe_shape whole, axe_shape part, bool part_first)
{
    int64_t *e = axe_new_array(cx, int64_t, 2 * (size_t)whole.n);

    for (int k = 0; k < whole.n; k++) {
        int64_t rest = whole.extent[k] / part.extent[k];
        e[2 * k] = part_first ? part.extent[k] : rest;
        e[2 * k + 1] = part_first ? rest : part.extent[k];
    }
    return (axe_shape){2 * whole.n, e};
}

static const char *
block_text(axe_ctx *cx, int n, const axe_iter *iter)
{
    axe_layout l = {.n_shard = n, .n_dim = 1, .shard = iter, .dim_end = &n};

    return axe_layout_text(cx, &l);
}

static int
block_begin(const axe_blocks *b, int k)
{
    return k > 0 ? b->dim_end[k - 1] : 0;
}

/* The blocks 2k + odd of `whole`, all equal to the blocks k of `part` times the
 * spans w (NULL: 1)? */
static axe_status
check_blocks(const question *q, const axe_blocks *whole, int odd,
             const axe_blocks *part, int n_dim, const axe_widths *w)
{
    for (int k = 0; k < n_dim; k++) {
        int  i = block_begin(whole, 2 * k + odd), j = block_begin(part, k);
        int  n = whole->dim_end[2 * k + odd] - i, m = part->dim_end[k] - j;
        bool same = n == m;
        for (int t = 0; same && t < n; t++) {
            axe_iter it = part->iter[j + t];
            int64_t  span =
                w && it.stride != 0 ? axe_widths_span(w, it.axis) : 1;
            if (span == 0)
                return axe_span_unknown(q->cx, q->op, it.axis);
            same = axe_mul(it.stride, span, &it.stride) &&
                   axe_iters_same(1, &it, &whole->iter[i + t]);
        }
        if (!same)
            return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: in dim %d, %s has %s where %s has %s%s", q->op,
                            k, q->whole, block_text(q->cx, n, whole->iter + i),
                            q->part, block_text(q->cx, m, part->iter + j),
                            w ? ", to be scaled by the inner span" : "");
    }
    return AXE_OK;
}

/* *value / span, or why not. */
static axe_status
divide(const question *q, const axe_widths *w, const char *what, axe_axis axis,
       int64_t *value)
{
    int64_t span = *value != 0 ? axe_widths_span(w, axis) : 1;

    if (span == 0)
        return axe_span_unknown(q->cx, q->op, axis);
    if (*value % span != 0)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: %s %" PRId64 " on axis %s is no multiple of the "
                        "inner span %" PRId64,
                        q->op, what, *value, axe_axis_name(q->cx, axis), span);
    *value /= span;
    return AXE_OK;
}

/* The blocks 2k + odd as D of the draft, strides divided by w (NULL: 1). */
static axe_status
take_blocks(const question *q, const axe_blocks *whole, int odd, int n_dim,
            const axe_widths *w, axe_draft d)
{
    int n = 0;

    for (int k = 0; k < n_dim; d.dim_end[k++] = n)
        for (int i = block_begin(whole, 2 * k + odd);
             i < whole->dim_end[2 * k + odd]; i++, n++) {
            d.shard[n] = whole->iter[i];
            if (w)
                AXE_TRY(divide(q, w, "stride", d.shard[n].axis,
                               &d.shard[n].stride));
        }
    d.layout->n_shard = n;
    return AXE_OK;
}

/* a - b, divided by w (NULL: 1), into out, room for both. */
static axe_status
subtract_offsets(const question *q, const axe_fiber *a, const axe_fiber *b,
                 const axe_widths *w, axe_offset *out, int *n)
{
    for (int k = 0; k < a->n_offset; k++)
        out[k] = a->offset[k];
    for (int k = 0; k < b->n_offset; k++) {
        out[a->n_offset + k] = b->offset[k];
        out[a->n_offset + k].value = -b->offset[k].value;
    }
    *n = axe_offsets_sum(out, a->n_offset + b->n_offset);
    if (*n < 0)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "%s: the difference of the offsets leaves int64",
                        q->op);
    for (int k = 0; w && k < *n; k++)
        AXE_TRY(divide(q, w, "offset", out[k].axis, &out[k].value));
    return AXE_OK;
}

/* ------------------------------------------------------------- replicas */

/* t[0..n), all on one place, as span * x + low, low within [0, span) where the
 * strides say so. */
static void
split_by_span(int n, const axe_iter *t, int64_t span, list *x, list *low)
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

static axe_status
no_replicas(const question *q, axe_axis axis, axe_found found)
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
solve(const question *q, axe_iter on, const axe_runs *fixed,
      const axe_runs *target, list *x)
{
    axe_iter  found[AXE_SUMMANDS];
    int       n;
    axe_found st = axe_sums_solve(q->cx, fixed, target, found, &n);

    if (st != AXE_FOUND)
        return no_replicas(q, on.axis, st);
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
factor_points(const question *q, int n, const axe_iter *t, int64_t span,
              int n_known, const axe_iter *known, bool want_x, list *out)
{
    int64_t  n_point, n_low, n_high, zero = 0, *point, *high;
    axe_runs origin, part[2], have;

    point = axe_sums_points(q->cx, n, t, AXE_SET_MAX, &n_point);
    if (!point)
        return no_replicas(q, t->axis, AXE_UNDECIDED);
    n_low = count_lows(n_point, point, span);
    if (n_low == 0)
        return no_replicas(q, t->axis, AXE_NONE);
    n_high = n_point / n_low;
    high = axe_new_array(q->cx, int64_t, n_high);
    for (int64_t k = 0; k < n_high; k++)
        high[k] = point[k * n_low] / span;
    axe_runs_of_points(q->cx, 1, &zero, &origin);
    axe_runs_of_points(q->cx, n_low, point, &part[0]);
    axe_runs_of_points(q->cx, n_high, high, &part[1]);
    if (!axe_runs_of_sums(q->cx, n_known, known, 1, &have))
        return no_replicas(q, t->axis, AXE_UNDECIDED);
    if (!axe_runs_same(&have, &part[!want_x]))
        return no_replicas(q, t->axis, AXE_NONE);
    return solve(q, *t, &origin, &part[want_x], out);
}

/* t = span * x + low on one place, span >= 1: add x (or low) to out, the other
 * being known. */
static axe_status
factor(const question *q, int n, const axe_iter *t, int64_t span, int n_known,
       const axe_iter *known, bool want_x, list *out)
{
    list  x, low;
    list *want = want_x ? &x : &low, *rest = want_x ? &low : &x;
    bool  same;

    list_begin(q->cx, &x);
    list_begin(q->cx, &low);
    split_by_span(n, t, span, &x, &low);
    AXE_TRY(axe_sums_equal(q->cx, rest->n, rest->iter, n_known, known, &same));
    if (!same && n == 0)
        return no_replicas(q, known->axis, AXE_NONE);
    if (!same)
        return factor_points(q, n, t, span, n_known, known, want_x, out);
    for (int k = 0; k < want->n; k++)
        add(out, want->iter[k]);
    return AXE_OK;
}

/* t = known + x: take the iters of `known` out of t where they stand there. */
static bool
take_away(int n, const axe_iter *t, int n_known, const axe_iter *known,
          list *out)
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
subtract(const question *q, int n, const axe_iter *t, int n_known,
         const axe_iter *known, list *out)
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
            return no_replicas(q, known->axis, AXE_NONE);
    if (!axe_runs_of_sums(q->cx, n, t, g, &whole) ||
        !axe_runs_of_sums(q->cx, n_known, known, g, &part))
        return no_replicas(q, t->axis, AXE_UNDECIDED);
    AXE_TRY(solve(q, *t, &part, &whole, out));
    for (int k = from; k < out->n; k++)
        out->iter[k].stride *= g;
    return AXE_OK;
}

/* The iters of a and b on the least place of either. */
typedef struct place {
    axe_axis        axis;
    axe_unit        unit;
    int             na, nb;
    const axe_iter *a, *b;
} place;

static bool
next_place(int na, const axe_iter *a, int nb, const axe_iter *b, place *p)
{
    bool in_a = na > 0, in_b = nb > 0;

    if (in_a && in_b && !axe_same_place(*a, *b)) {
        in_a = a->axis != b->axis ? a->axis < b->axis : a->unit < b->unit;
        in_b = !in_a;
    }
    if (!in_a && !in_b)
        return false;
    *p = (place){(in_a ? a : b)->axis,
                 (in_a ? a : b)->unit,
                 in_a ? axe_place_run(na, a) : 0,
                 in_b ? axe_place_run(nb, b) : 0,
                 a,
                 b};
    return true;
}

/* The replicas of t that are not those of `known`.  w: NULL for a sum; else t
 * is a tile, and the outer (want_x) or the inner replicas are wanted. */
static axe_status
other_replicas(const question *q, const axe_fiber *t, const axe_fiber *known,
               const axe_widths *w, bool want_x, list *out)
{
    int             na = t->n_replica, nb = known->n_replica;
    const axe_iter *a = t->replica, *b = known->replica;
    place           p;
    bool            same;

    for (; next_place(na, a, nb, b, &p);
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

/* --------------------------------------------------------- the operations */

/* Both layouts, cut, and their fibers. */
typedef struct operands {
    axe_blocks whole, part;
    axe_fiber  whole_fiber, part_fiber;
} operands;

static axe_status
cut_operands(const question *q, const axe_layout *whole, axe_shape both,
             const axe_layout *part, axe_shape part_shape, operands *o)
{
    axe_blocks_few(&o->whole);
    axe_blocks_few(&o->part);
    AXE_TRY(axe_cut(q->cx, q->op, whole, both, &o->whole));
    AXE_TRY(axe_cut(q->cx, q->op, part, part_shape, &o->part));
    AXE_TRY(axe_fiber_of(q->cx, q->op, whole, &o->whole_fiber));
    return axe_fiber_of(q->cx, q->op, part, &o->part_fiber);
}

static axe_status
check_swizzles(const question *q, const axe_layout *whole,
               const axe_layout *part)
{
    if (axe_swizzle_same(whole->swizzle, part->swizzle))
        return AXE_OK;
    return axe_fail(
        q->cx, AXE_NOWHERE, AXE_ESHAPE, "%s: the swizzles of %s and %s differ",
        q->op, axe_layout_text(q->cx, whole), axe_layout_text(q->cx, part));
}

static axe_status
check_no_swizzle(const question *q, const axe_layout *part)
{
    if (part->swizzle.bits == 0)
        return AXE_OK;
    return axe_fail(
        q->cx, AXE_NOWHERE, AXE_ESHAPE,
        "%s: %s cannot have a swizzle, which acts inside a tile: %s", q->op,
        q->part, axe_layout_text(q->cx, part));
}

/* The answer: blocks 2k + odd of the whole, divided by w (NULL: 1), and the
 * rest of the fiber, with o->part_fiber's offsets already scaled. */
static axe_status
answer(const question *q, const operands *o, int odd, int n_dim,
       const axe_widths *w, const list *replica, axe_swizzle swizzle,
       const axe_layout **out)
{
    const axe_fiber *a = &o->whole_fiber, *b = &o->part_fiber;
    axe_draft        d =
        axe_draft_new(q->cx, o->whole.n, replica->n, a->n_offset + b->n_offset,
                      n_dim > 0 ? n_dim : 1);

    AXE_TRY(take_blocks(q, &o->whole, odd, n_dim, w, d));
    AXE_TRY(subtract_offsets(q, a, b, w, d.offset, &d.layout->n_offset));
    axe_iters_copy(d.replica, replica->n, replica->iter);
    d.layout->n_replica = replica->n;
    d.layout->swizzle = swizzle;
    return axe_draft_finish(q->cx, d, q->op, out);
}

axe_status
axe_layout_tile_of(axe_ctx *cx, const axe_layout *tiled, axe_shape tiled_shape,
                   const axe_layout *inner, axe_shape inner_shape,
                   const axe_layout **outer)
{
    const question q = {cx, "tile of", "the tiled layout", "the inner layout"};
    int            r = inner_shape.n;
    axe_widths     w;
    operands       o;
    list           replica;
    axe_shape      both;

    AXE_TRY(check_shapes(&q, tiled_shape, inner_shape));
    AXE_TRY(check_swizzles(&q, tiled, inner));
    both = interleaved(cx, tiled_shape, inner_shape, false);
    AXE_TRY(cut_operands(&q, tiled, both, inner, inner_shape, &o));
    AXE_TRY(check_blocks(&q, &o.whole, 1, &o.part, r, NULL));
    axe_widths_of(cx, o.part.n, o.part.iter, o.part_fiber.n_replica,
                  o.part_fiber.replica, &w);
    list_begin(cx, &replica);
    AXE_TRY(
        other_replicas(&q, &o.whole_fiber, &o.part_fiber, &w, true, &replica));
    return answer(&q, &o, 0, r, &w, &replica, (axe_swizzle){0, 0, 0, 0}, outer);
}

/* The inner blocks 2k + 1 in one list at dst. */
static int
gather_inner(const axe_blocks *whole, int n_dim, axe_iter *dst)
{
    int n = 0;

    for (int k = 0; k < n_dim; k++)
        for (int i = whole->dim_end[2 * k]; i < whole->dim_end[2 * k + 1]; i++)
            dst[n++] = whole->iter[i];
    return n;
}

/* The width of the inner replicas on a place where the tiled ones have width t
 * and the outer ones m: with W = d + b, d the span of the inner D, they satisfy
 * t = m W + b. */
static axe_status
inner_width(const question *q, const place *p, int64_t d, int64_t *b)
{
    int64_t t = axe_sums_width(p->na, p->a), m = axe_sums_width(p->nb, p->b);
    int64_t scaled;

    if (d == 0 && m > 0)
        return axe_span_unknown(q->cx, q->op, p->axis);
    if (m > 0 &&
        (!axe_mul(m, d, &scaled) || scaled > t || (t - scaled) % (m + 1) != 0))
        return no_replicas(q, p->axis, AXE_NONE);
    *b = m > 0 ? (t - scaled) / (m + 1) : t;
    return AXE_OK;
}

/* The widths of the inner layout: of its D, and of its replicas by
 * inner_width.  A place of a run-time size has them from one side only. */
static axe_status
inner_widths(const question *q, const operands *o, int n_dim, axe_widths *w)
{
    int             na = o->whole_fiber.n_replica, nb = o->part_fiber.n_replica;
    const axe_iter *a = o->whole_fiber.replica, *b = o->part_fiber.replica;
    axe_iter       *shard = axe_new_array(q->cx, axe_iter, o->whole.n);
    int             n_shard = gather_inner(&o->whole, n_dim, shard);
    axe_offset     *sum = axe_new_array(q->cx, axe_offset, n_shard + na + nb);
    axe_widths      d;
    place           p;
    int             n;

    axe_widths_of(q->cx, n_shard, shard, 0, NULL, &d);
    for (n = 0; n < d.n; n++)
        sum[n] = d.width[n];
    for (; next_place(na, a, nb, b, &p);
         a += p.na, na -= p.na, b += p.nb, nb -= p.nb) {
        int64_t width = 0;
        if (p.unit == AXE_UNIT_ONE)
            AXE_TRY(inner_width(q, &p, axe_widths_span(&d, p.axis), &width));
        else if (p.nb == 0)
            width = axe_sums_width(p.na, p.a);
        sum[n++] = (axe_offset){width, p.axis, p.unit};
    }
    w->width = sum;
    w->n = axe_offsets_sum(sum, n);
    return AXE_OK;
}

axe_status
axe_layout_tile_of_outer(axe_ctx *cx, const axe_layout *tiled,
                         axe_shape tiled_shape, const axe_layout *outer,
                         axe_shape outer_shape, const axe_layout **inner)
{
    const question q = {cx, "tile of", "the tiled layout", "the outer layout"};
    int            r = outer_shape.n;
    axe_widths     w;
    operands       o;
    list           replica;
    axe_shape      both;

    AXE_TRY(check_shapes(&q, tiled_shape, outer_shape));
    AXE_TRY(check_no_swizzle(&q, outer));
    both = interleaved(cx, tiled_shape, outer_shape, true);
    AXE_TRY(cut_operands(&q, tiled, both, outer, outer_shape, &o));
    AXE_TRY(inner_widths(&q, &o, r, &w));
    AXE_TRY(check_blocks(&q, &o.whole, 0, &o.part, r, &w));
    list_begin(cx, &replica);
    AXE_TRY(
        other_replicas(&q, &o.whole_fiber, &o.part_fiber, &w, false, &replica));
    for (int k = 0; k < o.part_fiber.n_offset; k++) {
        axe_offset *f = &o.part_fiber.offset[k];
        int64_t     span = axe_widths_span(&w, f->axis);
        if (span == 0)
            return axe_span_unknown(cx, q.op, f->axis);
        if (!axe_mul(f->value, span, &f->value))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: the outer offset times the inner span leaves "
                            "int64",
                            q.op);
    }
    return answer(&q, &o, 1, r, NULL, &replica, tiled->swizzle, inner);
}

/* The shape of every second dim of (l0, r0, l1, r1, ...) must be `part`. */
static axe_status
check_interleaved(const question *q, axe_shape both, axe_shape part, int odd)
{
    bool same = both.n == 2 * (int64_t)part.n;

    for (int k = 0; same && k < part.n; k++)
        same = both.extent[2 * k + odd] == part.extent[k];
    if (same)
        return AXE_OK;
    return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: shape %s of %s does not have %s, of %s, in every "
                    "second place",
                    q->op, axe_shape_text(q->cx, both), q->whole,
                    axe_shape_text(q->cx, part), q->part);
}

static axe_status
sum_of(const question *q, const axe_layout *sum, axe_shape both,
       const axe_layout *part, axe_shape part_shape, int odd,
       axe_swizzle swizzle, const axe_layout **out)
{
    operands o;
    list     replica;

    AXE_TRY(check_interleaved(q, both, part_shape, odd));
    AXE_TRY(cut_operands(q, sum, both, part, part_shape, &o));
    AXE_TRY(check_blocks(q, &o.whole, odd, &o.part, part_shape.n, NULL));
    list_begin(q->cx, &replica);
    AXE_TRY(
        other_replicas(q, &o.whole_fiber, &o.part_fiber, NULL, true, &replica));
    return answer(q, &o, !odd, part_shape.n, NULL, &replica, swizzle, out);
}

axe_status
axe_layout_sum_left_of(axe_ctx *cx, const axe_layout *sum,
                       axe_shape interleaved_shape, const axe_layout *right,
                       axe_shape right_shape, const axe_layout **left)
{
    const question q = {cx, "sum of", "the sum", "the right layout"};

    AXE_TRY(check_swizzles(&q, sum, right));
    return sum_of(&q, sum, interleaved_shape, right, right_shape, 1,
                  (axe_swizzle){0, 0, 0, 0}, left);
}

axe_status
axe_layout_sum_right_of(axe_ctx *cx, const axe_layout *sum,
                        axe_shape interleaved_shape, const axe_layout *left,
                        axe_shape left_shape, const axe_layout **right)
{
    const question q = {cx, "sum of", "the sum", "the left layout"};

    AXE_TRY(check_no_swizzle(&q, left));
    return sum_of(&q, sum, interleaved_shape, left, left_shape, 0, sum->swizzle,
                  right);
}
