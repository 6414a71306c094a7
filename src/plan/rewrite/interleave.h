/* interleave.h - between the parts of what makes one out of roles. */
#ifndef AXE_PLAN_REWRITE_INTERLEAVE_H
#define AXE_PLAN_REWRITE_INTERLEAVE_H

#include "ir/list.h"
#include "ir/rewrite.h"
#include "plan/plan_int.h"

typedef struct axe_weave_list {
    int              n, at;
    axe_stmt *const *body;
} axe_weave_list;

/* An entity of a role, and how far it is: in the last of `in`. */
typedef struct axe_strand {
    const axe_stmt *role;
    axe_rewriter    known; /* what its scalars hold */
    int             depth;
    axe_weave_list  in[AXE_NEST_MAX];
} axe_strand;

typedef struct axe_weave {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *roles;
    int             n_strand, cap_strand;
    axe_strand     *strand;
    axe_list        ring; /* const axe_pipeline *: those between roles */
    int            *full; /* [ring.n] stages that are full now */
    axe_list        decl; /* axe_stmt *, declarations of all strands */
    int             n_step, n_deep;
    axe_span        at;
    const char     *why; /* it cannot be done, or NULL */
} axe_weave;

/* interleave_walk.c: the first reason is kept; false. */
bool axe_weave_fail(axe_weave *x, axe_span at, const char *why);
/* The number of a ring between roles, or -1. */
int axe_weave_ring(const axe_weave *x, const axe_pipeline *p);
/* Does s fill or read a stage of such a ring? */
bool axe_weave_is_stage(const axe_weave *x, const axe_stmt *s);
/* Does s hold a stage of the ring, -1: of any? */
bool axe_weave_uses(const axe_weave *x, const axe_stmt *s, int ring);
/* Is the stage that s waits for full, or free? */
bool axe_weave_is_ready(const axe_weave *x, const axe_stmt *s);
/* The strand's next statement in the innermost list, or NULL: that is done. */
axe_stmt *axe_weave_front(const axe_weave *x, int i);
/* Put statements in place of the next one.  Declarations go before all. */
void axe_weave_splice(axe_weave *x, int i, int n, axe_stmt *const *body);
/* Go into a body, behind which the strand goes on. */
void axe_weave_enter(axe_weave *x, int i, int n, axe_stmt *const *body);
/* Run strands to the end of the bodies that they have entered; those that read
 * first, which pull the others along. */
bool axe_weave_run(axe_weave *x, int n, const int *member, axe_list *out);
/* Do the strand's next statement, or bring others nearer to what it needs. */
bool axe_weave_advance(axe_weave *x, int i, axe_list *out);
/* Stand at the statement before again. */
void axe_weave_back(axe_weave *x, int i);
/* n with what the strand's scalars hold, where that is known in terms that no
 * role writes. */
const axe_node *axe_weave_known(axe_weave *x, int i, const axe_node *n);
/* s may have been done: what it writes is not known any more. */
void axe_weave_forget(axe_weave *x, int i, const axe_stmt *s);
/* A statement like s around a body. */
axe_stmt *axe_weave_around(axe_weave *x, const axe_stmt *s,
                           const axe_list *body);

/* interleave_loop.c: the next statement of strand i, which holds stages, as one
 * with those of the strands at the other ends. */
/* The strand is past its front; what a passed statement says of variables. */
void axe_weave_pass(axe_weave *x, int i);
void axe_weave_learn(axe_weave *x, int i, const axe_stmt *s);

bool axe_weave_loop(axe_weave *x, int i, axe_list *out);
bool axe_weave_if(axe_weave *x, int i, axe_list *out);

#endif
