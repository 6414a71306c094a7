/* simt_int.h - between the files that lower to grids. */
#ifndef AXE_LOWER_SIMT_SIMT_INT_H
#define AXE_LOWER_SIMT_SIMT_INT_H

#include "lower/code/names.h"
#include "lower/lower_int.h"
#include "plan/simt/simt.h"
#include "plan/simt/sync/sync_list.h"

typedef struct axe_simt_lowering {
    axe_lowering           lw; /* cx, plan, names of variables */
    const axe_simt_plan   *sp;
    const axe_simt_launch *launch;
    const axe_node
             *at_tile; /* whose number the cluster has, of those that stay */
    axe_grid *grid;    /* being made */
    const axe_thread_group *threads; /* of the scope around */
    const axe_schedule     *s;       /* the statement being lowered */
    const axe_tensor      **tile;    /* by tensor id: its array or buffer in the
                                        grid; NULL: none yet */
    int                cap_array, cap_buffer, cap_map, cap_tmem, n_name;
    int                first_buffer;  /* of the grid's, the scope's at hand */
    axe_used_names     names;         /* of the grid */
    const axe_tensor **full, **empty; /* by ring: their mbarriers, or NULL */
    const axe_tensor **done;          /* of sync points: where engines arrive */
    const axe_tensor  *word;          /* where ALLOC says which columns */
    const axe_tensor  *answers, *next_full, *next_empty; /* of the queue */
    const axe_var     *room, *phase; /* of the answer, in the loop at hand */
    const axe_tensor  *taken;        /* what it says: array of one i32 */
    const axe_var     *before;       /* the stage before, of a loop at hand that
                                        keeps it */
    const axe_node      *some;       /* there is one */
    axe_lblock          *opening;    /* what the first thread does at first */
    const axe_simt_ring *filling;    /* whose stage the code at hand fills */
    bool                 alone;      /* one thread of the group runs it */
    bool                *spelled; /* by item of the list of synchronisation */
    const axe_node      *never;   /* a condition that does not hold in the code
                                     at hand; or NULL */
} axe_simt_lowering;

/* -------------------------------------------------------------- alignment.c */

/* What the grid's accesses want of where parameters begin. */
void axe_simt_note_begins(axe_simt_lowering *sl);

/* ------------------------------------------------------------ async_drain.c */

/* The drain's contractions are done; `last` is the statement in front of it, or
 * NULL. */
AXE_CHECK axe_status axe_simt_lower_drain(axe_simt_lowering *sl, axe_lblock *b,
                                          const axe_drain *d,
                                          const axe_stmt  *last);

/* ------------------------------------------------------------------ build.c */

/* warp, lane, ... as an integer. */
const axe_node *axe_simt_id(axe_simt_lowering *sl, axe_id id);

/* A thread's coordinate on an axis of the thread group. */
const axe_node *axe_simt_coordinate(axe_simt_lowering      *sl,
                                    const axe_thread_group *c, axe_axis axis);

/* A thread's number in its entity of the thread group: 0 .. n_thread - 1. */
const axe_node *axe_simt_thread(axe_simt_lowering      *sl,
                                const axe_thread_group *c);

/* Which entity it is of all that the CTA has of its kind. */
const axe_node *axe_simt_number_of(axe_simt_lowering      *sl,
                                   const axe_thread_group *c);
/* Which entity of the thread group it is: 0 .. n_entity - 1. */
const axe_node *axe_simt_entity(axe_simt_lowering      *sl,
                                const axe_thread_group *c);

/* coordinate / stride % extent */
const axe_node *axe_simt_digit(axe_simt_lowering *sl, const axe_thread_group *c,
                               axe_iter it);

/* New registers of a thread, n of type t; the same name gets a number. */
const axe_tensor *axe_simt_array(axe_simt_lowering *sl, const char *name,
                                 axe_type t, int64_t n);

/* The grid's array (reg) or buffer (shared) of a tile; of a global tensor
 * itself. */
const axe_tensor *axe_simt_tensor(axe_simt_lowering *sl, const axe_tensor *t);

/* New shared memory at `offset`. */
const axe_tensor *axe_simt_buffer(axe_simt_lowering *sl, const char *name,
                                  axe_type t, int64_t n, int64_t offset,
                                  axe_swizzle swizzle);

/* The thread group's scratch, as elements of t. */
const axe_tensor *axe_simt_scratch(axe_simt_lowering      *sl,
                                   const axe_thread_group *c, axe_type t);
axe_arg           axe_simt_reg(const axe_tensor *array, const axe_node *at);
axe_arg           axe_simt_shared(const axe_tensor *buffer, const axe_node *at);
axe_arg           axe_simt_global(const axe_tensor *t, const axe_node *at);
axe_arg           axe_simt_number(const axe_node *n);

/* One invocation. */
axe_lir *axe_simt_atom(axe_simt_lowering *sl, axe_lblock *b, const axe_atom *a,
                       int param, int n_arg, const axe_arg *arg,
                       const axe_node *pred);

/* array[at] = value */
void axe_simt_calc(axe_simt_lowering *sl, axe_lblock *b,
                   const axe_tensor *array, const axe_node *at,
                   const axe_node *value, const axe_node *pred);

/* The element of an array, in values of CALC. */
const axe_node *axe_simt_element(axe_simt_lowering *sl, const axe_tensor *array,
                                 const axe_node *at);

/* A loop that is written out, 0 .. n - 1: its variable, 0 if n is 1; *b becomes
 * its body. */
const axe_node *axe_simt_unrolled(axe_simt_lowering *sl, axe_lblock **b,
                                  const char *name, int64_t n);
const axe_node *axe_simt_let(axe_simt_lowering *sl, axe_lblock *b,
                             const char *name, const axe_node *value);

/* Both; either may be NULL: true. */
const axe_node *axe_simt_both(axe_simt_lowering *sl, const axe_node *a,
                              const axe_node *b);

/* A barrier of the threads of the entity. */
AXE_CHECK axe_status axe_simt_barrier(axe_simt_lowering *sl, axe_lblock *b,
                                      const axe_thread_group *c);

/* The machine's SYNC row of that kind with these operands.
 * Errors  EUNSUPPORTED: it has none */
AXE_CHECK axe_status axe_simt_sync(axe_simt_lowering *sl, axe_lblock *b,
                                   axe_sync_kind kind, axe_scope_kind by,
                                   const char *group, int n_arg,
                                   const axe_arg *arg);

/* An expression over integers, with scalars as elements of arrays. */
const axe_node *axe_simt_scalars(axe_simt_lowering *sl, const axe_node *n);

/* The SYNC row of that kind for a group, by the threads where pred holds; n: at
 * most so many of its groups are left, where it takes a number.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_simt_order_group(axe_simt_lowering *sl, axe_lblock *b,
                                          axe_sync_kind kind, const char *group,
                                          axe_arg_space space, int64_t n,
                                          const axe_node *pred);

/* One thread's SYNC row, where pred holds; NULL: always. */
AXE_CHECK axe_status axe_simt_sync_if(axe_simt_lowering *sl, axe_lblock *b,
                                      axe_sync_kind kind, const char *group,
                                      int n_arg, const axe_arg *arg,
                                      const axe_node *pred);

/* The launch must keep the condition, for what axe_need says. */
void axe_simt_need(axe_simt_lowering *sl, axe_need need);

/* --------------------------------------------------------------- contract.c */

AXE_CHECK axe_status axe_simt_lower_contract(axe_simt_lowering  *sl,
                                             axe_lblock         *b,
                                             const axe_schedule *s);

/* --------------------------------------------------------------- counters.c */

/* The items ZEROS, OPENED, PASSED, SEEN and SHUT. */
void axe_simt_gate(axe_simt_lowering *sl, axe_lblock *b,
                   const axe_sync_item *item);
/* The items REACHED and COUNTED. */
void axe_simt_reach_counters(axe_simt_lowering *sl, axe_lblock *b,
                             const axe_sync_item *item);
void axe_simt_count_tile(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_sync_item *item);

/* ------------------------------------------------------------------- copy.c */

AXE_CHECK axe_status axe_simt_lower_copy(axe_simt_lowering *sl, axe_lblock *b,
                                         const axe_schedule *s);

/* ------------------------------------------------------------------- host.c */

/* When each grid is launched, and which loops are around it. */
void axe_simt_lower_host(axe_ctx *cx, const axe_plan *p, axe_lowered *out);

/* ----------------------------------------------------------------- launch.c */

AXE_CHECK axe_status axe_simt_lower(axe_ctx *cx, const axe_plan *p,
                                    axe_lowered *out);

/* -------------------------------------------------------------------- map.c */

AXE_CHECK axe_status axe_simt_lower_map(axe_simt_lowering *sl, axe_lblock *b,
                                        const axe_schedule *s);

/* --------------------------------------------------------------- prologue.c */

/* The launch's barriers are made by the first thread, and seen by the row
 * `seen` or NULL; counters begin.  Before the end: it asks for tensor maps
 * early. */
AXE_CHECK axe_status axe_simt_make_barriers(axe_simt_lowering *sl,
                                            axe_lblock        *b,
                                            const axe_atom    *seen);
AXE_CHECK axe_status axe_simt_prefetch_maps(axe_simt_lowering *sl);

/* ------------------------------------------------------------------- ring.c */

/* A pipeline of one role is declared: its counters begin. */
AXE_CHECK axe_status axe_simt_lower_pipeline(axe_simt_lowering *sl,
                                             axe_lblock *b, const axe_stmt *s);

/* The counters of a ring, of those who fill it and those who read it. */
void axe_simt_count_ring(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_simt_ring *r, bool fill, bool read);

/* ------------------------------------------------------------- ring_stage.c */

/* The item's row at a barrier of a stage; at those of all stages in turn, by
 * whom it says; and the stage that is kept as the one before. */
void axe_simt_stage(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_sync_item *item);
void axe_simt_tail(axe_simt_lowering *sl, axe_lblock *b,
                   const axe_sync_item *item);
void axe_simt_keep_stage(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_sync_item *item);

/* ------------------------------------------------------------------ roles.c */

/* Which cluster's tile it is, by an id that counts CTAs. */
const axe_node *axe_simt_cluster_of(axe_simt_lowering *sl, axe_id id);

/* The scope's variables in cluster `at`. */
AXE_CHECK axe_status axe_simt_set_tile(axe_simt_lowering *sl, axe_lblock *b,
                                       const axe_stmt *s, const axe_node *at);

/* A loop over this cluster's tiles, of a role or, NULL, the CTA: its body. */
AXE_CHECK axe_status axe_simt_open_tiles(axe_simt_lowering *sl, axe_lblock *b,
                                         const axe_stmt *s,
                                         const axe_stmt *role,
                                         axe_lblock    **body);

/* The thread group's registers, by the row, or NULL; and those of warp groups
 * whose warps have roles of their own, before these part. */
void axe_simt_set_budget(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_thread_group *c, const axe_atom *a);
void axe_simt_set_budgets(axe_simt_lowering *sl, axe_lblock *b);
/* Threads that have changed it have their share again, in a launch that goes on
 * with another scope: of a role, and of warp groups, as above. */
AXE_CHECK axe_status axe_simt_end_budget(axe_simt_lowering *sl, axe_lblock *b,
                                         const axe_thread_group *c,
                                         const axe_atom         *a);
AXE_CHECK axe_status axe_simt_end_budgets(axe_simt_lowering *sl, axe_lblock *b);

/* The rings whose stages the role passes on. */
void axe_simt_count_rings(axe_simt_lowering *sl, axe_lblock *b,
                          const axe_stmt *role);

/* ---------------------------------------------------------- store_staging.c */

/* By way of staging. */
AXE_CHECK axe_status axe_simt_lower_stage_out(axe_simt_lowering  *sl,
                                              axe_lblock         *b,
                                              const axe_schedule *s);

/* -------------------------------------------------------------- sync_list.c */

/* What the plan says for that place of the statement. */
AXE_CHECK axe_status axe_simt_sync_at(axe_simt_lowering *sl, axe_lblock *b,
                                      const axe_stmt *s, axe_sync_place place);

/* Has every item of the list been spelled?
 * Errors  EUNSUPPORTED: one stands where there is no place for it */
AXE_CHECK axe_status axe_simt_all_spelled(axe_simt_lowering *sl);

/* Does a PRODUCE of a later iteration stand there? */
bool axe_simt_fills_at(const axe_simt_lowering *sl, const axe_stmt *s,
                       axe_sync_place place);

/* ------------------------------------------------------------- tensor_map.c */

/* The number in the grid of the map that boxes of the argument `of`, seen as t,
 * are seen by, or stored, used where `when` holds; NULL: always. */
struct axe_box;
int axe_simt_map_of(axe_simt_lowering *sl, const axe_tensor *of,
                    const axe_tensor *t, const struct axe_box *box, bool stored,
                    const axe_node *when);

/* ---------------------------------------------------------------- threads.c */

/* The variables of a scope from the number of the entity, last fastest. */
void axe_simt_split(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
                    const axe_node *number);

/* One thread of each entity of the thread group, of those of `around`, which is
 * around it, where `when` (NULL: always) holds, the same in all of a warp.  It
 * is the same thread each time; where warps can choose one, they do. */
axe_lblock *axe_simt_open_first(axe_simt_lowering *sl, axe_lblock *b,
                                const axe_thread_group *threads,
                                const axe_thread_group *around,
                                const axe_node         *when);

/* The group's threads, of those of the thread group it is in, as a block. */
axe_lblock *axe_simt_open_threads(axe_simt_lowering *sl, axe_lblock *b,
                                  const axe_thread_group *c);

/* The threads that a scope in a cta is, as a block with the scope's variables.
 */
axe_lblock *axe_simt_open_scope(axe_simt_lowering *sl, axe_lblock *b,
                                const axe_stmt *s);

/* The rank of the first CTA of the `pair` that this one is of. */
const axe_node *axe_simt_first_of(axe_simt_lowering *sl, int pair);

/* mask << by, where by is a multiple of `step` below `end`. */
const axe_node *axe_simt_shifted(axe_simt_lowering *sl, int64_t mask, int step,
                                 int end, const axe_node *by);

/* Is this the CTA that asks for all `pair` of them?  NULL: each does. */
const axe_node *axe_simt_asks(axe_simt_lowering *sl, int64_t pair);

/* A block of one thread of the group, which asks for atoms of an engine. */
axe_lblock *axe_simt_open_issuer(axe_simt_lowering *sl, axe_lblock *b,
                                 const axe_thread_group *threads);

/* --------------------------------------------------------- tile_scheduler.c */

/* Tiles that are taken as they come.  Its barriers; then, for who runs a loop
 * over the tiles, its counters before the loop; the item's row at an answer or
 * a barrier of it; and, behind all items of a tile, `tile` becomes the next
 * one, or the loop is left. */
AXE_CHECK axe_status axe_simt_make_queue(axe_simt_lowering *sl, axe_lblock *b);
void                 axe_simt_begin_queue(axe_simt_lowering *sl, axe_lblock *b);
void                 axe_simt_answer(axe_simt_lowering *sl, axe_lblock *b,
                                     const axe_sync_item *item);
void                 axe_simt_next_tile(axe_simt_lowering *sl, axe_lblock *b,
                                        const axe_var *tile);

/* ------------------------------------------------------------------- tmem.c */

/* A place in a tile of tensor memory. */
axe_arg axe_simt_sums(const axe_tensor *tile, const axe_node *at);

/* Columns: asked for by the row, read where that has been done, given back. */
void                 axe_simt_ask_columns(axe_simt_lowering *sl, axe_lblock *b,
                                          const axe_atom *row);
AXE_CHECK axe_status axe_simt_read_columns(axe_simt_lowering *sl,
                                           axe_lblock        *b);
void                 axe_simt_free_columns(axe_simt_lowering *sl, axe_lblock *b,
                                           const axe_atom *row);

/* The item's row at the barrier of its sync point. */
void axe_simt_await(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_sync_item *item);
/* *inside: where what is done INSIDE the statement stands; NULL: nowhere. */
AXE_CHECK axe_status axe_simt_lower_tmem(axe_simt_lowering *sl, axe_lblock *b,
                                         const axe_schedule *s,
                                         axe_lblock        **inside);

/* -------------------------------------------------------------- tmem_copy.c */

/* From shared to tensor memory. */
AXE_CHECK axe_status axe_simt_lower_tcopy(axe_simt_lowering *sl, axe_lblock *b,
                                          const axe_schedule *s);

/* ------------------------------------------------------------------- turn.c */

/* The item's row at the barrier of the item's group. */
void axe_simt_turn(axe_simt_lowering *sl, axe_lblock *b,
                   const axe_sync_item *item);

/* ------------------------------------------------------------------- walk.c */

/* Statements in order into b. */
AXE_CHECK axe_status axe_simt_lower_body(axe_simt_lowering *sl, axe_lblock *b,
                                         int n, axe_stmt *const *body);

/* The tasks of a top scope whose order or number is its own. */
AXE_CHECK axe_status axe_simt_lower_persistent(axe_simt_lowering *sl,
                                               axe_lblock        *b,
                                               const axe_stmt    *s);

#endif
