/* inverse.c - is a layout one-to-one, onto, compact; and its inverses.
 *
 * Axes are independent: each iter adds to one axis, so the image is a product
 * of one set for each axis, and two indices share a point iff their digits
 * agree, up to replicas, on every axis.
 *
 * A sum of progressions {0, s, .., (e-1)s} is an interval iff, sorted by step,
 * each step is at most 1 + the reach of those below.  It is a *direct* sum that
 * is an interval (a bijection) iff each step is the product of the extents
 * below: 1 must be a step, hence e-1 more points follow it, hence all else are
 * multiples of e; and so on (de Bruijn, "On number systems", 1956).  So the
 * inverse needs no search: its digits are L's, sorted.
 */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/digit.h"

enum { MAX_POINT = 1 << 22 };

/* ----------------------------------------------------------------- queries */

/* An iter of stride 0, of a canonical layout and so not a unit, sends its first
 * two steps to one place. */
static bool
stands_still(const axe_layout *l, int64_t witness[2])
{
    int64_t weight = 1;

    for (int k = l->n_shard - 1; k >= 0; k--) {
        if (l->shard[k].stride == 0) {
            witness[0] = 0;
            witness[1] = weight;
            return true;
        }
        weight *= l->shard[k].extent;
    }
    return false;
}

static axe_status
find_collision(axe_ctx *cx, const axe_layout *l, bool *found,
               int64_t witness[2])
{
    axe_axis  *axis;
    axe_digits g;
    int        n;

    *found = stands_still(l, witness);
    n = axe_axes_used(cx, l, &axis);
    for (int k = 0; k < n && !*found; k++) {
        AXE_TRY(axe_digits_of(cx, "injective", l, axis[k], &g));
        AXE_TRY(axe_digits_collide(cx, &g, found, witness));
    }
    return AXE_OK;
}

axe_status
axe_layout_injective(axe_ctx *cx, const axe_layout *l, bool *out,
                     int64_t witness[2])
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    const axe_layout *c;
    int64_t           w[2] = {0, 0};
    bool              found;

    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, l), &c));
    AXE_TRY(find_collision(cx, c, &found, w));
    *out = !found;
    if (found && witness)
        memcpy(witness, w, sizeof w);
    return AXE_OK;
}

/* Is the sum of the digits an interval? */
static bool
fills(const axe_digits *g)
{
    int64_t reach = 0;

    for (int k = 0; k < g->n; k++) {
        if (g->digit[k].step > reach + 1)
            return false;
        reach += (g->digit[k].extent - 1) * g->digit[k].step;
    }
    return true;
}

/* The field that a swizzle writes ends below this bit: it maps each aligned
 * block of that size onto itself, since what it reads lies wholly in the block
 * (shift < 0) or is constant there (shift > 0). */
static int
block_bits(axe_swizzle s)
{
    return s.base + s.bits + (s.shift < 0 ? -s.shift : 0);
}

/* Does the swizzle map [lowest, highest] to itself? */
static bool
keeps(axe_swizzle s, const axe_digits *g)
{
    int64_t block = (int64_t)1 << block_bits(s);

    return s.bits == 0 ||
           (g->lowest % block == 0 && (g->highest - block + 1) % block == 0);
}

/* reach[i] becomes 0 if place i is a sum of one hit (reach 0) and a multiple of
 * the digit's step, else at least 1. */
static void
spread(const axe_digit *d, int64_t n, int32_t *reach)
{
    for (int64_t i = 0; i < n; i++)
        if (reach[i] != 0)
            reach[i] = i < d->step ? MAX_POINT : reach[i - d->step] + 1;
    for (int64_t i = 0; i < n; i++)
        reach[i] = reach[i] < d->extent ? 0 : 1;
}

/* Is the swizzled set of the sums an interval?  Marks them over
 * [lowest, highest], then compares the ends of their images with their count.
 */
static axe_status
fills_swizzled(axe_ctx *cx, axe_swizzle s, const axe_digits *g, bool *out)
{
    int64_t  n = g->highest - g->lowest + 1, count = 0;
    int64_t  lo = INT64_MAX, hi = INT64_MIN;
    axe_mark m = axe_ctx_mark(cx);
    int32_t *reach;

    if (n > MAX_POINT)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "surjective: the swizzle cuts its blocks, and %" PRId64
                        " places are over the limit of %d",
                        n, MAX_POINT);
    reach = axe_new_array(cx, int32_t, n);
    for (int64_t i = 1; i < n; i++)
        reach[i] = 1;
    for (int k = 0; k < g->n; k++)
        spread(&g->digit[k], n, reach);
    for (int64_t i = 0; i < n; i++) {
        int64_t to = axe_swizzle_apply(s, g->lowest + i);
        if (reach[i] != 0)
            continue;
        lo = to < lo ? to : lo;
        hi = to > hi ? to : hi;
        count++;
    }
    axe_ctx_release(cx, m);
    *out = hi - lo == count - 1;
    return AXE_OK;
}

/* `l` is canonical. */
static axe_status
fills_box(axe_ctx *cx, const axe_layout *l, bool *out)
{
    axe_axis  *axis;
    axe_digits g;
    int        n = axe_axes_used(cx, l, &axis);
    bool       yes = true;

    for (int k = 0; k < n && yes; k++) {
        AXE_TRY(axe_digits_of(cx, "surjective", l, axis[k], &g));
        yes = fills(&g);
        if (axis[k] != AXE_AXIS_M || l->swizzle.bits == 0 ||
            (yes && keeps(l->swizzle, &g)))
            continue;
        if (l->swizzle.unit_bits != 0)
            return axe_no_swizzle(cx, "surjective", l);
        AXE_TRY(fills_swizzled(cx, l->swizzle, &g, &yes));
    }
    *out = yes;
    return AXE_OK;
}

axe_status
axe_layout_surjective(axe_ctx *cx, const axe_layout *l, bool *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    const axe_layout *c;

    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, l), &c));
    return fills_box(cx, c, out);
}

axe_status
axe_layout_compact(axe_ctx *cx, const axe_layout *l, bool *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    const axe_layout *c;
    axe_axis         *axis;
    bool              onto, collides = true;
    int64_t           w[2];

    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, l), &c));
    if (axe_axes_used(cx, c, &axis) > 1 || c->n_replica > 0) {
        *out = false;
        return AXE_OK;
    }
    AXE_TRY(fills_box(cx, c, &onto));
    if (onto)
        AXE_TRY(find_collision(cx, c, &collides, w));
    *out = onto && !collides;
    return AXE_OK;
}

/* ---------------------------------------------------------------- inverses */

/* The canonical form of l and its digits on its one axis. */
static axe_status
take_apart(axe_ctx *cx, const char *what, const axe_layout *l,
           const axe_layout **canon, axe_digits *g)
{
    axe_axis axis;

    AXE_TRY(axe_no_swizzle(cx, what, l));
    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, l), canon));
    AXE_TRY(axe_axis_only(cx, what, *canon, &axis));
    return axe_digits_of(cx, what, *canon, axis, g);
}

/* ESHAPE if two indices share a point. */
static axe_status
must_be_injective(axe_ctx *cx, const char *what, const axe_layout *canon)
{
    bool    collides;
    int64_t w[2];

    AXE_TRY(find_collision(cx, canon, &collides, w));
    if (!collides)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: %s sends index %" PRId64 " and index %" PRId64
                    " to one point",
                    what, axe_layout_text(cx, canon), w[0], w[1]);
}

/* The layout that reads digit k of the coordinate back into the index, from
 * the top; reversed digits run backwards. */
static axe_status
read_back(axe_ctx *cx, int n, const axe_digit *d, int64_t offset,
          const axe_layout **out)
{
    axe_iter  *it = axe_new_array(cx, axe_iter, n);
    axe_offset o = {offset, AXE_AXIS_M, AXE_UNIT_ONE};
    axe_layout spec = {.n_shard = n, .shard = it, .n_offset = 1, .offset = &o};

    for (int k = 0; k < n; k++)
        it[n - 1 - k] =
            (axe_iter){d[k].extent, d[k].reversed ? -d[k].weight : d[k].weight,
                       AXE_AXIS_M, AXE_UNIT_ONE};
    return axe_layout_make(cx, &spec, out);
}

/* Why the digits of an injective layout are not a bijection onto [0, n). */
static axe_status
not_onto(axe_ctx *cx, const axe_layout *l, const axe_digits *g)
{
    axe_status  s;
    int64_t     hole = 1;
    const char *text = axe_layout_text(cx, l);

    for (int k = 0; k < g->n && g->digit[k].step <= hole; k++)
        hole += (g->digit[k].extent - 1) * g->digit[k].step;
    s = axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                 "inverse: nothing of %s is at place %" PRId64
                 ", below its highest, %" PRId64,
                 text, hole, g->highest);
    axe_help(cx, "the left inverse gives holes any value");
    return s;
}

axe_status
axe_layout_inverse(axe_ctx *cx, const axe_layout *l, const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    const axe_layout *c;
    axe_digits        g;
    int64_t           place = 1, offset = 0;

    AXE_TRY(take_apart(cx, "inverse", l, &c, &g));
    AXE_TRY(must_be_injective(cx, "inverse", c));
    if (g.lowest != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "inverse: the places of %s begin at %" PRId64
                        ", not at 0",
                        axe_layout_text(cx, c), g.lowest);
    for (int k = 0; k < g.n; k++) {
        if (g.digit[k].step != place)
            return not_onto(cx, c, &g);
        place *= g.digit[k].extent;
        if (g.digit[k].reversed)
            offset += (g.digit[k].extent - 1) * g.digit[k].weight;
    }
    return read_back(cx, g.n, g.digit, offset, out);
}

/* The digits as part of a radix that reads every place up to the highest:
 * digit k is widened to step k+1 / step k values, and one of weight 0 goes
 * below step 0.  The radix reads the digits of `lowest` on top of each: what
 * they and the reversed ones add to the index is taken off in *offset.  That
 * fits: the points being distinct, weight k times radix k is at most the
 * highest place. */
static axe_status
widen(axe_ctx *cx, const axe_digits *g, axe_digit *wide, int *n_wide,
      int64_t *offset)
{
    int n = 0;

    *offset = 0;
    if (g->n == 0 || g->digit[0].step > 1)
        wide[n++] =
            (axe_digit){g->n ? g->digit[0].step : g->lowest + 1, 1, 0, false};
    for (int k = 0; k < g->n; k++) {
        axe_digit d = g->digit[k];
        bool      top = k + 1 == g->n;
        int64_t   next = top ? 0 : g->digit[k + 1].step;
        int64_t   from = g->lowest / d.step, radix;
        radix = top ? from + d.extent : next / d.step;
        from = top ? from : from % radix;
        if (next % d.step != 0 || from + d.extent > radix)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "left inverse: %" PRId64 " steps of %" PRId64
                            " from place %" PRId64
                            " are no digit below steps of %" PRId64,
                            d.extent, d.step, g->lowest, next);
        *offset += (d.reversed ? d.extent - 1 + from : -from) * d.weight;
        d.extent = radix;
        wide[n++] = d;
    }
    *n_wide = n;
    return AXE_OK;
}

axe_status
axe_layout_left_inverse(axe_ctx *cx, const axe_layout *l,
                        const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    const axe_layout *c;
    axe_digits        g;
    axe_digit        *wide;
    int64_t           offset;
    int               n;

    AXE_TRY(take_apart(cx, "left inverse", l, &c, &g));
    AXE_TRY(must_be_injective(cx, "left inverse", c));
    if (g.lowest < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "left inverse: the places of %s begin at %" PRId64
                        ", below 0",
                        axe_layout_text(cx, c), g.lowest);
    wide = axe_new_array(cx, axe_digit, g.n + 1);
    AXE_TRY(widen(cx, &g, wide, &n, &offset));
    return read_back(cx, n, wide, offset, out);
}
