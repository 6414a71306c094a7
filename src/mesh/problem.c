/* problem.c - two spreads as one problem: atoms, blocks, places, states. */
#include "mesh/problem.h"

#include <inttypes.h>

#include "mesh/cut.h"

typedef struct posing {
    mesh_problem    *p;
    const mesh_side *side;
    mesh_cuts        device;
    mesh_cuts       *cuts;
    int              n_spare, spare_dim[MESH_DIGITS];
    mesh_digit       spare[MESH_DIGITS];
} posing;

/* ------------------------------------------------------------------- atoms */

static axe_status
make_atoms(posing *q)
{
    mesh_problem *p = q->p;

    for (int i = q->device.n - 2; i >= 0; i--) {
        mesh_atom *a = &p->atom[p->n_atom];

        if (p->n_atom == MESH_ATOMS)
            return axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                            "reshard: over %d digits of a device's number",
                            MESH_ATOMS);
        a->stride = q->device.at[i];
        a->extent = q->device.at[i + 1] / a->stride;
        for (int k = 0; k < p->mesh->n_axis; k++) {
            const axe_mesh_axis *x = &p->mesh->axis[k];

            if (x->stride <= a->stride &&
                a->stride * a->extent <= x->stride * x->size)
                a->axis = k;
        }
        a->link = p->mesh->axis[a->axis].link;
        a->above = p->mesh->axis[a->axis].stride * p->mesh->axis[a->axis].size /
                   (a->stride * a->extent);
        p->n_atom++;
    }
    return AXE_OK;
}

/* ------------------------------------------------------------------ blocks */

static axe_status
add_block(mesh_problem *p, int dim, int64_t step, int64_t extent)
{
    mesh_dim *d = &p->dim[dim];

    if (p->n_block == MESH_BLOCKS)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: over %d digits of a tensor's dimensions",
                        MESH_BLOCKS);
    if (d->n_block++ == 0)
        d->block = p->n_block;
    p->block[p->n_block++] =
        (mesh_block){.dim = dim, .extent = extent, .step = step, .plain = true};
    return AXE_OK;
}

static axe_status
make_blocks(posing *q, int dim)
{
    const mesh_cuts *c = &q->cuts[dim];
    int64_t          n = q->p->dim[dim].n;

    for (int i = c->n - 1; i >= 0; i--)
        if (c->at[i] < n || i == 0)
            AXE_TRY(add_block(q->p, dim, c->at[i],
                              i + 1 < c->n && c->at[i + 1] < n
                                  ? c->at[i + 1] / c->at[i]
                                  : (n - 1) / c->at[i] + 1));
    return AXE_OK;
}

/* The place of a digit, the same for both sides; of a dimension's slowest only
 * what is below the true extent, as devices beyond it hold nothing. */
static axe_status
place_of(mesh_problem *p, int dim, const mesh_digit *g, int *out)
{
    const mesh_dim *d = &p->dim[dim];
    int             i = d->block;
    mesh_place      l;

    while (p->block[i].step > g->step)
        i++;
    l = (mesh_place){i, g->extent, g->step / p->block[i].step};
    if (i == d->block && l.extent > (p->block[i].extent - 1) / l.weight + 1)
        l.extent = (p->block[i].extent - 1) / l.weight + 1;
    for (*out = 0; *out < p->n_place; ++*out)
        if (p->place[*out].block == i && p->place[*out].extent == l.extent &&
            p->place[*out].weight == l.weight)
            return AXE_OK;
    if (p->n_place == MESH_PLACES || p->block[i].n_place == MESH_ATOMS)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: over %d digits over devices", MESH_PLACES);
    p->place[p->n_place++] = l;
    p->block[i].place[p->block[i].n_place++] = *out;
    p->block[i].plain = p->block[i].n_place == 1 && l.weight == 1 &&
                        l.extent >= p->block[i].extent;
    return AXE_OK;
}

/* Does a digit of either side lie within [from, to) of a dimension's index? */
static bool
is_cut(const posing *q, int dim, int64_t from, int64_t to)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < q->side[i].dim[dim].n; k++) {
            int64_t step = q->side[i].dim[dim].digit[k].step;

            if (step >= from && step < to)
                return true;
        }
    for (int i = 0; i < q->n_spare; i++)
        if (q->spare_dim[i] == dim && q->spare[i].step >= from &&
            q->spare[i].step < to)
            return true;
    return false;
}

/* Sums over g that all devices want may be spread over them for a while, where
 * a dimension has e parts in memory on both sides: cut it there. */
static void
find_spare(posing *q, const mesh_digit *g)
{
    for (int d = 0; d < q->p->n_dim; d++) {
        mesh_cuts *c = &q->cuts[d];

        for (int i = c->n - 1; i >= 0; i--) {
            int64_t low = c->at[i];
            int64_t top = i + 1 < c->n ? c->at[i + 1] : q->p->dim[d].n;

            if (top % low != 0 || top / low % g->extent != 0 ||
                is_cut(q, d, low, top) || !mesh_cuts_add(c, top / g->extent))
                continue;
            q->spare_dim[q->n_spare] = d;
            q->spare[q->n_spare++] = (mesh_digit){.extent = g->extent,
                                                  .step = top / g->extent,
                                                  .stride = g->stride};
            return;
        }
    }
}

static void
find_spares(posing *q)
{
    const mesh_side *src = &q->side[0], *dst = &q->side[1];

    for (int i = 0; i < src->n_partial; i++) {
        bool copied = false;

        for (int k = 0; k < dst->n_copy; k++)
            copied = copied || dst->copy[k].stride == src->partial[i].stride;
        if (copied)
            find_spare(q, &src->partial[i]);
    }
}

/* ------------------------------------------------------------------ states */

static int
atom_of(const mesh_problem *p, const mesh_digit *g)
{
    int a = 0;

    while (p->atom[a].stride != g->stride || p->atom[a].extent != g->extent)
        a++;
    return a;
}

static axe_status
bind(posing *q, const mesh_side *side, const mesh_digit *g, mesh_is is,
     int64_t at, bool used[MESH_ATOMS], mesh_state *s)
{
    int a = atom_of(q->p, g);

    if (used[a])
        return axe_fail(q->p->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: devices %" PRId64
                        " apart are told apart twice, so that some hold an "
                        "element twice and others hold nothing",
                        side->name, g->stride);
    used[a] = true;
    s->is[a] = (uint8_t)is;
    s->at[a] = at;
    if (is == MESH_BOUND)
        s->turn[a] = g->turn;
    return AXE_OK;
}

/* The offset that is as near, and along no iter. */
static int64_t
offset_beside(const posing *q, const mesh_side *side,
              const bool used[MESH_ATOMS])
{
    int64_t base = side->base;

    for (int a = 0; a < q->p->n_atom; a++) {
        const mesh_atom *x = &q->p->atom[a];

        if (used[a])
            base -= side->base / x->stride % x->extent * x->stride;
    }
    return base;
}

/* What is not named holds nothing but on the device of the offset. */
static axe_status
bind_rest(posing *q, const mesh_side *side, const bool used[MESH_ATOMS],
          mesh_state *s)
{
    for (int a = 0; a < q->p->n_atom; a++) {
        const mesh_atom *x = &q->p->atom[a];
        int64_t          at = side->base / x->stride % x->extent;

        if (used[a] && at != 0 && !(s->is[a] == MESH_FIXED && s->at[a] == 0)) {
            axe_fail(q->p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                     "%s: its devices are shifted by %" PRId64
                     " along iters that go over all of them",
                     side->name, at * x->stride);
            axe_help(q->p->cx,
                     "an offset says which device of an axis holds what no "
                     "iter spreads over that axis: %" PRId64
                     "@gpuid does; a part of the mesh is a digit of its own, "
                     "as (2 : 1@gpuid) + 2@gpuid of 4 devices",
                     offset_beside(q, side, used));
            return AXE_EUNSUPPORTED;
        }
        if (!used[a] || at != 0) {
            s->is[a] = MESH_FIXED;
            s->at[a] = at;
        }
    }
    return AXE_OK;
}

/* The dimension of an atom's addends; -1: it has none. */
static int
addend_place(const mesh_problem *p, int atom)
{
    return p->src.is[atom] == MESH_BOUND &&
                   mesh_dim_of(p, (int)p->src.at[atom])->addend
               ? (int)p->src.at[atom]
               : -1;
}

static axe_status
bind_partial(posing *q, const mesh_side *side, const mesh_digit *g,
             bool used[MESH_ATOMS], mesh_state *s)
{
    mesh_problem *p = q->p;
    int           a = atom_of(p, g), place;

    if (s == &p->dst) {
        place = addend_place(p, a);
        if (place < 0)
            return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "%s asks for addends over devices %" PRId64
                            " apart, and SRC holds none there: nothing is "
                            "gained by cutting a value in addends",
                            side->name, g->stride);
        return bind(q, side, g, MESH_BOUND, place, used, s);
    }
    if (p->n_dim == MESH_DIMS)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: over %d dimensions", MESH_DIMS);
    p->dim[p->n_dim] = (mesh_dim){.n = g->extent, .addend = true};
    AXE_TRY(add_block(p, p->n_dim, 1, g->extent));
    AXE_TRY(place_of(
        p, p->n_dim++,
        &(mesh_digit){.extent = g->extent, .step = 1, .stride = g->stride},
        &place));
    return bind(q, side, g, MESH_BOUND, place, used, s);
}

/* Addends are told apart by the digits of devices, slow to fast. */
static axe_status
bind_partials(posing *q, const mesh_side *side, bool used[MESH_ATOMS],
              mesh_state *s)
{
    for (int a = 0; a < q->p->n_atom; a++)
        for (int i = 0; i < side->n_partial; i++)
            if (side->partial[i].stride == q->p->atom[a].stride)
                AXE_TRY(bind_partial(q, side, &side->partial[i], used, s));
    return AXE_OK;
}

static axe_status
make_state(posing *q, const mesh_side *side, mesh_state *s)
{
    bool used[MESH_ATOMS] = {false};
    int  place;

    for (int d = 0; d < side->n_dim; d++)
        for (int i = 0; i < side->dim[d].n; i++) {
            AXE_TRY(place_of(q->p, d, &side->dim[d].digit[i], &place));
            AXE_TRY(bind(q, side, &side->dim[d].digit[i], MESH_BOUND, place,
                         used, s));
        }
    for (int i = 0; i < side->n_copy; i++)
        AXE_TRY(bind(q, side, &side->copy[i], MESH_FREE, 0, used, s));
    for (int i = 0; i < side->n_zero; i++)
        AXE_TRY(bind(q, side, &side->zero[i], MESH_FIXED,
                     mesh_turned(&side->zero[i].turn, side->zero[i].extent, 0),
                     used, s));
    AXE_TRY(bind_partials(q, side, used, s));
    return bind_rest(q, side, used, s);
}

/* ----------------------------------------------------------------- posing */

/* Is the tensor of as many elements, and of the same dimensions (else it is
 * taken as one)? */
static axe_status
compare(axe_ctx *cx, const axe_spread *a, const axe_spread *b, bool *flat)
{
    int64_t n[2] = {1, 1};
    bool    whole = true;

    *flat = a->shape.n != b->shape.n;
    for (int i = 0; i < 2; i++) {
        const axe_spread *s = i ? b : a;

        for (int k = 0; k < s->shape.n; k++)
            n[i] *= s->shape.extent[k];
        whole = whole && n[i] == s->layout->size;
        *flat = *flat || s->layout->n_dim != s->shape.n;
    }
    for (int k = 0; k < a->shape.n && !*flat; k++)
        *flat = a->shape.extent[k] != b->shape.extent[k];
    if (n[0] != n[1])
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "reshard: SRC has %" PRId64 " elements, DST %" PRId64,
                        n[0], n[1]);
    if (*flat && !whole)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "reshard: SRC and DST have other dimensions, and one "
                        "is rounded up, so that their elements do not "
                        "correspond");
    return AXE_OK;
}

static void
make_dims(mesh_problem *p, const axe_spread *s, bool flat)
{
    p->n_dim = flat ? 1 : s->shape.n;
    for (int k = 0; k < p->n_dim; k++)
        p->dim[k] =
            (mesh_dim){.n = flat ? s->layout->size : s->shape.extent[k]};
}

axe_status
mesh_pose(axe_ctx *cx, const axe_mesh *m, const axe_spread *src,
          const axe_spread *dst, mesh_problem **out)
{
    mesh_problem *p = axe_new(cx, mesh_problem);
    mesh_side    *side = axe_new_array(cx, mesh_side, 2);
    posing        q = {.p = p, .side = side};
    int64_t       n[MESH_DIMS];
    bool          flat;

    p->cx = cx;
    p->mesh = m;
    AXE_TRY(compare(cx, src, dst, &flat));
    if (src->shape.n > MESH_DIMS / 2)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: %d dimensions; at most %d are taken",
                        src->shape.n, MESH_DIMS / 2);
    make_dims(p, src, flat);
    for (int k = 0; k < p->n_dim; k++)
        n[k] = p->dim[k].n;
    AXE_TRY(mesh_side_of(cx, "SRC", m, src, flat, &side[0]));
    AXE_TRY(mesh_side_of(cx, "DST", m, dst, flat, &side[1]));
    q.cuts = axe_new_array(cx, mesh_cuts, p->n_dim + 1);
    AXE_TRY(mesh_cut(cx, m, n, side, &q.device, q.cuts));
    AXE_TRY(make_atoms(&q));
    find_spares(&q);
    for (int k = 0; k < p->n_dim; k++)
        AXE_TRY(make_blocks(&q, k));
    AXE_TRY(make_state(&q, &side[0], &p->src));
    AXE_TRY(make_state(&q, &side[1], &p->dst));
    for (int a = 0; a < p->n_atom; a++)
        p->spare[a] = -1;
    for (int i = 0; i < q.n_spare; i++)
        AXE_TRY(place_of(p, q.spare_dim[i], &q.spare[i],
                         &p->spare[atom_of(p, &q.spare[i])]));
    *out = p;
    return AXE_OK;
}
