/* rewrite.h - copies of statements with other variables, tiles and pipelines.
 *
 * A copy has variables, tiles and numbers of its own for all that is declared
 * in it, so that it may stand beside the original in one kernel. */
#ifndef AXE_IR_REWRITE_H
#define AXE_IR_REWRITE_H

#include "ir/ir.h"
#include "ir/list.h"

/* What stands in place of n; NULL: what becomes of its operands decides. */
typedef const axe_node *axe_node_change(void *user, const axe_node *n);
/* n with what changes, from the outside in: nodes in which nothing does are n's
 * own. */
const axe_node *axe_node_map(axe_ctx *cx, const axe_node *n,
                             axe_node_change *change, void *user);
/* n with `by` in place of v. */
const axe_node *axe_node_with(axe_ctx *cx, const axe_node *n, const axe_var *v,
                              const axe_node *by);

/* How statements change.  before: push to `out` what stands in place of s and
 * all in it; false: s stays, and its bodies are looked at.  after: what s is,
 * whose bodies have been.  Either may be NULL. */
typedef struct axe_body_change {
    axe_ctx *cx;
    bool (*before)(void *user, axe_stmt *s, axe_list *out);
    axe_stmt *(*after)(void *user, axe_stmt *s);
    void *user;
} axe_body_change;
/* All statements of a body; *body stays as it is if none changes. */
void axe_body_map(const axe_body_change *c, int *n, axe_stmt *const **body);
/* Those of a kernel: k itself if none changes, else a copy with another body,
 * which is to be *out before, as a place for ids. */
const axe_kernel *axe_kernel_map(const axe_body_change *c, const axe_kernel *k,
                                 axe_kernel *out);

/* What a rewritten kernel has besides: its ids are k's next ones. */
/* A statement of no body. */
axe_stmt *axe_stmt_make(axe_ctx *cx, axe_stmt_kind kind, axe_span at);
axe_var  *axe_var_make(axe_ctx *cx, axe_kernel *k, axe_var_kind kind,
                       const char *name, axe_span at);
/* The declaration of a tile like that one, which it names: ->tensor. */
axe_stmt *axe_tile_make(axe_ctx *cx, axe_kernel *k, const axe_tensor *like);
/* dst = value, for all n dims. */
axe_stmt *axe_index_make(axe_ctx *cx, axe_kernel *k, axe_span at,
                         const axe_node *dst, const axe_node *value, int n,
                         const axe_dim *dim);

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
