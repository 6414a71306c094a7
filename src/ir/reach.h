/* reach.h - how far the indices of a kernel reach at given sizes. */
#ifndef AXE_IR_REACH_H
#define AXE_IR_REACH_H

#include "ir/ir.h"

/* Do the subscripts, extents and conditions of a kernel, and the numbers of
 * entities of its scopes, stay within AXE_INDEX_MOST?  What is computed from
 * elements is not known, and passes. size    [n_size] the runtime sizes, exact
 * or where `upto` at most that; NULL: not known Errors  EOVERFLOW */
AXE_CHECK axe_status axe_kernel_check_reach(axe_ctx *cx, const axe_kernel *k,
                                            const int64_t *size, bool upto);
/* The largest bound of all sizes that is known to pass, a power of two; 0: none
 * is. */
int64_t axe_kernel_reach(axe_ctx *cx, const axe_kernel *k);
/* What that looks at, in order: variables with their extents, NULL: not known,
 * and expressions of indices. */
typedef struct axe_index_eye {
    void *user;
    void (*range)(void *user, const axe_var *v, const axe_node *extent);
    void (*index)(void *user, const axe_node *n);
} axe_index_eye;
void axe_kernel_see_indices(axe_ctx *cx, const axe_kernel *k,
                            const axe_index_eye *eye);

#endif
