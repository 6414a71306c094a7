/* sync_ring.c - how stages of rings are passed on, see ring_protocol.h: what
 * stands before a stage is filled and behind that, before it is read and behind
 * that, for the three ways. */
#include "ir/stmt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/sync/sync.h"

/* ------------------------------------------------------------------- asking */

bool
axe_ring_is_told(const axe_simt_ring *r)
{
    for (int i = 0; i < r->n_reader; i++)
        if (r->reader[i].engine && r->empty > 0)
            return true;
    return false;
}

bool
axe_ring_is_early(const axe_simt_launch *l, const axe_simt_ring *r)
{
    const axe_stmt *top = l->scope;

    if (r->way != AXE_RING_ROLES)
        return r->early || axe_ring_is_told(r);
    return r->early || (top->keys.persistent && !axe_scope_is_of_roles(top));
}

int
axe_ring_count_reading(const axe_simt_ring *r, const axe_stmt *consume)
{
    int n = consume->n_body;

    while (n > 0 && r->way != AXE_RING_PLAIN &&
           !axe_stmt_reads_ring(consume->body[n - 1], consume->pipeline))
        n--;
    return n;
}

const axe_simt_ring *
axe_ring_overlapping(const axe_simt_plan *sp, const axe_stmt *loop)
{
    const axe_simt_ring *r = NULL;

    if (loop->n_body > 0 && loop->body[0]->pipeline)
        r = axe_simt_ring_of(sp, loop->body[0]->pipeline);
    if (r && (axe_ring_deferred_of(r, loop) ||
              (r->way == AXE_RING_AHEAD && axe_simt_runs_ahead(loop))))
        return r;
    return NULL;
}

/* --------------------------------------------------------------- items of it
 */

/* The row at the barrier `item.bar` of a stage. */
static axe_status
push_stage(const axe_sync_where *w, axe_sync_item item, axe_sync_kind kind,
           const char *group, axe_arg_space second)
{
    item.what = AXE_SYNC_STAGE;
    item.row = axe_simt_find_sync(w->p->mc, kind, AXE_SCOPE_THREAD, group,
                                  AXE_ARG_SHARED, second);
    if (!item.row)
        return axe_fail(w->p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a thread waits by here",
                        w->p->mc->name);
    axe_sync_push(w->p, item);
    return AXE_OK;
}

static axe_status
push_wait(const axe_sync_where *w, axe_sync_item item, axe_sync_bar bar)
{
    item.bar = bar;
    item.why = bar == AXE_BAR_FULL ? "what fills the stage has come"
                                   : "all have read what was in the stage";
    return push_stage(w, item, AXE_SYNC_WAIT, "", AXE_ARG_INT);
}

/* The row of the kind for the ring's pieces, left to n groups. */
static axe_status
push_pieces(const axe_sync_where *w, axe_sync_item item, axe_sync_kind kind,
            int64_t n)
{
    const axe_simt_ring *r = item.ring;

    if (!r->group)
        return AXE_OK;
    item.what = AXE_SYNC_ROW;
    item.n = n;
    item.why = kind == AXE_SYNC_COMMIT ? "pieces of a stage are a group"
                                       : "the stage's pieces have come";
    item.row = axe_simt_group_sync(w->p->mc, kind, r->group, AXE_ARG_NONE);
    if (!item.row)
        return axe_fail(w->p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row by which copies of group %s are ordered",
                        w->p->mc->name, r->group);
    axe_sync_push(w->p, item);
    return AXE_OK;
}

static void
push_fence(const axe_sync_where *w, axe_sync_item item)
{
    const axe_simt_ring *r = item.ring;

    if (!r->fence || !r->writes)
        return;
    item.what = AXE_SYNC_ROW;
    item.why = "an engine reads what threads wrote";
    item.row =
        axe_simt_group_sync(w->p->mc, AXE_SYNC_FENCE, r->fence, AXE_ARG_SHARED);
    axe_sync_push(w->p, item);
}

static void
push_refill(const axe_sync_where *w, axe_sync_item item)
{
    const axe_simt_ring *r = item.ring;

    if (!r->refill || !axe_ring_reader_of(r, w->threads)->loads)
        return;
    item.what = AXE_SYNC_ROW;
    item.why = "boxes fill again what threads have loaded";
    item.row = r->refill;
    axe_sync_push(w->p, item);
}

static void
push_barrier(const axe_sync_where *w, axe_sync_item item,
             const axe_thread_group *c, const char *why)
{
    item.what = AXE_SYNC_TOGETHER;
    item.threads = c;
    item.why = why;
    axe_sync_push(w->p, item);
}

static axe_status
push_sums(const axe_sync_where *w, axe_sync_item item, axe_sync_kind kind)
{
    item.what = AXE_SYNC_ROW;
    item.why = kind == AXE_SYNC_BEFORE ? "others touch the sums next"
                                       : "others have touched the sums";
    return w->launch->tmem_columns > 0 ? axe_sync_push_sums(w->p, item, kind)
                                       : AXE_OK;
}

/* The engine arrives at the barrier, here or in several CTAs, when it has done
 * what one thread of each entity asked. */
static axe_status
push_commit(const axe_sync_where *w, axe_sync_item item, bool read)
{
    const axe_simt_ring   *r = item.ring;
    const axe_ring_reader *to = axe_ring_reader_of(r, w->threads);
    const char            *group = read ? to->engine : r->filled_by;

    if (!group)
        return AXE_OK;
    item.deferred = false;
    item.bar = read ? AXE_BAR_EMPTY : AXE_BAR_FULL;
    item.stage = read ? r->read : r->fill;
    item.by = AXE_BY_FIRST;
    item.threads = read ? to->threads : r->producer;
    item.n_cta = read && r->cluster > r->pair ? r->cluster : r->pair;
    item.why =
        read ? "the engine has read the stage" : "the engine has filled it";
    return push_stage(w, item, AXE_SYNC_COMMIT, group,
                      item.n_cta > 1 ? AXE_ARG_INT : AXE_ARG_NONE);
}

static void
push_step(const axe_sync_where *w, axe_sync_item item, const axe_var *stage,
          const axe_var *phase)
{
    item.what = AXE_SYNC_STEP;
    item.stage = stage;
    item.phase = phase;
    item.why = "on to the next stage";
    axe_sync_push(w->p, item);
}

static void
push_fills(const axe_sync_where *w, axe_sync_item item)
{
    item.what = AXE_SYNC_FILLS;
    item.why = "a stage ahead is filled here";
    axe_sync_push(w->p, item);
}

/* ----------------------------------------------------------- a stage is filled
 */

static axe_sync_item
item_of(const axe_simt_ring *r, const axe_stmt *at, axe_sync_place place)
{
    bool fill = at->kind == AXE_STMT_PRODUCE;

    return (axe_sync_item){.at = at,
                           .place = place,
                           .ring = r,
                           .stage = fill ? r->fill : r->read,
                           .phase = fill ? r->fill_phase : r->read_phase};
}

/* Boxes of a produce are announced. */
static axe_status
push_expect(const axe_sync_where *w, const axe_simt_ring *r,
            const axe_stmt *produce)
{
    axe_sync_item item = item_of(r, produce, AXE_SYNC_FILL);

    if (!r->boxes)
        return AXE_OK;
    item.n = r->pair *
             axe_simt_box_bytes(w->p->kernel->n_index_stmt,
                                (const axe_schedule *const *)w->p->schedule,
                                produce);
    item.bar = AXE_BAR_FULL;
    item.threads = r->producer;
    item.by = w->alone || r->producer->n_thread == 1 ? 0 : AXE_BY_FIRST;
    item.n_cta = r->pair;
    item.why = "so many bytes will come by boxes";
    return push_stage(w, item, AXE_SYNC_EXPECT, axe_simt_by_bytes(w->p->mc),
                      AXE_ARG_INT);
}

axe_status
axe_sync_fill(const axe_sync_where *w, const axe_stmt *produce)
{
    const axe_simt_ring *r = axe_simt_ring_of(w->p->simt, produce->pipeline);
    axe_sync_item        item = item_of(r, produce, AXE_SYNC_ROOM);

    if (r->way == AXE_RING_PLAIN) {
        push_refill(w, item);
        push_barrier(w, item, r->producer, "all have read the stages before");
    }
    if (r->way == AXE_RING_ROLES || r->reader->engine)
        AXE_TRY(push_wait(w, item, AXE_BAR_EMPTY));
    if (r->sums && r->way != AXE_RING_AHEAD)
        AXE_TRY(push_sums(w, item, AXE_SYNC_AFTER));
    return push_expect(w, r, produce);
}

/* The stage is there, for the threads that filled it. */
static axe_status
fill_plain(const axe_sync_where *w, axe_sync_item item)
{
    const axe_simt_ring *r = item.ring;

    AXE_TRY(push_pieces(w, item, AXE_SYNC_COMMIT, 0));
    AXE_TRY(push_pieces(w, item, AXE_SYNC_DRAIN, 0));
    if (r->boxes || r->filled_by)
        AXE_TRY(push_wait(w, item, AXE_BAR_FULL));
    if (r->sums)
        AXE_TRY(push_sums(w, item, AXE_SYNC_AFTER));
    push_fence(w, item);
    if (r->writes)
        push_barrier(w, item, r->producer, "all see the stage");
    return AXE_OK;
}

/* The stage is filled by what this thread has waited for, or done. */
static axe_status
arrive_filled(const axe_sync_where *w, axe_sync_item item)
{
    const axe_simt_ring *r = item.ring;

    if (r->sums)
        AXE_TRY(push_sums(w, item, AXE_SYNC_BEFORE));
    AXE_TRY(push_pieces(w, item, AXE_SYNC_COMMIT, 0));
    AXE_TRY(push_pieces(w, item, AXE_SYNC_DRAIN, 0));
    push_fence(w, item);
    item.bar = AXE_BAR_FULL;
    item.why = "the thread has filled its part";
    return push_stage(w, item, AXE_SYNC_ARRIVE, "", AXE_ARG_NONE);
}

/* Across roles: who has filled a stage says so, or lets its copies say so. */
static axe_status
fill_across(const axe_sync_where *w, axe_sync_item item)
{
    const axe_simt_ring *r = item.ring;
    axe_sync_item        arrive = item;

    arrive.what = AXE_SYNC_STAGE;
    arrive.row = r->arrive;
    arrive.bar = AXE_BAR_FULL;
    arrive.when = r->when;
    arrive.why = "pieces arrive by themselves";
    if (r->arrive)
        axe_sync_push(w->p, arrive);
    item.when = r->when;
    item.otherwise = r->when != NULL;
    if (!r->writes || (r->arrive && !r->when))
        return AXE_OK;
    if (!r->arrive)
        item.when = NULL;
    return arrive_filled(w, item);
}

axe_status
axe_sync_filled(const axe_sync_where *w, const axe_stmt *produce)
{
    const axe_simt_ring *r = axe_simt_ring_of(w->p->simt, produce->pipeline);
    axe_sync_item        item = item_of(r, produce, AXE_SYNC_FILLED);
    bool                 ahead = r->way == AXE_RING_AHEAD;

    AXE_TRY(push_commit(w, item, false));
    item.place = AXE_SYNC_FULL;
    if (r->way == AXE_RING_PLAIN)
        AXE_TRY(fill_plain(w, item));
    if (r->way == AXE_RING_ROLES)
        AXE_TRY(fill_across(w, item));
    push_step(w, item, r->fill,
              ahead && !r->reader->engine ? NULL : r->fill_phase);
    item.place = AXE_SYNC_PACE;
    return ahead ? push_pieces(w, item, AXE_SYNC_COMMIT, 0) : AXE_OK;
}

/* ------------------------------------------------------------- a stage is read
 */

/* What a stage of threads that run ahead is waited for: all of them have read
 * the stage before when its room is filled again. */
static axe_status
read_ahead(const axe_sync_where *w, axe_sync_item item, bool deferred)
{
    const axe_simt_ring *r = item.ring;
    bool                 asks = r->reader->engine != NULL;

    if (r->boxes)
        AXE_TRY(push_wait(w, item, AXE_BAR_FULL));
    if (r->writes) {
        AXE_TRY(push_pieces(w, item, AXE_SYNC_DRAIN, r->n_stage - 2));
        push_fence(w, item);
    }
    if (!deferred || asks) {
        push_refill(w, item);
        push_barrier(w, item, r->reader->threads,
                     "all see this stage, and have read the one before");
    }
    if (asks)
        AXE_TRY(push_sums(w, item, AXE_SYNC_AFTER));
    if (!deferred)
        push_fills(w, item);
    return AXE_OK;
}

/* Where that reading is in flight it is over once this iteration's has been
 * issued.  There is a barrier where one asks an engine to read, too: it would
 * come to phases of its barriers again that others wait for yet. */
static axe_status
free_ahead(const axe_sync_where *w, axe_sync_item item, bool deferred)
{
    const axe_simt_ring *r = item.ring;

    AXE_TRY(push_commit(w, item, true));
    if (deferred && (!r->reader->engine || r->reader->by_threads)) {
        push_refill(w, item);
        push_barrier(w, item, r->reader->threads,
                     "all have read the stage before");
    }
    if (deferred)
        push_fills(w, item);
    item.place = AXE_SYNC_OVER;
    push_step(w, item, r->read, r->read_phase);
    return AXE_OK;
}

static bool
is_deferred(const axe_simt_ring *r, const axe_stmt *loop)
{
    return r->reader->deferred == loop || r->reader->engine;
}

axe_status
axe_sync_read(const axe_sync_where *w, const axe_stmt *consume,
              const axe_stmt *loop)
{
    const axe_simt_ring *r = axe_simt_ring_of(w->p->simt, consume->pipeline);
    axe_sync_item        item = item_of(r, consume, AXE_SYNC_USE);

    if (r->way == AXE_RING_PLAIN)
        return AXE_OK;
    if (loop && r->way == AXE_RING_AHEAD)
        return read_ahead(w, item, is_deferred(r, loop));
    AXE_TRY(push_wait(w, item, AXE_BAR_FULL));
    if (r->arrive)
        push_fence(w, item);
    if (!loop && (r->sums || axe_ring_reader_of(r, w->threads)->engine))
        AXE_TRY(push_sums(w, item, AXE_SYNC_AFTER));
    return AXE_OK;
}

/* One thread of each warp group, or warp, that has read the stage says so to
 * every CTA whose boxes come here; of sums that two CTAs have, to the one that
 * asks for the next. */
static axe_status
release(const axe_sync_where *w, axe_sync_item item)
{
    const axe_simt_ring   *r = item.ring;
    const axe_ring_reader *to = axe_ring_reader_of(r, w->threads);

    AXE_TRY(push_commit(w, item, true));
    if (!to->by_threads)
        return AXE_OK;
    push_refill(w, item);
    if (r->sums)
        AXE_TRY(push_sums(w, item, AXE_SYNC_BEFORE));
    item.to_leader = r->pair > 1 && r->sums;
    item.by = to->by == AXE_SCOPE_THREAD                         ? 0
              : to->by == AXE_SCOPE_WARPGROUP && !item.to_leader ? AXE_BY_FIRST
                                                                 : AXE_BY_LANE;
    item.what = AXE_SYNC_ROW;
    item.why = to->by == AXE_SCOPE_THREAD
                   ? "the thread has read the stage"
                   : "all of the warp have read the stage";
    if (item.by == AXE_BY_LANE) {
        axe_sync_item all = item;
        all.by = 0;
        AXE_TRY(
            axe_sync_push_row(w->p, all, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, ""));
    }
    item.bar = AXE_BAR_EMPTY;
    item.threads = to->threads;
    item.n_cta = r->cluster;
    item.why = item.deferred ? "the stage before has been read"
                             : "the stage has been read";
    return push_stage(w, item, AXE_SYNC_ARRIVE, "",
                      r->cluster > 1 || item.to_leader ? AXE_ARG_INT
                                                       : AXE_ARG_NONE);
}

axe_status
axe_sync_release(const axe_sync_where *w, const axe_stmt *consume,
                 const axe_stmt *at, axe_sync_place place)
{
    const axe_simt_ring *r = axe_simt_ring_of(w->p->simt, consume->pipeline);
    axe_sync_item        item = item_of(r, consume, place);

    item.at = at;
    AXE_TRY(release(w, item));
    push_step(w, item, r->read, r->read_phase);
    return AXE_OK;
}

axe_status
axe_sync_free(const axe_sync_where *w, const axe_stmt *consume,
              const axe_stmt *loop)
{
    const axe_simt_ring *r = axe_simt_ring_of(w->p->simt, consume->pipeline);
    axe_sync_item        item = item_of(r, consume, AXE_SYNC_USED);

    if (loop && r->way == AXE_RING_AHEAD)
        return free_ahead(w, item, is_deferred(r, loop));
    if (r->way == AXE_RING_PLAIN) {
        AXE_TRY(push_commit(w, item, true));
        if (r->sums)
            AXE_TRY(push_sums(w, item, AXE_SYNC_BEFORE));
        push_step(w, item, r->read, NULL);
        return AXE_OK;
    }
    if (!loop)
        return axe_sync_release(w, consume, consume, AXE_SYNC_USED);
    item.deferred = true;
    AXE_TRY(release(w, item));
    item.deferred = false;
    item.what = AXE_SYNC_KEEP;
    item.why = "its products are still under way";
    axe_sync_push(w->p, item);
    push_step(w, item, r->read, r->read_phase);
    return AXE_OK;
}

/* What iterations have left in flight is over. */
static axe_status
push_deferred(const axe_sync_where *w, axe_sync_item item,
              const axe_ring_reader *to)
{
    const axe_atom *a = to->in_flight->simt->contract->atom;

    item.row = axe_simt_find_sync(w->p->mc, AXE_SYNC_DRAIN, a->by, a->group,
                                  AXE_ARG_INT, AXE_ARG_NONE);
    item.why = "products of the last stage are done";
    if (!item.row)
        return axe_fail(w->p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a %s waits by here", w->p->mc->name,
                        axe_scope_name(a->by));
    axe_sync_push(w->p, item);
    return AXE_OK;
}

axe_status
axe_sync_leave_loop(const axe_sync_where *w, const axe_stmt *loop)
{
    const axe_simt_ring   *r = axe_ring_overlapping(w->p->simt, loop);
    const axe_ring_reader *to = axe_ring_deferred_of(r, loop);
    axe_sync_item          item = item_of(r, loop, AXE_SYNC_BEHIND);

    if (r->way == AXE_RING_AHEAD)
        return r->reader->deferred == loop ? push_deferred(w, item, r->reader)
                                           : AXE_OK;
    AXE_TRY(push_deferred(w, item, to));
    item.deferred = true;
    return release(w, item);
}

/* ------------------------------------------------------------------ at an end
 */

/* All that were filled have been read, stage by stage. */
static axe_status
push_tail(axe_planner *p, const axe_simt_ring *r, axe_sync_item item)
{
    item.what = AXE_SYNC_ARRIVED;
    item.ring = r;
    item.bar = AXE_BAR_EMPTY;
    item.stage = r->fill;
    item.phase = r->fill_phase;
    item.why = "engines have arrived where they will";
    item.row = axe_simt_find_sync(p->mc, AXE_SYNC_WAIT, AXE_SCOPE_THREAD, "",
                                  AXE_ARG_SHARED, AXE_ARG_INT);
    if (!item.row)
        return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a thread waits by here",
                        p->mc->name);
    axe_sync_push(p, item);
    return AXE_OK;
}

axe_status
axe_sync_end_role(const axe_sync_where *w, const axe_stmt *role)
{
    axe_sync_item item = {.at = role, .place = AXE_SYNC_INSIDE};

    for (int i = 0; i < w->p->simt->n_ring; i++) {
        const axe_simt_ring *r = &w->p->simt->ring[i];
        if (r->way == AXE_RING_ROLES && r->producer &&
            axe_threads_is_within(r->producer, w->threads) &&
            axe_ring_is_told(r) && !axe_ring_is_early(w->launch, r))
            AXE_TRY(push_tail(w->p, r, item));
    }
    return AXE_OK;
}

axe_status
axe_sync_end_rings(axe_planner *p, const axe_simt_launch *l)
{
    for (int i = 0; i < p->simt->n_ring; i++) {
        const axe_simt_ring *r = &p->simt->ring[i];
        axe_sync_item        item = {
                   .at = l->scope, .place = AXE_SYNC_CLOSE, .threads = r->producer};
        int64_t pair;
        if (r->owner != l->threads || !axe_ring_is_told(r) ||
            !axe_ring_is_early(l, r))
            continue;
        if (r->way == AXE_RING_ROLES &&
            axe_sync_is_alone(p->simt, (const axe_schedule *const *)p->schedule,
                              r->producer->at, &pair)) {
            item.by = AXE_BY_FIRST;
            item.n_cta = (int)pair;
        }
        AXE_TRY(push_tail(p, r, item));
    }
    return AXE_OK;
}
