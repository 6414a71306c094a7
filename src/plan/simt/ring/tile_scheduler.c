/* tile_scheduler.c - rows, rooms and who asks, see tile_scheduler.h. */
#include "plan/simt/ring/tile_scheduler.h"

#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring.h"
#include "plan/simt/team/team.h"

/* CTAs that a contraction in the body is asked for at once. */
int64_t
axe_simt_pair_of(const axe_schedule *const *schedule, int n,
                 axe_stmt *const *body)
{
    int64_t most = 1;

    for (int i = 0; i < n; i++) {
        const axe_stmt          *s = body[i];
        const axe_simt_contract *c =
            s->kind == AXE_STMT_INDEX ? schedule[s->id]->simt->contract : NULL;
        int64_t in = axe_simt_pair_of(schedule, s->n_body, s->body),
                other = axe_simt_pair_of(schedule, s->n_other, s->other);
        in = in > other ? in : other;
        in = c && c->pair > in ? c->pair : in;
        most = most > in ? most : in;
    }
    return most;
}

/* The first role that runs in all CTAs of the cluster: what one of them asks
 * for all is in the first of them alone. */
static const axe_stmt *
find_issuer(const axe_planner *p, const axe_stmt *top)
{
    for (int i = 0; i < top->n_body; i++)
        for (int k = 0;
             top->body[i]->kind == AXE_STMT_ROLES && k < top->body[i]->n_body;
             k++) {
            const axe_stmt *role = top->body[i]->body[k];
            if (axe_simt_pair_of((const axe_schedule *const *)p->schedule,
                                 role->n_body, role->body) == 1)
                return role;
        }
    return NULL;
}

/* Is there one `roles` at most, so that whoever reads has one loop? */
static bool
has_one_loop(const axe_stmt *top)
{
    int n = 0;

    for (int i = 0; i < top->n_body; i++)
        n += top->body[i]->kind == AXE_STMT_ROLES;
    return n < 2 || !axe_scope_is_of_roles(top);
}

static void
plan_queue(axe_planner *p, axe_simt_launch *l)
{
    const axe_stmt *top = l->scope;
    axe_arg_space   to = top->keys.cluster > 1 ? AXE_ARG_DSMEM : AXE_ARG_SHARED;
    bool            roles = axe_scope_is_of_roles(top);
    struct axe_simt_queue *q = axe_new(p->cx, struct axe_simt_queue);
    int64_t                bars = (AXE_QUEUE_ANSWERS + 1) / 2 * 2 * 8;

    if (!top->keys.dynamic)
        return;
    q->take = axe_simt_find_sync(p->mc, AXE_SYNC_TAKE, AXE_SCOPE_THREAD,
                                 axe_simt_by_bytes(p->mc), to, to);
    q->taken = axe_simt_find_sync(p->mc, AXE_SYNC_TAKEN, AXE_SCOPE_THREAD, "",
                                  AXE_ARG_REG, AXE_ARG_SHARED);
    q->issuer = roles ? find_issuer(p, top) : NULL;
    if (l->overlap) /* who waits holds none that it waits for: one_launch.h */
        l->no_queue = "scopes that overlap take them in the order of their "
                      "list, so that no tile waits for a later one";
    else if (!q->take || !q->taken)
        l->no_queue = axe_textf(p->cx, "%s has no row for that", p->mc->name);
    else if (!has_one_loop(top))
        l->no_queue = "there are several `roles`";
    else if (roles && !q->issuer)
        l->no_queue = "every role asks for more than its own CTA";
    if (l->no_queue)
        return;
    q->bytes = AXE_QUEUE_ANSWERS * AXE_ANSWER_BYTES + 2 * bars;
    q->answers = axe_simt_take_shared(l, q->bytes, 16);
    q->full = q->answers + AXE_QUEUE_ANSWERS * AXE_ANSWER_BYTES;
    q->empty = q->full + bars;
    l->queue = q;
}

void
axe_simt_plan_queues(axe_planner *p)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        plan_queue(p, &p->simt->launch[i]);
}
