/* sync_list.h - what threads do around statements so that others see what they
 * did, and they what others did: one list, in the order of execution.
 *
 * It is made last, from what hazards.c found (where threads wait),
 * async_drain.c (products done later), and schedules (copies done later,
 * engines that read what threads write).  Lowering spells the items of a place
 * and asks no more. docs/design/synchronisation.md says what is not in it yet.
 */
#ifndef AXE_PLAN_SIMT_SYNC_SYNC_LIST_H
#define AXE_PLAN_SIMT_SYNC_SYNC_LIST_H

#include "plan/simt/simt.h"

typedef enum axe_sync_place {
    AXE_SYNC_OPEN,   /* of a launch's scope: before all else */
    AXE_SYNC_LEFT,   /* before the statement: what others left under way ends */
    AXE_SYNC_AHEAD,  /* before the statement, for itself */
    AXE_SYNC_BEHIND, /* behind its end */
    AXE_SYNC_CLOSE   /* of a launch's scope: behind all else */
} axe_sync_place;

typedef enum axe_sync_what {
    AXE_SYNC_ROW, /* each thread executes the row; where it takes a number, 0 */
    AXE_SYNC_DONE,     /* the drain's products are done */
    AXE_SYNC_TOGETHER, /* a barrier of the threads */
    AXE_SYNC_ASKED,    /* they wait for what they issued to an engine */
    AXE_SYNC_MADE,     /* the first thread makes the launch's barriers, which
                          others then see by the row, if any; counters begin */
    AXE_SYNC_COLUMNS,  /* the first warp asks for tensor memory by the row */
    AXE_SYNC_TOLD,     /* threads read which columns it is */
    AXE_SYNC_FREED,    /* the first warp gives it back by the row */
    AXE_SYNC_ARRIVED   /* engines have arrived at the barriers of rings */
} axe_sync_what;

struct axe_sync_item {
    const axe_stmt  *at;
    axe_sync_place   place;
    axe_sync_what    what;
    const axe_atom  *row;   /* ROW, COLUMNS, FREED; MADE: or NULL */
    const axe_drain *drain; /* DONE */
    const axe_stmt  *last; /* DONE: in front of it, whose results the wait stays
                              behind; or NULL */
    const axe_thread_group *threads;    /* TOGETHER */
    const axe_sync_point   *sync_point; /* ASKED */
    const char             *why;
};

/* Is the loop lowered with its iterations overlapping: of which ring; or
 * NULL. */
const axe_simt_ring *axe_ring_overlapping(const axe_simt_plan *sp,
                                          const axe_stmt      *loop);

#endif
