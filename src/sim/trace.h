/* trace.h - what a launch did, for its times: what each warp did as a list of
 * deeds, and what lets whom go on as gates.
 *
 * A gate opens when all have arrived that were to: threads at a barrier, copies
 * and threads at a phase of an mbarrier, atoms of a group, loads of an array.
 * Who arrives where is as the simulator saw it, so order by gates is order by
 * barriers, waits and drains, and has no circle.  When each gate opens is found
 * afterwards (replay.c), for all CTAs of the launch side by side. */
#ifndef AXE_SIM_TRACE_H
#define AXE_SIM_TRACE_H

#include "axe/timeline.h"
#include "plan/cost/simt.h"
#include "sim/sim_int.h"

/* A cycle is so many ticks: all times are whole numbers of them. */
enum { TICKS = 64 };

typedef enum sim_deed {
    DEED_ISSUE,   /* takes its scheduler for `cost` */
    DEED_PRODUCT, /* takes its part of the tensor core */
    DEED_MOVE,    /* takes the SM's unit for loads and stores; what it brings
                     arrives at the gate */
    DEED_PAUSE,   /* goes on `cost` later */
    DEED_ARRIVE,  /* at the gate */
    DEED_WAIT,    /* until the gate is open */
    DEED_ASK      /* an engine for operation number `gate` */
} sim_deed;

typedef struct sim_record {
    uint8_t deed, work; /* work: axe_timeline_work, of what takes time */
    int32_t gate;
    int32_t cost;          /* [ticks] */
    int32_t bytes, memory; /* of L2; of memory */
} sim_record;

typedef struct sim_chunk {
    int               n, cap;
    struct sim_chunk *next;
    sim_record       *record;
} sim_chunk;

/* What a warp did. */
typedef struct sim_stream {
    sim_chunk *first, *last;
} sim_stream;

/* Number 0 is none. */
typedef struct sim_gate {
    int32_t need, came; /* arrivals */
    int32_t then;       /* gates that this one arrives at: a list of links */
    int32_t waits;      /* warps, likewise */
    int32_t op;         /* that begins when it opens, or 0 */
    int64_t open;       /* [ticks] the last arrival so far */
} sim_gate;

typedef struct sim_link {
    int32_t to, next;
} sim_link;

typedef enum sim_engine {
    ENGINE_NONE,   /* takes `cost`, and nobody's time */
    ENGINE_MOVE,   /* the SM's unit for loads and stores */
    ENGINE_COPY,   /* the SM's way to L2 */
    ENGINE_TENSOR, /* all of the tensor core */
} sim_engine;

typedef struct sim_task {
    sim_engine engine;
    int        cta, n_cta; /* whose SM; and of those behind it */
    int        share;      /* CTAs that get the same bytes */
    int64_t    cost, bytes, memory;
    int        gate, read; /* it is done, it has read; or 0 */
} sim_task;

/* A CTA that ran: its warps' streams. */
typedef struct sim_ran {
    int64_t     block;
    sim_stream *stream; /* [n_warp] */
} sim_ran;

/* Of an instruction: what it reads, what it takes. */
typedef struct sim_note {
    int     n_read, *read; /* arrays */
    int32_t cost;          /* [ticks] of its scheduler */
} sim_note;

enum { SEEN = 256 };

typedef struct sim_trace {
    axe_ctx         *own; /* of this launch */
    const axe_rates *rates;
    axe_timeline    *out;
    int              cap_launch, cap_role, cap_row;
    double           ghz;
    int64_t          now;  /* [ticks] the end of the launches so far */
    bool             cold; /* memory holds what L2 does not */
    bool             full; /* there was too much of it */
    sim_note        *note; /* [n_inst] */
    int64_t          n_record;
    int              n_gate, cap_gate, n_link, cap_link, n_op, cap_op;
    int              n_ran, cap_ran;
    sim_gate        *gate;
    sim_link        *link;
    sim_task        *op;
    sim_ran         *ran;
    uint8_t        **met; /* [n_global] sectors: 1 read, 2 written */
    int64_t          bytes, memory, shared, turns; /* of the atom at hand */
    int64_t          seen[SEEN]; /* sectors of the atom at hand, + 1 */
} sim_trace;

/* Room for one more than n: `old`, or a copy of it that is larger. */
void *axe_sim_grown(axe_ctx *cx, void *old, int n, int *cap, size_t size);
/* A list with `to` in front of `next`. */
int axe_sim_link(sim_trace *t, int to, int next);
/* Number `to` is to come to gate `at` as well. */
void axe_sim_trace_then(sim_trace *t, int at, int to);
int  axe_sim_gate_new(sim_trace *t);
/* Of the phase that the mbarrier is in. */
int axe_sim_phase_gate(sim_trace *t, sim_mbar *b);

/* One more record of a warp.  True if it is one of its own, and no part of the
 * last. */
bool axe_sim_trace_put(sim *s, sim_warp *w, sim_record r);
/* The warp waits for a gate, or none; it arrives at one. */
void axe_sim_trace_wait(sim *s, sim_warp *w, int gate, axe_timeline_work why);
void axe_sim_trace_at(sim *s, sim_warp *w, int gate);
int32_t axe_sim_ticks(double cycles);
/* An atom begins: bytes are counted from here. */
void axe_sim_count_from_here(sim *s);
/* [bytes] of shared memory that were read or written. */
int64_t axe_sim_shared_so_far(const sim *s);

/* When all of the launch happened: into the timeline.
 * Errors  ELIMIT: more was noted than is kept */
AXE_CHECK axe_status axe_sim_replay(sim *s);

#endif
