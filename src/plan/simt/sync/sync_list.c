/* sync_list.c - what was found to be needed, in the order of execution.
 *
 * Copies that follow one another are in flight together, and are waited for
 * where something else begins; what threads wrote for an engine is fenced where
 * statements for it end; no copy and no fence is left at the end of a block. */
#include "plan/simt/sync/sync_list.h"

#include "ir/stmt.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/sync/async_drain.h"
#include "plan/simt/sync/sync.h"
#include "plan/simt/tmem/copy.h"
#include "plan/simt/tmem/tmem.h"

/* What is under way in a block. */
typedef struct listing {
    axe_sync_where   w;
    bool             sums;  /* the launch has tensor memory */
    const axe_atom **needs; /* by tensor id: find_fences */
    const char *in_flight; /* the group of copies that are in flight; or NULL */
    const axe_atom *fence; /* due behind what threads wrote; or NULL */
} listing;

/* ------------------------------------------------------- copies in flight */

/* The group of the copy that s is, if others may begin while it is in flight;
 * or NULL. */
static const char *
group_of_copy(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule *at =
        s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : NULL;
    const axe_simt_copy *c = at ? at->simt->copy : NULL;

    return c && !c->box && !c->stage && c->atom->group[0] != '\0' &&
                   !s->dst->u.tensor->pipeline
               ? c->atom->group
               : NULL;
}

/* May s fill what copies in flight do, behind a barrier? */
static bool
fills_again(const axe_planner *p, const axe_stmt *s)
{
    for (int i = 0; i < p->simt->n_sync_point; i++)
        if (p->simt->sync_point[i].at == s && p->simt->sync_point[i].wait_async)
            return true;
    return false;
}

static axe_status
push_group(listing *g, const axe_stmt *at, axe_sync_place place,
           axe_sync_kind kind, const char *group)
{
    const axe_atom *a =
        axe_simt_group_sync(g->w.p->mc, kind, group, AXE_ARG_NONE);

    if (!a)
        return axe_fail(g->w.p->cx, at->at, AXE_EUNSUPPORTED,
                        "%s has no row by which copies of group %s are ordered",
                        g->w.p->mc->name, group);
    axe_sync_push(g->w.p, (axe_sync_item){.at = at,
                                          .place = place,
                                          .row = a,
                                          .why = "copies in flight are done"});
    return AXE_OK;
}

/* No copy is in flight from here on. */
static axe_status
land(listing *g, const axe_stmt *at, axe_sync_place place)
{
    const char *group = g->in_flight;

    if (!group)
        return AXE_OK;
    g->in_flight = NULL;
    AXE_TRY(push_group(g, at, place, AXE_SYNC_COMMIT, group));
    return push_group(g, at, place, AXE_SYNC_DRAIN, group);
}

/* ------------------------------------------------- what threads write for */

/* The engine that reads the tile itself in statement s, or NULL. */
static const axe_atom *
engine_in(const axe_schedule *s, const axe_tensor *t)
{
    const axe_simt_contract *c = s ? s->simt->contract : NULL;
    const axe_simt_copy     *k = s ? s->simt->copy : NULL;

    if (c && ((c->a.direct && c->a.tensor == t) ||
              (c->b.direct && c->b.tensor == t)))
        return c->atom;
    if (s && s->simt->tcopy && axe_stmt_reads(s->stmt, t))
        return s->simt->tcopy->atom;
    return k && k->box && !k->in && axe_stmt_reads(s->stmt, t) ? k->atom : NULL;
}

/* What engines that read tiles ask of those who write them, by tensor id. */
static const axe_atom **
find_fences(const axe_planner *p)
{
    int              n = p->kernel->n_tensor;
    const axe_atom **out = axe_new_array(p->cx, const axe_atom *, n + 1);

    for (int t = 0; t < n; t++) {
        const axe_tensor *tile = p->place[t].tensor;
        const axe_atom   *a = NULL;
        if (!tile || tile->space != AXE_SPACE_SHARED || tile->pipeline)
            continue;
        for (int i = 0; i < p->kernel->n_index_stmt && !(a && *a->group); i++)
            a = engine_in(p->schedule[i], tile);
        if (a && *a->group)
            out[t] = axe_simt_group_sync(p->mc, AXE_SYNC_FENCE, a->group,
                                         AXE_ARG_SHARED);
    }
    return out;
}

/* The fence behind what threads write in s, or NULL. */
static const axe_atom *
fence_behind(const listing *g, const axe_stmt *s)
{
    const axe_simt_copy *c;

    if (s->kind != AXE_STMT_INDEX)
        return NULL;
    c = g->w.p->schedule[s->id]->simt->copy;
    return c && c->box ? NULL : g->needs[s->dst->u.tensor->id];
}

static void
fence(listing *g, const axe_stmt *at, axe_sync_place place)
{
    if (g->fence)
        axe_sync_push(g->w.p, (axe_sync_item){
                                  .at = at,
                                  .place = place,
                                  .row = g->fence,
                                  .why = "an engine reads what threads wrote"});
    g->fence = NULL;
}

/* ---------------------------------------------------- products, sync points */

/* Stages whose products are drained are free. */
static axe_status
push_drain(listing *g, const axe_drain *d, const axe_stmt *last)
{
    axe_sync_item item = {
        .at = d->at,
        .place = d->behind ? AXE_SYNC_BEHIND : AXE_SYNC_LEFT,
        .what = AXE_SYNC_DONE,
        .drain = d,
        .last = last,
        .why = d->behind
                   ? "they may not outlast their block"
                   : "it needs them, or groups cannot be counted across it"};

    axe_sync_push(g->w.p, item);
    for (int k = 0; k < d->n_free; k++)
        AXE_TRY(axe_sync_release(&g->w, d->free[k], d->at, item.place));
    return AXE_OK;
}

static axe_status
push_drains(listing *g, const axe_stmt *at, bool behind, const axe_stmt *last)
{
    const axe_simt_plan *sp = g->w.p->simt;

    for (int i = 0; i < sp->n_drain; i++)
        if (sp->drain[i].at == at && sp->drain[i].behind == behind)
            AXE_TRY(push_drain(g, &sp->drain[i], last));
    return AXE_OK;
}

/* A row that orders what was done in tensor memory. */
static axe_status
push_sums(listing *g, const axe_sync_point *m, axe_sync_kind kind)
{
    axe_sync_item item = {.at = m->at, .place = AXE_SYNC_AHEAD, .why = m->why};

    return g->sums && m->sums ? axe_sync_push_sums(g->w.p, item, kind) : AXE_OK;
}

/* What threads issued arrives at the sync point's barrier, where all wait. */
static axe_status
push_asked(listing *g, const axe_sync_point *m, axe_sync_item item)
{
    axe_sync_item tell = item;

    item.what = tell.what = AXE_SYNC_ASKED;
    tell.by = AXE_BY_FIRST;
    tell.row = axe_simt_find_sync(g->w.p->mc, AXE_SYNC_COMMIT, AXE_SCOPE_THREAD,
                                  m->group, AXE_ARG_SHARED, AXE_ARG_NONE);
    item.row = axe_simt_find_sync(g->w.p->mc, AXE_SYNC_WAIT, AXE_SCOPE_THREAD,
                                  "", AXE_ARG_SHARED, AXE_ARG_INT);
    if (!tell.row || !item.row)
        return axe_fail(g->w.p->cx, m->at->at, AXE_EUNSUPPORTED,
                        "%s has no row by which group %s arrives at a barrier",
                        g->w.p->mc->name, m->group);
    for (int i = 0; i < m->n_issuer; i++) {
        tell.threads = m->issuer[i];
        axe_sync_push(g->w.p, tell);
    }
    axe_sync_push(g->w.p, item);
    return AXE_OK;
}

static axe_status
push_sync_points(listing *g, const axe_stmt *at)
{
    for (int i = 0; i < g->w.p->simt->n_sync_point; i++) {
        const axe_sync_point *m = &g->w.p->simt->sync_point[i];
        axe_sync_item         item = {.at = at,
                                      .place = AXE_SYNC_AHEAD,
                                      .threads = m->threads,
                                      .sync_point = m,
                                      .why = m->why};
        if (m->at != at)
            continue;
        if (m->fence)
            axe_sync_push(g->w.p, (axe_sync_item){
                                      .at = at,
                                      .place = AXE_SYNC_AHEAD,
                                      .row = m->fence,
                                      .why = "an engine touches global memory "
                                             "that threads did"});
        if (m->barrier)
            AXE_TRY(push_sums(g, m, AXE_SYNC_BEFORE));
        item.what = AXE_SYNC_TOGETHER;
        if (m->barrier)
            axe_sync_push(g->w.p, item);
        if (m->n_issuer > 0)
            AXE_TRY(push_asked(g, m, item));
        AXE_TRY(push_sums(g, m, AXE_SYNC_AFTER));
    }
    return AXE_OK;
}

/* Nobody reads, or writes, what CTAs of a cluster hold alike while each of them
 * does its part of it for all (cluster_share.c): one barrier for two such
 * statements in a row.
 * before  the statement in front of it in its block, or NULL */
static axe_status
push_shared(listing *g, const axe_stmt *s, axe_sync_place place,
            const axe_stmt *before)
{
    const axe_simt_plan *sp = g->w.p->simt;
    const axe_sync_item *last = sp->n_sync > 0 ? &sp->sync[sp->n_sync - 1] : 0;
    axe_sync_item        item = {
               .at = s,
               .place = place,
               .why = place == AXE_SYNC_AHEAD
                          ? "CTAs of the cluster write what all have read"
                          : "CTAs of the cluster wrote what all read"};

    if (s->kind != AXE_STMT_INDEX || g->w.p->schedule[s->id]->simt->share <= 1)
        return AXE_OK;
    if (place == AXE_SYNC_AHEAD && last && last->at == before &&
        last->place == AXE_SYNC_BEHIND && last->row &&
        last->row->sync == AXE_SYNC_BARRIER &&
        last->row->by == AXE_SCOPE_CLUSTER)
        return AXE_OK;
    return axe_sync_push_row(g->w.p, item, AXE_SYNC_BARRIER, AXE_SCOPE_CLUSTER,
                             "");
}

/* ------------------------------------------------------------------ blocks */

static axe_status list_block(listing *g, int n, axe_stmt *const *body);

static axe_status
list_produce(listing *g, const axe_stmt *s)
{
    AXE_TRY(axe_sync_fill(&g->w, s));
    AXE_TRY(list_block(g, s->n_body, s->body));
    return axe_sync_filled(&g->w, s);
}

/* A stage's room is free behind the last statement that reads it, or where its
 * products are drained: what follows is a block of its own. */
static axe_status
list_consume(listing *g, const axe_stmt *s)
{
    const axe_simt_plan *sp = g->w.p->simt;
    int n = axe_ring_count_reading(axe_simt_ring_of(sp, s->pipeline), s);

    AXE_TRY(axe_sync_read(&g->w, s, NULL));
    AXE_TRY(list_block(g, n, s->body));
    if (!axe_simt_drain_of(sp, s))
        AXE_TRY(axe_sync_free(&g->w, s, NULL));
    return list_block(g, s->n_body - n, s->body + n);
}

/* A loop whose iterations overlap: of stages alone. */
static axe_status
list_overlapping(listing *g, const axe_stmt *loop)
{
    for (int i = 0; i < loop->n_body; i++) {
        const axe_stmt *s = loop->body[i];
        if (s->kind == AXE_STMT_PRODUCE) {
            AXE_TRY(list_produce(g, s));
            continue;
        }
        AXE_TRY(axe_sync_read(&g->w, s, loop));
        AXE_TRY(list_block(g, s->n_body, s->body));
        AXE_TRY(axe_sync_free(&g->w, s, loop));
    }
    return axe_sync_leave_loop(&g->w, loop);
}

/* Does each role run its own loop over the launch's tiles? */
static bool
loops_over_tiles(const listing *g, const axe_stmt *roles)
{
    const axe_stmt *top = g->w.launch->scope;

    return top->keys.persistent && axe_scope_is_of_roles(top) &&
           axe_stmt_within(top->n_body, top->body, roles);
}

static axe_status
list_role(listing *g, const axe_stmt *role, bool tiles)
{
    const axe_thread_group *around = g->w.threads;
    int64_t                 pair;

    g->w.threads = axe_threads_at(g->w.p->simt, role);
    AXE_TRY(axe_sync_begin_turns(g->w.p, role, g->w.threads));
    AXE_TRY(axe_sync_begin_alone(g->w.p, g->w.launch, role));
    g->w.alone = axe_sync_is_alone(
        g->w.p->simt, (const axe_schedule *const *)g->w.p->schedule, role,
        &pair);
    if (tiles)
        AXE_TRY(axe_sync_ask_tile(g->w.p, g->w.launch, role));
    if (tiles)
        AXE_TRY(axe_sync_begin_tile(g->w.p, g->w.launch, role));
    AXE_TRY(list_block(g, role->n_body, role->body));
    if (tiles)
        AXE_TRY(axe_sync_end_tile(g->w.p, g->w.launch, role));
    if (tiles)
        AXE_TRY(axe_sync_next_tile(g->w.p, g->w.launch, role));
    AXE_TRY(axe_sync_end_role(&g->w, role));
    g->w.alone = false;
    AXE_TRY(axe_sync_end_turns(g->w.p, role, g->w.threads));
    g->w.threads = around;
    return AXE_OK;
}

/* In a CTA. */
static axe_status
list_scope(listing *g, const axe_stmt *s)
{
    const axe_thread_group *around = g->w.threads;

    g->w.threads = axe_threads_at(g->w.p->simt, s);
    AXE_TRY(axe_sync_begin_turns(g->w.p, s, g->w.threads));
    AXE_TRY(list_block(g, s->n_body, s->body));
    AXE_TRY(axe_sync_end_turns(g->w.p, s, g->w.threads));
    g->w.threads = around;
    return AXE_OK;
}

/* A constant in tensor memory, where a condition holds: others find it there.
 */
static axe_status
list_constant(listing *g, const axe_stmt *s)
{
    const axe_simt_schedule *d = g->w.p->schedule[s->id]->simt;
    axe_sync_item            item = {.at = s,
                                     .place = AXE_SYNC_INSIDE,
                                     .threads = d->threads,
                                     .why = "tensor memory is set"};
    int64_t                  v;

    if (!d->tmem || !d->tmem->able || !d->when ||
        (axe_is_iconst(d->when, &v) && v == 0))
        return AXE_OK;
    if (g->sums)
        AXE_TRY(axe_sync_push_sums(g->w.p, item, AXE_SYNC_BEFORE));
    item.what = AXE_SYNC_TOGETHER;
    axe_sync_push(g->w.p, item);
    item.what = AXE_SYNC_ROW;
    return g->sums ? axe_sync_push_sums(g->w.p, item, AXE_SYNC_AFTER) : AXE_OK;
}

static void
list_barrier(listing *g, const axe_stmt *s)
{
    axe_sync_push(g->w.p, (axe_sync_item){.at = s,
                                          .place = AXE_SYNC_AHEAD,
                                          .what = AXE_SYNC_TOGETHER,
                                          .threads = g->w.threads
                                                         ? g->w.threads
                                                         : g->w.launch->threads,
                                          .why = "the text says so"});
}

static axe_status
list_inside(listing *g, const axe_stmt *s)
{
    if (s->kind == AXE_STMT_FOR && axe_ring_overlapping(g->w.p->simt, s))
        return list_overlapping(g, s);
    switch (s->kind) {
    case AXE_STMT_PRODUCE:
        return list_produce(g, s);
    case AXE_STMT_CONSUME:
        return list_consume(g, s);
    case AXE_STMT_ROLES:
        for (int i = 0; i < s->n_body; i++)
            AXE_TRY(list_role(g, s->body[i], loops_over_tiles(g, s)));
        return AXE_OK;
    case AXE_STMT_SCOPE:
        return list_scope(g, s);
    case AXE_STMT_TURN:
        AXE_TRY(axe_sync_enter_turn(g->w.p, s, g->w.threads));
        AXE_TRY(list_block(g, s->n_body, s->body));
        return axe_sync_leave_turn(g->w.p, s, g->w.threads);
    case AXE_STMT_INDEX:
        return list_constant(g, s);
    case AXE_STMT_BARRIER:
        list_barrier(g, s);
        return AXE_OK;
    default:
        AXE_TRY(list_block(g, s->n_body, s->body));
        return list_block(g, s->n_other, s->other);
    }
}

static axe_status
list_one(listing *g, const axe_stmt *s, const axe_stmt *last)
{
    const char     *copy = group_of_copy(g->w.p, s);
    const axe_atom *behind = fence_behind(g, s);
    bool            again = fills_again(g->w.p, s);
    bool            later = copy && g->in_flight && !behind && !again;

    if (!copy || again || (g->fence && behind && behind != g->fence))
        AXE_TRY(land(g, s, AXE_SYNC_LEFT));
    if (behind != g->fence && !later)
        fence(g, s, AXE_SYNC_LEFT);
    AXE_TRY(push_drains(g, s, false, last));
    AXE_TRY(push_sync_points(g, s));
    AXE_TRY(push_shared(g, s, AXE_SYNC_AHEAD, last));
    AXE_TRY(list_inside(g, s));
    AXE_TRY(push_shared(g, s, AXE_SYNC_BEHIND, NULL));
    AXE_TRY(push_drains(g, s, true, NULL));
    if (!later)
        g->fence = behind;
    if (copy)
        g->in_flight = copy;
    return AXE_OK;
}

static axe_status
list_block(listing *g, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        AXE_TRY(list_one(g, body[i], i > 0 ? body[i - 1] : NULL));
    if (n == 0)
        return AXE_OK;
    AXE_TRY(land(g, body[n - 1], AXE_SYNC_BEHIND));
    fence(g, body[n - 1], AXE_SYNC_BEHIND);
    return AXE_OK;
}

static axe_status
list_launch(listing *g)
{
    const axe_stmt *top = g->w.launch->scope;
    bool            own = top->keys.persistent && axe_scope_is_of_roles(top);

    AXE_TRY(axe_sync_pass_gate(g->w.p, g->w.launch));
    AXE_TRY(axe_sync_open(g->w.p, g->w.launch));
    AXE_TRY(axe_sync_open_gate(g->w.p, g->w.launch));
    if (!own)
        AXE_TRY(axe_sync_ask_tile(g->w.p, g->w.launch, NULL));
    if (!own)
        AXE_TRY(axe_sync_begin_tile(g->w.p, g->w.launch, NULL));
    AXE_TRY(list_block(g, top->n_body, top->body));
    if (!own)
        AXE_TRY(axe_sync_end_tile(g->w.p, g->w.launch, NULL));
    if (!own)
        AXE_TRY(axe_sync_next_tile(g->w.p, g->w.launch, NULL));
    AXE_TRY(axe_sync_shut_gate(g->w.p, g->w.launch));
    return axe_sync_close(g->w.p, g->w.launch);
}

axe_status
axe_simt_list_sync(axe_planner *p)
{
    const axe_atom **needs = find_fences(p);

    for (int i = 0; i < p->simt->n_launch; i++) {
        const axe_simt_launch *l = &p->simt->launch[i];
        listing                g = {.w = {.p = p, .launch = l},
                                    .needs = needs,
                                    .sums = l->tmem_columns > 0};
        AXE_TRY(list_launch(&g));
    }
    return AXE_OK;
}
