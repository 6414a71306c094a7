/* simt.h - plans of machines whose threads run a statement together.
 *
 * Who does what is a layout: the work of a statement has a dim for each of its
 * indices, over the thread axes of its thread group, `reg` (iterations written
 * out, so that array elements become registers) and `m` (iterations of loops).
 * See docs/design/nvidia.md. */
#ifndef AXE_PLAN_SIMT_SIMT_H
#define AXE_PLAN_SIMT_SIMT_H

#include "machine/thread_rows.h"
#include "plan/plan.h"

/* What an address is counted by. */
typedef enum axe_counter {
    AXE_COUNT_WARP, /* of the thread group's entity */
    AXE_COUNT_LANE,
    AXE_COUNT_M, /* repetitions of a contraction's atom */
    AXE_COUNT_N,
    AXE_COUNT_K,
    AXE_COUNT_INVOCATION /* invocations, one after the other */
} axe_counter;

/* The threads that run the statements of a scope: those of one of its entities.
 * Thread axes of layouts count within the entity: `warp` and `lane` in a cta,
 * `wid` and `lane` in a warpgroup, `lane` in a warp, none in a thread. */
typedef struct axe_thread_group {
    axe_scope_kind scope;
    int            n_thread; /* of one entity */
    int            n_entity;
    int            first; /* thread of entity 0, within `in` */
    int barrier; /* number of the named barrier of the threads of entity 0;
                    those of entity e at barrier + e; -1: threads of a warp */
    int turn;    /* the first of n_entity barriers of each
                    copy by which they take turns, two by
                    two; -1: they take none */
    int     registers;              /* a thread may have; 0: its share */
    int64_t scratch, scratch_bytes; /* shared memory that its statements use
                                       in turn: where, how much */
    const axe_stmt                *at;
    const struct axe_thread_group *in; /* NULL: the cta itself */
} axe_thread_group;

/* A digit of an index and who counts it. */
typedef struct axe_work_digit {
    axe_digit of;   /* extent 0: as many iterations of a loop as needed */
    axe_axis  axis; /* of the group's threads, `reg` or `m` */
    int64_t
        stride; /* thread axes: the digit is coordinate / stride % extent;
                   reg: what a step is in arrays of one value an iteration */
    bool apart; /* reg: its iterations run one after the other, each from loads
                   to stores; arrays have no room for it */
} axe_work_digit;

/* The work layout of a statement and its reductions: threads that count an
 * index of a reduction are copies of one another for the statement itself. */
typedef struct axe_work {
    int                   n_digit;
    const axe_work_digit *digit;  /* of an index, slow to fast */
    int                   n_copy; /* parts of the threads that do the same */
    const axe_iter       *copy;   /* extent, stride, axis */
} axe_work;

/* How an operand of a map gets to or from the registers that the work wants. */
typedef struct axe_simt_access {
    const axe_atom *atom;  /* NULL: it is in registers */
    const axe_atom *least; /* one element at a time, where `wide` fails */
    int width;            /* elements of one invocation, the atom's parameter */
    const axe_node *wide; /* when that is possible; NULL: always */
    const axe_var  *along;    /* whose neighbours are moved together */
    int             conflict; /* SHARED: cycles of an access over the least */
    int             sector;   /* GLOBAL: [bytes] used of each sector moved */
    const struct axe_simt_shuffle *shuffle; /* in other lanes' registers: how
                                               it gets here; else NULL */
} axe_simt_access;

/* Filled and read by the contraction's and the copy's files alone. */
typedef struct axe_simt_contract axe_simt_contract;
typedef struct axe_simt_copy     axe_simt_copy;
typedef struct axe_simt_tmem     axe_simt_tmem;  /* simt/tmem/tmem.h */
typedef struct axe_simt_tcopy    axe_simt_tcopy; /* simt/tmem/copy.h */
typedef struct axe_simt_ring     axe_simt_ring;  /* simt/ring/ring_protocol.h */
typedef struct axe_drain         axe_drain;      /* simt/sync/async_drain.h */
typedef struct axe_sync_item     axe_sync_item;  /* simt/sync/sync_list.h */

/* What axe_schedule.simt is. */
struct axe_simt_schedule {
    const axe_thread_group  *threads;
    axe_work                 work;   /* MAP */
    axe_simt_access         *access; /* [n_operand]; MAP */
    const axe_simt_contract *contract;
    const axe_simt_copy     *copy;
    const axe_simt_tmem     *tmem;
    const axe_simt_tcopy    *tcopy;
    const axe_node          *when; /* it runs only then; NULL: always */
    axe_hint                 hint; /* of its rows that take one */
    int share;  /* CTAs of a cluster that each do a part and give it
                   to all; see sync_list.c;
                   0, 1: each does all */
    bool whole; /* MAP: iterations of its loops that reach no edge have a copy
                   of the loop without a test for one */
    int64_t scratch;    /* [bytes] of the thread group's that it uses */
    int     n_register; /* estimate of what a thread holds meanwhile */
};

/* Where threads wait: before `at` begins all threads of the entity wait for one
 * another at a barrier; or they wait until what threads of it issued to an
 * engine is done; or both, in this order. */
typedef struct axe_sync_point {
    const axe_stmt         *at;
    const axe_thread_group *threads;
    const char             *why;
    bool                    barrier; /* else they only wait */
    bool                    sums;    /* for what is done in tensor memory */
    const axe_atom *fence; /* ahead of the barrier, for an engine; or NULL */
    bool wait_async; /* for bytes that are filled again: asynchronous copies
                        into them are waited for first */
    int                            n_issuer; /* 0: they wait for no engine */
    const axe_thread_group *const *issuer; /* their first threads say COMMIT */
    const char                    *group;  /* of what was asked */
    int64_t mbarrier; /* where in shared memory that arrives: one for each
                         entity of the thread group */
    const axe_var *phase;
} axe_sync_point;

/* Arrivals of a phase of its barrier. */
int axe_sync_point_arrivals(const axe_sync_point *m);

/* Top scopes that are one launch of CTAs that stay: their tiles are one list,
 * in the order of the text, and one waits for others by counters; see
 * sync/one_launch.h. */
typedef struct axe_simt_overlap {
    int                             first, n; /* of the plan's launches */
    const struct axe_overlap_group *group;
    const axe_tensor               *counters;
} axe_simt_overlap;

/* One launch, or a part of one: a top scope. */
typedef struct axe_simt_launch {
    const axe_stmt         *scope;
    const axe_thread_group *threads; /* of the cta */
    int64_t                 shared_bytes;
    int                     tmem_columns; /* that it asks for; 0: none */
    int64_t tmem_word;            /* where in shared memory ALLOC says which */
    struct axe_simt_queue *queue; /* tiles are taken from; NULL: every CTA has
                                     its own */
    const char             *no_queue; /* though the text asks for one: why */
    const axe_simt_overlap *overlap;  /* it is one with these; NULL: alone */
    const char *apart; /* of a group that overlaps, but alone: why; or NULL */
    bool        admits, waits; /* overlap.c: the call's next one may begin while
                                  it runs; it may while the one before does */
} axe_simt_launch;

/* What axe_plan.simt and planner.simt are.  In places of shared tiles `offset`
 * is from the start of the CTA's shared memory; of reg tiles, `bytes` are a
 * thread's; of tmem tiles both are those of a lane, from the launch's first
 * column on. */
struct axe_simt_plan {
    axe_axis                 lane, warp, wid, reg, tlane, tcol, cta;
    const axe_space_row     *space[AXE_N_SPACE];
    axe_axis                 slow[AXE_N_SPACE]; /* see spaces.def; -1: none */
    axe_axis                 fast[AXE_N_SPACE];
    int                      lanes; /* threads of a warp */
    int                      n_group, cap_group;
    axe_thread_group       **group;
    const axe_thread_group **owner; /* by tensor id: who holds it; tiles */
    bool        *open;       /* by tensor id: its layout is a stand-in yet */
    const char **engine;     /* by tensor id: the group of the atom that reads
                                the scales in it; else NULL */
    axe_thread_group  **who; /* by index statement's id */
    axe_simt_schedule **of;  /* so: its schedule's, while planning goes on */
    bool *threads_only;      /* by tensor id: a global one that threads alone
                                move, see simt/hazard/touch.c */
    int              n_launch, cap_launch;
    axe_simt_launch *launch;
    int              n_sync_point, cap_sync_point;
    axe_sync_point  *sync_point;
    int              n_drain, cap_drain;
    axe_drain       *drain;
    int              n_sync, cap_sync;
    axe_sync_item   *sync;      /* around statements, in order of execution */
    int              n_barrier; /* named ones in use, 0 too */
    int              n_ring, cap_ring;
    axe_simt_ring   *ring;  /* how each pipeline's stages are passed on */
    int              n_var; /* made by planning, behind the kernel's own */
    bool *at_least_once; /* by variable's id: of a loop that runs once where it
                            has no iterations, with zeros; or NULL */
};

/* The row by which the group's threads change to its number of registers; NULL:
 * it keeps its share. */
const axe_atom *axe_simt_budget(const axe_machine      *mc,
                                const axe_thread_group *c);
/* The same of the warp group that begins at thread `first` of the cta, if it is
 * the roles of its warps that ask; *out: the group. */
const axe_atom *axe_simt_shared_budget(const axe_machine      *mc,
                                       const axe_simt_plan    *sp,
                                       const axe_thread_group *cta, int first,
                                       axe_thread_group *out);
/* Registers that a thread of the group has. */
int64_t axe_simt_registers(const axe_machine *mc, const axe_thread_group *c);
/* The cta that a thread group is in. */
const axe_thread_group *axe_threads_cta(const axe_thread_group *c);
/* How many entities of its kind the CTA has, and which of them it is, by the
 * variables of the scopes around. */
/* Is the thread group `outer`, or in it? */
bool            axe_threads_is_within(const axe_thread_group *c,
                                      const axe_thread_group *outer);
int64_t         axe_threads_copies(const axe_thread_group *c);
const axe_node *axe_threads_number(axe_ctx *cx, const axe_thread_group *c);
/* The thread axes of a thread group and how far each goes, slow to fast: 0
 * to 2. */
int axe_threads_axes(const axe_simt_plan *sp, const axe_thread_group *c,
                     axe_iter out[2]);
/* CTAs that some contraction in the body is asked for at once; 1: its own. */
int64_t axe_simt_pair_of(const axe_schedule *const *schedule, int n,
                         axe_stmt *const *body);
/* The tile's swizzle as one of byte addresses; bits 0: none. */
axe_swizzle axe_simt_swizzle(const axe_place *pl);
/* Is it a part of a launch, behind another one; one that others follow? */
bool axe_simt_goes_on(const axe_simt_plan *sp, const axe_simt_launch *l);
bool axe_simt_is_followed(const axe_simt_plan *sp, const axe_simt_launch *l);
/* Of how many parts the launch is that begins with this one. */
int axe_simt_parts(const axe_simt_launch *first);
/* The thread group whose scope is s, or NULL. */
const axe_thread_group *axe_threads_at(const axe_simt_plan *sp,
                                       const axe_stmt      *s);

/* access/operand_use.c, of maps: the nest whose iterations operand i differs
 * in, a reduction, or 0; and the first operand that is the very load that
 * operand i is: it is loaded once. */
int axe_simt_nest_of(const axe_schedule *s, int i);
int axe_simt_first_load(const axe_schedule *s, int i);
/* Does the nest of the statement count v? */
bool axe_nest_has(const axe_nest *nest, const axe_var *v);
/* Does the operand's place, or whether it is inside, depend on v? */
bool axe_operand_depends(const axe_operand *op, const axe_var *v);

#endif
