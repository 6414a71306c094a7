/* sync_list.h - what threads do around statements so that others see what they
 * did, and they what others did: one list, in the order of execution.
 *
 * It is made last, from what hazards.c found (where threads wait),
 * async_drain.c (products done later), and schedules (copies done later,
 * engines that read what threads write).  Lowering spells each item once, at
 * its place; one that it has no place for, or comes to twice, is an error.
 * docs/design/synchronisation.md says what is not in the list, and why.
 */
#ifndef AXE_PLAN_SIMT_SYNC_SYNC_LIST_H
#define AXE_PLAN_SIMT_SYNC_SYNC_LIST_H

#include "plan/simt/simt.h"

typedef enum axe_sync_place {
    AXE_SYNC_OPEN,  /* of a launch's scope: before all else */
    AXE_SYNC_LEFT,  /* before the statement: what others left under way ends */
    AXE_SYNC_AHEAD, /* before the statement, for itself */
    AXE_SYNC_ENTER, /* of a role, or a scope in a CTA: before all it does */
    AXE_SYNC_ASK,   /* of who runs a loop over the launch's tiles, a role or
                       the launch's scope: where a tile begins */
    AXE_SYNC_BEGUN, /* so: its variables are known; the tile is done */
    AXE_SYNC_ENDED,
    AXE_SYNC_NEXT, /* so: where it ends */
    AXE_SYNC_ROOM, /* of a PRODUCE: in front of it, for its room */
    AXE_SYNC_FILL, /* in front of the statements that fill it; behind them */
    AXE_SYNC_FILLED,
    AXE_SYNC_FULL, /* behind it: the stage is full, the next one is the ring's
                    */
    AXE_SYNC_PACE, /* of one that runs ahead: behind it, or where it would stand
                      in iterations in which there is nothing to fill */
    AXE_SYNC_USE,  /* of a CONSUME: in front of it */
    AXE_SYNC_USED, /* behind the last statement that reads the stage */
    AXE_SYNC_OVER, /* of one behind which a stage ahead is filled: behind that
                    */
    AXE_SYNC_INSIDE, /* behind what the statement, or role, does, in the branch
                        that does it */
    AXE_SYNC_LEAVE,  /* of a role, or a scope in a CTA: behind all it does */
    AXE_SYNC_BEHIND, /* behind its end */
    AXE_SYNC_CLOSE   /* of a launch's scope: behind all else */
} axe_sync_place;

typedef enum axe_sync_what {
    AXE_SYNC_ROW,      /* each thread executes the row; where it takes a number,
                          with n */
    AXE_SYNC_DONE,     /* the drain's products are done */
    AXE_SYNC_TOGETHER, /* a barrier of the threads */
    AXE_SYNC_ASKED,    /* the row at the sync point's barrier, where an engine
                          arrives */
    AXE_SYNC_MADE,     /* the first thread makes the launch's barriers, which
                          others then see by the row, if any; counters begin */
    AXE_SYNC_COLUMNS,  /* the first warp asks for tensor memory by the row */
    AXE_SYNC_TOLD,     /* threads read which columns it is */
    AXE_SYNC_FREED,    /* the first warp gives it back by the row */
    AXE_SYNC_ARRIVED,  /* the row at `bar` of all stages that were filled */
    AXE_SYNC_STAGE,    /* the row at `bar` of a stage */
    AXE_SYNC_STEP,     /* `stage` and `phase` are the next one's */
    AXE_SYNC_KEEP,     /* `stage` is the one before, to DEFERRED items */
    AXE_SYNC_FILLS,    /* a PRODUCE of a later iteration stands here */
    AXE_SYNC_TURN,     /* the row at a barrier of entities that take turns */
    AXE_SYNC_ANSWER,   /* the row at an answer of the launch's queue, which says
                          what tile is next, or at a barrier of it */
    AXE_SYNC_REACHED,  /* the row at all counters that the relation says, by the
                          first thread of each entity, or by all */
    AXE_SYNC_COUNTED,  /* the row at the counter of the tile, so */
    AXE_SYNC_ZEROS,    /* the first CTA's threads set counters to zero */
    AXE_SYNC_OPENED,   /* its first thread opens their gate by the row */
    AXE_SYNC_PASSED,   /* the row at the gate, by the first thread of each
                          entity; of a tile, at the first one alone */
    AXE_SYNC_SEEN,     /* one CTA more has, by the row */
    AXE_SYNC_ALL,      /* the first CTA's first thread waits by the row until
                          all have */
    AXE_SYNC_SHUT      /* it shuts the gate by the row */
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
    AXE_BY_LANE = 4,   /* the first lane of each warp */
    AXE_BY_WARP = 8    /* the CTA's first warp */
};

struct axe_sync_item {
    const axe_stmt  *at;
    axe_sync_place   place;
    axe_sync_what    what;
    const axe_atom  *row;   /* ROW, COLUMNS, FREED; MADE: or NULL */
    const axe_drain *drain; /* DONE */
    const axe_stmt  *last; /* DONE: in front of it, whose results the wait stays
                              behind; or NULL */
    const axe_thread_group *threads;     /* TOGETHER, TURN, ANSWER, STAGE;
                                            ARRIVED at CLOSE */
    const axe_sync_point *sync_point;    /* ASKED */
    axe_sync_bar          bar;           /* TURN, ANSWER, STAGE */
    unsigned              by;            /* AXE_BY_*; 0: each thread */
    int                   entity;        /* TURN: it alone does; -1: each */
    const axe_simt_ring  *ring;          /* of stages */
    const axe_var        *stage, *phase; /* its counters; NULL: one stage; one
                                            phase */
    bool deferred; /* of the stage before the one at hand, if there is one */
    int  n_cta;    /* STAGE: told in so many CTAs, lane or thread i in CTA i;
                      EXPECT: in the first of so many */
    bool    to_leader; /* STAGE: told in the first CTA of the ring's pair */
    int64_t n;         /* groups left; EXPECT: bytes */
    const axe_node            *when;      /* only then; NULL: always */
    bool                       otherwise; /* only if not `when` */
    const struct axe_relation *relation;  /* REACHED */
    const struct axe_counters *counters;  /* COUNTED */
    int64_t     many;   /* REACHED: by how many a tile is counted */
    bool        shared; /* REACHED: each thread waits for some of them */
    const char *why;
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

/* Does an engine say by itself that it has read a stage?  Then a CTA may not
 * end before it has said so of all that were filled. */
bool axe_ring_is_told(const axe_simt_ring *r);
/* Do its counters begin with the CTA, since where it is declared, or its roles
 * are, is come to again? */
bool axe_ring_is_early(const axe_simt_launch *l, const axe_simt_ring *r);
/* Statements of a CONSUME in front of FREE. */
int axe_ring_count_reading(const axe_simt_ring *r, const axe_stmt *consume);

#endif
