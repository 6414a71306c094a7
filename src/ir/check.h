/* check.h - what can be said of a well-formed kernel that is wrong, or likely
 * so, before any machine is chosen.
 *
 * Errors: two entities of a scope may write one element; an element of a tile
 * is read that nothing writes.  Warnings: values that nobody reads; elements
 * read by one entity that another may write. */
#ifndef AXE_IR_CHECK_H
#define AXE_IR_CHECK_H

#include "ir/ir.h"

/* All of the below; all errors are recorded, the first one's status returned.
 * k       verified
 * Errors  ESHAPE */
AXE_CHECK axe_status axe_kernel_check(axe_ctx *cx, const axe_kernel *k);

/* check_race.c: entities of each outermost scope. */
AXE_CHECK axe_status axe_check_races(axe_ctx *cx, const axe_kernel *k);
/* conflicts.c: of each statement, [n_index_stmt], that folds into global memory
 * and computes no subscript: a scope variable whose entities may write one
 * element in it; NULL: there is none. */
const axe_var **axe_kernel_conflicts(axe_ctx *cx, const axe_kernel *k);
/* check_cores.c: scopes that are deterministic do not name `cores`.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_cores(axe_ctx *cx, const axe_kernel *k);
/* check_tile.c: parts of tiles that are read but never written. */
AXE_CHECK axe_status axe_check_tiles(axe_ctx *cx, const axe_kernel *k);
/* check_roles.c: what roles do to one another. */
AXE_CHECK axe_status axe_check_roles(axe_ctx *cx, const axe_kernel *k);
/* check_cluster.c: tiles of which CTAs of a cluster hold copies. */
AXE_CHECK axe_status axe_check_clusters(axe_ctx *cx, const axe_kernel *k);
/* check_dead.c: statements whose result is lost. */
void axe_check_dead(axe_ctx *cx, const axe_kernel *k);
/* The same for what is declared and never used.  The front end says it of
 * texts, where names that were folded away count. */
void axe_check_unused(axe_ctx *cx, const axe_kernel *k);

#endif
