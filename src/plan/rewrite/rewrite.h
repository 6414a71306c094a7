/* rewrite.h - kernels that are written anew before their layouts are chosen. */
#ifndef AXE_PLAN_REWRITE_REWRITE_H
#define AXE_PLAN_REWRITE_REWRITE_H

#include "plan/access/relation.h"
#include "plan/plan_int.h"

/* ------------------------------------------------------------ batch_tiles.c */

/* k with one tile for each number of a batch in place of tiles that a batched
 * product counts by it; k itself if there are none. */
const axe_kernel *axe_simt_unbatch(axe_ctx *cx, const axe_kernel *k);

/* --------------------------------------------------------------- counters.c */

/* What counters are for.
 * fits   may they be for this group?  NULL: for any
 * adapt  what else changes in `out`, a scope of the group; or NULL */
typedef struct axe_counters_for {
    bool (*fits)(const void *user, const axe_overlap_group *g);
    void (*adapt)(const void *user, const axe_overlap_group *g, axe_stmt *out);
    const void *user;
} axe_counters_for;

/* The kernel with a tensor of counters for each group of scopes that overlap,
 * which its first scope names; none where how many there are changes in a
 * launch. */
const axe_kernel *axe_declare_counters(axe_ctx *cx, const axe_kernel *k,
                                       const axe_counters_for *use);

/* ------------------------------------------------------------- interleave.c */

/* The kernel with its roles as one, for a machine on which they do not run side
 * by side; those for which that cannot be done stay.
 * at, why   or NULL: *at, *why of the first of these: what is in the way */
const axe_kernel *axe_interleave_roles(axe_ctx *cx, const axe_kernel *k,
                                       axe_span *at, const char **why);

/* ---------------------------------------------------------- loop_to_index.c */

/* k with loops that count a register tile as indices; k itself if there are
 * none. */
const axe_kernel *axe_simt_unloop(axe_ctx *cx, const axe_kernel *k);

/* -------------------------------------------------------------- fold_loop.c */

/* k with loops for folds that others, inside of them, depend on. */
const axe_kernel *axe_simt_fold_loops(axe_ctx *cx, const axe_kernel *k);

/* ---------------------------------------------------------- nested_reduce.c */

/* k with folds that stand in folds as statements. */
const axe_kernel *axe_simt_unnest(axe_ctx *cx, const axe_kernel *k);

/* ---------------------------------------------------------------- ordered.c */

/* k, in whose deterministic scopes no entities meet any more; k itself if none
 * do.
 * Errors  EUNSUPPORTED: tiles or clusters have an order already */
AXE_CHECK axe_status axe_order_meets(axe_ctx *cx, const axe_machine *mc,
                                     const axe_kernel  *k,
                                     const axe_kernel **out);

/* ---------------------------------------------------------------- reflect.c */

/* The kernel with branches where subscripts have absolute values. */
const axe_kernel *axe_reflect(axe_ctx *cx, const axe_kernel *k);

/* -------------------------------------------------------------- row_cache.c */

/* k with rows that a CTA reads more than once kept in registers; k itself if
 * there are none. */
const axe_kernel *axe_simt_keep(axe_ctx *cx, const axe_machine *mc,
                                const axe_kernel *k);

/* ------------------------------------------------------------------- scan.c */

/* k with loops that leave a running sum in a tile as one statement; k itself if
 * there are none. */
const axe_kernel *axe_simt_prefix(axe_ctx *cx, const axe_kernel *k);

/* ---------------------------------------------------------- stage_operand.c */

/* The kernel with a shared tile between the operand `load` of the statement and
 * what the statement does; the tile is the last tensor. */
const axe_kernel *axe_stage_operand(axe_ctx *cx, const axe_kernel *k,
                                    const axe_stmt *at, const axe_node *load);

/* ---------------------------------------------------------- tmem_epilogue.c */

/* The kernel with all statements on tensor memory as contractions, constants,
 * and moves to and from registers.
 * Errors  ELIMIT: too many loads of it in one */
AXE_CHECK axe_status axe_simt_hold_sums(axe_ctx *cx, const axe_machine *mc,
                                        const axe_kernel  *k,
                                        const axe_kernel **out);

#endif
