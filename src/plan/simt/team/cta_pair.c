/* cta_pair.c - tiles that the CTAs of a cluster hold in parts.
 *
 * Some atoms multiply for several CTAs at once: each brings its own rows, and a
 * part of the columns that all of them share.  A tile that is said to be the
 * same in all (replicas on the axis `cta`) need then not be whole in any: its
 * layout has the CTA in front of its first rows,
 *
 *     ((2, rows / 2), ...) : ((1@cta, ...), ...)
 *
 * Only such an atom may read it, asked by the first of the CTAs when all parts
 * have come; so it stands in a pipeline between two roles, and the sums in one
 * between roles.  In a cluster of several such groups each has all parts: CTA r
 * has part r % 2, and a box may bring a part to all who keep it. */
#include "plan/simt/team/cta_pair.h"

#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/team/team.h"

static int64_t
extent_on(const axe_planner *p, const axe_layout *l)
{
    for (int i = 0; l && i < l->n_shard; i++)
        if (l->shard[i].axis == p->simt->cta)
            return l->shard[i].extent;
    return 1;
}

int64_t
axe_tile_parts(const axe_planner *p, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ? 1
                                        : extent_on(p, p->place[t->id].layout);
}

int64_t
axe_ring_parts(const axe_planner *p, const axe_pipeline *ring)
{
    int64_t n = 1;

    for (int i = 0; ring && i < ring->n_tensor; i++)
        if (axe_tile_parts(p, ring->tensor[i]) > n)
            n = axe_tile_parts(p, ring->tensor[i]);
    return n;
}

int64_t
axe_tile_copies(const axe_planner *p, const axe_tensor *t)
{
    int64_t n = 1;

    for (int i = 0; i < t->n_replica; i++)
        if (t->replica[i].axis == p->simt->cta)
            n *= t->replica[i].extent;
    return n;
}

static bool
leads_across(const axe_planner *p, const axe_tensor *t)
{
    const axe_simt_ring *r =
        t->pipeline ? axe_simt_ring_of(p->simt, t->pipeline) : NULL;

    return r && r->way == AXE_RING_ROLES;
}

/* Does one role read all that lies in the tile's ring?  Of a pair only the
 * first CTA is told that a stage is full. */
static bool
is_read_by_one(const axe_planner *p, const axe_tensor *t)
{
    const axe_simt_ring *r =
        t->pipeline ? axe_simt_ring_of(p->simt, t->pipeline) : NULL;

    return !r || r->n_reader <= 1;
}

bool
axe_product_takes_pair(const axe_product *j, int64_t pair)
{
    const axe_planner *p = j->p;
    const axe_tensor  *a = j->load[1]->u.tensor, *b = j->load[2]->u.tensor;
    const axe_layout  *l = p->place[b->id].layout;
    int64_t            ctas = axe_threads_cta(j->threads)->at->keys.cluster;

    if (axe_tile_parts(p, a) != 1)
        return false;
    if (pair == 1)
        return axe_tile_parts(p, b) == 1;
    return ctas > 0 && ctas % pair == 0 && leads_across(p, b) &&
           leads_across(p, j->load[0]->u.tensor) && is_read_by_one(p, a) &&
           is_read_by_one(p, b) && axe_tile_copies(p, a) == 1 &&
           axe_tile_copies(p, b) == ctas &&
           (p->simt->open[b->id] || !l || extent_on(p, l) == pair);
}

const char *
axe_product_unpaired(const axe_product *j)
{
    const axe_planner *p = j->p;
    const axe_tensor  *a = j->load[1]->u.tensor, *b = j->load[2]->u.tensor;

    if (axe_tile_copies(p, b) == 1)
        return NULL;
    if (!leads_across(p, b) || !leads_across(p, j->load[0]->u.tensor))
        return "what comes and what is done is told at the first CTA's "
               "barriers, at which only roles wait: fetch, multiply and store "
               "in `roles`, the sums in a pipeline, as kernels/gemm_sm100.axe "
               "does";
    if (!is_read_by_one(p, a) || !is_read_by_one(p, b))
        return axe_textf(p->cx,
                         "only the first CTA is told that a stage is full, and "
                         "several roles read those of %s",
                         b->pipeline->name);
    return NULL;
}

int64_t
axe_atom_pair(const axe_planner *p, const axe_layout *b)
{
    return extent_on(p, b);
}

const axe_layout *
axe_side_of_one(const axe_planner *p, const axe_layout *l)
{
    axe_iter  *it = axe_new_array(p->cx, axe_iter, l->n_shard + 1);
    int       *end = axe_new_array(p->cx, int, l->n_dim + 1), n = 0;
    axe_layout spec = *l;

    for (int d = 0, i = 0; d < l->n_dim; d++) {
        for (; i < l->dim_end[d]; i++)
            if (l->shard[i].axis != p->simt->cta)
                it[n++] = l->shard[i];
        end[d] = n;
    }
    spec.n_shard = n;
    spec.shard = it;
    spec.dim_end = end;
    return axe_layout_make(p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

const axe_layout *
axe_layout_in_parts(const axe_planner *p, const axe_layout *l, int dim,
                    int64_t parts)
{
    axe_iter  *it = axe_new_array(p->cx, axe_iter, l->n_shard + 2);
    int       *end = axe_new_array(p->cx, int, l->n_dim + 1), n = 0;
    axe_layout spec = *l;

    for (int d = 0, i = 0; d < l->n_dim; d++) {
        if (d == dim)
            it[n++] = (axe_iter){parts, 1, p->simt->cta, AXE_UNIT_ONE};
        for (; i < l->dim_end[d]; i++)
            it[n++] = l->shard[i];
        end[d] = n;
    }
    spec.n_shard = n;
    spec.shard = it;
    spec.dim_end = end;
    return axe_layout_make(p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

const axe_tensor *
axe_tensor_part(const axe_planner *p, const axe_tensor *t, int dim,
                int64_t parts)
{
    axe_tensor      *part = axe_new(p->cx, axe_tensor);
    const axe_node **shape =
        axe_new_array(p->cx, const axe_node *, t->rank + 1);
    int64_t e;

    *part = *t;
    part->shape = shape;
    for (int d = 0; d < t->rank; d++)
        shape[d] = t->shape[d];
    if (!axe_is_iconst(t->shape[dim], &e) || e % parts != 0)
        return NULL;
    shape[dim] = axe_iconst(p->cx, t->at, AXE_TYPE_INDEX, e / parts);
    return part;
}

const axe_layout *
axe_memory_of_one(const axe_planner *p, const axe_layout *l)
{
    axe_layout spec = *l;
    int       *end = axe_new_array(p->cx, int, l->n_dim + 1);

    if (l->n_shard == 0 || l->dim_end[0] == 0 || l->shard[0].stride != 0)
        return NULL;
    for (int d = 0; d < l->n_dim; d++)
        end[d] = l->dim_end[d] - 1;
    spec.n_shard--;
    spec.shard++;
    spec.dim_end = end;
    return axe_layout_make(p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

axe_status
axe_check_parts(axe_planner *p, const axe_schedule *s)
{
    const axe_simt_schedule *d = s->simt;
    axe_status               st;

    if ((d->copy && d->copy->box) || (d->contract && d->contract->pair > 1))
        return AXE_OK;
    for (int i = 0; i < s->n_operand; i++) {
        if (axe_tile_parts(p, s->operand[i].tensor) == 1)
            continue;
        st = axe_fail(p->cx, s->operand[i].load->at, AXE_EUNSUPPORTED,
                      "%s lies in parts in the CTAs of the cluster: only boxes "
                      "may fill it, and only contractions for all of them may "
                      "read it",
                      s->operand[i].tensor->name);
        axe_help(p->cx, "take its replicas on `cta` away");
        return st;
    }
    return AXE_OK;
}
