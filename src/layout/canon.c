/* canon.c - the normal form of a layout.
 *
 * D0 and D1 inside each dim, C0, C1 and C2 on replicas, offsets in order.  D's
 * form is unique for its map.  R's is unique where the gap condition holds
 * (stride k + 1 beyond the end of iter k); equal.c decides the rest. */
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

axe_status
axe_layout_canon(axe_ctx *cx, const axe_layout *l, const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_draft   d = axe_draft_new(cx, l->n_shard, l->n_replica,
                                  l->n_offset + l->n_replica, l->n_dim);
    axe_layout *c = d.layout;
    int         n_turned;

    for (int k = 0, begin = 0; k < l->n_dim; k++) {
        for (int i = axe_dim_begin(l, k); i < l->dim_end[k]; i++)
            c->n_shard =
                axe_iters_push(d.shard, begin, c->n_shard, l->shard[i]);
        begin = d.dim_end[k] = c->n_shard;
    }
    for (int k = 0; k < l->n_offset; k++)
        d.offset[k] = l->offset[k];
    c->n_replica = axe_replicas_turn(d.replica, l->n_replica, l->replica,
                                     d.offset + l->n_offset, &n_turned);
    c->n_replica = axe_replicas_absorb(d.replica, c->n_replica);
    if (c->n_replica > 1)
        axe_replicas_in_order(cx, c->n_replica, d.replica, d.replica);
    c->n_offset = l->n_offset + n_turned;
    c->swizzle = l->swizzle;
    return axe_draft_finish(cx, d, "canon", out);
}

axe_status
axe_fiber_of(axe_ctx *cx, const char *op, const axe_layout *l, axe_fiber *out)
{
    int n_turned = 0, n_offset = l->n_offset + l->n_replica;

    out->replica = axe_iters_room(cx, out->few_replica, l->n_replica);
    out->offset = axe_offsets_room(cx, out->few_offset, n_offset);
    for (int k = 0; k < l->n_offset; k++)
        out->offset[k] = l->offset[k];
    out->n_replica = axe_replicas_turn(out->replica, l->n_replica, l->replica,
                                       out->offset + l->n_offset, &n_turned);
    out->n_replica = axe_replicas_absorb(out->replica, out->n_replica);
    out->n_offset = l->n_offset;
    if (n_turned > 0)
        out->n_offset = axe_offsets_sum(out->offset, l->n_offset + n_turned);
    if (out->n_offset >= 0)
        return AXE_OK;
    return axe_fail(
        cx, AXE_NOWHERE, AXE_EOVERFLOW,
        "%s: the offset of %s, at the least of its replicas, leaves "
        "int64",
        op, axe_layout_text(cx, l));
}
