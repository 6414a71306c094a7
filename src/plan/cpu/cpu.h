/* cpu.h - schedules for one core. */
#ifndef AXE_PLAN_CPU_CPU_H
#define AXE_PLAN_CPU_CPU_H

#include "plan/access/candidate.h"
#include "plan/cpu/schedule.h"
#include "plan/target.h"

/* ------------------------------------------------------------------- atom.c */

/* The schedule of a statement that names its atom: one invocation.
 * Errors  ENAME: no such atom; EUNSUPPORTED: the machine lacks it;
 *         ESHAPE, ETYPE: it does not take the operands, and which would */
AXE_CHECK axe_status axe_atom_plan(axe_planner *p, axe_request *r,
                                   axe_schedule *out);

/* ------------------------------------------------------------- cache_sets.c */

/* A bool: of `rows` pieces of `bytes` each, `stride` bytes apart, does no set
 * of a cache get more lines than `ways`?  `period`: its bytes / ways. */
const axe_node *axe_fits_sets(axe_ctx *cx, const axe_node *rows,
                              const axe_node *bytes, const axe_node *stride,
                              int64_t period, int64_t ways);

/* --------------------------------------------------------------- contract.c */

/* May: and perhaps several sums?  Infer: give open tiles of a contraction their
 * layouts. Plan: false (and reasons in r) if no contract atom fits. */
bool axe_contract_may(const axe_stmt *s);
bool axe_contract_infer(axe_planner *p, const axe_stmt *s);
bool axe_contract_plan(axe_planner *p, axe_request *r, axe_schedule *out);

/* ---------------------------------------------------------- contract_nest.c */

/* What a register tile is worth, its multiply-adds for each load: rows of a
 * come from L1, vectors of b stream from L2, which costs about twice as much.
 * 0: its sums, a row of b and an element of a are more than the registers. */
double axe_tile_worth(const axe_machine *mc, int rows, int vectors);
/* The operand 0, 1 or 2 of the product: c, a, b. */
const axe_operand *axe_product_operand(const axe_product *q, int i);
/* The loops; false if an index cannot be cut so. */
bool axe_contract_nest(const axe_product *q, const axe_candidate *c,
                       axe_schedule *out);
/* Where b asks whether there is such a matrix at all, is the sum one loop?
 * Else a reason in the request. */
bool axe_contract_ends(const axe_product *q, const axe_schedule *out);
/* Blocks of m, n and k in which a factor is zero need no visit. */
void axe_contract_skips(const axe_product *q, axe_schedule *out);
/* The register tile; how many groups of the sum. */
double axe_contract_tile(const axe_product *q, const axe_candidate *c,
                         axe_tile_shape *out);

/* ------------------------------------------------------------------- dead.c */

/* Bound the statements that fill tiles by what is read of them. */
void axe_cut_dead(axe_planner *p);

/* The limit in dimension d that all who read the tile share, or NULL. */
const axe_node *axe_common_limit(axe_planner *p, const axe_tensor *t, int d);

/* -------------------------------------------------------------------- few.c */

/* The kernel, a product, with a branch for few rows. */
const axe_kernel *axe_few_rows(axe_ctx *cx, const axe_machine *mc,
                               const axe_kernel *k);

/* ---------------------------------------------------------- fuse_epilogue.c */

/* Merge what surrounds contractions into them. */
void axe_merge_ends(axe_planner *p);

/* ---------------------------------------------------------------- overlap.c */

/* The kernel with a tensor of counters for each group of scopes that overlap,
 * which its first scope names; none where how many there are changes in a
 * launch. */
const axe_kernel *axe_core_counters(axe_ctx *cx, const axe_kernel *k);
/* p->core->overlap of the group of n scopes. */
const axe_core_overlap *axe_core_overlap_plan(axe_planner *p, int n,
                                              axe_stmt *const *scope);
/* Of the group that s begins; NULL: none. */
const axe_core_overlap *axe_core_overlap_of(const axe_plan *p,
                                            const axe_stmt *s);

/* --------------------------------------------------------- map_transpose.c */

/* Does v move the operand? */
bool axe_map_depends(const axe_operand *op, const axe_var *v);
/* Does a computed subscript move with v? */
bool axe_map_computes(const axe_operand *op, const axe_var *v);
/* The atom of the kind that takes the operand along v, or NULL. */
const axe_atom *axe_map_fits(axe_planner *p, axe_operand *op,
                             axe_atom_kind kind, const axe_var *v, int lanes,
                             int step, int word);
/* Can lanes be cut off d in all that it moves? */
bool axe_map_refines(axe_planner *p, axe_request *r, const axe_dim *d,
                     int64_t word);
/* May blocks of the statement be transposed in registers?  Notes why not,
 * where the plan does not show it. */
bool axe_map_may_transpose(axe_planner *p, axe_request *r);
/* The variable along which both sides of a move have `word` neighbours, or
 * NULL. */
const axe_var *axe_map_common_word(axe_request *r, int word);
/* Is it a plain move whose sides are fast in two variables?  word: that many
 * neighbours along word_var move as one. */
bool axe_map_transpose(axe_planner *p, axe_request *r, int lanes, int word,
                       const axe_var *word_var, const axe_dim **u,
                       const axe_dim **v, const axe_atom **list);

/* -------------------------------------------------------------------- jam.c */

/* How many elements of the result are folded side by side; its loops may change
 * places. */
void axe_plan_jam(const axe_planner *p, const axe_request *r, axe_nest *nest);

/* -------------------------------------------------------------------- map.c */

/* Lanes for the widest compute type of the statement. */
AXE_CHECK axe_status axe_map_lanes(axe_planner *p, axe_request *r, int *lanes);
AXE_CHECK axe_status axe_map_plan(axe_planner *p, axe_request *r,
                                  axe_schedule *out);

/* -------------------------------------------------------------- map_order.c */

/* The digits of all dims of a nest of schedule s, outermost first by the
 * destination's strides if by_stride, those of `last2` and then `last` (or
 * NULL) at the end.  A variable that layouts cut in ways that do not refine one
 * another is one digit. */
void axe_map_order(axe_planner *p, const axe_request *r, axe_nest *nest,
                   const axe_schedule *s, bool by_stride, const axe_var *last2,
                   const axe_var *last);

/* ------------------------------------------------------------------ panel.c */

/* Vectors of columns of the candidate's b that lie together, if it is packed;
 * else 1. */
int64_t axe_panel_of(const axe_product *q, const axe_candidate *c);
/* The tile of b as a view of the packed argument, if its columns are the
 * product's; notes how that lies. */
bool axe_see_packed(const axe_product *q, const axe_tensor *packed,
                    const axe_candidate *c);

/* --------------------------------------------------------- register_tiles.c */

/* Divide the tiles of contractions. */
void axe_split_tiles(axe_planner *p);

/* A name for a value that is known where the split is. */
const axe_node *axe_split_let(axe_planner *p, axe_schedule *s, const char *name,
                              const axe_node *value);

/* ----------------------------------------------------------------- retile.c */

/* Which scope variables' tiles may begin elsewhere; then, with all schedules
 * made, in which multiples. */
void axe_find_retiles(axe_planner *p);
void axe_round_retiles(axe_planner *p);

/* --------------------------------------------------------------- schedule.c */

/* A schedule of s with nothing chosen yet. */
axe_schedule axe_core_begin(axe_planner *p, const axe_stmt *s);
/* What schedule s has of its own for one core, while planning goes on. */
axe_core_schedule *axe_core_edit(axe_planner *p, const axe_schedule *s);

/* -------------------------------------------------------------- sum_loops.c */

/* The kernel with loops around sums of products as indices. */
const axe_kernel *axe_sum_loops(axe_ctx *cx, const axe_machine *mc,
                                const axe_kernel *k);

/* ------------------------------------------------------------ tail_vector.c */

/* May the rows of the request's nests, of the statement's own along `last`, end
 * in a vector of which only the first lanes count?  Then they do so; the
 * operands' atoms go into list, which has room, if a row may have such an end.
 */
void axe_plan_parts(axe_planner *p, axe_request *r, const axe_var *last,
                    axe_schedule *out, const axe_atom **list);

/* The atom that loads the first of `lanes` steps of v, or NULL. */
/* Would runs of v, shorter than two vectors, go faster by half as many lanes,
 * since their ends cost more than what that adds? */
bool axe_part_is_dear(axe_planner *p, const axe_request *r, const axe_var *v,
                      int lanes);
const axe_atom *axe_find_part(axe_planner *p, const axe_operand *op,
                              const axe_var *v, int lanes);

/* Note an atom once. */
void axe_use_atom(axe_schedule *s, const axe_atom *a, const axe_atom **list);

/* The type in which elements of a tensor lie in memory. */
axe_type axe_kept_as(const axe_planner *p, const axe_tensor *t);

/* ------------------------------------------------------------ tile_layout.c */

/* Lay the open tiles of the product out for the candidate. */
void axe_contract_layouts(const axe_product *q, const axe_candidate *c);

/* --------------------------------------------------------- worker_barrier.c */

/* Where all workers need a barrier; with p->retile known. */
void axe_plan_sync(axe_planner *p);

/* -------------------------------------------------------------- zero_copy.c */

/* Factors that are read where they come from. */
void axe_find_views(axe_planner *p);

/* ----------------------------------------------------------------- caches.c */

/* Warn of tiles that exceed the machine's caches. */
void axe_check_caches(axe_ctx *cx, const axe_plan *p);

/* ------------------------------------------------------------------- plan.c */

/* Rows of passes.def. */
AXE_CHECK axe_status axe_core_check_scopes(axe_planner *p);
AXE_CHECK axe_status axe_core_place_declared(axe_planner *p);
AXE_CHECK axe_status axe_core_choose_layouts(axe_planner *p);
AXE_CHECK axe_status axe_core_place_tiles(axe_planner *p);
AXE_CHECK axe_status axe_core_schedule_all(axe_planner *p);
void                 axe_core_tell_open(axe_planner *p);

/* The row of plan/target.h for one core. */
AXE_CHECK axe_status axe_core_storage(axe_planner *p, const axe_tensor *t,
                                      const axe_layout **out);
int                  axe_core_places(const axe_planner *p, const axe_tensor *t,
                                     axe_axis axis[AXE_PLACE_AXES], int64_t by[AXE_PLACE_AXES]);
const char          *axe_core_why_no_hint(axe_planner *p, const axe_schedule *s,
                                          const axe_attr *a);

#endif
