/* distribute_like.c - work that follows a tile in registers.
 *
 * The tile's layout says which thread holds which element.  A dimension is
 * followed if an index walks it alone, from its begin; of the others the work
 * is free (distribute.c). */
#include "plan/access/access.h"
#include "plan/simt/map/distribute.h"
#include "plan/simt/team/team.h"

axe_share *
axe_distribution_share(axe_distribution *d, const axe_var *v)
{
    for (int i = 0; i < d->n_dim; i++)
        if (d->dim[i].dim->var == v)
            return &d->dim[i];
    return NULL;
}

void
axe_distribution_digit(axe_distribution *d, const axe_var *v, int64_t weight,
                       int64_t extent, axe_axis axis, int64_t stride)
{
    if (d->n_digit < MAX_DIGIT && extent != 1)
        d->digit[d->n_digit++] =
            (axe_work_digit){{v, weight, extent}, axis, stride, false};
}

/* Elements of the statement's domain that the operand tells apart. */
static int64_t
elements(const axe_distribution *d, const axe_operand *op)
{
    int64_t n = 1;

    for (int i = 0; i < d->n_dim; i++) {
        int64_t e = axe_dim_extent(d->dim[i].dim);
        if (e > 0 && axe_operand_depends(op, d->dim[i].dim->var) &&
            !axe_mul(n, e, &n))
            return INT64_MAX;
    }
    return n;
}

/* The register operand that the work follows, or NULL. */
static const axe_operand *
find_anchor(const axe_distribution *d)
{
    const axe_operand *best = NULL;

    for (int i = 0; i < d->r->n_operand; i++) {
        const axe_operand *op = &d->r->operand[i];
        if (op->tensor->space != AXE_SPACE_REG ||
            d->p->simt->open[op->tensor->id])
            continue;
        if (!best || elements(d, op) > elements(d, best))
            best = op;
    }
    return best;
}

/* Threads (extent, stride) of an axis are counted now. */
static bool
use_part(axe_distribution *d, axe_iter it)
{
    for (int i = 0; i < d->n_part; i++) {
        axe_iter *p = &d->part[i];
        int64_t   below = it.stride / p->stride, used = below * it.extent;
        if (p->axis != it.axis || it.stride % p->stride != 0 ||
            used > p->extent || p->extent % used != 0 ||
            d->n_part + 2 > MAX_PART)
            continue;
        axe_iter above = {p->extent / used, it.stride * it.extent, it.axis,
                          AXE_UNIT_ONE};
        p->extent = below;
        if (above.extent > 1)
            d->part[d->n_part++] = above;
        return true;
    }
    return false;
}

/* The digits of v as an operand's dimension has them. */
static bool
follow_dim(axe_distribution *d, const axe_var *v, int n, const axe_iter *it)
{
    axe_share *s = axe_distribution_share(d, v);
    int64_t    w = 1;

    if (s->fixed)
        return true;
    for (int i = n - 1; i >= 0; i--) {
        bool reg = it[i].axis == d->p->simt->reg || it[i].stride == 0;
        if (it[i].extent == 1)
            continue;
        if (!reg && (it[i].stride < 0 || !use_part(d, it[i])))
            return false;
        axe_distribution_digit(d, v, w, it[i].extent,
                               reg ? d->p->simt->reg : it[i].axis,
                               it[i].stride);
        w *= it[i].extent;
    }
    s->done = w;
    s->fixed = w >= axe_dim_extent(s->dim);
    return true;
}

/* The part of a dimension that begins at 0 and has e elements. */
static bool
first_of(axe_distribution *d, const axe_tensor *t, int dim, int64_t e,
         const axe_layout **out)
{
    axe_shape s = axe_shape_of_tile(d->p->cx, t);
    int64_t  *begin = axe_new_array(d->p->cx, int64_t, t->rank + 1);
    int64_t  *end = axe_new_array(d->p->cx, int64_t, t->rank + 1);
    axe_mark  m = axe_ctx_mark(d->p->cx);

    for (int i = 0; i < t->rank; i++)
        end[i] = i == dim ? e : 1;
    if (e >= 1 && e <= s.extent[dim] &&
        axe_layout_slice(d->p->cx, d->p->place[t->id].layout, s, begin, end,
                         out) == AXE_OK)
        return true;
    axe_ctx_release(d->p->cx, m);
    return false;
}

void
axe_distribute_like(axe_distribution *d)
{
    const axe_operand *op = find_anchor(d);

    if (!op)
        return;
    for (int k = 0; k < op->tensor->rank; k++) {
        const axe_var    *v = axe_alone_in(d->p, op->load->arg[k]);
        const axe_layout *l;
        axe_share        *s = v ? axe_distribution_share(d, v) : NULL;
        axe_distribution  before = *d;
        if (s && first_of(d, op->tensor, k, axe_dim_extent(s->dim), &l) &&
            !follow_dim(d, v, l->n_shard, l->shard))
            *d = before;
    }
}
