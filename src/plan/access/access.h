/* access.h - what a statement touches. */
#ifndef AXE_PLAN_ACCESS_ACCESS_H
#define AXE_PLAN_ACCESS_ACCESS_H

#include "plan/plan_int.h"

/* ----------------------------------------------------------------- access.c */

/* The value with `op=` spelled out: dst op reduce(value). */
const axe_node *axe_spell_fold(axe_ctx *cx, const axe_stmt *s);

/* Resolve every access of the statement. */
AXE_CHECK axe_status axe_request_make(axe_planner *p, const axe_stmt *s,
                                      axe_request *out);

/* Operands for what n reads beside them: arguments, of which every element asks
 * whether it is inside. */
AXE_CHECK axe_status axe_request_also(axe_planner *p, const axe_node *n,
                                      axe_request *r);

/* ------------------------------------------------------------------ asked.c */

/* The same, as it was resolved last if the tiles that it touches lie as then.
 * What it finds it keeps for the planner: not under a mark that is given back.
 */
AXE_CHECK axe_status axe_request_of(axe_planner *p, const axe_stmt *s,
                                    axe_request *out);

/* ---------------------------------------------------------------- certify.c */

/* Compare each operand's digits with its layout; a difference is our own bug.
 */
void axe_certify(axe_planner *p, axe_schedule *s);

/* The same for a view: its address, for some values of all variables, is that
 * of the tensor's strides at the subscripts of the statement that fills the
 * tile; how many were compared.  src: by the indices of `load`. */
int64_t axe_certify_view(axe_planner *p, const axe_operand *src,
                         const axe_node *load, const axe_schedule *fill);

/* --------------------------------------------------------- contract_roles.c */

/* Is the statement a sum of products with a row, a column and a sum? */
bool axe_contract_wanted(const axe_stmt *s);

/* --------------------------------------------------------------- declared.c */

/* Errors of a layout that the text gives a tile, on any machine.
 * ESHAPE: two elements have one place, or one is before the first */
axe_status axe_declared_check(axe_ctx *cx, const axe_tensor *t);

/* ------------------------------------------------------------------- each.c */

/* For each statement of the kind, in the order of the text; after one that
 * fails go on, so that all that is wrong is told.
 * Errors  the first */
typedef axe_status (*axe_each_fn)(axe_planner *p, const axe_stmt *s);
AXE_CHECK axe_status axe_each_stmt(axe_planner *p, axe_stmt_kind kind,
                                   axe_each_fn fn);

/* ------------------------------------------------------------------ digit.c */

/* Cut `v` (const extent) at the boundaries of all operands and at `extra` more
 * weights.  Digits slow to fast; false if boundaries clash. */
bool axe_plan_cut(axe_planner *p, const axe_request *r, const axe_dim *d,
                  int n_extra, const int64_t *extra, int *n_digit,
                  axe_digit **digit);

/* The first n steps of `word` of v in an operand as one iter, of stride 0 if v
 * does not move it; false if they are not one. */
bool axe_fast_iter(const axe_operand *op, const axe_var *v, int64_t word,
                   int64_t n, axe_iter *out);

/* The layout (n : stride) of the first n steps of v in an operand, (n : 0) if v
 * does not move it; false if those steps are not one iter. */
bool axe_fast_layout(axe_planner *p, const axe_operand *op, const axe_var *v,
                     int64_t n, const axe_layout **out);

/* Notes why `what` does not do the request, as far as there is room. */
void axe_rejected(axe_planner *p, axe_request *r, const char *what,
                  const char *fmt, ...) AXE_PRINTF(4, 5);
/* [r->n_reject], for a schedule. */
const axe_reject *axe_rejects_kept(axe_ctx *cx, const axe_request *r);

/* Does the move join this memory, of `lanes` times `group` elements, with reg,
 * or if that is NULL with any registers? */
bool axe_atom_joins(axe_planner *p, const axe_atom *a, int lanes, int group,
                    const axe_layout *mem, const axe_layout *reg);

/* The cheapest atom that moves a memory operand (lanes : stride), each lane
 * `group` neighbours, by tile-of against its memory side, and, if reg is not
 * NULL, gives or takes registers laid out as `reg`. */
const axe_atom *axe_find_move(axe_planner *p, axe_atom_kind kind, int lanes,
                              int group, const axe_layout *mem,
                              const axe_layout *reg);

/* -------------------------------------------------------------- divisible.c */

/* When is `n` a multiple of v > 0: a condition over sizes that is sufficient;
 * iconst 1: always; iconst 0: not known. */
const axe_node *axe_simt_multiple(axe_ctx *cx, const axe_node *n, int64_t v);

/* Does c hold wherever `all` does?  False: that is not seen. */
bool axe_simt_implies(const axe_node *all, const axe_node *c);

/* Both of such conditions, each said once. */
const axe_node *axe_simt_and(axe_ctx *cx, const axe_node *a, const axe_node *b);

/* ----------------------------------------------------------------- packed.c */

/* The packed argument that the tile which s reads is only a copy of, or NULL.
 */
const axe_tensor *axe_packed_source(const axe_planner *p, const axe_stmt *s,
                                    const axe_tensor *tile);

/* What the tile that is read, one without memory, is a copy of, or NULL. */
const axe_node *axe_packed_load(const axe_planner *p, const axe_node *load);

/* axe_operand.next of such a tile; NULL: tasks that follow read the same. */
const axe_node *axe_packed_next(axe_planner *p, const axe_node *load);

/* Does a tile that is filled with columns `at` begin at a multiple of unit? */
bool axe_packed_begins(const axe_planner *p, const axe_node *at, int64_t unit);

/* The access `load` of such a tile as one of its source.  Guards say where the
 * source ends; what is visited up to the next whole vector and group are zeros.
 * Errors  EUNSUPPORTED: it does not begin at whole vectors and groups */
AXE_CHECK axe_status axe_packed_operand(axe_planner *p, const axe_request *r,
                                        axe_operand *op);

/* All packed arguments have found their contraction.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_packed(axe_planner *p);

/* ------------------------------------------------------------------- pins.c */

/* Does the schedule keep what the text asks of it?
 * wanted  a contract atom should have been found
 * Errors  EUNSUPPORTED, ENAME with what was rejected and why */
AXE_CHECK axe_status axe_check_pins(axe_planner *p, const axe_request *r,
                                    const axe_schedule *s, bool wanted);

/* --------------------------------------------------------- pipeline_depth.c */

/* How many stages pipelines keep, and the stage of t that statement s works on;
 * NULL if there is one.
 * Errors  ESHAPE: a produce or consume without a stage; EUNSUPPORTED: not known
 */
AXE_CHECK axe_status axe_plan_rings(axe_planner *p);

/* The same for the pipeline that body[0] declares, for the rest of its block.
 */
AXE_CHECK axe_status axe_plan_ring(axe_planner *p, int n,
                                   axe_stmt *const *body);
void                 axe_add_ring(axe_planner *p, axe_ring r);
const axe_var       *axe_stage_of(const axe_planner *p, const axe_stmt *s,
                                  const axe_tensor *t);

/* ------------------------------------------------------------------ prove.c */

/* As axe_certify, for one access of a tile, by algebra; UNKNOWN where that does
 * not reach (a base that moves with a size, digits that carry). */
typedef enum axe_proof {
    AXE_PROOF_UNKNOWN,
    AXE_PROOF_EQUAL,
    AXE_PROOF_WRONG
} axe_proof;
axe_proof axe_prove_operand(axe_planner *p, const axe_schedule *s,
                            const axe_operand *op);

/* ------------------------------------------------------------- rows_there.c */

/* When row m of the tile that s loads may be other than zeros, a condition over
 * m and what arguments hold; NULL: always, as far as is seen. */
const axe_node *axe_row_there(axe_planner *p, const axe_stmt *s,
                              const axe_node *load, const axe_var *m);

/* ------------------------------------------------------------------ types.c */

/* Has the machine what the statement's types need?
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_types(axe_planner *p, const axe_stmt *s);

/* ---------------------------------------------------------------- scatter.c */

/* No two tasks fold into an element that a subscript computes.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_scatter(axe_planner *p, const axe_stmt *s);

/* Does a subscript of s, which is a scatter, that computes nothing tell v? */
bool axe_scatter_tells(axe_ctx *cx, const axe_stmt *s, const axe_var *v);

/* Does the statement fold into elements that subscripts compute, and may
 * threads meet there, since the machine has rows that fold into memory? */
bool axe_scatter_is_atomic(const axe_planner *p, const axe_stmt *s);

/* ----------------------------------------------------------------- scopes.c */

/* Only scopes, loops and branches around scopes, and barriers at the top of a
 * kernel. */
AXE_CHECK axe_status axe_check_top(axe_planner *p);

/* ----------------------------------------------------------------- source.c */

/* Is the tile filled by one unconverted move, for s alone? */
bool axe_moved_for(const axe_planner *p, const axe_tensor *t,
                   const axe_stmt *s);

/* ---------------------------------------------------------------- staging.c */

/* No schedule is made for ask.stmt: its operand is to go by way of a shared
 * tile. */
void axe_ask_staging(axe_planner *p, axe_staged ask);
/* Was that asked of an operand of s? */
bool axe_asks_staging(const axe_planner *p, const axe_stmt *s);
/* The one whose tile t is, or NULL. */
const axe_staged *axe_staged_as(int n, const axe_staged *list,
                                const axe_tensor *t);

/* -------------------------------------------------------------- subscript.c */

/* Is the variable's whole extent constant?  0 if not. */
int64_t axe_dim_extent(const axe_dim *d);

/* The dim of `v` in any nest of the request, or NULL. */
const axe_dim *axe_request_dim(const axe_request *r, const axe_var *v);

/* The index of a subscript that is one index and the rest, or NULL. */
const axe_var *axe_alone_in(axe_planner *p, const axe_node *at);

/* The sum; of a scope variable whose tiles may begin elsewhere, the beginning.
 */
const axe_node *axe_affine_node(axe_planner *p, const axe_affine *a);

/* Dimension d of a global operand, whose one index is called `as` here: adds to
 * its base and guards; `outer` gets what is no index. */
AXE_CHECK axe_status axe_global_dim(axe_planner *p, const axe_request *r,
                                    const axe_node *at, int d,
                                    const axe_var *as, axe_operand *op,
                                    axe_affine *outer);

/* ----------------------------------------------------------------- window.c */

/* May the subscript leave a dimension of `full` elements of a tile, but for a
 * condition around it? */
bool axe_tile_guarded(axe_planner *p, const axe_request *r, const axe_node *at,
                      int64_t full);

/* Adds to op what the subscript `at` of a tile, inner of indices plus outer,
 * moves it by along a dimension of n > 1 iters.
 * Errors  EUNSUPPORTED: two parts of it move one digit of the dimension */
AXE_CHECK axe_status axe_window_move(axe_planner *p, const axe_request *r,
                                     const axe_node   *at,
                                     const axe_affine *inner,
                                     const axe_affine *outer, int n,
                                     const axe_iter *it, axe_operand *op);

/* ------------------------------------------------------------------- zero.c */

/* The statement that writes tile t, if it is the only one. */
const axe_stmt *axe_only_writer(const axe_planner *p, const axe_tensor *t);

/* A statement that writes tile t. */
const axe_stmt *axe_some_writer(const axe_planner *p, const axe_tensor *t);

/* A limit such that the operand is zero where v >= limit, for the whole time
 * that statement s sees it; NULL if none is known. */
const axe_node *axe_zero_limit(axe_planner *p, const axe_stmt *s,
                               const axe_operand *op, const axe_var *v);

/* Are all variables of the expression bound around statement s? */
bool axe_known_at(const axe_planner *p, const axe_stmt *s, const axe_node *n);

/* Does s, another statement than w, run only after w, in the same iteration of
 * every loop around w, and never without it? */
bool axe_runs_before(const axe_planner *p, const axe_stmt *w,
                     const axe_stmt *s);

/* Is it the whole tile that the access walks, the same in every iteration of a
 * loop?
 */
bool axe_walks_whole(const axe_node *load);

#endif
