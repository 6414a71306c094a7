/* interleave.h - between the parts of what makes one out of roles. */
#ifndef AXE_PLAN_REWRITE_INTERLEAVE_H
#define AXE_PLAN_REWRITE_INTERLEAVE_H

#include "ir/list.h"
#include "ir/rewrite.h"
#include "plan/plan_int.h"

typedef struct list_at {
    int              n, at;
    axe_stmt *const *body;
} list_at;

/* An entity of a role, and how far it is: in the last of `in`. */
typedef struct strand {
    const axe_stmt *role;
    axe_rewriter    known; /* what its scalars hold */
    int             depth;
    list_at         in[AXE_NEST_MAX];
} strand;

typedef struct weave {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *roles;
    int             n_strand, cap_strand;
    strand         *strand;
    axe_list        ring; /* const axe_pipeline *: those between roles */
    int            *full; /* [ring.n] stages that are full now */
    axe_list        decl; /* axe_stmt *, declarations of all strands */
    int             n_step, n_deep;
    axe_span        at;
    const char     *why; /* it cannot be done, or NULL */
} weave;

/* interleave_walk.c: the first reason is kept; false. */
bool axe_weave_fail(weave *x, axe_span at, const char *why);
/* The number of a ring between roles, or -1. */
int axe_weave_ring(const weave *x, const axe_pipeline *p);
/* Does s fill or read a stage of such a ring? */
bool axe_weave_is_stage(const weave *x, const axe_stmt *s);
/* Does s hold a stage of the ring, -1: of any? */
bool axe_weave_uses(const weave *x, const axe_stmt *s, int ring);
/* Is the stage that s waits for full, or free? */
bool axe_weave_is_ready(const weave *x, const axe_stmt *s);
/* The strand's next statement in the innermost list, or NULL: that is done. */
axe_stmt *axe_weave_front(const weave *x, int i);
/* Put statements in place of the next one.  Declarations go before all. */
void axe_weave_splice(weave *x, int i, int n, axe_stmt *const *body);
/* Go into a body, behind which the strand goes on. */
void axe_weave_enter(weave *x, int i, int n, axe_stmt *const *body);
/* Run strands to the end of the bodies that they have entered; those that read
 * first, which pull the others along. */
bool axe_weave_run(weave *x, int n, const int *member, axe_list *out);
/* Do the strand's next statement, or bring others nearer to what it needs. */
bool axe_weave_advance(weave *x, int i, axe_list *out);
/* Stand at the statement before again. */
void axe_weave_back(weave *x, int i);
/* n with what the strand's scalars hold, where that is known in terms that no
 * role writes. */
const axe_node *axe_weave_known(weave *x, int i, const axe_node *n);
/* s may have been done: what it writes is not known any more. */
void axe_weave_forget(weave *x, int i, const axe_stmt *s);
/* A statement like s around a body. */
axe_stmt *axe_weave_around(weave *x, const axe_stmt *s, const axe_list *body);

/* interleave_loop.c: the next statement of strand i, which holds stages, as one
 * with those of the strands at the other ends. */
/* The strand is past its front; what a passed statement says of variables. */
void axe_weave_pass(weave *x, int i);
void axe_weave_learn(weave *x, int i, const axe_stmt *s);

bool axe_weave_loop(weave *x, int i, axe_list *out);
bool axe_weave_if(weave *x, int i, axe_list *out);

#endif
