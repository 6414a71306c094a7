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
    AXE_SYNC_ENTER,  /* of a role, or a scope in a CTA: before all it does */
    AXE_SYNC_ASK,    /* of who runs a loop over the launch's tiles, a role or
                        the launch's scope: where a tile begins */
    AXE_SYNC_NEXT,   /* so: where it ends */
    AXE_SYNC_INSIDE, /* behind what the statement does where it has to */
    AXE_SYNC_LEAVE,  /* of a role, or a scope in a CTA: behind all it does */
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
    AXE_SYNC_ARRIVED,  /* engines have arrived at the barriers of rings */
    AXE_SYNC_TURN,     /* the row at a barrier of entities that take turns */
    AXE_SYNC_ANSWER    /* the row at an answer of the launch's queue, which says
                          what tile is next, or at a barrier of it */
} axe_sync_what;

/* Which of several barriers; the last three of TURN, by entities. */
typedef enum axe_sync_bar {
    AXE_BAR_FULL,  /* what is to be read is there */
    AXE_BAR_EMPTY, /* all have read it */
    AXE_BAR_FIRST,
    AXE_BAR_OWN,
    AXE_BAR_AFTER /* the one behind its own */
} axe_sync_bar;

/* Who of the threads that come there: those of which all bits hold. */
enum {
    AXE_BY_FIRST = 1,  /* the first thread of each entity */
    AXE_BY_LEADER = 2, /* those in the cluster's first CTA */
    AXE_BY_LANE = 4    /* the first lane of each warp */
};

struct axe_sync_item {
    const axe_stmt  *at;
    axe_sync_place   place;
    axe_sync_what    what;
    const axe_atom  *row;   /* ROW, COLUMNS, FREED; MADE: or NULL */
    const axe_drain *drain; /* DONE */
    const axe_stmt  *last; /* DONE: in front of it, whose results the wait stays
                              behind; or NULL */
    const axe_thread_group *threads;    /* TOGETHER, TURN, ANSWER */
    const axe_sync_point   *sync_point; /* ASKED */
    axe_sync_bar            bar;        /* TURN, ANSWER */
    unsigned                by;         /* AXE_BY_*; 0: each thread */
    int                     entity;     /* TURN: it alone does; -1: each */
    const char             *why;
};

/* Is the role one thread's, in the first of `pair` CTAs: does it do nothing but
 * ask engines? */
bool axe_sync_is_alone(const axe_simt_plan       *sp,
                       const axe_schedule *const *schedule,
                       const axe_stmt *role, int64_t *pair);

/* Is the loop lowered with its iterations overlapping: of which ring; or
 * NULL. */
const axe_simt_ring *axe_ring_overlapping(const axe_simt_plan *sp,
                                          const axe_stmt      *loop);

#endif
