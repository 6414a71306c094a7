/* cpu.h - statements of one core as loops. */
#ifndef AXE_LOWER_CPU_CPU_H
#define AXE_LOWER_CPU_CPU_H

#include "lower/lower_int.h"
#include "plan/cpu/cpu.h"
#include "plan/cpu/schedule.h"

/* ---------------------------------------------------------------- address.c */

/* Element address of an operand at the bound digits. */
const axe_node *axe_address(axe_lowering *lw, const axe_operand *op);

/* Does the check hold at the bound digits? */
const axe_node *axe_check_node(axe_lowering *lw, const axe_check *c);

/* Is it known in the code at hand that the check holds? */
bool axe_check_holds(const axe_lowering *lw, const axe_check *c);

/* Are the extents of all its indices constants? */
bool axe_check_is_boxed(const axe_lowering *lw, const axe_check *c);

/* Is the element at hand inside its tensor?  NULL if it surely is. */
const axe_node *axe_inside(axe_lowering *lw, const axe_operand *op);

/* ------------------------------------------------------------------- bits.c */

/* mulhi, popcount, clz of elements narrower than their register; false: n is
 * none. */
bool axe_lower_narrow_bits(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                           const axe_reg *src, axe_reg *out);

/* The bits of x as n's type. */
axe_reg axe_lower_bitcast(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                          axe_reg x);

/* --------------------------------------------------------------- contract.c */

AXE_CHECK axe_status axe_lower_contract(axe_lowering *lw, axe_lblock *b);

/* ---------------------------------------------------------------- overlap.c */

/* What an entity of a scope does, whose variables are known. */
typedef axe_status lower_entity_fn(axe_lowering *lw, axe_lblock *b,
                                   const axe_stmt *scope);
/* The scopes of a group as one list, behind a barrier that the caller made. */
AXE_CHECK axe_status axe_lower_overlap(axe_lowering *lw, axe_lblock *b,
                                       const axe_core_overlap *o,
                                       lower_entity_fn        *entity);

/* ------------------------------------------------------------------ index.c */

/* An affine index expression, a vector of the open loops, as t: i64, or i32,
 * which keeps the low bits.  False where it is not affine. */
bool axe_lower_index(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                     axe_type t, int lanes, axe_reg *out);

/* Is an affine index expression within i32 all over the domain? */
bool axe_index_is_small(axe_lowering *lw, const axe_node *n);

/* A comparison of two such expressions, a mask as wide as suits the lanes. */
bool axe_lower_index_mask(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                          int lanes, axe_reg *out);

/* The least or greatest value of a + outer over the domain; NULL if an extent
 * is not of this statement. */
const axe_node *axe_corner(axe_lowering *lw, const axe_node *outer,
                           const axe_affine *a, bool high);

/* Conditions, known before the statement, that an affine comparison by < or <=
 * holds all over the domain or nowhere; false where there are none. */
bool axe_mask_corners(axe_lowering *lw, const axe_node *n, const axe_node **all,
                      const axe_node **none);

/* The value of v where the comparison changes, if it does so once in the loop
 * over v about to be opened; *first: it holds before.  NULL if it may not. */
const axe_node *axe_mask_flip(axe_lowering *lw, const axe_node *n,
                              const axe_var *v, bool *first);

/* The first condition that the value chooses by for which `fits` says so. */
typedef bool    mask_fits(axe_lowering *lw, const axe_node *mask,
                          const void *user);
const axe_node *axe_find_mask(axe_lowering *lw, const axe_node *n,
                              mask_fits *fits, const void *user);

/* What n is in the code at hand, where lw->mask is known. */
const axe_node *axe_decided(const axe_lowering *lw, const axe_node *n);

/* ------------------------------------------------------------------ known.c */

/* The node's value at level `at`, a splat or not, is in r now. */
void axe_remember(axe_lowering *lw, int at, const axe_node *n, bool splat,
                  axe_reg r);

/* The deepest open loop whose index the node mentions. */
int axe_level_of(const axe_lowering *lw, const axe_node *n);

/* How many values the loops do in one go; the code that follows is for one. */
int  axe_jam_iterations(const axe_jam *j);
void axe_jam_take(axe_lowering *lw, const axe_jam *j, int iteration);

/* ----------------------------------------------------------------- limits.c */

/* Is the operand outside its tensor in the code at hand? */
bool axe_reads_zero(const axe_lowering *lw, const axe_operand *op);

/* -------------------------------------------------------------------- map.c */

/* The statement's value into its destination at the bound digits. */
AXE_CHECK axe_status axe_store_value(axe_lowering *lw, void *user);

/* Notes in b whether the statement's whole result is too large for the caches
 * to be of use; NULL where it is never streamed. */
const axe_node *axe_over_caches(axe_lowering *lw, axe_lblock *b);

/* One statement into block b. */
AXE_CHECK axe_status axe_lower_map(axe_lowering *lw, axe_lblock *b);

/* -------------------------------------------------------------- operation.c */

axe_reg axe_constant(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                     int lanes);

/* Integers as wide as t, for masks. */
axe_type axe_mask_type(axe_type t);

/* Integers narrower than their register wrap around as their type does. */
axe_reg axe_wrap(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_reg r);

/* ------------------------------------------------------------------- read.c */

/* Does it read elements or mention indices? */
bool axe_is_computed_now(const axe_node *n);

/* Are loops open over all indices that it mentions? */
bool axe_reads_are_bound(const axe_lowering *lw, const axe_node *n);

/* The expression with such variables, and with indices at the bound digits. */
const axe_node *axe_with_reads(axe_lowering *lw, const axe_node *n);

/* ------------------------------------------------------------------- task.c */

/* How many values each variable of the scope has, tiles that may be smaller
 * being even: [n_var], noted in b. */
const axe_node *const *axe_count_tasks(axe_lowering *lw, axe_lblock *b,
                                       const axe_stmt *s);
/* All of them together. */
const axe_node *axe_all_tasks(axe_lowering *lw, const axe_stmt *s,
                              const axe_node *const *count);
/* i, j, ... from the task's number, the last fastest. */
void axe_split_task(axe_lowering *lw, axe_lblock *b, const axe_stmt *s,
                    const axe_node *const *count, const axe_node *task);

/* -------------------------------------------------------------- transpose.c */

AXE_CHECK axe_status axe_lower_transpose(axe_lowering *lw, axe_lblock *b);

/* ------------------------------------------------------------------ value.c */

/* The register that holds the node at the open loops. */
AXE_CHECK axe_status axe_lower_value(axe_lowering *lw, const axe_node *n,
                                     axe_reg *out);

/* The same with as many lanes as wanted. */
AXE_CHECK axe_status axe_value_in(axe_lowering *lw, const axe_node *want,
                                  int lanes, axe_reg *out);

/* Note as variables the elements that the operand's subscripts read; to be
 * called before its address or checks are asked for. */
AXE_CHECK axe_status axe_take_reads(axe_lowering *lw, const axe_operand *op);

/* The same for one of its expressions. */
AXE_CHECK axe_status axe_take_reads_of(axe_lowering *lw, const axe_node *n);

/* The loops of a nest around `body`. */
typedef axe_status   body_fn(axe_lowering *lw, void *user);
AXE_CHECK axe_status axe_nest_open(axe_lowering *lw, const axe_nest *nest,
                                   body_fn *body, void *user);

/* ------------------------------------------------------------------ lower.c */

/* axe_lower for one core. */
AXE_CHECK axe_status axe_core_lower(axe_ctx *cx, const axe_plan *p,
                                    axe_lowered *out);

#endif
