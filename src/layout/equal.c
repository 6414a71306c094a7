/* equal.c - are two layouts one map?
 *
 * Without a swizzle L(x) = D(x) + S + O, and after C1 the least point of S is
 * 0, so that D + O is the least corner of L(x): D, O and S must each be equal.
 * D has a unique normal form.  S is a product over (axis, unit), each factor a
 * sum of progressions (set.c).
 *
 * Equal swizzles are one bijection and drop out.  Unequal ones act on axis m
 * alone: everything else is compared as above, axis m by enumeration, unless no
 * coordinate reaches the bits that a swizzle reads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

/* D in normal form. */
typedef struct normal {
    int       n;
    axe_iter *iter;
    axe_iter  few[AXE_FEW];
} normal;

static void
normalise(axe_ctx *cx, const axe_layout *l, normal *s)
{
    s->iter = axe_iters_room(cx, s->few, l->n_shard);
    s->n = axe_iters_canon(s->iter, l->n_shard, l->shard);
}

static bool
same_offsets(const axe_fiber *a, const axe_fiber *b)
{
    if (a->n_offset != b->n_offset)
        return false;
    for (int k = 0; k < a->n_offset; k++)
        if (a->offset[k].value != b->offset[k].value ||
            a->offset[k].axis != b->offset[k].axis ||
            a->offset[k].unit != b->offset[k].unit)
            return false;
    return true;
}

int
axe_place_run(int n, const axe_iter *r)
{
    int k = 1;

    while (k < n && axe_same_place(r[k], r[0]))
        k++;
    return k;
}

axe_status
axe_replicas_equal(axe_ctx *cx, int na, const axe_iter *a, int nb,
                   const axe_iter *b, bool *out)
{
    while (na > 0 && nb > 0 && axe_same_place(a[0], b[0])) {
        int la = axe_place_run(na, a), lb = axe_place_run(nb, b);
        AXE_TRY(axe_sums_equal(cx, la, a, lb, b, out));
        if (!*out)
            return AXE_OK;
        a += la;
        na -= la;
        b += lb;
        nb -= lb;
    }
    *out = na == 0 && nb == 0;
    return AXE_OK;
}

axe_status
axe_fibers_equal(axe_ctx *cx, const axe_fiber *a, const axe_fiber *b, bool *out)
{
    *out = false;
    if (!same_offsets(a, b))
        return AXE_OK;
    return axe_replicas_equal(cx, a->n_replica, a->replica, b->n_replica,
                              b->replica, out);
}

static axe_status
equal_tiles(axe_ctx *cx, const axe_layout *a, const axe_layout *b, bool *out)
{
    normal    sa, sb;
    axe_fiber fa, fb;

    *out = false;
    normalise(cx, a, &sa);
    normalise(cx, b, &sb);
    if (sa.n != sb.n || !axe_iters_same(sa.n, sa.iter, sb.iter))
        return AXE_OK;
    AXE_TRY(axe_fiber_of(cx, "equal", a, &fa));
    AXE_TRY(axe_fiber_of(cx, "equal", b, &fb));
    return axe_fibers_equal(cx, &fa, &fb, out);
}

/* ------------------------------------------------- with unequal swizzles */

/* Lowest and highest coordinate on axis m; false if a unit is on it. */
static bool
range_on_m(const axe_layout *l, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int k = 0; k < l->n_shard + l->n_replica; k++) {
        axe_iter it = k < l->n_shard ? l->shard[k] : l->replica[k - l->n_shard];
        if (it.axis != AXE_AXIS_M || it.extent == 1 || it.stride == 0)
            continue;
        if (it.unit != AXE_UNIT_ONE)
            return false;
        *(it.stride < 0 ? lo : hi) += (it.extent - 1) * it.stride;
    }
    for (int k = 0; k < l->n_offset; k++) {
        if (l->offset[k].axis != AXE_AXIS_M)
            continue;
        if (l->offset[k].unit != AXE_UNIT_ONE)
            return false;
        *lo += l->offset[k].value;
        *hi += l->offset[k].value;
    }
    return true;
}

/* Do all coordinates on axis m keep the low bits of 0? */
static bool
multiples_on_m(const axe_layout *l, int64_t of)
{
    for (int k = 0; k < l->n_shard; k++)
        if (l->shard[k].axis == AXE_AXIS_M && l->shard[k].stride % of != 0)
            return false;
    for (int k = 0; k < l->n_replica; k++)
        if (l->replica[k].axis == AXE_AXIS_M && l->replica[k].stride % of != 0)
            return false;
    for (int k = 0; k < l->n_offset; k++)
        if (l->offset[k].axis == AXE_AXIS_M && l->offset[k].value % of != 0)
            return false;
    return true;
}

/* Can no coordinate have a bit that the swizzle reads: are all below those
 * bits, or multiples of what is above them? */
static bool
swizzle_idle(const axe_layout *l)
{
    axe_swizzle s = l->swizzle;
    int         low = s.base + (s.shift > 0 ? s.shift : 0);
    int64_t     lo, hi;

    return s.bits == 0 ||
           (s.unit_bits == 0 &&
            (multiples_on_m(l, (int64_t)1 << (low + s.bits)) ||
             (range_on_m(l, &lo, &hi) && lo >= 0 && hi >> low == 0)));
}

/* l with what is on axis m (m: kept alone; else taken away), no swizzle. */
static void
split_at_m(axe_ctx *cx, const axe_layout *l, bool m, axe_layout *out)
{
    axe_iter   *shard = axe_new_array(cx, axe_iter, l->n_shard);
    axe_iter   *replica = axe_new_array(cx, axe_iter, l->n_replica);
    axe_offset *offset = axe_new_array(cx, axe_offset, l->n_offset);

    *out = *l;
    out->swizzle = (axe_swizzle){0, 0, 0, 0};
    out->n_replica = out->n_offset = 0;
    for (int k = 0; k < l->n_shard; k++) {
        shard[k] = l->shard[k];
        if ((shard[k].axis == AXE_AXIS_M) != m)
            shard[k].stride = 0;
    }
    for (int k = 0; k < l->n_replica; k++)
        if ((l->replica[k].axis == AXE_AXIS_M) == m)
            replica[out->n_replica++] = l->replica[k];
    for (int k = 0; k < l->n_offset; k++)
        if ((l->offset[k].axis == AXE_AXIS_M) == m)
            offset[out->n_offset++] = l->offset[k];
    out->shard = shard;
    out->replica = replica;
    out->offset = offset;
}

/* The points of axis m at each index, swizzled, are listed here. */
typedef struct listing {
    axe_layout  l; /* D on axis m alone */
    axe_swizzle swizzle;
    int64_t     base, n_point, *copy, *point;
} listing;

static int
compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool
list_begin(axe_ctx *cx, const axe_layout *l, listing *t)
{
    axe_fiber f;

    split_at_m(cx, l, true, &t->l);
    t->swizzle = l->swizzle;
    if (axe_fiber_of(cx, "equal", &t->l, &f) != AXE_OK)
        return false;
    t->copy =
        axe_sums_points(cx, f.n_replica, f.replica, AXE_SET_MAX, &t->n_point);
    if (!t->copy)
        return false;
    t->l.n_offset = 0;
    t->base = f.n_offset > 0 ? f.offset[0].value : 0;
    t->point = axe_new_array(cx, int64_t, t->n_point);
    return true;
}

static void
list_at(listing *t, int64_t x)
{
    int64_t base = t->base + axe_layout_at(&t->l, x, AXE_AXIS_M);

    for (int64_t k = 0; k < t->n_point; k++)
        t->point[k] = axe_swizzle_apply(t->swizzle, base + t->copy[k]);
    if (t->n_point > 1)
        qsort(t->point, (size_t)t->n_point, sizeof(int64_t), compare_int64);
}

static axe_status
equal_on_m(axe_ctx *cx, const axe_layout *a, const axe_layout *b, bool *out)
{
    listing ta, tb;
    int64_t n = 0;

    *out = true;
    if (list_begin(cx, a, &ta) && list_begin(cx, b, &tb)) {
        *out = ta.n_point == tb.n_point;
        n = AXE_SET_MAX / ta.n_point;
    }
    for (int64_t x = 0; *out && x < n && x < a->size; x++) {
        list_at(&ta, x);
        list_at(&tb, x);
        *out = memcmp(ta.point, tb.point,
                      (size_t)ta.n_point * sizeof(int64_t)) == 0;
    }
    if (*out && n < a->size)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "equal: the layouts have unequal swizzles and over %d "
                        "points to compare",
                        AXE_SET_MAX);
    return AXE_OK;
}

static axe_status
equal_swizzled(axe_ctx *cx, const axe_layout *a, const axe_layout *b, bool *out)
{
    axe_layout rest_a, rest_b;
    int64_t    lo, hi;

    if (swizzle_idle(a) && swizzle_idle(b))
        return equal_tiles(cx, a, b, out);
    split_at_m(cx, a, false, &rest_a);
    split_at_m(cx, b, false, &rest_b);
    AXE_TRY(equal_tiles(cx, &rest_a, &rest_b, out));
    if (!*out)
        return AXE_OK;
    if (a->swizzle.unit_bits != 0 || b->swizzle.unit_bits != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "equal: %s and %s have unequal swizzles, one of them "
                        "not in elements; recast it, as recast(L, 16) does for "
                        "16 bits",
                        axe_layout_text(cx, a), axe_layout_text(cx, b));
    if (!range_on_m(a, &lo, &hi) || !range_on_m(b, &lo, &hi))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "equal: unequal swizzles over a run-time size");
    return equal_on_m(cx, a, b, out);
}

axe_status
axe_layout_equal(axe_ctx *cx, const axe_layout *a, const axe_layout *b,
                 bool *out)
{
    AXE_NEED(cx, a);
    AXE_NEED(cx, b);
    AXE_NEED(cx, out);
    axe_mark   m = axe_ctx_mark(cx);
    bool       same = false;
    axe_status st = AXE_OK;

    if (a == b)
        same = true;
    else if (a->size != b->size)
        same = false;
    else if (axe_swizzle_same(a->swizzle, b->swizzle))
        st = equal_tiles(cx, a, b, &same);
    else
        st = equal_swizzled(cx, a, b, &same);
    if (st != AXE_OK)
        return st;
    axe_ctx_release(cx, m);
    *out = same;
    return AXE_OK;
}
