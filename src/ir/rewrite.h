/* rewrite.h - copies of statements with other variables, tiles and pipelines.
 *
 * A copy has variables, tiles and numbers of its own for all that is declared
 * in it, so that it may stand beside the original in one kernel. */
#ifndef AXE_IR_REWRITE_H
#define AXE_IR_REWRITE_H

#include "ir/ir.h"
#include "ir/list.h"

/* Start with axe_rewriter_of.  Lists of what is replaced, and by what: pairs
 * that are added later hide earlier ones. */
typedef struct axe_rewriter {
    axe_ctx    *cx;
    axe_kernel *k;                 /* new ids are its next ones */
    const char *suffix;            /* of the names of copied tiles; or "" */
    axe_list    var, value;        /* const axe_var *, const axe_node * */
    axe_list    tensor, tensor_by; /* const axe_tensor * */
    axe_list    scalar, scalar_by; /* const axe_tensor *, const axe_node * */
    axe_list    ring, ring_by;     /* const axe_pipeline * */
} axe_rewriter;

axe_rewriter axe_rewriter_of(axe_ctx *cx, axe_kernel *k);
/* From now on v is `value`. */
void axe_rewrite_var(axe_rewriter *w, const axe_var *v, const axe_node *value);

/* From now on loads of t, of rank 0, are `value`; NULL: loads again. */
void axe_rewrite_scalar(axe_rewriter *w, const axe_tensor *t,
                        const axe_node *value);

/* n with all that is replaced; n itself if there is nothing. */
const axe_node *axe_rewrite_node(axe_rewriter *w, const axe_node *n);
/* A new variable like v, whose extent is rewritten, and which v is from now on.
 */
const axe_var *axe_rewrite_loop_var(axe_rewriter *w, const axe_var *v);
/* A copy of the statement and all in it. */
axe_stmt *axe_rewrite_stmt(axe_rewriter *w, const axe_stmt *s);
/* Of n statements, one after the other. */
axe_stmt *const *axe_rewrite_body(axe_rewriter *w, int n,
                                  axe_stmt *const *body);

/* Number the index statements of the kernel from 0 on, in order.  k's own body
 * is replaced; what it was made from stays. */
void axe_kernel_renumber(axe_ctx *cx, axe_kernel *k);

#endif
