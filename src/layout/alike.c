/* alike.c - do two layouts have one text?
 *
 * What was found out of a layout holds of all that are written like it. */
#include <string.h>

#include "layout/alike.h"

_Static_assert(sizeof(axe_iter) == 2 * sizeof(int64_t) + 2 * sizeof(int32_t) &&
                   sizeof(axe_offset) == sizeof(int64_t) + 2 * sizeof(int32_t),
               "no padding in what is compared");

static bool
same_bytes(int n, size_t size, const void *a, const void *b)
{
    return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

bool
axe_layout_alike(const axe_layout *a, const axe_layout *b)
{
    const axe_swizzle *x = &a->swizzle, *y = &b->swizzle;

    return a == b ||
           (a->n_shard == b->n_shard && a->n_replica == b->n_replica &&
            a->n_offset == b->n_offset && a->n_dim == b->n_dim &&
            x->bits == y->bits && x->base == y->base && x->shift == y->shift &&
            x->unit_bits == y->unit_bits &&
            same_bytes(a->n_shard, sizeof *a->shard, a->shard, b->shard) &&
            same_bytes(a->n_replica, sizeof *a->replica, a->replica,
                       b->replica) &&
            same_bytes(a->n_offset, sizeof *a->offset, a->offset, b->offset) &&
            same_bytes(a->n_dim, sizeof *a->dim_end, a->dim_end, b->dim_end));
}
