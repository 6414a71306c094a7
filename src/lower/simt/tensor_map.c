/* tensor_map.c - tensor maps of a grid: how boxes of a global tensor are seen.
 */
#include <string.h>

#include "lower/simt/node.h"
#include "plan/simt/copy/copy.h"

static bool
same_map(const axe_map *a, const axe_map *b)
{
    bool same = a->tensor == b->tensor && a->rank == b->rank &&
                a->swizzle == b->swizzle && a->stored == b->stored;

    for (int i = 0; i < a->rank && same; i++)
        same = a->box[i] == b->box[i] &&
               axe_node_same(a->size[i], b->size[i]) &&
               axe_node_same(a->stride[i], b->stride[i]);
    return same;
}

/* The number of the map in the grid, the same for the same. */
static int
add_map(axe_simt_lowering *sl, const axe_map *m)
{
    axe_grid *g = sl->grid;

    for (int i = 0; i < g->n_map; i++)
        if (same_map(&g->map[i], m)) {
            if (!m->when ||
                (g->map[i].when && !axe_node_same(m->when, g->map[i].when)))
                g->map[i].when = NULL;
            return i;
        }
    if (g->n_map == sl->cap_map) {
        sl->cap_map = sl->cap_map ? 2 * sl->cap_map : 4;
        axe_map *more = axe_new_array(sl->lw.cx, axe_map, sl->cap_map);
        if (g->n_map > 0)
            memcpy(more, g->map, (size_t)g->n_map * sizeof *more);
        g->map = more;
    }
    g->map[g->n_map] = *m;
    return g->n_map++;
}

int
axe_simt_map_of(axe_simt_lowering *sl, const axe_tensor *of,
                const axe_tensor *t, const axe_box *box, bool stored,
                const axe_node *when)
{
    axe_map m = {.tensor = of,
                 .rank = box->rank,
                 .swizzle = box->swizzle,
                 .stored = stored,
                 .when = when};

    for (int i = 0; i < m.rank; i++) {
        int d = box->dim[i];
        m.size[i] = t->shape[d];
        m.stride[i] = axe_scaled(&sl->lw, axe_int(&sl->lw, 1), t->stride[d]);
        m.box[i] = box->extent[i];
    }
    return add_map(sl, &m);
}
