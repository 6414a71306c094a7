/* panel.c - a packed right factor: how many of its columns lie together, and
 * the tile as a view of it.
 *
 * A register tile of NV vectors that lie K * V elements apart reads NV streams
 * of memory, each of which the hardware has to find anew at every page.  So as
 * many vectors lie together, a panel, as the machine's best register tile has:
 * one run for all of the sum, and panels follow one another.  That is so
 * whatever rows a tile has; then a matrix is packed once for all.  Where tiles
 * of columns are not whole panels a panel is one vector, since tiles of any
 * width may begin at any. */
#include "plan/access/access.h"
#include "plan/cpu/cpu.h"

/* Vectors of the best register tile, where there are rows enough; of equals the
 * one with fewest rows, which divide more tiles. */
static int
best_vectors(const axe_machine *mc)
{
    int    out = 1;
    double best = 0;

    for (int i = 1; i <= mc->n_vreg; i++)
        for (int j = 1; j <= mc->n_vreg; j++)
            if (axe_tile_worth(mc, i, j) > best) {
                best = axe_tile_worth(mc, i, j);
                out = j;
            }
    return out;
}

/* The dimension of the packed argument that columns of the product walk; -1:
 * none does. */
static int
column_of(const axe_product *q, const axe_tensor *packed)
{
    const axe_node *y = q->load[2];
    const axe_stmt *fill = axe_only_writer(q->p, y->u.tensor);
    int             column = -1;

    if (packed->rank < 2 || y->n_arg != 2 || q->ro.n_batch > 0)
        return -1;
    for (int d = packed->rank - 2; d < packed->rank; d++) {
        const axe_var *v = axe_alone_in(q->p, fill->value->arg[d]);
        for (int i = 0; i < 2; i++)
            if (fill->dst->arg[i]->u.var == v &&
                axe_mentions(y->arg[i], q->ro.n->var))
                column = d;
    }
    return column;
}

/* Are tiles of columns whole panels, and begin at such? */
static bool
in_panels(const axe_product *q, const axe_tensor *packed, int64_t extent,
          int64_t lanes)
{
    const axe_stmt *fill = axe_only_writer(q->p, q->load[2]->u.tensor);
    int             d = column_of(q, packed);

    return d >= 0 && extent % lanes == 0 &&
           axe_packed_begins(q->p, fill->value->arg[d], lanes);
}

/* What another statement needs is kept: one vector where either does. */
int64_t
axe_panel_of(const axe_product *q, const axe_candidate *c)
{
    const axe_tensor *t = axe_packed_source(q->p, q->s, q->load[2]->u.tensor);
    const axe_attr   *pin = axe_attr_of(q->s, AXE_ATTR_tile);
    int64_t           n = best_vectors(q->p->mc), lanes = n * c->n.atom;

    if (!t || !in_panels(q, t, c->n.extent, lanes) ||
        (pin && pin->value[1] % n != 0 && n % pin->value[1] != 0) ||
        (q->p->pack[t->id].lanes > 0 && q->p->pack[t->id].lanes != lanes))
        return 1;
    return n;
}

bool
axe_see_packed(const axe_product *q, const axe_tensor *packed,
               const axe_candidate *c)
{
    axe_place *pl = &q->p->place[q->load[2]->u.tensor->id];
    int        column = column_of(q, packed);

    if (column < 0)
        return false;
    q->p->pack[packed->id] = (axe_packing){.lanes = c->panel * c->n.atom,
                                           .group = c->k.atom,
                                           .panel = c->panel,
                                           .column = column};
    pl->view = packed;
    pl->why = axe_textf(q->p->cx, "no memory: %s is packed", packed->name);
    return true;
}
