/* sim_run.h - what there is while a launch runs: agents, shadows, warps, CTAs,
 * clusters. */
#ifndef AXE_SIM_RUN_H
#define AXE_SIM_RUN_H

#include "sim/sim_code.h"

enum {
    MAX_NAMED = 32,   /* named barriers of a CTA */
    MAX_GROUP = 8,    /* names of groups in a machine's table */
    GRANULE = 16,     /* bytes of a shadow cell */
    WORD = 4,         /* bytes of a column of a lane */
    MAX_COLUMNS = 16, /* allocations of tensor memory in a CTA */
    POISON = 0xff,    /* what lies in memory at first */
    EVERY_LANE = 255
};

typedef struct sim_cta     sim_cta;
typedef struct sim_warp    sim_warp;
typedef struct sim_counter sim_counter;

/* ----------------------------------------------------------- agents */

/* Who acts.  Clocks count what an agent has done: of a warp the stretches
 * between its releases, of an mbarrier its phases, else operations. */
typedef enum sim_agent_kind {
    SIM_AGENT_WARP,
    SIM_AGENT_TENSOR, /* the tensor core of a warpgroup; op by op */
    SIM_AGENT_BAR,    /* what completes at an mbarrier, by phases */
    SIM_AGENT_GROUP,  /* what a warp's groups do, op by op */
    SIM_AGENT_READ    /* their reading alone */
} sim_agent_kind;

typedef struct sim_agent {
    sim_agent_kind kind;
    const sim_cta *cta;
    int64_t        block;
    int index, group; /* warp, warp group or mbarrier; name of group */
} sim_agent;

/* What is known to have happened, by agent: vc as threads see it; pvc and gvc
 * as the asynchronous proxy sees what threads did to shared and to global
 * memory; tvc of tensor memory (of warps and what they issue: it is in no
 * message). Agents of one cluster follow one another; a clock that knows
 * nothing of a cluster is not asked about it. */
typedef struct sim_clock {
    uint32_t *vc, *pvc, *gvc, *tvc;
    uint64_t *of; /* clusters that it may know of, bit by bit */
} sim_clock;

/* ----------------------------------------------------------- shadow */

/* What happened last to 16 bytes; or to one, where they differ.  A read that
 * an other reader's is not ordered with is kept beside it. */
enum { CELL_READERS = 3 };
typedef struct sim_cell {
    uint32_t w_epoch, r_epoch[CELL_READERS];
    uint16_t w_agent, r_agent[CELL_READERS];
    uint16_t w_site, r_site[CELL_READERS]; /* instructions */
    uint16_t tag;                          /* buffer that wrote, + 1 */
    uint8_t  n_read;
    uint8_t  w_lane, r_lane[CELL_READERS]; /* EVERY_LANE: several */
    bool     is_init, by_proxy, atomic;
    uint8_t  r_atomic; /* readers that are, bit by bit */
    uint32_t more;     /* readers beyond: number of a list, + 1 */
} sim_cell;

/* Readers of a cell beyond those that have place in it. */
typedef struct sim_reader {
    uint32_t epoch;
    uint16_t agent;
    bool     atomic;
} sim_reader;

typedef struct sim_more {
    int         n, cap;
    sim_reader *reader;
    int         next; /* of those to spare */
} sim_more;

enum { PAGE_CELLS = 64 };
typedef struct sim_page {
    sim_cell         cell[PAGE_CELLS];
    uint64_t         is_split;          /* by cell */
    sim_cell        *split[PAGE_CELLS]; /* [GRANULE], or NULL */
    struct sim_page *next;              /* of those to spare */
} sim_page;

/* Of one CTA's shared memory or one global tensor. */
typedef struct sim_shadow {
    int64_t    bytes;
    sim_page **page;
    int        n_used;
    int       *used; /* pages, to forget them */
} sim_shadow;

/* A global tensor. */
typedef struct sim_global {
    const axe_tensor *tensor;
    uint8_t          *data;
    int64_t           shape[AXE_RANK_MAX], stride[AXE_RANK_MAX];
    int64_t           span;        /* [elements] */
    bool              writes;      /* some atom writes it */
    bool              dense;       /* every element below span exists */
    uint8_t          *is_init;     /* [span]; NULL: all are */
    uint32_t     *writer, *reader; /* [span] cluster + 1; SIM_MANY: several */
    uint16_t     *w_site, *r_site;
    bool         *w_atomic;
    sim_shadow    shadow;  /* within a cluster, or of all that run together */
    bool          counts;  /* some atom counts in it, or waits for a count */
    sim_counter **counter; /* [span] of words that are counters */
} sim_global;
#define SIM_MANY UINT32_MAX

/* ----------------------------------------------------------- run state */

typedef struct sim_mbar {
    bool     is_init, is_seen; /* INIT; and then INITED */
    int64_t  count, pending, tx;
    uint32_t phase;     /* that are over */
    int      agent, by; /* by: agent of INIT, at epoch */
    uint32_t epoch;
    uint32_t last, told; /* phases of the last copy that ends there, and of
                            the last arrival of an engine */
    int       site;
    int       gate, before; /* trace.c: of the phase at hand and the last one */
    sim_clock cur, over;    /* what arrivals brought; what waits give */
} sim_mbar;

typedef struct sim_named {
    int64_t   count, came; /* threads */
    int       n_warp;      /* that used it since all threads of the CTA came */
    int       site;
    int       gate; /* trace.c */
    sim_clock cur, over;
} sim_named;

/* Commits of one warp to groups of one name. */
typedef struct sim_commit {
    uint32_t     upto;    /* operations */
    int          gate[2]; /* trace.c: they are done, they have read */
    axe_lane_set lanes;   /* threads that issued some of them */
} sim_commit;

typedef struct sim_group {
    int agent, ragent;  /* + 1; 0: not used yet */
    bool private;       /* drained for tensor memory alone: see tmem.c */
    uint32_t     n_op;  /* issued */
    axe_lane_set lanes; /* by whom since the last commit */
    bool         reads; /* shared memory, which must last so long */
    int          site;
    int          n_commit, cap;
    int          n_known[2]; /* commits that the warp knows to be done, to have
                                been read */
    sim_commit *commit;
    int         gate[2], last[2]; /* trace.c: since the last commit, before */
} sim_group;

/* An array of a warp's threads. */
typedef struct sim_array {
    int           size; /* bytes of an element */
    axe_type      type;
    int64_t       n;
    uint8_t      *bits;   /* [n][lanes] */
    axe_lane_set *init;   /* [n] lanes that were written */
    uint32_t     *writes; /* [n] operation of the tensor core that writes it */
    uint32_t     *reads;  /* [n] or reads it */
    uint32_t     *factor; /* [n] or has it for a factor */
    uint32_t     *fence;  /* [n] fences before the last touch by threads, + 1 */
    uint32_t      pinned; /* operations that were known to be done at the last
                             drain that pins it */
    int gate;             /* trace.c: of loads into it that nobody waited for */
    struct sim_held *held; /* its elements are elsewhere: see contract.c */
} sim_array;

typedef struct sim_frame {
    axe_lane_set mask, gone, other; /* at entry; that left the loop or the
                                       iteration; that take ELSE */
    axe_lane_set broke;
    int          loop; /* frame of the loop around, or -1 */
} sim_frame;

typedef enum sim_wait {
    SIM_RUN,
    SIM_WAIT_NAMED,
    SIM_WAIT_CLUSTER,
    SIM_WAIT_MBAR,
    SIM_WAIT_COUNTER,
    SIM_WAIT_GROUP,
    SIM_DONE
} sim_wait;

struct sim_warp {
    sim_cta     *cta;
    int          id, agent, pc, n_frame, loop;
    axe_lane_set mask;
    axe_lane_set prior; /* lanes that have waited for launches before */
    sim_frame   *frame;
    int64_t (*slot)[MAX_LANES];
    sim_array   *array;
    sim_clock    clock;
    uint32_t     met;       /* what it did from here on its lanes did apart */
    uint32_t     shown;     /* what it did before its last INITED */
    axe_lane_set touched;   /* lanes that used memory since */
    axe_lane_set deaf;      /* lanes that have met none of those that since
                               then learnt of other clusters */
    sim_clock       before; /* what these know of them */
    sim_group       group[MAX_GROUP];
    uint32_t        n_fence;      /* of registers */
    uint32_t        n_warpgroup;  /* SYNCs of its whole warpgroup */
    const sim_inst *warpgroup_at; /* the last of them */
    int             n_budget;     /* changes of its registers */
    uint32_t        budget[2];    /* when the last two of them were */
    int             tensor; /* agent of its warpgroup's tensor core, or -1 */
    int writer, reader; /* agents that write and read its registers, or -1 */
    sim_wait        wait;
    const sim_inst *at;             /* where it waits */
    int             named;          /* WAIT_NAMED: which */
    uint32_t        uses;           /* named barriers, as sim_named counts */
    axe_lane_set    lanes;          /* WAIT_MBAR, WAIT_COUNTER: whose */
    int             bar[MAX_LANES]; /* of the CTA */
    int             parity[MAX_LANES];
    int64_t word[MAX_LANES], least[MAX_LANES]; /* WAIT_COUNTER: elements, and
                                                  what they must come to */
    int      drain;                            /* WAIT_GROUP: which */
    uint32_t upto, known; /* operations that must be done; that the threads
                             know of then */
    bool               reads_only;
    struct sim_stream *stream; /* trace.c: what it does */
};

/* One invocation of an atom, by whom, with all operands evaluated. */
typedef struct sim_call {
    const sim_inst *in;
    sim_warp       *warp; /* the first of the warp group */
    axe_lane_set    mask, pred;
    int64_t         at[MAX_ARG][MAX_LANES];
    int             cta[MAX_ARG][MAX_LANES]; /* DSMEM: ranks */
    int64_t         coords[MAX_RANK][MAX_LANES], coord[MAX_RANK];
    int             lane; /* the thread at hand, of atoms that each issues */
    int             agent, ragent; /* ragent: of what it reads */
    uint32_t        epoch;
    uint32_t        met; /* from here on lanes of the warp are not ordered */
    axe_lane_set    deaf;
    sim_clock       clock;
    bool            proxy;
    int32_t         base[MAX_LANES]; /* of tensor memory */
} sim_call;

/* One that completes later. */
typedef struct sim_async {
    sim_call          call;
    struct sim_async *next;
    int               n_came; /* warps of the warp group that issued it */
    uint32_t          came;
    sim_cta          *to;  /* COPY to shared memory: whose */
    sim_mbar         *bar; /* or NULL */
    sim_cta          *bar_of;
    int64_t           bytes;
    bool              arrives;  /* an arrival and no copy */
    bool              in_order; /* behind all that its agent issued before */
    int64_t           taken;    /* TAKE: a cluster's first CTA, or -1 */
    int               op, start, gate; /* trace.c: its number; it may begin; it
                                          is done */
} sim_async;

/* Columns that were allocated. */
typedef struct sim_columns {
    int      first, n, agent, site; /* agent: the warp's, at epoch */
    uint32_t epoch;
    bool     live;
} sim_columns;

/* One that runs. */
typedef struct sim_cluster {
    sim_cta   *cta;   /* [cluster] */
    int        range; /* of its agents: cluster of the launch, or 0 */
    int64_t    number;
    bool       runs;
    sim_named  all; /* its barrier */
    sim_async *queue, **tail;
    int64_t    n_given; /* clusters that it has taken */
} sim_cluster;

struct sim_cta {
    sim         *s;
    sim_cluster *cluster;
    int          rank;
    int          ran; /* its number among those that did */
    int64_t      block;
    uint8_t     *memory;
    sim_shadow   shadow;
    uint8_t     *tmem; /* lane by lane; NULL: none is used */
    sim_shadow   tmem_shadow;
    int          n_columns;
    sim_columns  columns[MAX_COLUMNS];
    sim_warp    *warp;
    sim_mbar    *bar;
    sim_named    named[MAX_NAMED + 1];
    sim_async  **warpgroup; /* [warp groups] issued by some of its warps only */
    int         *tensor;    /* [warp groups] agents, or -1 */
    int          n_left;    /* warps that are done */
    bool         refused;   /* it has been told that no CTAs are left to take */
    uint32_t    *remote;    /* [agents of the cluster] epoch of the last use by
                               other CTAs */
    uint16_t *remote_site;
};

/* What a finding of the report was found by. */
typedef struct sim_found {
    axe_sim_kind    kind;
    int             in, site; /* instructions, or -1 */
    const axe_grid *grid;
} sim_found;

struct sim {
    axe_ctx            *cx, *own;
    const axe_lowered  *l;
    const axe_machine  *mc;
    const axe_grid     *g;
    int                 lanes, group_warps; /* of a warp, of a warpgroup */
    axe_lane_set        all_lanes;
    int                 n_iteration; /* of the host's loops around it */
    const axe_var      *around[AXE_NEST_MAX];
    int64_t             iteration[AXE_NEST_MAX];
    const axe_sim_spec *spec;
    axe_sim_report     *report;
    sim_found           found[AXE_SIM_MAX];
    bool                checks;
    sim_code           *code;
    sim_shape          *shape;
    int                 n_group;
    const char         *group[MAX_GROUP];
    int                 n_global;
    sim_global         *global;
    int                *map_of; /* [n_map] which global tensor */
    int64_t (*map_size)[MAX_RANK], (*map_stride)[MAX_RANK]; /* [n_map] */
    int              n_sm, n_warp, n_warpgroup;             /* of a CTA */
    bool             together; /* clusters run at the same time */
    int              n_resident;
    sim_cluster     *resident;
    int              n_range; /* that agents are numbered by: clusters, or 1 */
    int              per_range; /* agents of one, at most */
    int             *n_agent;   /* [n_range] */
    int              max_agent;
    sim_agent       *agent;
    uint32_t        *no_clock; /* [max_agent] zeros */
    sim_call         call;     /* of the instruction at hand */
    sim_async       *spare;
    struct sim_held *held;
    uint64_t         random;
    int64_t          n_block, n_step;
    int64_t          next_cluster; /* that has not begun */
    uint32_t cluster; /* the last that began, if one runs at a time: number in
                         order, + 1 */
    uint8_t          *launch;  /* [clusters] take.c; NULL: all begin */
    int64_t           n_share; /* clusters that one may take */
    struct sim_trace *trace;   /* NULL: nobody asks when */
    int               n_await; /* warps that wait for counters */
    bool              ended;   /* some cluster, now */
    bool              stop;    /* of this launch */
    bool              behind;  /* a launch of the call is before this one */
    sim_val          *stack;
    bool             *stack_lanes;
    sim_page         *spare_page;
    int               n_more, cap_more, spare_more;
    sim_more         *more;
    float            *mma;  /* scratch of contract.c: operands and sums */
    uint8_t          *raw;  /* likewise: an operand as bytes */
    float            *wide; /* likewise: its elements */
};

#endif
