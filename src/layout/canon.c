/* canon.c - the normal form of a layout.
 *
 * D0 and D1 inside each dim, C0, C1 and C2 on replicas, offsets in order.  D's
 * form is unique for its map.  R's is unique where the gap condition holds
 * (stride k + 1 beyond the end of iter k); equal.c decides the rest. */
#include <string.h>

#include "layout/layout_int.h"

axe_status
axe_layout_canon(axe_ctx *cx, const axe_layout *l, const axe_layout **out)
{
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
    c->n_offset = l->n_offset + n_turned;
    c->swizzle = l->swizzle;
    return axe_draft_finish(cx, d, "canon", out);
}
