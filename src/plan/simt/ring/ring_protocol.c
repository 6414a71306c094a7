/* ring_protocol.c - the protocol of each pipeline, see ring_protocol.h: who
 * copies what, and so bytes and arrivals, when all statements have their
 * schedules. */
#include "plan/simt/ring/ring_protocol.h"

#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/hazard/hazard.h"
#include "plan/simt/ring/ring.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/copy.h"
#include "plan/simt/tmem/tmem.h"

bool
axe_ring_has_tile_in(const axe_pipeline *ring, axe_space s)
{
    for (int i = 0; i < ring->n_tensor; i++)
        if (ring->tensor[i]->space == s)
            return true;
    return false;
}

const axe_var *
axe_ring_var(axe_planner *p, const axe_pipeline *ring, const char *what)
{
    axe_var *v = axe_new(p->cx, axe_var);

    *v = (axe_var){
        .kind = AXE_VAR_LOOP,
        .name = axe_textf(p->cx, "%s_%s", ring->name, what),
        .at = ring->at,
        .id = p->kernel->n_var + p->simt->n_var++,
    };
    return v;
}

/* Does a statement of the body, or in it, write the tensor? */
static bool
writes(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++)
        if ((body[i]->kind == AXE_STMT_INDEX && body[i]->dst->u.tensor == t) ||
            writes(body[i]->n_body, body[i]->body, t) ||
            writes(body[i]->n_other, body[i]->other, t))
            return true;
    return false;
}

typedef struct asking {
    const axe_stmt *consume;
    bool            depends;
} asking;

static void
ask(void *user, const axe_node *n)
{
    asking *a = user;

    a->depends = a->depends ||
                 (n->op == AXE_OP_load &&
                  writes(a->consume->n_body, a->consume->body, n->u.tensor));
}

/* May all that the body does be done before earlier iterations are consumed? */
static bool
may_precede(int n, axe_stmt *const *body, const axe_pipeline *ring,
            const axe_stmt *consume)
{
    asking a = {consume, false};

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX) {
            axe_node_walk(s->value, ask, &a);
            axe_node_walk(s->dst, ask, &a);
            a.depends = a.depends || s->dst->u.tensor->pipeline != ring;
        }
        if (s->cond)
            axe_node_walk(s->cond, ask, &a);
        if (!may_precede(s->n_body, s->body, ring, consume) ||
            !may_precede(s->n_other, s->other, ring, consume))
            return false;
    }
    return !a.depends;
}

bool
axe_simt_runs_ahead(const axe_stmt *loop)
{
    const axe_stmt *fill = loop->n_body == 2 ? loop->body[0] : NULL;

    return fill && loop->kind == AXE_STMT_FOR &&
           fill->kind == AXE_STMT_PRODUCE &&
           loop->body[1]->kind == AXE_STMT_CONSUME &&
           fill->pipeline == loop->body[1]->pipeline &&
           may_precede(fill->n_body, fill->body, fill->pipeline, loop->body[1]);
}

/* ------------------------------------------------------ from the schedules */

static bool
writes_ring(const axe_stmt *s, const axe_pipeline *ring)
{
    return s->dst->u.tensor->pipeline == ring;
}

typedef struct looking {
    const axe_pipeline *ring;
    bool                found;
} looking;

static void
look(void *user, const axe_node *n)
{
    looking *l = user;

    l->found =
        l->found || (n->op == AXE_OP_load && n->u.tensor->pipeline == l->ring);
}

static bool
reads_ring(const axe_stmt *s, const axe_pipeline *ring)
{
    looking l = {ring, false};

    axe_node_walk(s->value, look, &l);
    return l.found;
}

/* What a statement that fills a stage adds to the protocol. */
static void
add_writer(axe_planner *p, axe_simt_ring *r, const axe_schedule *s)
{
    const axe_simt_copy     *c = s->simt->copy;
    const axe_simt_contract *k = s->simt->contract;
    int64_t                  n;

    if (k && axe_atom_commits(p->mc, k->atom)) {
        r->filled_by = k->atom->group;
        r->pair = (int)k->pair;
        return;
    }
    if (s->simt->tmem && s->simt->when)
        return;

    if (!c || !c->box) {
        r->writes = true;
        r->stores = r->stores || !c;
        if (c)
            r->group = c->atom->group;
        if (c && c->when)
            r->when = r->when ? axe_simt_and(p->cx, r->when, c->when) : c->when;
        return;
    }
    r->boxes = true;
    r->refill = axe_simt_group_sync(p->mc, AXE_SYNC_FENCE, c->atom->group,
                                    AXE_ARG_SHARED);
    n = c->map.part.extent * (c->own.extent > 1 ? c->own.extent : 1);
    if (c->map.part.extent > 1 && n > r->cluster)
        r->cluster = (int)n;
}

/* The atom that reads a stage itself, not by way of registers; or NULL. */
static const axe_atom *
reads_by(const axe_schedule *s)
{
    const axe_simt_contract *c = s->simt->contract;

    if (s->simt->copy)
        return s->simt->copy->atom;
    if (s->simt->tcopy)
        return s->simt->tcopy->atom;
    return c && (c->a.direct || c->a.held) && (c->b.direct || c->b.held)
               ? c->atom
               : NULL;
}

/* The engine that reads at least one factor where it lies, or "". */
static const char *
reads_through(const axe_schedule *s)
{
    const axe_simt_contract *c = s->simt->contract;
    const axe_atom          *a = reads_by(s);

    return a                                   ? a->group
           : c && (c->a.direct || c->b.direct) ? c->atom->group
                                               : "";
}

/* Do threads load what the statement reads, by themselves? */
static bool
loads(const axe_simt_ring *r, const axe_schedule *s)
{
    const axe_simt_copy *c = s->simt->copy;

    return axe_ring_has_tile_in(r->ring, AXE_SPACE_SHARED) &&
           (c ? !c->box : !reads_by(s));
}

/* Are its entities whole warps, or parts that together are?  Then the lanes of
 * a warp come to the end of a stage together. */
static bool
has_whole_warps(const axe_planner *p, const axe_thread_group *c)
{
    int lanes = p->mc->simt->lanes;

    for (; c->in; c = c->in)
        if (c->first % lanes != 0 || c->n_entity * c->n_thread % lanes != 0)
            return false;
    return true;
}

/* Who reads a stage: as many threads as its atom takes together, and through
 * which engine. */
static void
add_reader(axe_planner *p, axe_simt_ring *r, const axe_schedule *s)
{
    const axe_atom  *a = reads_by(s);
    const char      *through = reads_through(s);
    bool             wide = a && a->by == AXE_SCOPE_WARPGROUP;
    axe_ring_reader *to = axe_ring_reader_of(r, s->simt->threads);

    if (!to)
        return;
    to->loads = to->loads || loads(r, s);
    if (a && axe_atom_commits(p->mc, a)) {
        to->engine = a->group;
        if (s->simt->contract)
            r->pair = (int)s->simt->contract->pair;
    } else {
        to->by_threads = true;
        if (!wide)
            to->by = has_whole_warps(p, to->threads) ? AXE_SCOPE_WARP
                                                     : AXE_SCOPE_THREAD;
    }
    if (*through && axe_ring_has_tile_in(r->ring, AXE_SPACE_SHARED) &&
        axe_simt_group_sync(p->mc, AXE_SYNC_FENCE, through, AXE_ARG_SHARED))
        r->fence = through;
}

static axe_status
check_cluster(axe_planner *p, const axe_simt_ring *r)
{
    const axe_stmt *top = axe_threads_cta(r->producer)->at;
    int             n = top->keys.cluster > 1 ? top->keys.cluster : 1;

    if (r->cluster <= 1 || r->cluster == n)
        return AXE_OK;
    axe_fail(p->cx, r->ring->at, AXE_ESHAPE,
             "pipeline %s is replicated over %d CTAs; the cluster has %d",
             r->ring->name, r->cluster, n);
    axe_help(p->cx, "write `cluster (%d) cta ...`", r->cluster);
    return AXE_ESHAPE;
}

/* A thread that arrives by itself does so in its own CTA. */
static axe_status
check_readers(axe_planner *p, const axe_simt_ring *r)
{
    for (int i = 0; i < r->n_reader; i++) {
        const axe_ring_reader *to = &r->reader[i];
        if (r->way != AXE_RING_ROLES || to->by != AXE_SCOPE_THREAD ||
            !to->by_threads || (r->cluster <= 1 && r->pair <= 1))
            continue;
        axe_fail(p->cx, to->threads->at->at, AXE_EUNSUPPORTED,
                 "stages of %s are shared by the CTAs of a cluster; only whole "
                 "warps may read them",
                 r->ring->name);
        axe_help(p->cx, "read them in a `warp` or `warpgroup` scope, or in all "
                        "threads of one");
        return AXE_EUNSUPPORTED;
    }
    return AXE_OK;
}

/* The contraction that is all that the consume does, by an engine that reads
 * the stage itself, later; or NULL. */
static const axe_schedule *
only_engine(axe_planner *p, const axe_stmt *consume)
{
    const axe_schedule      *s;
    const axe_simt_contract *c;

    if (consume->kind != AXE_STMT_CONSUME || consume->n_body != 1 ||
        consume->body[0]->kind != AXE_STMT_INDEX)
        return NULL;
    s = p->schedule[consume->body[0]->id];
    c = s ? s->simt->contract : NULL;
    return c && c->a.direct && c->b.direct && *c->atom->group ? s : NULL;
}

/* Find the loops that may leave a stage's contraction in flight: one does
 * nothing else but, running ahead, what waits for no such stage. */
static void
find_deferred(axe_planner *p, axe_simt_ring *r, int n, axe_stmt *const *body,
              const axe_thread_group *threads)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt         *s = body[i];
        const axe_thread_group *in = axe_threads_at(p->simt, s);
        int                     last = s->n_body - 1;
        axe_ring_reader        *to = axe_ring_reader_of(r, threads);
        if (to && !to->engine && s->kind == AXE_STMT_FOR && last >= 0 &&
            s->body[last]->pipeline == r->ring &&
            last == (r->way == AXE_RING_AHEAD)) {
            to->in_flight = only_engine(p, s->body[last]);
            to->deferred = to->in_flight ? s : NULL;
        }
        find_deferred(p, r, s->n_body, s->body, in ? in : threads);
        find_deferred(p, r, s->n_other, s->other, in ? in : threads);
    }
}

/* The engine works on one stage while the next one's work is issued. */
static void
plan_deferred(axe_planner *p, axe_simt_ring *r)
{
    const axe_schedule *s;

    if (r->way == AXE_RING_PLAIN || r->n_stage < 2 ||
        (r->way == AXE_RING_AHEAD && r->writes))
        return;
    find_deferred(p, r, p->kernel->n_body, p->kernel->body, NULL);
    for (int i = 0; i < r->n_reader; i++) {
        s = r->reader[i].in_flight;
        if (s)
            axe_simt_own_contract(p, s->stmt)->in_flight = 1;
    }
}

/* Entities that come to one barrier: of a ring within one role each has its
 * own. */
static int
copies_of(const axe_simt_ring *r, const axe_thread_group *c)
{
    return r->way == AXE_RING_ROLES ? (int)axe_threads_copies(c) : 1;
}

/* Of a reader at a phase of `empty`, see ring_protocol.h. */
static int
count_reader(const axe_planner *p, const axe_simt_ring *r,
             const axe_ring_reader *to)
{
    int lanes = p->mc->simt->lanes, n = 0;
    int copies = copies_of(r, to->threads);
    int threads = to->threads->n_thread * copies;

    if (to->engine)
        n = copies * (r->cluster > r->pair ? r->cluster / r->pair : 1);
    if (r->way != AXE_RING_ROLES || (to->engine && !to->by_threads))
        return n;
    return n + (to->by == AXE_SCOPE_WARPGROUP ? copies
                : to->by == AXE_SCOPE_THREAD  ? threads
                                              : threads / lanes) *
                   r->cluster * (r->filled_by ? r->pair : 1);
}

/* Arrivals of a phase, see ring_protocol.h. */
static void
count_arrivals(const axe_planner *p, axe_simt_ring *r)
{
    int copies = copies_of(r, r->producer);

    if (r->boxes)
        r->full = copies;
    if (r->filled_by)
        r->full += copies;
    for (int i = 0; i < r->n_reader; i++) {
        r->reader[i].arrivals = count_reader(p, r, &r->reader[i]);
        r->empty += r->reader[i].arrivals;
    }
    if (r->way != AXE_RING_ROLES)
        return;
    if (r->writes)
        r->full += r->producer->n_thread * copies;
    if (r->group && !r->stores && !r->sums)
        r->arrive = axe_simt_group_sync(p->mc, AXE_SYNC_ARRIVE, r->group,
                                        AXE_ARG_SHARED);
}

static axe_simt_launch *
launch_of(axe_planner *p, const axe_thread_group *c)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        if (p->simt->launch[i].threads == axe_threads_cta(c))
            return &p->simt->launch[i];
    return NULL;
}

static axe_status
plan_protocol(axe_planner *p, axe_simt_ring *r)
{
    axe_simt_launch *l;
    int64_t          n;

    r->cluster = r->pair = 1;
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && writes_ring(s->stmt, r->ring))
            add_writer(p, r, s);
        if (s && reads_ring(s->stmt, r->ring))
            add_reader(p, r, s);
    }
    if (!r->producer || r->n_reader == 0)
        return AXE_OK;
    r->owner = axe_threads_cta(r->producer);
    r->copies = r->way == AXE_RING_ROLES ? 1 : axe_threads_copies(r->producer);
    AXE_TRY(check_cluster(p, r));
    AXE_TRY(check_readers(p, r));
    count_arrivals(p, r);
    plan_deferred(p, r);
    n = (r->n_stage * r->copies + 1) / 2 * 2 * ((r->full > 0) + (r->empty > 0));
    l = launch_of(p, r->producer);
    r->barriers = axe_simt_take_barriers(p->simt, l, n);
    if (r->full + r->empty > 0) {
        r->fill_phase = axe_ring_var(p, r->ring, "fill_phase");
        r->read_phase = axe_ring_var(p, r->ring, "read_phase");
    }
    return AXE_OK;
}

/* Mbarriers at which engines arrive, for the threads that wait there. */
static void
place_sync_points(axe_planner *p)
{
    for (int i = 0; i < p->simt->n_sync_point; i++) {
        axe_sync_point  *m = &p->simt->sync_point[i];
        axe_simt_launch *l = launch_of(p, m->threads);
        if (m->n_issuer == 0)
            continue;
        m->mbarrier =
            axe_simt_take_barriers(p->simt, l, axe_threads_copies(m->threads));
    }
}

axe_status
axe_simt_plan_protocols(axe_planner *p)
{
    for (int i = 0; i < p->simt->n_ring; i++)
        AXE_TRY(plan_protocol(p, &p->simt->ring[i]));
    place_sync_points(p);
    return AXE_OK;
}

/* Statements may share rooms where they follow each other, which is not looked
 * for: each has its own. */
void
axe_simt_place_staging(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule    *s = p->schedule[i];
        const axe_simt_copy   *c = s ? s->simt->copy : NULL;
        struct axe_simt_stage *st = c ? c->stage : NULL;
        axe_simt_launch       *l;
        int64_t                at, bytes;
        if (!st)
            continue;
        l = launch_of(p, s->simt->threads);
        at = (l->shared_bytes + 1023) / 1024 * 1024;
        bytes = axe_type_bytes(st->global->type,
                               st->room * st->n_room *
                                   axe_threads_copies(s->simt->threads));
        st->fits = at + bytes <= axe_machine_room(p->mc, AXE_SPACE_SHARED);
        if (st->fits)
            st->offset = axe_simt_take_shared(l, bytes, 1024);
    }
}
