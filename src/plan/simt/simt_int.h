/* simt_int.h - between the planners for machines with threads. */
#ifndef AXE_PLAN_SIMT_SIMT_INT_H
#define AXE_PLAN_SIMT_SIMT_INT_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"
#include "plan/simt/team/banks.h"

/* plan.c: the whole of axe_plan_kernel for such machines, with what is known
 * of the kernel's shape.
 * Errors  EUNSUPPORTED, ESHAPE, ELIMIT: shared memory, registers */
AXE_CHECK axe_status axe_simt_plan_kernel(planner *p);
/* rewrite/loop_to_index.c: k with loops that count a register tile as indices;
 * k itself if there are none. */
const axe_kernel *axe_simt_unloop(axe_ctx *cx, const axe_kernel *k);
/* rewrite/scan.c: k with loops that leave a running sum in a tile as one
 * statement; k itself if there are none. */
const axe_kernel *axe_simt_prefix(axe_ctx *cx, const axe_kernel *k);
/* rewrite/nested_reduce.c: k with folds that stand in folds as statements. */
const axe_kernel *axe_simt_unnest(axe_ctx *cx, const axe_kernel *k);
/* rewrite/row_cache.c: k with rows that a CTA reads more than once kept in
 * registers; k itself if there are none. */
const axe_kernel *axe_simt_keep(axe_ctx *cx, const axe_machine *mc,
                                const axe_kernel *k);
/* simt/team/thread_group.c: crews, launches, who runs and holds what.
 * Errors  EUNSUPPORTED, ESHAPE, ELIMIT: scopes that a CTA cannot have */
AXE_CHECK axe_status axe_simt_find_crews(planner *p);
/* simt/team/storage.c: the constant extents of a tile. */
axe_shape axe_shape_of_tile(axe_ctx *cx, const axe_tensor *t);
/* Give an open tile its layout. */
void axe_simt_settle(planner *p, const axe_tensor *t, const axe_layout *l,
                     const char *why);
/* Is it a tile without a layout yet? */
bool axe_simt_is_open(const planner *p, const axe_tensor *t);

/* simt/map/swizzle.c: [elements] of t that its swizzle keeps together, from a
 * multiple of them on: no access is wider. */
int64_t axe_simt_kept(const planner *p, const axe_tensor *t);
/* Can the machine have the swizzle of a tile?
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_simt_check_swizzle(planner *p, const axe_place *pl);

/* infer.c: layouts of register tiles that no contraction gave one.
 * Errors  EUNSUPPORTED: a tile that no statement fills by indices alone */
AXE_CHECK axe_status axe_simt_infer(planner *p);

/* simt/map/ownership.c: are iters of register tiles the same one by one, but
 * for how a thread's registers are numbered? */
bool axe_simt_same_iters(const planner *p, int n, const axe_iter *a,
                         const axe_iter *b);
/* Have both the same replicas, in whatever order? */
bool axe_simt_same_copies(const axe_layout *a, const axe_layout *b);
/* The first thread, by its number, that holds each element. */
int64_t *axe_simt_list_holders(planner *p, const axe_layout *l);

/* simt/map/map.c: moves, elementwise, reductions.
 * Errors  EUNSUPPORTED with what was rejected */
AXE_CHECK axe_status axe_simt_map_plan(planner *p, request *r,
                                       axe_schedule *out);
/* simt/map/cluster_share.c: of how many CTAs each computes a part of what the
 * statement writes, for all of them; 1: each all of it. */
int axe_simt_share(planner *p, const request *r, const axe_crew *crew);
/* The kernel without clusters, for machines that have none: each CTA holds the
 * replicas that are its own. */
const axe_kernel *axe_simt_alone(axe_ctx *cx, const axe_kernel *k);
/* simt/map/distribute.c: who does which part of the statement; open tiles say
 * nothing.
 * Errors  EUNSUPPORTED, ELIMIT */
AXE_CHECK axe_status axe_simt_deal(planner *p, const request *r,
                                   const axe_crew *crew, axe_work *out);
/* What the work makes of a tile in registers that it accesses so: the
 * projection on its dimensions, replicas for what they do not have.  False if
 * the access does not walk the whole tile by indices alone. */
bool axe_simt_project(planner *p, const axe_work *w, const axe_node *load,
                      const axe_layout **out);
/* simt/team/storage.c: places [elements] that a step on the axis is in the
 * tile's memory, or a thread's registers. */
int64_t axe_simt_places(const planner *p, const axe_tensor *t, axe_axis a);
/* The layout of a tile there, on m: thread axes do not move. */
AXE_CHECK axe_status axe_simt_storage(planner *p, const axe_tensor *t,
                                      const axe_layout **out);
/* Do all threads find the operand's elements in their own registers where the
 * work wants them?  Shown element by element. */
bool axe_simt_is_local(planner *p, const request *r, const axe_work *w,
                       const axe_operand *op, int64_t *n_proved);
/* The flat index of the element in each register of each thread, have[thread *
 * n_reg + reg]; -1: none.  False if some element is in none of them. */
bool axe_simt_hold(planner *p, const axe_layout *l, int n_thread, int n_reg,
                   int64_t *have);
/* How wide one operand of a map is moved. */
AXE_CHECK axe_status axe_simt_plan_access(planner *p, const request *r,
                                          const axe_work    *work,
                                          const axe_operand *op, bool store,
                                          axe_simt_access *out);
/* simt/map/shared_layout.c: layouts of open shared tiles.  And what banks one
 * access of a warp in a shared tile costs. */
AXE_CHECK axe_status axe_simt_choose_tiles(planner *p);
axe_banks axe_simt_banks(planner *p, const axe_work *w, const axe_operand *op,
                         int width);
/* [bytes] used of each sector that one access of a warp to global memory moves;
 * rows whose length is known at launch lie far apart. */
int axe_simt_sectors(planner *p, const axe_work *w, const axe_operand *op,
                     int width);
/* Accesses of the operand by one thread's worth of lanes. */
double axe_simt_invocations(const request *r, const axe_operand *op,
                            const planner *p, int width);
/* [cycles] of the path to global memory that all accesses of an operand take,
 * one for each line that one of a warp goes to. */
double axe_simt_line_cycles(planner *p, const request *r, const axe_work *w,
                            const axe_operand *op, int width);
/* rewrite/stage_operand.c: the kernel with a shared tile between the operand
 * `load` of the statement and what the statement does; the tile is the last
 * tensor. */
const axe_kernel *axe_simt_trip(axe_ctx *cx, const axe_kernel *k,
                                const axe_stmt *at, const axe_node *load);
/* simt/map/transpose_staging.c: is the map, planned so, better done by way of a
 * shared tile? Then p says of which operand. */
bool axe_simt_across(planner *p, const request *r, const axe_simt_schedule *s);
/* access/divisible.c: when is `n` a multiple of v > 0: a condition over sizes
 * that is sufficient; iconst 1: always; iconst 0: not known. */
const axe_node *axe_simt_multiple(axe_ctx *cx, const axe_node *n, int64_t v);
/* Does c hold wherever `all` does?  False: that is not seen. */
bool axe_simt_implies(const axe_node *all, const axe_node *c);
/* Both of such conditions, each said once. */
const axe_node *axe_simt_and(axe_ctx *cx, const axe_node *a, const axe_node *b);

/* simt/contract/contract.c: open tiles of a contraction; false if it is none,
 * or no row fits.  Its schedule: fills out->simt->contract; false with reasons
 * in r. */
bool axe_simt_contract_infer(planner *p, const axe_stmt *s);
bool axe_simt_contract_plan(planner *p, request *r, axe_schedule *out);

/* simt/map/register_split.c: maps that move more than a thread has registers
 * for. */
void axe_simt_part_maps(planner *p);

/* simt/sync/zero_init.c: accumulators that contractions overwrite; with all
 * schedules made. */
void axe_simt_take_zeros(planner *p);

/* simt/copy/copy.c: a move from memory to memory by COPY rows; false with
 * reasons in r. */
bool axe_simt_copy_plan(planner *p, request *r, axe_schedule *out);
/* simt/copy/requirements.c: the row that moves boxes of elements of type t
 * between these spaces, folding them into what is there, or NULL. */
const axe_atom *axe_simt_box_row(const axe_machine *mc, axe_fold fold,
                                 axe_type t, axe_arg_space d, axe_arg_space a,
                                 axe_arg_space barrier);
/* May a box begin at the subscript less the index v, or NULL?  At a coordinate
 * of 32 bits that is one for the statement, scalars among it. */
bool axe_simt_may_begin(axe_ctx *cx, const axe_node *at, const axe_var *v);
/* simt/copy/bulk_copy.c: one run of neighbours, all of it inside, from operand
 * `from`. */
struct axe_simt_copy;
bool axe_simt_run_plan(planner *p, const request *r, int from, bool in,
                       struct axe_simt_copy *out);
/* A subscript where all indices are 0. */
const axe_node *axe_simt_origin(axe_ctx *cx, const axe_node *n);
/* *all and what the strides of t's dimensions with a bit in `ask` need for a
 * map; false: never. */
bool axe_simt_require_strides(planner *p, const axe_tensor *t, unsigned ask,
                              const axe_node **all);
/* simt/team/cta_pair.c: of tiles in parts, does the statement touch its CTA's
 * alone?
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_parts(planner *p, const axe_schedule *s);
/* rewrite/tmem_epilogue.c: the kernel with all statements on tensor memory as
 * contractions, constants, and moves to and from registers.
 * Errors  ELIMIT: too
 * many loads of it in one */
AXE_CHECK axe_status axe_simt_hold_sums(axe_ctx *cx, const axe_machine *mc,
                                        const axe_kernel  *k,
                                        const axe_kernel **out);
/* simt/tmem/scale.c: the kernel with the scales of such statements copied to
 * tensor memory first, tile by tile:
 *
 *     sa.held[m, s] = sa[m, s]
 *     sb.held[n, s] = sb[n, s]
 *     c[m, n] += sa.held[m, k/B] * a[m, k] * sb.held[n, k/B] * b[n, k]
 */
const axe_kernel *axe_simt_hold_scales(axe_ctx *cx, const axe_machine *mc,
                                       const axe_kernel *k);
/* simt/tmem/tmem.c: layouts of open tiles in tensor memory that no contraction
 * gave one, and of open register tiles that s moves to or from it.
 * Errors  EUNSUPPORTED: no row moves it */
AXE_CHECK axe_status axe_simt_tmem_infer(planner *p, const axe_stmt *s);
/* The schedule of such a move, or of a constant; *is: whether it is one.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_simt_tmem_plan(planner *p, request *r,
                                        axe_schedule *out, bool *is);
/* simt/tmem/copy.c: the layout of an open shared tile that s copies to tensor
 * memory; and the schedule of such a copy, false if it is none or no row does
 * it. */
AXE_CHECK axe_status axe_simt_tcopy_infer(planner *p, const axe_stmt *s);
bool axe_simt_tcopy_plan(planner *p, const axe_stmt *s, axe_schedule *out);
/* The size of a tile there, and with all sizes known its columns.
 * Errors  ESHAPE, EUNSUPPORTED, ELIMIT */
AXE_CHECK axe_status axe_simt_tmem_size(planner *p, axe_place *pl);
AXE_CHECK axe_status axe_simt_tmem_allocate(planner *p, axe_simt_launch *l);

/* simt/copy/store_staging.c: a statement from registers to global memory by way
 * of staging; false, with the reason in r, if it is none. */
struct axe_simt_stage;
bool axe_simt_stage_plan(planner *p, request *r, const axe_crew *crew,
                         struct axe_simt_stage *out);
/* simt/sync/ring_protocol.c: stages of pipelines, and the stage as
 * axe_stage_of. */
AXE_CHECK axe_status axe_simt_plan_rings(planner *p);
/* With all schedules made: bytes, arrivals, and barriers behind what is in
 * shared memory so far.
 * Errors  ESHAPE: replicated over other CTAs than the cluster's */
AXE_CHECK axe_status axe_simt_plan_protocols(planner *p);
/* simt/team/registers.c: registers and barriers of all crews.
 * Errors  ELIMIT; EUNSUPPORTED: registers of others than warp groups */
AXE_CHECK axe_status axe_simt_check_crews(planner *p);
const axe_atom      *axe_simt_find_budget(const axe_machine *mc, bool more);
/* simt/sync/tile_scheduler.c: launches whose tiles are taken as they come;
 * where no row says how, CTAs that stay take every n-th. */
void axe_simt_plan_queues(planner *p);
/* simt/sync/ring_protocol.c: has the ring a tile there?  A new counter. */
bool           axe_ring_has_tile_in(const axe_pipeline *ring, axe_space s);
const axe_var *axe_ring_var(planner *p, const axe_pipeline *ring,
                            const char *what);
/* Rooms of statements that go by way of staging, as far as shared memory goes.
 */
void axe_simt_place_staging(planner *p);
/* simt/sync/touch.c: p->simt->tied, before schedules are made. */
void axe_simt_tie_globals(planner *p);
/* simt/sync/hazards.c: p->simt->meet, with all schedules made.
 * Errors  EUNSUPPORTED: what nothing can order */
AXE_CHECK axe_status axe_simt_plan_sync(planner *p);
/* simt/sync/async_drain.c: p->simt->drain, with schedules, rings, meetings and
 * zeros known. */
void axe_simt_plan_flights(planner *p);
/* simt/sync/same_thread.c: does each thread, of what b touches of the tile,
 * find only elements that it touched itself in a? */
bool axe_simt_is_own(planner *p, const axe_stmt *a, const axe_stmt *b,
                     const axe_tensor *tile);

#endif
