/* sim_int.h - between the files of this room.
 *
 *     code.c      lowered code as a list of instructions with jumps
 *     expr.c      expressions in postfix order, evaluated for all lanes at once
 *     operand.c   operands of atoms: which tensor, and where they begin
 *     shape.c     what atoms move and multiply, as lists of places
 *     clock.c     agents and vector clocks
 *     shadow.c    who touched which bytes last
 *     place.c     operands as registers and bytes, with their checks
 *     move.c      LOAD, STORE, PERMUTE, COPY
 *     box.c       COPY through tensor maps
 *     contract.c  CONTRACT; mma.c its loops
 *     tmem.c      tensor memory: columns, access, moves of warps
 *     tproduct.c  CONTRACT and COPY into it
 *     barrier.c   SYNC: barriers and mbarriers
 *     counter.c   SYNC: counters in global memory
 *     group.c     SYNC: commit groups, fences
 *     engine.c    asynchronous atoms: queue, order, completion
 *     control.c   loops and branches of a warp
 *     warp.c      runs one warp until it must wait
 *     cluster.c   how a cluster begins, and what must be over when it ends
 *     turn.c      who runs next
 *     order.c     which orders of events there are
 *     deadlock.c  what it means that nobody can
 *     trace.c     what was done, for its times; replay.c: these
 *     finding.c   findings and their texts
 *     sim.c       grids, arrays, the report
 *
 * Everything of a run is in a context of its own, which ends with it; what a
 * launch needs beyond that is given back when it has ended. */
#ifndef AXE_SIM_INT_H
#define AXE_SIM_INT_H

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

/* expr.c */
AXE_CHECK axe_status axe_sim_expr_make(sim *s, sim_code *code,
                                       const axe_node *n, const sim_expr **out);
/* An index as its text has it, whose width is checked.
 * v    the variable that is to hold it, or NULL
 * by   what is added to that afterwards */
AXE_CHECK axe_status axe_sim_index_make(sim *s, sim_code *code,
                                        const axe_node *n, axe_index_use use,
                                        const axe_var *v, int64_t by,
                                        const sim_expr **out);
/* The value of 32 lanes; of uniform expressions only of the first. Valid until
 * the next call. */
const sim_val *axe_sim_eval(sim_warp *w, const sim_expr *e, axe_lane_set mask,
                            const sim_inst *in);
/* The same, with all lanes filled in. */
void axe_sim_eval_all(sim_warp *w, const sim_expr *e, axe_lane_set mask,
                      const sim_inst *in, int64_t *out);

/* code.c */
AXE_CHECK axe_status axe_sim_code_make(sim *s, sim_code **out);
int                  axe_sim_slot(sim *s, sim_code *c, const axe_var *v);

/* operand.c */
AXE_CHECK axe_status axe_sim_arg_make(sim *s, sim_code *code, const axe_arg *a,
                                      sim_arg *out);
/* The arrays that are let go where a drain ends. */
AXE_CHECK axe_status axe_sim_pins_make(sim *s, const axe_lir *l, sim_inst *in);
/* Operand i of a call is counted in pieces of several elements: it begins with
 * one, and that should be where lowering means it to be. */
void axe_sim_pieces(sim_warp *w, sim_call *c, int i);

/* index.c: of a term's operands, its value, and that of a whole expression */
void axe_sim_check_operands(sim_warp *w, const sim_term *t, const sim_val *v,
                            axe_lane_set mask, const sim_inst *in);
void axe_sim_check_value(sim_warp *w, const sim_term *t, const sim_val *v,
                         axe_lane_set mask, const sim_inst *in);
void axe_sim_check_bound(sim_warp *w, const sim_expr *e, const sim_val *v,
                         axe_lane_set mask, const sim_inst *in);

/* address.c */
AXE_CHECK axe_status axe_sim_address_make(sim *s, sim_code *code,
                                          const axe_byte_at *a, sim_arg *out);
/* Is the address of operand i, in shared memory, that of its element? */
void axe_sim_check_address(sim *s, sim_warp *w, const sim_call *c, int i);

/* shape.c */
AXE_CHECK axe_status axe_sim_shape_of(sim *s, const axe_lir *l,
                                      const sim_shape **out);

/* clock.c */
int       axe_sim_agent_new(sim *s, sim_agent_kind kind, const sim_cta *cta,
                            int index, int group);
sim_clock axe_sim_clock_new(sim *s);
void      axe_sim_clock_join(const sim *s, sim_clock *to, sim_clock from);
/* Of clusters but that one, to knows what from does, and no more. */
void axe_sim_clock_take(const sim *s, sim_clock *to, sim_clock from, int but);
void axe_sim_clock_copy(const sim *s, sim_clock *to, sim_clock from);
/* Nothing is known, of whatever cluster; what will be is of that range. */
void axe_sim_clock_zero(const sim *s, sim_clock *c, int range);
/* to = the larger, agent by agent of the clusters that c knows of */
void axe_sim_clock_raise(const sim *s, const sim_clock *c, uint32_t *to,
                         const uint32_t *from);
/* The first range from k on that it knows of; n_range: none. */
int axe_sim_clock_range(const sim *s, const sim_clock *c, int k);
/* What w did so far comes before what it does next. */
void axe_sim_release(sim *s, sim_warp *w);
/* All its lanes have met. */
void axe_sim_met(sim *s, sim_warp *w);
/* Up to when what the warp did is told by these lanes: only what they did
 * themselves, or what lies before all met. */
uint32_t    axe_sim_told(const sim_warp *w, axe_lane_set lanes);
const char *axe_sim_agent_text(sim *s, int agent);

/* shadow.c */
void axe_sim_shadow_init(sim *s, sim_shadow *sh, int64_t bytes);
void axe_sim_shadow_reset(sim *s, sim_shadow *sh);
/* A look at bytes [at, at + n) by the call. tag: buffer + 1; 0: none. */
typedef struct sim_touch {
    const sim_call   *call;
    sim_shadow       *shadow;
    const axe_tensor *tensor;
    const axe_buffer *buffer;    /* of shared memory, or NULL */
    const axe_tmem   *tmem;      /* of tensor memory, or NULL */
    const sim_cta    *cta;       /* whose it is */
    int               tag, lane; /* lane: EVERY_LANE for all together */
    bool              write, atomic;
    bool              ends; /* a write that leaves nothing there */
} sim_touch;
void axe_sim_touch(sim *s, const sim_touch *t, int64_t at, int64_t n);
/* "element 7 of a in block 3" */
const char *axe_sim_byte_text(sim *s, const sim_touch *t, int64_t at);

/* place.c */
/* Bytes of an operand's elements; NULL, reported, where they are outside.
 * at      [elements] from the tensor's start
 * n       elements, neighbours in memory before the swizzle
 * Shared memory with a swizzle: the pieces are of 16 bytes. */
bool axe_sim_bytes(sim *s, const sim_call *c, const sim_arg *a, sim_cta *cta,
                   int64_t at, int64_t n, bool write, void *data);
/* Elements of a warp's registers. */
void axe_sim_reg_get(sim *s, const sim_call *c, const sim_arg *a, sim_warp *w,
                     int lane, int64_t at, void *to);
void axe_sim_reg_put(sim *s, const sim_call *c, const sim_arg *a, sim_warp *w,
                     int lane, int64_t at, const void *from);
/* May the threads in mask touch it?  Reports, and says whether it is there. */
bool axe_sim_reg_check(sim *s, sim_warp *w, const sim_inst *in, int array,
                       int64_t at, axe_lane_set mask, bool write);
/* A drain is over: of the arrays that it pins, and of no others, the code
 * behind it sees what operations have written that the warp knows to be done.
 */
void axe_sim_pin(sim_warp *w, const sim_inst *drain);
/* One element as it is, unchecked; false if it is outside. */
bool axe_sim_peek(sim *s, const sim_arg *a, const sim_cta *cta, int64_t at,
                  void *to);
/* to = fold(to, with), elements of type t */
void     axe_sim_fold(axe_fold fold, axe_type t, void *to, const void *with);
sim_cta *axe_sim_cta_of(sim *s, const sim_call *c, int arg, int lane);
/* Byte in the CTA's memory of a byte of a buffer. */
int64_t axe_sim_swizzled(const axe_buffer *b, int64_t byte);

/* [bytes] of a CTA's shared memory, of all its partitions. */
int64_t axe_sim_shared_bytes(const sim *s);
/* Where in that byte `byte` of a buffer is. */
int64_t axe_sim_shared_at(const sim *s, const axe_buffer *b, int64_t byte);
/* The byte of the buffer that is there. */
int64_t axe_sim_shared_byte(const sim *s, const axe_buffer *b, int64_t at);

/* move.c, box.c, contract.c: what an atom does, once its time has come. */
void axe_sim_move(sim *s, sim_call *c);
void axe_sim_copy_box(sim *s, sim_async *o);
void axe_sim_contract(sim *s, sim_call *c);
bool axe_sim_is_fresh(const sim_call *c);
/* Do all registers of its operands exist? */
bool axe_sim_contract_inside(sim *s, const sim_call *c);
/* An operand in shared memory by its descriptor, as numbers of the atom's type.
 * n, k      rows of the operand, of the sum
 * out       element (r, j) at r * row + j * col, one of which is 1 */
void axe_sim_gather(sim *s, sim_call *c, int which, sim_cta *cta, int n, int k,
                    float *out, int64_t row, int64_t col);
/* Its bytes, row by row. */
void axe_sim_fetch(sim *s, sim_call *c, int which, sim_cta *cta, int rows,
                   int row_bytes, uint8_t *out);
/* May warp w, number `rank` of those that issue it, use its registers? */
void axe_sim_contract_check(sim *s, const sim_call *c, sim_warp *w, int rank);
/* The bytes that a box through a map has. */
int64_t axe_sim_box_bytes(const sim *s, const sim_call *c);
void    axe_sim_box_check(sim *s, const sim_call *c);
/* Elements that contract.c keeps elsewhere go back to their registers. */
void axe_sim_unhold(sim *s, struct sim_held *h);

/* budget.c */
void axe_sim_budget(sim *s, sim_warp *w, const sim_call *c);

/* tmem.c */
void axe_sim_tmem_make(sim *s, sim_cta *cta);
void axe_sim_tmem_begin(sim *s, sim_cta *cta);
void axe_sim_tmem_end(sim *s, const sim_cta *cta);
/* ALLOC, FREE, BEFORE, AFTER */
void axe_sim_tmem_sync(sim *s, sim_warp *w, sim_call *c);
/* Where the call's threads believe that it begins: c->base. */
void axe_sim_tmem_base(sim *s, sim_warp *w, sim_call *c);
/* The first of n neighbours in one lane of operand arg's tile, in a CTA; NULL,
 * reported, if there is none. */
uint8_t *axe_sim_tmem(sim *s, const sim_call *c, int arg, sim_cta *cta,
                      int64_t at, int64_t n, bool write);
/* LOAD and STORE of one warp: when issued, when done. */
void axe_sim_tmem_issue(sim *s, sim_warp *w, sim_call *c);
void axe_sim_tmem_move(sim *s, sim_call *c);

/* tproduct.c: CONTRACT and COPY, likewise. */
void axe_sim_tmem_ask(sim *s, sim_warp *w, sim_call *c);
void axe_sim_tmem_contract(sim *s, sim_call *c);
void axe_sim_tmem_copy(sim *s, sim_call *c);

/* mma.c: d[m][ld] += a[m][k] b[k][ld], ld a multiple of 32, in order of k. */
void axe_sim_mma(int m, int k, int64_t ld, const float *a, const float *b,
                 float *d);

/* n elements of type t in f32, as the tensor core of type `as` reads them. */
void axe_sim_widen(axe_type t, axe_type as, const uint8_t *bits, int n,
                   float *out);

/* barrier.c: barriers and mbarriers; group.c: groups and fences. */
void axe_sim_barrier(sim *s, sim_warp *w, sim_call *c);
void axe_sim_group(sim *s, sim_warp *w, sim_call *c);
/* The mbarrier that operand `arg` of thread `lane` means in a CTA; NULL,
 * reported, if there is none, it is not set or that is not seen.
 * far  by copies or by another CTA */
sim_mbar *axe_sim_mbar_of(sim *s, const sim_call *c, int arg, int lane,
                          sim_cta *cta, bool far);
void axe_sim_mbar_arrive(sim *s, const sim_call *c, sim_cta *cta, sim_mbar *b,
                         int64_t n, sim_clock with);
/* The bytes of a copy have come. */
void        axe_sim_mbar_bytes(sim *s, const sim_async *o);
const char *axe_sim_mbar_text(sim *s, const sim_cta *cta, int bar);
/* The warp's group of that name, with agents. */
sim_group *axe_sim_group_of(sim *s, sim_warp *w, int group);
/* Warps of the CTA that wait for groups: go on if these are done. */
void axe_sim_group_wake(sim *s, sim_cta *cta);
/* At its end: is something of the warp's still under way? */
void axe_sim_group_end(sim *s, sim_warp *w, const sim_inst *in);

/* counter.c: COUNT and REACH. */
void axe_sim_counter(sim *s, sim_warp *w, sim_call *c);
/* Errors  ESHAPE: no words of 64 bits in global memory */
AXE_CHECK axe_status axe_sim_counter_check(sim *s, const sim_inst *in);
void                 axe_sim_counters_begin(sim *s, sim_global *g);
int64_t              axe_sim_counter_value(const sim_global *g, int64_t at);
/* A lane whose count the warp still waits for, or -1. */
int axe_sim_counter_lane(const sim *s, const sim_warp *w);
/* Elements of a tensor that has counters were written. */
void axe_sim_counters_written(sim *s, const sim_call *c, sim_global *g,
                              int64_t at, int64_t n);

/* take.c: TAKE and TAKEN; what a TAKE brings, once its time has come. */
void axe_sim_take(sim *s, sim_warp *w, sim_call *c);
void axe_sim_bring_taken(sim *s, sim_async *o);
/* As many clusters begin as fit; another one does, since one has ended. */
void axe_sim_launch_begin(sim *s);
void axe_sim_launch_next(sim *s);
/* The next cluster that is to begin, which does; -1: none is, or none yet. */
int64_t axe_sim_launch_take(sim *s);

/* engine.c */
sim_async *axe_sim_async_new(sim *s, const sim_call *c);
/* One that ends with so many bytes at the mbarrier of operand `arg`; NULL,
 * reported, if there is none.  And: it is under way. */
sim_async *axe_sim_to_mbar(sim *s, const sim_call *c, int arg, int lane,
                           sim_cta *to, sim_cta *bar_of, int64_t bytes);
void       axe_sim_enqueue(sim *s, sim_async *o);
/* One more operation of the group: what it and its readers know, and when. */
void axe_sim_to_group(sim *s, sim_group *g, sim_async *o);
void axe_sim_issue(sim *s, sim_warp *w, sim_call *c);
/* Do one of the cluster's that may be next; false if there is none. */
bool axe_sim_engine_step(sim *s, sim_cluster *r);
/* Are all operations of the agent up to that one done? */
bool axe_sim_engine_idle(const sim *s, int agent, uint32_t upto);

/* trace.c: where s->trace is not NULL, what is done is noted. */
AXE_CHECK axe_status axe_sim_trace_make(sim *s);
void                 axe_sim_trace_launch(sim *s);
void                 axe_sim_trace_cta(sim *s, sim_cta *cta);
/* An instruction; an atom's before and behind what it does. */
void axe_sim_trace_inst(sim *s, sim_warp *w, const sim_inst *in);
void axe_sim_trace_before(sim *s, sim_warp *w, const sim_call *c);
void axe_sim_trace_after(sim *s, sim_warp *w, const sim_call *c);
/* Bytes [byte, byte + n) of global tensor number `tensor`. */
void axe_sim_trace_global(sim *s, int tensor, int64_t byte, int64_t n,
                          bool write);
/* An engine's operation: one of several warps asks; all have; it begins; it is
 * done. */
void axe_sim_trace_come(sim *s, sim_warp *w, sim_group *g, sim_async *o);
void axe_sim_trace_ask(sim *s, sim_async *o);
void axe_sim_trace_begin(sim *s, sim_async *o);
void axe_sim_trace_done(sim *s, const sim_async *o);
/* A commit of the group, and a wait for one. */
void axe_sim_trace_commit(sim_group *g);
void axe_sim_trace_drain(sim *s, sim_warp *w, int gate);
/* At a barrier of threads; at an mbarrier. */
void axe_sim_trace_barrier(sim *s, sim_warp *w, sim_named *b, bool stays);
void axe_sim_trace_arrive(sim *s, sim_warp *w, sim_mbar *b);
void axe_sim_trace_await(sim *s, sim_warp *w, sim_mbar *b, int parity);
/* It counts in a counter, behind those of gate `before`: the gate of all that
 * have; and it waits for them. */
int  axe_sim_trace_count(sim *s, sim_warp *w, int before);
void axe_sim_trace_reach(sim *s, sim_warp *w, int gate);

/* control.c: done with the instruction, if it is one of those. */
bool axe_sim_control(sim_warp *w, const sim_inst *in);
/* A variable becomes what e is; on to the next instruction. */
void axe_sim_assign(sim_warp *w, int slot, const sim_expr *e,
                    const sim_inst *in);
void axe_sim_advance(sim_warp *w, const sim_inst *in);

/* warp.c: until it must wait, is done, or has taken so many steps. */
void axe_sim_warp_run(sim *s, sim_warp *w, int64_t most);

/* cluster.c */
void axe_sim_check_begun(sim *s, const sim_call *c, const sim_cta *cta);
/* A warp of another CTA uses it, which may not end before. */
void axe_sim_used_by(const sim *s, const sim_call *c, sim_cta *cta);
/* The cluster of that number begins, in place of one that has ended; its last
 * warp has. */
void axe_sim_cluster_begin(sim *s, sim_cluster *r, int64_t number);
void axe_sim_cluster_end(sim *s, sim_cluster *r);

/* turn.c: all clusters of the launch, from the first to the last. */
void     axe_sim_clusters(sim *s);
uint64_t axe_sim_random(sim *s);

/* deadlock.c: nobody can go on. */
void axe_sim_deadlock(sim *s);

/* finding.c */
/* in: where it was found; site: instruction of the other actor, or -1. */
void axe_sim_find(sim *s, axe_sim_kind kind, const sim_inst *in, int site,
                  const char *fmt, ...) AXE_PRINTF(5, 6);
/* Has this been said already?  Then its text need not be made. */
bool axe_sim_known(sim *s, axe_sim_kind kind, const sim_inst *in, int site);
int  axe_sim_site(const sim *s, const sim_inst *in);

static inline bool
axe_sim_has(axe_lane_set mask, int lane)
{
    return mask >> lane & 1;
}

/* The first lane of a set that has one; how many it has. */
static inline int
axe_sim_first(axe_lane_set mask)
{
    return __builtin_ctzll(mask);
}

static inline int
axe_sim_how_many(axe_lane_set mask)
{
    return __builtin_popcountll(mask);
}

#endif
