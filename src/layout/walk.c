/* walk.c - stepping through D in index order: an odometer, no division. */
#include <string.h>

#include "axe/layout.h"
#include "base/ctx.h"

axe_status
axe_walk_begin(axe_ctx *cx, const axe_layout *l, axe_axis axis, axe_walk *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    if (l->n_shard > AXE_WALK_MAX)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "walk: %d iters, over the limit of %d", l->n_shard,
                        AXE_WALK_MAX);
    memset(out, 0, sizeof *out);
    out->layout = l;
    out->axis = axis;
    out->coord = axe_layout_at(l, 0, axis);
    return AXE_OK;
}

bool
axe_walk_next(axe_walk *w)
{
    const axe_layout *l = w->layout;

    if (w->index == l->size - 1)
        return false;
    w->index++;
    for (int k = l->n_shard - 1; k >= 0; k--) {
        const axe_iter *it = &l->shard[k];
        bool            wraps = ++w->digit[k] == it->extent;
        int64_t         step = wraps ? 1 - it->extent : 1;
        if (it->axis == w->axis && it->unit == AXE_UNIT_ONE)
            w->coord += step * it->stride;
        if (!wraps)
            break;
        w->digit[k] = 0;
    }
    return true;
}
