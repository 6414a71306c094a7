/* match.c - rows of the table against a statement.
 *
 * A row takes a product if it has its types and its extents are whole ones of
 * the row's.  How the row is repeated over the thread group follows from the
 * layout of c, by tile-of: threads >< repetitions >< the atom's c. */
#include <string.h>

#include "plan/access/access.h"
#include "plan/simt/contract/product.h"
#include "plan/simt/team/cta_pair.h"

/* ----------------------------------------------------------------- the row */

/* Warps of a warpgroup are warps of the CTA where the thread group counts
 * those. */
static const axe_layout *
on_threads(const axe_product *j, const axe_layout *l)
{
    axe_iter  *it = axe_new_array(j->p->cx, axe_iter, l->n_shard + 1);
    axe_layout spec = *l;
    axe_iter   own[2];
    int        n = axe_threads_axes(j->p->simt, j->threads, own);

    for (int i = 0; i < l->n_shard; i++) {
        it[i] = l->shard[i];
        if (n == 2 &&
            (it[i].axis == j->p->simt->wid || it[i].axis == j->p->simt->warp))
            it[i].axis = own[0].axis;
    }
    spec.shard = it;
    return axe_layout_make(j->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

/* One operand's layout as two dims; a single element has both of extent 1. */
static const axe_layout *
read_side(const axe_product *j, const axe_atom *a, int which, const char *names,
          int param)
{
    static const int64_t one[2] = {1, 1};
    const char          *said;
    const axe_layout    *l;
    const char *const    text[3] = {a->d, a->a, a->b};

    if (axe_atom_layout(j->p->cx, text[which], param, 1, &said, &l) != AXE_OK)
        return NULL;
    if (l->size == 1 &&
        axe_layout_group(j->p->cx, l, (axe_shape){2, one}, &l) != AXE_OK)
        return NULL;
    if (l->size > 1 && (strcmp(said, names) != 0 || l->n_dim != 2))
        return NULL;
    return on_threads(j, l);
}

bool
axe_candidate_read(const axe_product *j, const axe_atom *a, int param,
                   axe_candidate *by)
{
    static const char *const names[3] = {"m, n", "m, k", "n, k"};

    *by = (axe_candidate){.atom = a, .param = param};
    for (int i = 0; i < 3; i++)
        if (!(by->side[i] = read_side(j, a, i, names[i], param)))
            return false;
    by->pair = axe_atom_pair(j->p, by->side[2]);
    for (int i = 0; i < 2; i++)
        if (!(by->side[i] = axe_side_of_one(j->p, by->side[i])))
            return false;
    if (!axe_product_takes_pair(j, by->pair))
        return false;
    int64_t     size[3] = {axe_dim_size(by->side[0], 0),
                           axe_dim_size(by->side[0], 1),
                           axe_dim_size(by->side[1], 1)};
    axe_spread *s[3] = {&by->m, &by->n, &by->k};
    for (int i = 0; i < 3; i++)
        *s[i] = (axe_spread){.extent = j->extent[i], .atom = size[i]};
    return axe_dim_size(by->side[1], 0) == size[0] &&
           axe_dim_size(by->side[2], 0) == size[1];
}

bool
axe_candidate_is_whole(const axe_product *j, axe_candidate *by)
{
    if (by->m.extent % by->m.atom != 0 || by->n.extent % by->n.atom != 0 ||
        by->k.extent % by->k.atom != 0)
        return false;
    by->k.n_rep = by->k.extent / by->k.atom;
    by->k.n_part = 1;
    by->k.part[0] = (axe_part){AXE_COUNT_K, 1, by->k.n_rep, 0};
    return by->pair == 1 || by->n.atom == j->extent[1];
}

bool
axe_product_is_tmem(const axe_product *j, int i)
{
    return j->load[i]->u.tensor->space == AXE_SPACE_TMEM;
}

static bool
takes_scales(const axe_product *j, const axe_atom *a)
{
    if (!j->scale[0] || !a->scale[0])
        return !j->scale[0] && !a->scale[0];
    return a->scale_type == j->scale[0]->u.tensor->type &&
           axe_atom_block(j->p->cx, a) == j->block;
}

/* Factors that go through registers may be of a narrower type, and are
 * converted there; those in tensor memory are read there. */
bool
axe_product_takes(const axe_product *j, const axe_atom *a)
{
    if (!takes_scales(j, a) || axe_atom_threads(j->p->mc, a) == 0 ||
        j->threads->n_thread % axe_atom_threads(j->p->mc, a) != 0)
        return false;
    for (int i = 0; i < 3; i++)
        if ((a->space[i] == AXE_ARG_TMEM) != axe_product_is_tmem(j, i) ||
            (a->type[i] != j->type[i] &&
             (i == 0 || a->space[i] != AXE_ARG_REG ||
              j->load[i]->u.tensor->space == AXE_SPACE_REG ||
              !axe_type_widens(j->type[i], a->type[i]))))
            return false;
    return axe_product_is_tmem(j, 0) || a->space[0] == AXE_ARG_REG;
}

/* ---------------------------------------------------------------- the rest */

axe_axis
axe_product_sums_axis(const axe_product *j)
{
    return axe_product_is_tmem(j, 0) ? j->p->simt->tcol : j->p->simt->reg;
}

/* The parts of one index, from how c repeats the atom's. */
static bool
take_parts(const axe_product *j, const axe_candidate *by, int d,
           axe_counter own, axe_spread *out)
{
    const axe_layout *l = by->outer;
    int64_t           over = 1, span;

    out->n_part = l->dim_end[d] - (d > 0 ? l->dim_end[d - 1] : 0);
    if (out->n_part > AXE_MAX_PART)
        return false;
    for (int i = l->dim_end[d] - 1, k = out->n_part - 1; k >= 0; i--, k--) {
        axe_iter it = l->shard[i];
        if (axe_layout_span(j->p->cx, by->side[0], it.axis, &span) != AXE_OK ||
            it.stride <= 0 || it.axis == j->p->simt->tlane)
            return false;
        out->part[k] = (axe_part){it.axis == j->p->simt->lane ? AXE_COUNT_LANE
                                                              : AXE_COUNT_WARP,
                                  it.stride * span, it.extent, 0};
        if (it.axis != axe_product_sums_axis(j))
            continue;
        out->part[k] = (axe_part){own, over, it.extent, it.stride * span};
        over *= it.extent;
    }
    out->n_rep = over;
    return true;
}

/* Neither replicas nor offsets: each element of c is added to once. */
static bool
take_spread(const axe_product *j, axe_candidate *by)
{
    return by->outer->n_dim == 2 && by->outer->n_replica == 0 &&
           by->outer->n_offset == 0 &&
           take_parts(j, by, 0, AXE_COUNT_M, &by->m) &&
           take_parts(j, by, 1, AXE_COUNT_N, &by->n);
}

/* Of a c that is laid out, what is left of it when the atom's part is taken out
 * says how the atom is repeated. */
bool
axe_candidate_match(const axe_product *j, axe_candidate *by,
                    const axe_layout *c)
{
    int64_t all[2] = {j->extent[0], j->extent[1]};
    int64_t part[2] = {by->m.atom, by->n.atom};

    return (!c ||
            axe_layout_tile_of(j->p->cx, c, (axe_shape){2, all}, by->side[0],
                               (axe_shape){2, part}, &by->outer) == AXE_OK) &&
           take_spread(j, by);
}

const axe_layout *
axe_candidate_layout(const axe_product *j, const axe_candidate *by)
{
    int64_t out[2] = {j->extent[0] / by->m.atom, j->extent[1] / by->n.atom};
    int64_t in[2] = {by->m.atom, by->n.atom};
    int64_t all[2] = {j->extent[0], j->extent[1]};
    const axe_layout *l;

    if (axe_layout_tile(j->p->cx, by->outer, (axe_shape){2, out}, by->side[0],
                        (axe_shape){2, in}, &l) != AXE_OK ||
        axe_layout_group(j->p->cx, l, (axe_shape){2, all}, &l) != AXE_OK)
        return NULL;
    return l;
}
