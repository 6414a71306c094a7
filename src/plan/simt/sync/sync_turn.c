/* sync_turn.c - what the entities of a scope do in turn.
 *
 * Entity e waits at its own barrier until the one before has come there behind
 * its turn, and behind its own comes to the next one's.  The last one comes to
 * the first one's barrier before the first turn, and the first one waits for
 * that of the last turn, so that all barriers are as they were. */
#include "plan/simt/sync/sync.h"

/* Arrive at the barrier, or arrive and wait. */
static axe_status
push(axe_planner *p, axe_sync_item item, const axe_thread_group *c,
     axe_sync_kind kind)
{
    if (!c || c->turn < 0)
        return AXE_OK;
    item.what = AXE_SYNC_TURN;
    item.threads = c;
    item.row = axe_simt_find_sync(p->mc, kind, AXE_SCOPE_WARP, "", AXE_ARG_INT,
                                  AXE_ARG_INT);
    if (!item.row)
        return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a warp waits by here", p->mc->name);
    axe_sync_push(p, item);
    return AXE_OK;
}

axe_status
axe_sync_begin_turns(axe_planner *p, const axe_stmt *at,
                     const axe_thread_group *c)
{
    axe_sync_item item = {.at = at,
                          .place = AXE_SYNC_ENTER,
                          .bar = AXE_BAR_FIRST,
                          .entity = c ? c->n_entity - 1 : 0,
                          .why = "the first turn is the first one's"};

    return push(p, item, c, AXE_SYNC_HALF);
}

axe_status
axe_sync_end_turns(axe_planner *p, const axe_stmt *at,
                   const axe_thread_group *c)
{
    axe_sync_item item = {.at = at,
                          .place = AXE_SYNC_LEAVE,
                          .bar = AXE_BAR_FIRST,
                          .why = "the last turn is over"};

    return push(p, item, c, AXE_SYNC_BARRIER);
}

axe_status
axe_sync_enter_turn(axe_planner *p, const axe_stmt *turn,
                    const axe_thread_group *c)
{
    axe_sync_item item = {.at = turn,
                          .place = AXE_SYNC_AHEAD,
                          .bar = AXE_BAR_OWN,
                          .entity = -1,
                          .why = "its turn begins"};

    return push(p, item, c, AXE_SYNC_BARRIER);
}

axe_status
axe_sync_leave_turn(axe_planner *p, const axe_stmt *turn,
                    const axe_thread_group *c)
{
    axe_sync_item item = {.at = turn,
                          .place = AXE_SYNC_BEHIND,
                          .bar = AXE_BAR_AFTER,
                          .entity = -1,
                          .why = "the next one's turn begins"};

    return push(p, item, c, AXE_SYNC_HALF);
}
