/* ring_protocol.h - how the threads of a CTA pass the stages of a pipeline on.
 *
 * PLAIN  the threads fill a stage and read it behind a barrier; another one
 *        stands before they fill it again
 * AHEAD  one thread group in one loop: it runs n_stage - 1 produces ahead, so
 *        that copies move while it computes; one barrier in an iteration
 * ROLES  a stage has two mbarriers: `full` is over when what was produced is
 *        there, `empty` when all who read it have done so
 *
 * Where an engine reads the stage, or fills it, and arrives at a barrier by
 * itself when it has done so, `empty` and `full` take one arrival of it; a ring
 * in one role then has `empty`, too, and waits for that before it fills a stage
 * again.
 *
 * A phase of `full` takes one arrival of the thread that hands boxes to the
 * engine, which also says how many bytes will come, and one of each other
 * thread that writes.  A phase of `empty` takes one of each warp group, or each
 * warp, that reads, of all CTAs whose boxes come to this one; or one of each
 * thread, where some warp has lanes that do not read.  Several roles
 * may read a ring: each reads every stage, and counts stages by itself. */
#ifndef AXE_PLAN_SIMT_RING_RING_PROTOCOL_H
#define AXE_PLAN_SIMT_RING_RING_PROTOCOL_H

#include "plan/simt/simt.h"

typedef enum axe_ring_way {
    AXE_RING_PLAIN,
    AXE_RING_AHEAD,
    AXE_RING_ROLES
} axe_ring_way;

/* Who reads a ring: a role, or the thread group that fills it, too.
 *
 * deferred  the loop whose iterations leave the contraction of a stage in
 * flight: the stage is released when the next one's has been issued; NULL:
 * none */
typedef struct axe_ring_reader {
    const axe_thread_group *threads;
    int                     arrivals; /* at `empty` */
    axe_scope_kind          by;       /* who arrives there as one */
    const char *engine;         /* group of the engine that reads it, arrives
                                   there, and is asked by one thread of each
                                   entity; NULL */
    bool            by_threads; /* others of the thread group read it, too */
    bool            loads;      /* threads load from it, by themselves */
    const axe_stmt *deferred;
    const axe_schedule *in_flight; /* that contraction */
} axe_ring_reader;

struct axe_simt_ring {
    const axe_pipeline *ring;
    const axe_stmt     *produce; /* the first one */
    axe_ring_way        way;
    int                 n_stage;
    bool early; /* its counters begin with the CTA, as its barriers do, and not
                   where it is declared or its roles are: that is in a loop */
    const axe_thread_group *owner, *producer;
    int                     n_reader; /* 0: nobody; several only across roles */
    axe_ring_reader        *reader;   /* [n_reader], room for one at least */
    const axe_var          *fill, *read; /* NULL: one stage */
    const axe_var          *fill_phase, *read_phase;
    bool                    boxes; /* something comes by boxes */
    bool writes;                 /* something is written by threads, or comes by
                                    their pieces */
    bool            stores;      /* by threads themselves */
    const char     *group;       /* of those pieces; NULL: none */
    const axe_atom *arrive;      /* by which pieces arrive at `full` when they
                                    are there; NULL: threads wait for theirs */
    const axe_node *when;        /* and when that is so; NULL: always */
    int             cluster;     /* CTAs whose boxes come here; 1: own */
    int             full, empty; /* arrivals; 0: no such barrier */
    const char *filled_by; /* the engine that fills it, arrives at `full`, and
                              is asked by one thread of each entity; NULL */
    int pair; /* CTAs of which the first asks the engine for all; what comes is
                 told at its barriers, what is done at all of theirs, or of
                 those whose boxes come here; 1: each its own */
    bool            sums;   /* it has tiles in tensor memory */
    const char     *fence;  /* readers are engines of this group; NULL: no */
    const axe_atom *refill; /* between what threads load from a stage and the
                               boxes that fill it again; NULL: none */
    int64_t copies;   /* entities that each have such a ring, with barriers of
                         its own; across roles 1 */
    int64_t barriers; /* where in shared memory: n_stage of `full` for each
                         copy, then, on 16 bytes again, as many of `empty` */
};

/* A loop that a ring runs ahead in: its whole body is a produce and a consume
 * of one pipeline, and the produce needs nothing that the consume makes. */
bool axe_simt_runs_ahead(const axe_stmt *loop);

/* How many iterations the loop has, if that is a constant; else 0, as for what
 * is no loop. */
int64_t axe_simt_iterations(const axe_stmt *loop);

/* Does the statement stand in a produce of its own, not in a branch of it nor
 * in a loop whose iterations are not known?  Then how many bytes come is
 * known. */
bool axe_simt_is_counted(int n, axe_stmt *const *body, const axe_stmt *s);

/* Bytes that come to each CTA by the boxes of a produce. */
int64_t axe_simt_box_bytes(int n_schedule, const axe_schedule *const *schedule,
                           const axe_stmt *produce);

/* What reads the ring as the thread group, or around it; with one reader that
 * one. */
axe_ring_reader *axe_ring_reader_of(const axe_simt_ring    *r,
                                    const axe_thread_group *c);
/* Whose iterations of the loop leave a stage in flight, or NULL. */
const axe_ring_reader *axe_ring_deferred_of(const axe_simt_ring *r,
                                            const axe_stmt      *loop);

const axe_simt_ring *axe_simt_ring_of(const axe_simt_plan *sp,
                                      const axe_pipeline  *ring);

#endif
