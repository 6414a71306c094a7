/* parts.c - a tensor as its devices have it, for pictures. */
#include "mesh/parts.h"

#include <inttypes.h>

/* The finest step at which devices of a dimension change. */
static int64_t
finest(const mesh_problem *p, const mesh_state *s, int dim)
{
    int64_t least = p->dim[dim].n;

    for (int a = 0; a < p->n_atom; a++) {
        const mesh_place *l;
        int64_t           step;

        if (s->is[a] != MESH_BOUND)
            continue;
        l = &p->place[s->at[a]];
        step = p->block[l->block].step * l->weight;
        if (p->block[l->block].dim == dim && step < least)
            least = step;
    }
    return least;
}

/* Do the same devices have indices u and v of a dimension? */
static bool
same(const mesh_problem *p, const mesh_state *s, int dim, int64_t u, int64_t v)
{
    for (int a = 0; a < p->n_atom; a++) {
        const mesh_place *l;
        int64_t           step;

        if (s->is[a] != MESH_BOUND)
            continue;
        l = &p->place[s->at[a]];
        step = p->block[l->block].step * l->weight;
        if (p->block[l->block].dim == dim &&
            u / step % l->extent != v / step % l->extent)
            return false;
    }
    return true;
}

static axe_status
cut(const mesh_problem *p, const mesh_state *s, int dim, int *n, int64_t *at)
{
    int64_t step = finest(p, s, dim);

    for (int64_t u = 0; u < p->dim[dim].n; u += step) {
        if (u > 0 && same(p, s, dim, u - step, u))
            continue;
        if (*n == MESH_DRAWN || u / step > 1 << 16)
            return axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                            "reshard: dimension %d has over %d parts, too many "
                            "to draw",
                            dim, MESH_DRAWN);
        at[(*n)++] = u;
    }
    return AXE_OK;
}

/* Who has the part that begins at an index, of any addend. */
static uint32_t
owners(const mesh_problem *p, const mesh_state *s, int64_t index)
{
    int64_t  at[MESH_ATOMS], n_addend = 1;
    uint32_t set = 0;

    for (int d = 0; d < p->n_dim; d++)
        n_addend *= p->dim[d].addend ? p->dim[d].n : 1;
    for (int64_t q = 0; q < p->mesh->n_device; q++) {
        mesh_coordinates(p, q, at);
        for (int64_t t = 0; t < n_addend; t++)
            if (mesh_holds(p, s, at, index, t))
                set |= 1u << q;
    }
    return set;
}

axe_status
mesh_parts_of(const mesh_problem *p, const mesh_state *s, mesh_parts *out)
{
    int n = 0;

    if (p->mesh->n_device > MESH_DRAWN)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: %" PRId64
                        " devices are too many to draw; up to %d are",
                        p->mesh->n_device, MESH_DRAWN);
    while (n < p->n_dim && !p->dim[n].addend)
        n++;
    *out = (mesh_parts){.n_row = 0};
    if (n > 1)
        AXE_TRY(cut(p, s, n - 2, &out->n_row, out->row));
    else
        out->n_row = 1;
    AXE_TRY(cut(p, s, n - 1, &out->n_col, out->col));
    for (int r = 0; r < out->n_row; r++)
        for (int c = 0; c < out->n_col; c++)
            out->owners[r][c] =
                owners(p, s, out->row[r] * p->dim[n - 1].n + out->col[c]);
    return AXE_OK;
}

const char *
mesh_owners_text(axe_ctx *cx, uint32_t set)
{
    axe_buf b = {.cx = cx};

    for (int q = 0; q < MESH_DRAWN; q++) {
        int last = q;

        if (!(set >> q & 1))
            continue;
        while (last + 1 < MESH_DRAWN && set >> (last + 1) & 1)
            last++;
        axe_putf(&b, b.len ? ",%d" : "%d", q);
        if (last > q)
            axe_putf(&b, last > q + 1 ? "-%d" : ",%d", last);
        q = last;
    }
    return b.text ? b.text : "none";
}
