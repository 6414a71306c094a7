/* cluster_share.c - statements whose result all CTAs of a cluster hold.
 *
 * A shared tile with replicas on the axis `cta` is the same in all CTAs of the
 * cluster, and so is what is computed for it.  Instead of each computing all of
 * it, each computes the elements of some rows and stores them in every CTA's
 * memory; a barrier of the cluster stands before, when nobody reads the tile
 * any more, and behind.  That pays where what is not computed takes longer than
 * these barriers.  What copies without registers bring each CTA brings all of:
 * no thread has it to send. */
#include "ir/rewrite.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"

/* Do all CTAs of the cluster hold the same of t? */
static bool
is_everywhere(const axe_planner *p, const axe_tensor *t, int cluster)
{
    int             n = t->layout ? t->layout->n_replica : t->n_replica;
    const axe_iter *it = t->layout ? t->layout->replica : t->replica;

    for (int i = 0; i < n; i++)
        if (it[i].axis == p->simt->cta && it[i].stride == 1 &&
            it[i].extent == cluster)
            return true;
    return false;
}

/* Is there an index that every CTA can have as many values of? */
static bool
has_part(const axe_request *r, int n)
{
    for (int i = 0; i < r->nest[0].n_dim; i++)
        if (axe_dim_extent(&r->nest[0].dim[i]) > 0 &&
            axe_dim_extent(&r->nest[0].dim[i]) % n == 0)
            return true;
    return false;
}

/* Points of the statement and its reductions, those known at launch as if they
 * were many. */
static double
points(const axe_request *r)
{
    enum { MANY = 4096 };
    double n = 1;

    for (int k = 0; k < r->n_nest; k++)
        for (int i = 0; i < r->nest[k].n_dim; i++) {
            int64_t e = axe_dim_extent(&r->nest[k].dim[i]);
            n *= e > 0 ? (double)e : MANY;
        }
    return n;
}

/* Is what the others compute more than two barriers? */
static bool
pays(axe_planner *p, const axe_request *r, int n)
{
    int             param;
    const axe_atom *barrier =
        axe_simt_find_sync(p->mc, AXE_SYNC_BARRIER, AXE_SCOPE_CLUSTER, "",
                           AXE_ARG_NONE, AXE_ARG_NONE);
    const axe_atom *load = axe_simt_find_move(
        p->cx, p->mc, AXE_ATOM_LOAD, AXE_ARG_REG, AXE_ARG_GLOBAL,
        r->operand[0].tensor->type, 1, &param);

    return barrier && load &&
           points(r) / p->simt->lanes * load->cost * (n - 1) / n >
               2 * barrier->cost;
}

int
axe_simt_share(axe_planner *p, const axe_request *r,
               const axe_thread_group *threads)
{
    const axe_tensor *t = r->operand[0].tensor;
    int               param, n = axe_threads_cta(threads)->at->keys.cluster;

    if (n <= 1 || threads->in || t->space != AXE_SPACE_SHARED || t->pipeline ||
        r->stmt->fold != AXE_FOLD_NONE || axe_is_scatter(p->cx, r->stmt) ||
        !is_everywhere(p, t, n) || !has_part(r, n))
        return 1;
    for (int i = 1; i < r->n_operand; i++)
        if (r->operand[i].tensor->space == AXE_SPACE_REG)
            return 1;
    if (!axe_simt_find_move(p->cx, p->mc, AXE_ATOM_STORE, AXE_ARG_DSMEM,
                            AXE_ARG_REG, t->type, 1, &param))
        return 1;
    return pays(p, r, n) ? n : 1;
}

/* Scopes at the top, and in loops and branches there, without their clusters.
 */
static bool
alone(void *user, axe_stmt *s, axe_list *out)
{
    axe_stmt *copy;

    if (s->kind != AXE_STMT_SCOPE)
        return false;
    copy = axe_new(user, axe_stmt);
    *copy = *s;
    copy->keys.cluster = 0;
    axe_list_push(out, s->keys.cluster == 0 ? s : copy);
    return true;
}

const axe_kernel *
axe_simt_alone(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);

    *out = *k;
    return axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = alone, .user = cx}, k, out);
}
