/* replay.h - a launch while it is replayed: what SMs, CTAs and warps are at. */
#ifndef AXE_SIM_REPLAY_H
#define AXE_SIM_REPLAY_H

#include "sim/trace.h"

/* What an SM has, and until when it is taken [ticks]. */
typedef struct replay_sm {
    int64_t  scheduler[AXE_SCHEDULERS], tensor[AXE_SCHEDULERS], move, copy;
    uint64_t slots; /* that CTAs have */
} replay_sm;

typedef struct replay_warp {
    int              cta, id; /* id: of the CTA */
    const sim_chunk *chunk;
    int              at;
    int64_t          now, left; /* left: of the deed at hand */
    bool             done;
    axe_timeline_row spans; /* [ticks] */
} replay_warp;

typedef struct replay_cta {
    int     sm, slot, n_left;
    int64_t begin, end;
    bool    begun;
} replay_cta;

/* What is to be done because gates opened. */
typedef struct replay_opened {
    int     gate;
    int64_t at;
} replay_opened;

typedef struct sim_replay {
    sim           *s;
    sim_trace     *t;
    axe_ctx       *own;
    int            n_slot; /* CTAs that an SM holds */
    replay_sm     *sm;
    int64_t        memory;            /* until when it is busy */
    int64_t        l2_rate, mem_rate; /* [ticks] for 2^20 bytes */
    int64_t        near, far, in_sm;  /* [ticks] from asking to having */
    replay_cta    *cta;
    replay_warp   *run; /* [n_ran * n_warp] */
    int            n_heap, *heap;
    int            next; /* CTA: the first of the next cluster */
    int            n_open, cap_open;
    replay_opened *open;
    int           *row; /* [n_sm][n_slot][rows of a CTA] of the timeline, + 1 */
    int            first_role;
    int64_t        end, l2_bytes, memory_bytes, n_block;
} sim_replay;

/* replay_rows.c: the rows that a CTA may have, engines first. */
int axe_sim_n_rows(const sim_replay *p);
/* The roles of the launch, which have done nothing yet. */
void axe_sim_make_roles(sim_replay *p);
/* What row `which` of a CTA does from one tick to another. */
void axe_sim_put_span(sim_replay *p, const replay_cta *c, int which,
                      int64_t begin, int64_t end, int64_t what);
/* Of warps [first, last] of CTA c, row `which`, what counts most, from time to
 * time. */
void axe_sim_put_warps(sim_replay *p, int c, int which);
/* The launch is over, and began then: its rows in order. */
void axe_sim_put_launch(sim_replay *p, int64_t begin);

#endif
