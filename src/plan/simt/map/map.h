/* map.h - schedules for many threads. */
#ifndef AXE_PLAN_SIMT_MAP_MAP_H
#define AXE_PLAN_SIMT_MAP_MAP_H

#include "move/banks.h"
#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ------------------------------------------------------------ access_cost.c */

/* What banks one access of a warp in a shared tile costs. */
axe_banks axe_simt_banks(axe_planner *p, const axe_work *w,
                         const axe_operand *op, int width);

/* [bytes] used of each sector that one access of a warp to global memory moves;
 * rows whose length is known at launch lie far apart. */
int axe_simt_sectors(axe_planner *p, const axe_work *w, const axe_operand *op,
                     int width);

/* Accesses of the operand by one thread's worth of lanes. */
double axe_simt_invocations(const axe_request *r, const axe_operand *op,
                            const axe_planner *p, int width);

/* [cycles] of the path to global memory that all accesses of an operand take,
 * one for each line that one of a warp goes to. */
double axe_simt_line_cycles(axe_planner *p, const axe_request *r,
                            const axe_work *w, const axe_operand *op,
                            int width);

/* ---------------------------------------------------------- cluster_share.c */

/* Of how many CTAs each computes a part of what the statement writes, for all
 * of them; 1: each all of it. */
int axe_simt_share(axe_planner *p, const axe_request *r,
                   const axe_thread_group *threads);

/* The kernel without clusters, for machines that have none: each CTA holds the
 * replicas that are its own. */
const axe_kernel *axe_simt_alone(axe_ctx *cx, const axe_kernel *k);

/* ------------------------------------------------------------- distribute.c */

/* Who does which part of the statement; open tiles say nothing.
 * Errors  EUNSUPPORTED, ELIMIT */
AXE_CHECK axe_status axe_simt_distribute(axe_planner *p, const axe_request *r,
                                         const axe_thread_group *threads,
                                         axe_work               *out);

/* -------------------------------------------------------------------- map.c */

/* Moves, elementwise, reductions.
 * Errors  EUNSUPPORTED with what was rejected */
AXE_CHECK axe_status axe_simt_map_plan(axe_planner *p, axe_request *r,
                                       axe_schedule *out);

/* How wide one operand of a map is moved. */
AXE_CHECK axe_status axe_simt_plan_access(axe_planner *p, const axe_request *r,
                                          const axe_work    *work,
                                          const axe_operand *op, bool store,
                                          axe_simt_access *out);

/* -------------------------------------------------------------- ownership.c */

/* Are iters of register tiles the same one by one, but for how a thread's
 * registers are numbered? */
bool axe_simt_same_iters(const axe_planner *p, int n, const axe_iter *a,
                         const axe_iter *b);

/* Have both the same replicas, in whatever order? */
bool axe_simt_same_copies(const axe_layout *a, const axe_layout *b);

/* The first thread, by its number, that holds each element. */
int64_t *axe_simt_list_holders(axe_planner *p, const axe_layout *l);

/* What the work makes of a tile in registers that it accesses so: the
 * projection on its dimensions, replicas for what they do not have.  False if
 * the access does not walk the whole tile by indices alone. */
bool axe_simt_project(axe_planner *p, const axe_work *w, const axe_node *load,
                      const axe_layout **out);

/* Do all threads find the operand's elements in their own registers where the
 * work wants them?  Shown element by element. */
bool axe_simt_is_local(axe_planner *p, const axe_request *r, const axe_work *w,
                       const axe_operand *op, int64_t *n_proved);

/* The flat index of the element in each register of each thread, have[thread *
 * n_reg + reg]; -1: none.  False if some element is in none of them. */
bool axe_simt_hold(axe_planner *p, const axe_layout *l, int n_thread, int n_reg,
                   int64_t *have);

/* --------------------------------------------------------- register_split.c */

/* Maps that move more than a thread has registers for. */
void axe_simt_part_maps(axe_planner *p);

/* ------------------------------------------------------------- partitions.c */

/* Does each thread find what the work wants of the operand in its own partition
 * of shared memory, where that has some?
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_simt_check_parts(axe_planner *p, const axe_request *r,
                                          const axe_work    *work,
                                          const axe_operand *op);

/* ---------------------------------------------------------- shared_layout.c */

/* Layouts of open shared tiles. */
AXE_CHECK axe_status axe_simt_choose_tiles(axe_planner *p);

/* ---------------------------------------------------------------- swizzle.c */

/* What offsets of a shared tile are multiples of [bytes]: its swizzle's period.
 */
int64_t axe_simt_align(const axe_place *pl);
/* The end of [bytes] from a shared tile's begin where its swizzle moves them:
 * whole blocks that it maps to themselves, of elements of any width. */
int64_t axe_simt_swizzled_end(const axe_place *pl, int64_t bytes);

/* [elements] of t that its swizzle keeps together, from a
 * multiple of them on: no access is wider. */
int64_t axe_simt_kept(const axe_planner *p, const axe_tensor *t);

/* Can the machine have the swizzle of a tile?
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_simt_check_swizzle(axe_planner     *p,
                                            const axe_place *pl);

/* ------------------------------------------------------ transpose_staging.c */

/* Is the map, planned so, better done by way of a shared tile?  Then it is
 * asked for. */
bool axe_simt_stage_transpose(axe_planner *p, const axe_request *r,
                              const axe_simt_schedule *s);

#endif
