/* async_drain.c - where contractions that are done later are waited for.
 *
 * One pass over each block keeps the groups that may not be done, oldest first;
 * stages that another role fills, and turns, are parts of the block around.
 * Groups are done in order, so that waiting for one is waiting for all before
 * it. */
#include "plan/simt/sync/async_drain.h"

#include <string.h>

#include "ir/list.h"
#include "ir/stmt.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/sync/sync.h"

/* A group that may not be done. */
typedef struct async_group {
    const axe_stmt          *stmt;
    const axe_simt_contract *by;
    axe_list                 free; /* stages that it is the last to read */
} async_group;

/* A CONSUME around, from the inside out. */
typedef struct open_stage {
    const axe_stmt          *consume;
    const struct open_stage *up;
} open_stage;

typedef struct in_flight {
    axe_planner *p;
    axe_list     now; /* async_group *, oldest first */
} in_flight;

const axe_drain *
axe_simt_drain_of(const axe_simt_plan *sp, const axe_stmt *s)
{
    for (int i = 0; i < sp->n_drain; i++) {
        const axe_drain *d = &sp->drain[i];
        for (int k = 0; k < d->n_done; k++)
            if (d->done[k] == s)
                return d;
        for (int k = 0; k < d->n_free; k++)
            if (d->free[k] == s)
                return d;
    }
    return NULL;
}

/* ----------------------------------------------------- what is asynchronous */

static const axe_simt_contract *
contract_of(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule *d =
        s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : NULL;

    return d && d->simt ? d->simt->contract : NULL;
}

/* Registers that it loads for itself are loaded again by its next iteration. */
static bool
stays(const axe_factor *f)
{
    return f->direct || f->held;
}

/* The contraction that s is, if it may be waited for later; or NULL. */
static const axe_simt_contract *
async_contract(const axe_planner *p, const axe_stmt *s)
{
    const axe_simt_contract *c = contract_of(p, s);

    return c && *c->atom->group && c->in_flight == 0 && stays(&c->a) &&
                   stays(&c->b) &&
                   axe_simt_find_sync(p->mc, AXE_SYNC_DRAIN, c->atom->by,
                                      c->atom->group, AXE_ARG_INT, AXE_ARG_NONE)
               ? c
               : NULL;
}

static bool
waits_before(const axe_planner *p, const axe_stmt *s)
{
    for (int i = 0; i < p->simt->n_sync_point; i++)
        if (p->simt->sync_point[i].at == s)
            return true;
    return false;
}

/* Can groups be counted across s, and are none of its own in it? */
static bool
is_quiet(const axe_planner *p, const axe_stmt *s)
{
    const axe_simt_contract *c = contract_of(p, s);

    if (waits_before(p, s) || (c && *c->atom->group))
        return false;
    switch (s->kind) {
    case AXE_STMT_INDEX:
    case AXE_STMT_TENSOR:
    case AXE_STMT_IF:
        break;
    default:
        return false;
    }
    for (int i = 0; i < s->n_body; i++)
        if (!is_quiet(p, s->body[i]))
            return false;
    for (int i = 0; i < s->n_other; i++)
        if (!is_quiet(p, s->other[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------- what clashes */

static bool
clashes_with(const axe_stmt *s, bool more, const axe_factor *f)
{
    return axe_stmt_writes(s, f->tensor) ||
           (f->held && axe_stmt_reads(s, f->tensor)) ||
           (!more && f->tensor->pipeline &&
            axe_stmt_reads_ring(s, f->tensor->pipeline));
}

static bool
never_runs(const axe_planner *p, const axe_stmt *s)
{
    const axe_node *when =
        s->kind == AXE_STMT_INDEX ? p->schedule[s->id]->simt->when : NULL;
    int64_t v;

    return when && axe_is_iconst(when, &v) && v == 0;
}

/* Must the group be done before s?  Atoms of one kind may add to the same sums,
 * in order; and of two that read a stage the later frees it. */
static bool
clashes(const axe_planner *p, const async_group *f, const axe_stmt *s)
{
    const axe_simt_contract *c = async_contract(p, s);
    const axe_tensor        *sums = f->stmt->dst->u.tensor;
    bool more = c && c->atom == f->by->atom && c->param == f->by->param &&
                s->dst->u.tensor == sums;

    if (never_runs(p, s))
        return false;
    if (c && (c->a.tensor == sums || c->b.tensor == sums))
        return true;
    return (!more && (axe_stmt_reads(s, sums) || axe_stmt_writes(s, sums))) ||
           clashes_with(s, c != NULL, &f->by->a) ||
           clashes_with(s, c != NULL, &f->by->b);
}

/* ------------------------------------------------------------------- drains */

static axe_drain *
add_drain(axe_planner *p)
{
    axe_simt_plan *sp = p->simt;

    if (sp->n_drain == sp->cap_drain) {
        sp->cap_drain = sp->cap_drain ? 2 * sp->cap_drain : 8;
        axe_drain *more = axe_new_array(p->cx, axe_drain, sp->cap_drain);
        if (sp->n_drain > 0)
            memcpy(more, sp->drain, (size_t)sp->n_drain * sizeof *more);
        sp->drain = more;
    }
    return &sp->drain[sp->n_drain++];
}

/* The n oldest groups are done. */
static void
drain(in_flight *g, int n, const axe_stmt *at, bool behind)
{
    axe_list done = {.cx = g->p->cx}, free = {.cx = g->p->cx};

    if (n == 0)
        return;
    for (int i = 0; i < n; i++) {
        const async_group *f = g->now.item[i];
        axe_list_push(&done, f->stmt);
        for (int k = 0; k < f->free.n; k++)
            axe_list_push(&free, f->free.item[k]);
    }
    for (int i = n; i < g->now.n; i++)
        g->now.item[i - n] = g->now.item[i];
    g->now.n -= n;
    *add_drain(g->p) = (axe_drain){at,
                                   behind,
                                   g->now.n,
                                   done.n,
                                   (const axe_stmt *const *)done.item,
                                   free.n,
                                   (const axe_stmt *const *)free.item};
}

/* Groups up to the youngest that clashes with s. */
static int
count_clashing(const in_flight *g, const axe_stmt *s)
{
    int n = g->now.n;

    while (n > 0 && !clashes(g->p, g->now.item[n - 1], s))
        n--;
    return n;
}

/* Groups up to one that frees an earlier stage of the ring. */
static int
count_before(const in_flight *g, const axe_pipeline *ring)
{
    int n = 0;

    for (int i = 0; i < g->now.n; i++) {
        const async_group *f = g->now.item[i];
        for (int k = 0; k < f->free.n; k++)
            if (((const axe_stmt *)f->free.item[k])->pipeline == ring)
                n = i + 1;
    }
    return n;
}

/* ----------------------------------------------------------------- the pass */

/* The last statement of a stage that reads it, in the order of the text. */
static const axe_stmt *
last_reader(int n, axe_stmt *const *body, const axe_pipeline *ring)
{
    while (n > 0 && !axe_stmt_reads_ring(body[n - 1], ring))
        n--;
    if (n == 0 || body[n - 1]->kind == AXE_STMT_INDEX)
        return n == 0 ? NULL : body[n - 1];
    return last_reader(body[n - 1]->n_body, body[n - 1]->body, ring);
}

static void
launch(in_flight *g, const axe_stmt *s, const open_stage *in)
{
    async_group *f = axe_new(g->p->cx, async_group);

    *f = (async_group){s, contract_of(g->p, s), {.cx = g->p->cx}};
    for (; in; in = in->up)
        if (last_reader(in->consume->n_body, in->consume->body,
                        in->consume->pipeline) == s)
            axe_list_push(&f->free, in->consume);
    axe_list_push(&g->now, f);
}

static void plan_block(axe_planner *p, int n, axe_stmt *const *body);

static bool
is_across(const axe_planner *p, const axe_stmt *s)
{
    return s->kind == AXE_STMT_CONSUME &&
           axe_simt_ring_of(p->simt, s->pipeline)->way == AXE_RING_ROLES;
}

static bool
is_same_engine(const in_flight *g, const axe_simt_contract *c)
{
    const async_group *f = g->now.n > 0 ? g->now.item[0] : NULL;

    return !f || (strcmp(f->by->atom->group, c->atom->group) == 0 &&
                  f->by->atom->by == c->atom->by);
}

static void
pass_one(in_flight *g, const axe_stmt *s, const open_stage *in)
{
    const axe_simt_contract *c = async_contract(g->p, s);
    bool                     quiet =
        c ? !waits_before(g->p, s) && is_same_engine(g, c) : is_quiet(g->p, s);

    drain(g, quiet ? count_clashing(g, s) : g->now.n, s, false);
    if (c) {
        launch(g, s, in);
    } else if (!quiet) {
        plan_block(g->p, s->n_body, s->body);
        plan_block(g->p, s->n_other, s->other);
    }
}

static void
pass(in_flight *g, int n, axe_stmt *const *body, const open_stage *up)
{
    for (int i = 0; i < n; i++) {
        open_stage in = {body[i], up};
        if (is_across(g->p, body[i])) {
            drain(g, count_before(g, body[i]->pipeline), body[i], false);
            pass(g, body[i]->n_body, body[i]->body, &in);
        } else if (body[i]->kind == AXE_STMT_TURN) {
            pass(g, body[i]->n_body, body[i]->body, up);
        } else {
            pass_one(g, body[i], up);
        }
    }
}

static void
plan_block(axe_planner *p, int n, axe_stmt *const *body)
{
    in_flight g = {p, {.cx = p->cx}};

    pass(&g, n, body, NULL);
    if (n > 0)
        drain(&g, g.now.n, body[n - 1], true);
}

void
axe_simt_plan_drains(axe_planner *p)
{
    plan_block(p, p->kernel->n_body, p->kernel->body);
}
