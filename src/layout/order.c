/* order.c - the order in which replicas and offsets are written.
 *
 * Axes and sizes are numbered as a ctx came to know them, which depends on what
 * it read before.  Inside, places (an axis and a unit) are compared by these
 * numbers; what is written, as text, as JSON or as a normal form, is in an
 * order of names, so that one layout has the same bytes in every ctx: m first,
 * then the names of axes; on one axis first what has no run-time size, then by
 * the text of its unit.  The sort is stable: what is on one place keeps its
 * order. */
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

static int
compare(axe_ctx *cx, axe_offset a, axe_offset b)
{
    bool m = a.axis == AXE_AXIS_M, one = a.unit == AXE_UNIT_ONE;

    if (a.axis != b.axis)
        return m || b.axis == AXE_AXIS_M ? (m ? -1 : 1)
                                         : strcmp(axe_axis_name(cx, a.axis),
                                                  axe_axis_name(cx, b.axis));
    if (a.unit != b.unit)
        return one || b.unit == AXE_UNIT_ONE
                   ? (one ? -1 : 1)
                   : strcmp(axe_unit_text(cx, a.unit),
                            axe_unit_text(cx, b.unit));
    return 0;
}

static bool
in_order(axe_ctx *cx, int n, const axe_offset *at)
{
    for (int k = 1; k < n; k++)
        if (compare(cx, at[k - 1], at[k]) > 0)
            return false;
    return true;
}

/* The runs from[begin..mid) and from[mid..end), each in order, as one at to. */
static void
merge(axe_ctx *cx, const axe_offset *at, const int *from, int begin, int mid,
      int end, int *to)
{
    int i = begin, k = mid;

    for (int out = begin; out < end; out++)
        if (k == end || (i < mid && compare(cx, at[from[i]], at[from[k]]) <= 0))
            to[out] = from[i++];
        else
            to[out] = from[k++];
}

/* The numbers of the places in order; NULL where they are. */
static const int *
order_of(axe_ctx *cx, int n, const axe_offset *at)
{
    int *from, *to;

    if (in_order(cx, n, at))
        return NULL;
    from = axe_new_array(cx, int, n);
    to = axe_new_array(cx, int, n);
    for (int k = 0; k < n; k++)
        from[k] = k;
    for (int64_t run = 1; run < n; run *= 2) {
        int *sorted = to;
        for (int64_t k = 0; k < n; k += 2 * run) {
            int64_t mid = k + run < n ? k + run : n;
            int64_t end = mid + run < n ? mid + run : n;
            merge(cx, at, from, (int)k, (int)mid, (int)end, to);
        }
        to = from;
        from = sorted;
    }
    return from;
}

void
axe_replicas_in_order(axe_ctx *cx, int n, const axe_iter *src, axe_iter *dst)
{
    axe_mark    mark = axe_ctx_mark(cx);
    axe_offset *at = axe_new_array(cx, axe_offset, n);
    axe_iter   *copy = axe_new_array(cx, axe_iter, n);
    const int  *order;

    for (int k = 0; k < n; k++) {
        at[k] = (axe_offset){0, src[k].axis, src[k].unit};
        copy[k] = src[k];
    }
    order = order_of(cx, n, at);
    for (int k = 0; k < n; k++)
        dst[k] = copy[order ? order[k] : k];
    axe_ctx_release(cx, mark);
}

const axe_offset *
axe_offsets_in_order(axe_ctx *cx, const axe_layout *l)
{
    const int  *order = order_of(cx, l->n_offset, l->offset);
    axe_offset *o;

    if (!order)
        return l->offset;
    o = axe_new_array(cx, axe_offset, l->n_offset);
    for (int k = 0; k < l->n_offset; k++)
        o[k] = l->offset[order[k]];
    return o;
}
