/* partitions.c - statements on tiles that lie in partitions of shared memory,
 * each of which one thread of the CTA reaches: the one of its number.
 *
 * The index that walks the partitions is counted by the threads, whatever else
 * the statement would like; threads beyond it have nothing to do. */
#include "plan/access/access.h"
#include "plan/simt/map/distribute.h"
#include "plan/simt/map/map.h"
#include "plan/simt/team/team.h"

/* The index of the operand that walks partitions, from the first on, and how
 * far it goes from one to the next; NULL: none does. */
static const axe_var *
find_rows(const axe_planner *p, const axe_operand *op, int64_t *weight)
{
    const axe_layout *l = p->place[op->tensor->id].layout;
    const axe_var    *v = NULL;
    int               n = 0;

    for (int d = 0; d < l->n_dim && d < op->load->n_arg; d++) {
        int64_t w = 1;
        for (int i = l->dim_end[d] - 1; i >= (d > 0 ? l->dim_end[d - 1] : 0);
             w *= l->shard[i--].extent) {
            const axe_iter *it = &l->shard[i];
            if (it->axis != p->simt->slow[AXE_SPACE_SHARED] || it->extent == 1)
                continue;
            n++;
            *weight = w;
            if (it->stride == 1 && op->load->arg[d]->op == AXE_OP_var)
                v = op->load->arg[d]->u.var;
        }
    }
    return n == 1 && l->n_offset == 0 ? v : NULL;
}

void
axe_distribute_parts(axe_distribution *d)
{
    for (int i = 0; i < d->r->n_operand; i++) {
        const axe_operand *op = &d->r->operand[i];
        int64_t            w = 1;
        const axe_var     *v = axe_simt_is_parted(d->p, op->tensor)
                                   ? find_rows(d->p, op, &w)
                                   : NULL;
        axe_share         *s = v ? axe_distribution_share(d, v) : NULL;
        if (!s)
            continue;
        axe_distribution_digit(d, v, 1, w, d->p->simt->reg, 0);
        for (int k = d->n_part - 1; k >= 0; k--) {
            axe_iter *t = &d->part[k];
            axe_distribution_digit(d, v, w, t->extent, t->axis, t->stride);
            w *= t->extent;
            t->stride *= t->extent;
            t->extent = 1;
        }
        s->done = w;
        s->fixed = w >= axe_dim_extent(s->dim);
        return;
    }
}

/* Is the thread of number n the one that counts partition n, and no other? */
static bool
are_own(const axe_planner *p, const axe_work *work, const axe_var *v,
        int64_t weight, int n_thread)
{
    int64_t n = 1;

    for (int i = 0; i < work->n_digit; i++) {
        const axe_work_digit *g = &work->digit[i];
        int64_t each = g->axis == p->simt->lane ? 1 : p->simt->lanes;
        if (g->axis == p->simt->reg || g->axis == AXE_AXIS_M)
            continue;
        if (g->of.var != v || g->of.weight != weight * each * g->stride)
            return false;
        n *= g->of.extent;
    }
    return n == n_thread && work->n_copy == 0;
}

axe_status
axe_simt_check_parts(axe_planner *p, const axe_request *r, const axe_work *work,
                     const axe_operand *op)
{
    const axe_thread_group *threads = p->simt->who[r->stmt->id];
    int64_t                 weight = 1;
    const axe_var          *v;

    if (!axe_simt_is_parted(p, op->tensor))
        return AXE_OK;
    v = find_rows(p, op, &weight);
    if (v && !threads->in && are_own(p, work, v, weight, threads->n_thread))
        return AXE_OK;
    axe_fail(p->cx, op->load->at, AXE_EUNSUPPORTED,
             "%s is in partitions that other threads reach: thread n of a cta "
             "of %s has partition n alone",
             axe_node_text(p->cx, op->load), p->mc->name);
    axe_help(p->cx,
             "let one index of the statement be the subscript that walks "
             "partitions, the same of all its tiles, in the cta itself; or go "
             "by way of global memory, or of a product");
    return AXE_EUNSUPPORTED;
}
