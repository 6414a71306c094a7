/* differ.c - are two spreads of one tensor the same, device by device?
 *
 * What a device holds is a product over dimensions, so each is compared alone:
 * of both sides the runs of a block's indices, until one has an index that the
 * other has not. */
#include "base/ctx.h"
#include "mesh/cut.h"

/* ------------------------------------------------------------------ addends */

static bool
has_digit(const mesh_side *s, mesh_digit g)
{
    for (int i = 0; i < s->n_partial; i++)
        if (s->partial[i].stride == g.stride &&
            s->partial[i].extent == g.extent)
            return true;
    return false;
}

/* Do devices along the same digits hold addends? */
static axe_status
same_addends(axe_ctx *cx, const axe_mesh *m, const axe_spread *a,
             const axe_spread *b, bool *out)
{
    mesh_side *side = axe_new_array(cx, mesh_side, 2);

    AXE_TRY(mesh_side_of(cx, "the first layout", m, a, true, &side[0]));
    AXE_TRY(mesh_side_of(cx, "the second layout", m, b, true, &side[1]));
    *out = side[0].n_partial == side[1].n_partial;
    for (int i = 0; i < side[0].n_partial; i++)
        *out = *out && has_digit(&side[1], side[0].partial[i]);
    return AXE_OK;
}

/* --------------------------------------------------------------- dimensions */

/* The first index of a block that one side wants and the other does not; the
 * block's extent: there is none. */
static int64_t
first_unlike(const mesh_problem *p, const mesh_block *b, const mesh_want *x,
             const mesh_want *y)
{
    int64_t u = 0;

    while (u < b->extent) {
        int64_t from[2] = {u, u}, to[2];
        bool    in[2] = {mesh_next_run(p, b, b->extent, x, &from[0], &to[0]),
                         mesh_next_run(p, b, b->extent, y, &from[1], &to[1])};

        if (!in[0] && !in[1])
            return b->extent;
        if (!in[0] || !in[1])
            return from[in[1]];
        if (from[0] != from[1])
            return from[0] < from[1] ? from[0] : from[1];
        u = to[0] < to[1] ? to[0] : to[1];
    }
    return b->extent;
}

/* The smallest index of a dimension that a want has in all blocks but one. */
static int64_t
index_beside(const mesh_problem *p, const mesh_dim *d, int block,
             const mesh_want *w)
{
    int64_t at = 0;

    for (int i = d->block; i < d->block + d->n_block; i++) {
        int64_t from = 0, to;

        if (i != block &&
            mesh_next_run(p, &p->block[i], p->block[i].extent, w, &from, &to))
            at += from * p->block[i].step;
    }
    return at;
}

/* Of one device; false: both sides have the same of the dimension. */
static bool
dim_differs(const mesh_problem *p, const mesh_dim *d, const mesh_want *x,
            const mesh_want *y, int64_t *index, bool *first)
{
    for (int i = d->block; i < d->block + d->n_block; i++) {
        const mesh_block *b = &p->block[i];
        int64_t           u = first_unlike(p, b, x, y);

        if (u >= b->extent)
            continue;
        *first = mesh_has(p, b, u, x);
        *index = u * b->step + index_beside(p, d, i, *first ? x : y);
        if (*index < d->n)
            return true;
    }
    return false;
}

static bool
device_differs(const mesh_problem *p, int64_t device,
               axe_spread_difference *out)
{
    int64_t   at[MESH_ATOMS];
    mesh_want x, y;

    mesh_coordinates(p, device, at);
    mesh_want_any(p, &x);
    mesh_want_any(p, &y);
    mesh_want_of(p, &p->src, at, p->mesh->n_link, &x);
    mesh_want_of(p, &p->dst, at, p->mesh->n_link, &y);
    if (x.none && y.none)
        return false;
    if (x.none != y.none) {
        *out = (axe_spread_difference){.device = device, .first = y.none};
        return true;
    }
    for (int k = 0; k < p->n_dim; k++) {
        int64_t index;
        bool    first;

        if (p->dim[k].addend ||
            !dim_differs(p, &p->dim[k], &x, &y, &index, &first))
            continue;
        *out = (axe_spread_difference){
            .dim = k, .device = device, .index = index, .first = first};
        return true;
    }
    return false;
}

axe_status
axe_spread_differ(axe_ctx *cx, const axe_mesh *m, const axe_spread *a,
                  const axe_spread *b, axe_spread_difference *out)
{
    AXE_NEED(cx, m);
    AXE_NEED(cx, a);
    AXE_NEED(cx, b);
    AXE_NEED(cx, out);
    mesh_problem *p;
    bool          same;

    AXE_TRY(same_addends(cx, m, a, b, &same));
    if (!same) {
        *out = (axe_spread_difference){.addends = true};
        return AXE_OK;
    }
    AXE_TRY(mesh_pose(cx, m, a, b, &p));
    *out = (axe_spread_difference){.equal = true};
    for (int64_t q = 0; q < m->n_device && out->equal; q++)
        device_differs(p, q, out);
    return AXE_OK;
}
