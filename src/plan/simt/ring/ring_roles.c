/* ring_roles.c - what the text says of each pipeline: which way its stages
 * are passed on, how many there are, who fills them and who reads them. */
#include <string.h>

#include "ir/list.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/ring/ring.h"
#include "plan/simt/ring/ring_protocol.h"

/* The stages of a ring in a body, each with what is around it. */
typedef struct finding {
    const axe_pipeline     *ring;
    const axe_stmt         *role; /* the scope of ROLES around; NULL: none */
    const axe_stmt         *produce_role, *consume_role;
    bool                    ahead; /* all stages are in loops that run ahead */
    bool                    any;
    bool                    in_loop; /* its roles stand in a loop */
    int                     n_loop;  /* loops around, in the cta */
    const axe_stmt         *produce; /* the first one */
    const axe_stmt         *second;  /* a second role that produces */
    const axe_simt_plan    *sp;
    const axe_thread_group *threads; /* whose code it is */
    const axe_thread_group *producer;
    axe_list consumer; /* const axe_thread_group *, one of each role */
} finding;

static bool
is_loop(const axe_stmt *s)
{
    return s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP;
}

/* A produce or a consume of the ring. */
static void
find_stage(finding *f, const axe_stmt *s, bool ahead)
{
    bool             fills = s->kind == AXE_STMT_PRODUCE;
    const axe_stmt **seen = fills ? &f->produce_role : &f->consume_role;
    bool             first = *seen != f->role;

    f->ahead = (f->ahead || !f->any) && ahead;
    f->any = true;
    if (fills) {
        f->second = *seen && first ? s : f->second;
        f->produce = f->produce ? f->produce : s;
        f->producer = f->threads;
    } else if (first || f->consumer.n == 0)
        axe_list_push(&f->consumer, f->threads);
    else
        f->consumer.item[f->consumer.n - 1] = f->threads;
    *seen = f->role;
}

static void
find_stages(finding *f, int n, axe_stmt *const *body, bool ahead)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt         *s = body[i], *around = f->role;
        const axe_thread_group *threads = f->threads;
        if ((s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
            s->pipeline == f->ring)
            find_stage(f, s, ahead);
        if (s->kind == AXE_STMT_SCOPE)
            f->threads = axe_threads_at(f->sp, s);
        for (int k = 0; s->kind == AXE_STMT_ROLES && k < s->n_body; k++) {
            f->in_loop = f->in_loop || f->n_loop > 0;
            f->role = s->body[k];
            find_stages(f, 1, s->body + k, false);
            f->role = around;
        }
        f->n_loop += is_loop(s);
        if (s->kind != AXE_STMT_ROLES)
            find_stages(f, s->n_body, s->body, axe_simt_runs_ahead(s));
        find_stages(f, s->n_other, s->other, false);
        f->n_loop -= is_loop(s);
        f->threads = threads;
    }
}

static axe_simt_ring *
add_ring(axe_planner *p, const axe_pipeline *ring)
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

/* One role fills it, others read it, and threads can wait for phases. */
static axe_status
check_roles(axe_planner *p, const finding *f)
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
    st = axe_fail(
        p->cx, f->second ? f->second->at : f->ring->at, AXE_EUNSUPPORTED,
        "pipeline %s is to be produced in one role and consumed in "
        "others; %s",
        name,
        f->second ? "here another one produces it" : "here both are in one");
    axe_help(p->cx, "the entities of one role may share it: "
                    "`warpgroup (w : 1..3) {...}` is one role");
    return st;
}

/* What is left full in one iteration of a loop is not dropped before the
 * next. */
static axe_status
check_left(axe_planner *p, const axe_simt_ring *r, const axe_ring *ring)
{
    if (!r->early || ring->left == 0)
        return AXE_OK;
    axe_fail(
        p->cx, ring->ring->at, AXE_EUNSUPPORTED,
        "%d stages of pipeline %s are left full at the end of an iteration of "
        "the loop around it",
        ring->left, ring->ring->name);
    axe_help(p->cx, "consume as often as you produce in each iteration");
    return AXE_EUNSUPPORTED;
}

static void
add_readers(axe_planner *p, axe_simt_ring *r, const finding *f)
{
    r->n_reader = f->consumer.n;
    r->reader = axe_new_array(p->cx, axe_ring_reader, r->n_reader + 1);
    for (int i = 0; i < r->n_reader; i++)
        r->reader[i] = (axe_ring_reader){.threads = f->consumer.item[i],
                                         .by = AXE_SCOPE_WARPGROUP};
}

/* The pipeline that body[0] declares, for the rest of its block; n_loop: loops
 * around that. */
static axe_status
plan_ring(axe_planner *p, int n, axe_stmt *const *body, int n_loop)
{
    finding        f = {.ring = body[0]->pipeline,
                        .n_loop = n_loop,
                        .sp = p->simt,
                        .consumer = {.cx = p->cx}};
    axe_simt_ring *r;

    f.threads = p->simt->owner[f.ring->tensor[0]->id];
    find_stages(&f, n - 1, body + 1, false);
    if (f.produce_role || f.consume_role)
        AXE_TRY(check_roles(p, &f));
    r = add_ring(p, f.ring);
    r->early = n_loop > 0 || f.in_loop;
    r->produce = f.produce;
    r->producer = f.producer;
    add_readers(p, r, &f);
    r->sums = axe_ring_has_tile_in(f.ring, AXE_SPACE_TMEM);
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
        r->fill = axe_ring_var(p, f.ring, "fill");
        r->read = axe_ring_var(p, f.ring, "read");
    }
    axe_add_ring(p, (axe_ring){.ring = f.ring,
                               .n_stage = r->n_stage,
                               .most = r->n_stage,
                               .fill = r->fill,
                               .read = r->read});
    return AXE_OK;
}

static axe_status
plan_body(axe_planner *p, int n, axe_stmt *const *body, int n_loop)
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
axe_simt_plan_rings(axe_planner *p)
{
    return plan_body(p, p->kernel->n_body, p->kernel->body, 0);
}
