/* sync_queue.c - how tiles of CTAs that stay are taken as they come; see
 * tile_scheduler.h: what is done where a tile begins, and where it ends. */
#include "plan/simt/ring/tile_scheduler.h"
#include "plan/simt/sync/sync.h"

static bool
is_alone(const axe_planner *p, const axe_stmt *role)
{
    int64_t pair;

    return role &&
           axe_sync_is_alone(p->simt, (const axe_schedule *const *)p->schedule,
                             role, &pair);
}

/* The row at an answer, or at a barrier of it. */
static axe_status
push(axe_planner *p, axe_sync_item item, axe_sync_kind kind, const char *group,
     axe_arg_space second)
{
    item.what = AXE_SYNC_ANSWER;
    item.row = axe_simt_find_sync(p->mc, kind, AXE_SCOPE_THREAD, group,
                                  AXE_ARG_SHARED, second);
    if (!item.row)
        return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a thread waits by here",
                        p->mc->name);
    axe_sync_push(p, item);
    return AXE_OK;
}

/* In the first CTA, when all have read what was in this room. */
static axe_status
push_take(axe_planner *p, const axe_simt_launch *l, axe_sync_item item)
{
    if (l->scope->keys.cluster > 1)
        item.by |= AXE_BY_LEADER;
    item.bar = AXE_BAR_EMPTY;
    item.why = "all have read the answer that was in its room";
    AXE_TRY(push(p, item, AXE_SYNC_WAIT, "", AXE_ARG_INT));
    item.bar = AXE_BAR_FULL;
    item.what = AXE_SYNC_ANSWER;
    item.row = l->queue->take;
    item.why = "the next tile is asked for";
    axe_sync_push(p, item);
    return AXE_OK;
}

axe_status
axe_sync_begin_alone(axe_planner *p, const axe_simt_launch *l,
                     const axe_stmt *role)
{
    axe_sync_item item = {.at = role,
                          .place = AXE_SYNC_ENTER,
                          .why = "what the warp did is told when one thread "
                                 "has read which tile is next"};

    return l->queue && is_alone(p, role)
               ? axe_sync_push_row(p, item, AXE_SYNC_BARRIER, AXE_SCOPE_WARP,
                                   "")
               : AXE_OK;
}

axe_status
axe_sync_ask_tile(axe_planner *p, const axe_simt_launch *l,
                  const axe_stmt *role)
{
    const axe_thread_group *c =
        role ? axe_threads_at(p->simt, role) : l->threads;
    axe_sync_item item = {.at = role ? role : l->scope,
                          .place = AXE_SYNC_ASK,
                          .threads = c,
                          .bar = AXE_BAR_FULL,
                          .why = "the answer's bytes will come"};

    if (!l->queue || role != l->queue->issuer)
        return AXE_OK;
    if (c->n_thread > 1 && !is_alone(p, role))
        item.by = AXE_BY_FIRST;
    AXE_TRY(
        push(p, item, AXE_SYNC_EXPECT, axe_simt_by_bytes(p->mc), AXE_ARG_INT));
    return push_take(p, l, item);
}

/* The room may be used again, as far as these threads go. */
static axe_status
give_back(axe_planner *p, const axe_simt_launch *l, axe_sync_item item,
          bool alone)
{
    axe_sync_item fence = item;

    fence.row = axe_simt_find_sync(p->mc, AXE_SYNC_FENCE, AXE_SCOPE_THREAD,
                                   axe_simt_by_bytes(p->mc), AXE_ARG_SHARED,
                                   AXE_ARG_NONE);
    fence.why = "an engine writes where threads have read";
    if (fence.row)
        axe_sync_push(p, fence);
    fence.why = "all of the warp have read";
    if (!alone && item.threads->n_thread >= p->simt->lanes) {
        AXE_TRY(
            axe_sync_push_row(p, fence, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, ""));
        item.by = AXE_BY_LANE;
    }
    item.bar = AXE_BAR_EMPTY;
    item.why = "the answer's room is free";
    return push(p, item, AXE_SYNC_ARRIVE, "",
                l->scope->keys.cluster > 1 ? AXE_ARG_INT : AXE_ARG_NONE);
}

axe_status
axe_sync_next_tile(axe_planner *p, const axe_simt_launch *l,
                   const axe_stmt *role)
{
    bool          alone = is_alone(p, role);
    axe_sync_item item = {.at = role ? role : l->scope,
                          .place = AXE_SYNC_NEXT,
                          .bar = AXE_BAR_FULL,
                          .why = "the answer is there"};

    if (!l->queue)
        return AXE_OK;
    item.threads = role ? axe_threads_at(p->simt, role) : l->threads;
    AXE_TRY(push(p, item, AXE_SYNC_WAIT, "", AXE_ARG_INT));
    axe_sync_item read = item;
    read.what = AXE_SYNC_ANSWER;
    read.row = l->queue->taken;
    read.why = "which tile is next";
    axe_sync_push(p, read);
    return give_back(p, l, item, alone);
}
