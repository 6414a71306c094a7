/* domain.h - how far the indices of a statement run; domain.c has the rule. */
#ifndef AXE_IR_DOMAIN_H
#define AXE_IR_DOMAIN_H

#include "ir/ir.h"
#include "ir/list.h"

/* A range `var : D by size`: var counts tiles of `size` elements. */
typedef struct axe_tiled {
    const axe_var *var;
    int64_t        size;
} axe_tiled;

/* How far `var` runs, from the loads in `in` (n nodes).
 * tiled   the ranges around, of axe_tiled
 * Errors  ESHAPE: nothing says, or two places disagree */
AXE_CHECK axe_status axe_index_extent(axe_ctx *cx, const axe_list *tiled,
                                      const axe_var *var, axe_span at, int n,
                                      const axe_node *const *in,
                                      const axe_node       **out);

/* Fill in dim, n_dim and n_free of an index statement from dst, fold, value.
 * Errors  as above, and ESHAPE: an index on the right of `=` only */
AXE_CHECK axe_status axe_stmt_domain(axe_ctx *cx, const axe_list *tiled,
                                     axe_stmt *s);

#endif
