/* verify_int.h - between the files that say whether a kernel is well formed. */
#ifndef AXE_IR_VERIFY_INT_H
#define AXE_IR_VERIFY_INT_H

#include "ir/range.h"

typedef struct axe_verifier {
    axe_ctx          *cx;
    const axe_kernel *k;
    axe_status        status;
    axe_list          vars;      /* in scope: sizes, scopes, loops, indices */
    axe_list          tensors;   /* in scope */
    axe_list          pipelines; /* in scope */
    int               depth;     /* statements around */
    const axe_stmt   *inside;    /* innermost scope, or NULL */
    bool              in_loop;   /* that may be left here */
    bool              in_roles;  /* right in them */
    const axe_holds  *holds;     /* conditions around, or NULL */
} axe_verifier;

/* Keeps the first status; false. */
bool axe_verify_fail(axe_verifier *v, axe_status st);
/* An ETYPE that says what n needs; false. */
bool axe_verify_needs(axe_verifier *v, const axe_node *n, const char *need);

/* verify_expr.c: is n well typed, all of it in scope? */
bool axe_verify_expr(axe_verifier *v, const axe_node *n);
/* How far something runs: an integer over what is in scope, no loads. */
bool axe_verify_extent(axe_verifier *v, const axe_node *n);
/* x is an index that is not bound yet; and now it is, until v->vars.n is put
 * back. */
bool axe_verify_index(axe_verifier *v, const axe_var *x,
                      const axe_node *extent);

/* Does a tile that is declared in `outer`, NULL: in no scope, lie where tensor
 * memory is, if that is its space (verify_scope.c)?
 * Errors  ESHAPE: no cta's; ETYPE: not of 32 or 16 bits */
AXE_CHECK axe_status axe_tmem_verify(axe_ctx *cx, const axe_tensor *t,
                                     const axe_stmt *outer);

/* The parts of it that scopes and roles are (verify_scope.c).
 * outer   the innermost scope around, or NULL
 * role    s stands in `roles`
 * Errors  ESHAPE, ESYNTAX, ENAME, EUNSUPPORTED, the first one */
AXE_CHECK axe_status axe_scope_verify(axe_ctx *cx, const axe_stmt *s,
                                      const axe_stmt *outer, bool role);
AXE_CHECK axe_status axe_roles_verify(axe_ctx *cx, const axe_stmt *s,
                                      const axe_stmt *outer);
/* verify_turn.c: are TURNs in the scope s, those of inner scopes aside, well
 * formed; and one TURN, in `outer` or NULL? */
AXE_CHECK axe_status axe_turns_verify(axe_ctx *cx, const axe_stmt *s);
AXE_CHECK axe_status axe_turn_verify(axe_ctx *cx, const axe_stmt *s,
                                     const axe_stmt *outer);

#endif
