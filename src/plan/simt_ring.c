/* simt_ring.c - the protocol of each pipeline, see simt_ring.h.
 *
 * Which way and how many stages is known from the text; who copies what, and so
 * bytes and arrivals, when all statements have their schedules. */
#include "plan/simt_ring.h"

#include <inttypes.h>
#include <string.h>

#include "plan/simt_contract.h"
#include "plan/simt_copy.h"
#include "plan/simt_int.h"
#include "plan/simt_tcopy.h"
#include "plan/simt_tmem.h"

const axe_simt_ring *
axe_simt_ring_of(const axe_simt_plan *sp, const axe_pipeline *ring)
{
    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].ring == ring)
            return &sp->ring[i];
    return NULL;
}

/* Has the ring a tile there? */
static bool
has_tile_in(const axe_pipeline *ring, axe_space s)
{
    for (int i = 0; i < ring->n_tensor; i++)
        if (ring->tensor[i]->space == s)
            return true;
    return false;
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

/* May all that the body does be done before earlier turns are consumed? */
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

/* --------------------------------------------------------- from the text */

/* The stages of a ring in a body, each with what is around it. */
typedef struct finding {
    const axe_pipeline  *ring;
    const axe_stmt      *role; /* the scope of ROLES around; NULL: none */
    const axe_stmt      *produce_role, *consume_role;
    bool                 ahead; /* all stages are in loops that run ahead */
    bool                 any;
    bool                 turns;   /* its roles stand in a loop */
    int                  n_loop;  /* loops around, in the cta */
    const axe_stmt      *produce; /* the first one */
    const axe_stmt      *second;  /* a second role that produces or consumes */
    const axe_simt_plan *sp;
    const axe_crew      *crew; /* whose code it is */
    const axe_crew      *producer, *consumer;
} finding;

static bool
is_loop(const axe_stmt *s)
{
    return s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP;
}

static void
find_stages(finding *f, int n, axe_stmt *const *body, bool ahead)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt  *s = body[i], *around = f->role;
        const axe_crew  *crew = f->crew;
        const axe_stmt **seen =
            s->kind == AXE_STMT_PRODUCE ? &f->produce_role : &f->consume_role;
        if ((s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
            s->pipeline == f->ring) {
            f->ahead = (f->ahead || !f->any) && ahead;
            f->any = true;
            if (*seen && *seen != f->role)
                f->second = s;
            *seen = f->role;
            if (s->kind == AXE_STMT_PRODUCE && !f->produce)
                f->produce = s;
            *(s->kind == AXE_STMT_PRODUCE ? &f->producer : &f->consumer) =
                f->crew;
        }
        if (s->kind == AXE_STMT_SCOPE)
            f->crew = axe_crew_at(f->sp, s);
        for (int k = 0; s->kind == AXE_STMT_ROLES && k < s->n_body; k++) {
            f->turns = f->turns || f->n_loop > 0;
            f->role = s->body[k];
            find_stages(f, 1, s->body + k, false);
            f->role = around;
        }
        f->n_loop += is_loop(s);
        if (s->kind != AXE_STMT_ROLES)
            find_stages(f, s->n_body, s->body, axe_simt_runs_ahead(s));
        find_stages(f, s->n_other, s->other, false);
        f->n_loop -= is_loop(s);
        f->crew = crew;
    }
}

static const axe_var *
made_var(planner *p, const axe_pipeline *ring, const char *what)
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

static axe_simt_ring *
add_ring(planner *p, const axe_pipeline *ring)
{
    axe_simt_plan *sp = p->simt;

    if (sp->n_ring == sp->cap_ring) {
        sp->cap_ring = sp->cap_ring ? 2 * sp->cap_ring : 4;
        axe_simt_ring *more = axe_new_array(p->cx, axe_simt_ring, sp->cap_ring);
        if (sp->n_ring > 0)
            memcpy(more, sp->ring, (size_t)sp->n_ring * sizeof *more);
        sp->ring = more;
    }
    sp->ring[sp->n_ring] = (axe_simt_ring){.ring = ring};
    return &sp->ring[sp->n_ring++];
}

/* One role fills it, another one reads it, and threads can wait for phases. */
static axe_status
check_roles(planner *p, const finding *f)
{
    const char *name = f->ring->name;
    axe_status  st;

    if (!axe_simt_group_sync(p->mc, AXE_SYNC_WAIT, "", AXE_ARG_NONE)) {
        st = axe_fail(p->cx, f->ring->at, AXE_EUNSUPPORTED,
                      "%s has no barriers that roles wait at for stages of %s",
                      p->mc->name, name);
        axe_help(p->cx, "write one loop that produces and consumes, as "
                        "kernels/gemm.axe does, for this machine");
        return st;
    }
    if (!f->produce_role || !f->consume_role)
        return axe_fail(p->cx, f->ring->at, AXE_ESHAPE,
                        "pipeline %s is %s and never %s: a role would wait for "
                        "ever",
                        name, f->produce_role ? "produced" : "consumed",
                        f->produce_role ? "consumed" : "produced");
    if (!f->second && f->produce_role != f->consume_role)
        return AXE_OK;
    st = axe_fail(p->cx, f->second ? f->second->at : f->ring->at,
                  AXE_EUNSUPPORTED,
                  "pipeline %s is to be produced in one role and consumed in "
                  "one other; %s",
                  name, f->second ? "here is another" : "here both are in one");
    axe_help(p->cx, "the entities of one role may share it: "
                    "`warpgroup (w : 1..3) {...}` is one role");
    return st;
}

/* What is left full in one turn of a loop is not dropped before the next. */
static axe_status
check_left(planner *p, const axe_simt_ring *r, const axe_ring *ring)
{
    if (!r->early || ring->left == 0)
        return AXE_OK;
    axe_fail(p->cx, ring->ring->at, AXE_EUNSUPPORTED,
             "%d stages of pipeline %s are left full at the end of a turn of "
             "the loop around it",
             ring->left, ring->ring->name);
    axe_help(p->cx, "consume as often as you produce in each turn");
    return AXE_EUNSUPPORTED;
}

/* The pipeline that body[0] declares, for the rest of its block; n_loop: loops
 * around that. */
static axe_status
plan_ring(planner *p, int n, axe_stmt *const *body, int n_loop)
{
    finding f = {.ring = body[0]->pipeline, .n_loop = n_loop, .sp = p->simt};
    axe_simt_ring *r;

    f.crew = p->simt->home[f.ring->tensor[0]->id];
    find_stages(&f, n - 1, body + 1, false);
    if (f.produce_role || f.consume_role)
        AXE_TRY(check_roles(p, &f));
    r = add_ring(p, f.ring);
    r->early = n_loop > 0 || f.turns;
    r->produce = f.produce;
    r->producer = f.producer;
    r->consumer = f.consumer;
    r->sums = has_tile_in(f.ring, AXE_SPACE_TMEM);
    if (f.produce_role || f.consume_role)
        r->way = AXE_RING_ROLES;
    else if (f.ahead && f.ring->n_stage > 1 && !r->sums)
        r->way = AXE_RING_AHEAD;
    if (r->way == AXE_RING_PLAIN) {
        const axe_ring *one;
        AXE_TRY(axe_plan_ring(p, n, body));
        one = axe_ring_of(p->n_ring, p->ring, f.ring);
        r->n_stage = one->n_stage;
        r->fill = one->fill;
        r->read = one->read;
        return check_left(p, r, one);
    }
    r->n_stage = f.ring->n_stage;
    if (r->n_stage > 1) {
        r->fill = made_var(p, f.ring, "fill");
        r->read = made_var(p, f.ring, "read");
    }
    axe_add_ring(p, (axe_ring){.ring = f.ring,
                               .n_stage = r->n_stage,
                               .most = r->n_stage,
                               .fill = r->fill,
                               .read = r->read});
    return AXE_OK;
}

static axe_status
plan_body(planner *p, int n, axe_stmt *const *body, int n_loop)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        bool top = s->kind == AXE_STMT_SCOPE && s->scope == AXE_SCOPE_CTA;
        int  in = top ? 0 : n_loop + is_loop(s);
        if (s->kind == AXE_STMT_PIPELINE)
            AXE_TRY(plan_ring(p, n - i, body + i, n_loop));
        AXE_TRY(plan_body(p, s->n_body, s->body, in));
        AXE_TRY(plan_body(p, s->n_other, s->other, in));
    }
    return AXE_OK;
}

axe_status
axe_simt_plan_rings(planner *p)
{
    return plan_body(p, p->kernel->n_body, p->kernel->body, 0);
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
add_writer(planner *p, axe_simt_ring *r, const axe_schedule *s)
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

/* Who reads a stage: as many threads as its atom takes together, and through
 * which engine. */
static void
add_reader(planner *p, axe_simt_ring *r, const axe_schedule *s)
{
    const axe_atom *a = reads_by(s);
    const char     *group = a ? a->group : "";
    bool            wide = a && a->by == AXE_SCOPE_WARPGROUP;

    if (a && axe_atom_commits(p->mc, a)) {
        r->read_by = group;
        if (s->simt->contract)
            r->pair = (int)s->simt->contract->pair;
    } else {
        r->threads_read = true;
        if (!wide)
            r->reader = AXE_SCOPE_WARP;
    }
    if (*group && has_tile_in(r->ring, AXE_SPACE_SHARED) &&
        axe_simt_group_sync(p->mc, AXE_SYNC_FENCE, group, AXE_ARG_SHARED))
        r->fence = group;
}

static axe_status
check_cluster(planner *p, const axe_simt_ring *r)
{
    const axe_stmt *top = axe_crew_cta(r->producer)->at;
    int             n = top->keys.cluster > 1 ? top->keys.cluster : 1;

    if (r->cluster <= 1 || r->cluster == n)
        return AXE_OK;
    axe_fail(p->cx, r->ring->at, AXE_ESHAPE,
             "pipeline %s is replicated over %d CTAs; the cluster has %d",
             r->ring->name, r->cluster, n);
    axe_help(p->cx, "write `cluster (%d) cta ...`", r->cluster);
    return AXE_ESHAPE;
}

/* The contraction that is all that the consume does, by an engine that reads
 * the stage itself, later; or NULL. */
static const axe_schedule *
only_engine(planner *p, const axe_stmt *consume)
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

/* Find the loop that may leave a stage's contraction in flight: it does nothing
 * else but, running ahead, what waits for no such stage. */
static void
find_lag(planner *p, axe_simt_ring *r, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        int             last = s->n_body - 1;
        if (s->kind == AXE_STMT_FOR && last >= 0 &&
            s->body[last]->pipeline == r->ring &&
            last == (r->way == AXE_RING_AHEAD)) {
            r->lagging = only_engine(p, s->body[last]);
            r->lags = r->lagging ? s : NULL;
        }
        find_lag(p, r, s->n_body, s->body);
        find_lag(p, r, s->n_other, s->other);
    }
}

/* The engine works on one stage while the next one's work is issued. */
static void
plan_lag(planner *p, axe_simt_ring *r)
{
    if (r->way == AXE_RING_PLAIN || r->n_stage < 2 || r->read_by ||
        (r->way == AXE_RING_AHEAD && r->writes))
        return;
    find_lag(p, r, p->kernel->n_body, p->kernel->body);
    if (r->lagging)
        ((axe_simt_contract *)r->lagging->simt->contract)->in_flight = 1;
}

/* Arrivals of a phase, see simt_ring.h. */
static void
count_arrivals(const planner *p, axe_simt_ring *r)
{
    int lanes = p->mc->simt->lanes, n;

    if (r->boxes)
        r->full = 1;
    if (r->filled_by)
        r->full += r->producer->n_entity;
    if (r->read_by)
        r->empty = r->consumer->n_entity *
                   (r->cluster > r->pair ? r->cluster / r->pair : 1);
    if (r->way != AXE_RING_ROLES)
        return;
    if (r->writes)
        r->full += r->producer->n_thread * r->producer->n_entity;
    if (r->group && !r->stores && !r->sums)
        r->arrive = axe_simt_group_sync(p->mc, AXE_SYNC_ARRIVE, r->group,
                                        AXE_ARG_SHARED);
    n = r->consumer->n_thread * r->consumer->n_entity;
    n = r->reader == AXE_SCOPE_WARPGROUP ? r->consumer->n_entity
                                         : (n + lanes - 1) / lanes;
    if (r->threads_read || !r->read_by)
        r->empty += n * r->cluster * (r->filled_by ? r->pair : 1);
}

static axe_simt_launch *
launch_of(planner *p, const axe_crew *c)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        if (p->simt->launch[i].crew == axe_crew_cta(c))
            return &p->simt->launch[i];
    return NULL;
}

static axe_status
plan_protocol(planner *p, axe_simt_ring *r)
{
    axe_simt_launch *l;
    int64_t          n;

    r->cluster = r->pair = 1;
    r->reader = AXE_SCOPE_WARPGROUP;
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && writes_ring(s->stmt, r->ring))
            add_writer(p, r, s);
        if (s && reads_ring(s->stmt, r->ring))
            add_reader(p, r, s);
    }
    if (!r->producer || !r->consumer)
        return AXE_OK;
    r->home = axe_crew_cta(r->producer);
    AXE_TRY(check_cluster(p, r));
    count_arrivals(p, r);
    plan_lag(p, r);
    n = (int64_t)(r->n_stage + 1) / 2 * 2 * ((r->full > 0) + (r->empty > 0));
    l = launch_of(p, r->producer);
    r->barriers = (l->shared_bytes + 15) / 16 * 16;
    l->shared_bytes = r->barriers + 8 * n;
    if (r->full + r->empty > 0) {
        r->fill_phase = made_var(p, r->ring, "fill_phase");
        r->read_phase = made_var(p, r->ring, "read_phase");
    }
    return AXE_OK;
}

/* Barriers at which engines arrive for meetings. */
static void
place_meets(planner *p)
{
    for (int i = 0; i < p->simt->n_meet; i++) {
        axe_meet        *m = &p->simt->meet[i];
        axe_simt_launch *l = launch_of(p, m->crew);
        if (m->n_asker == 0)
            continue;
        m->barrier = (l->shared_bytes + 15) / 16 * 16;
        l->shared_bytes = m->barrier + 8 * axe_crew_copies(m->crew);
    }
}

axe_status
axe_simt_plan_protocols(planner *p)
{
    for (int i = 0; i < p->simt->n_ring; i++)
        AXE_TRY(plan_protocol(p, &p->simt->ring[i]));
    place_meets(p);
    return AXE_OK;
}

/* Statements may share rooms where they follow each other, which is not looked
 * for: each has its own. */
void
axe_simt_place_staging(planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule    *s = p->schedule[i];
        const axe_simt_copy   *c = s ? s->simt->copy : NULL;
        struct axe_simt_stage *st = c ? c->stage : NULL;
        axe_simt_launch       *l;
        int64_t                at, bytes;
        if (!st)
            continue;
        l = launch_of(p, s->simt->crew);
        at = (l->shared_bytes + 1023) / 1024 * 1024;
        bytes = st->room * st->n_room * s->simt->crew->n_entity *
                (axe_type_table[st->global->type].bits / 8);
        st->fits = at + bytes <= p->mc->simt->shared_bytes;
        if (!st->fits)
            continue;
        st->offset = at;
        l->shared_bytes = at + bytes;
    }
}
