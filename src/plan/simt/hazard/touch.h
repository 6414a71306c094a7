/* touch.h - what statements touch in memory that threads share. */
#ifndef AXE_PLAN_SIMT_HAZARD_TOUCH_H
#define AXE_PLAN_SIMT_HAZARD_TOUCH_H

#include "ir/list.h"
#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* Where an access lies in one dimension of a global tensor: from lo to hi,
 * beside a sum that is of one value for the CTA.  Two are of other elements
 * where those sums are the same and these ranges apart. */
typedef struct axe_reach {
    const axe_thread_group *threads; /* in whose eyes; NULL: not known */
    axe_affine              sum;     /* without its constant */
    int64_t                 lo, hi;
} axe_reach;

/* One access of memory that threads share; without a tile, of the barrier that
 * is waited for before the statement. */
typedef struct axe_touch {
    const axe_stmt   *stmt;
    const axe_tensor *tile;
    const axe_node   *load;  /* of a global tensor; else NULL */
    const axe_reach  *reach; /* [load->n_arg] */
    bool              writes;
    bool met; /* there was a barrier since: what is left is that engines which
                 see memory another way want a fence behind it */
    const axe_atom *engine; /* that was asked to, and arrives later; or NULL */
    const axe_thread_group *issuer;  /* whose first thread asked it */
    const axe_thread_group *threads; /* one entity of which did it; behind a
                                        scope any of the entity around may
                                        have */
} axe_touch;

/* What the index statement of the thread group touches, at the end of out:
 * axe_touch.
 */
void axe_simt_touches(axe_planner *p, const axe_stmt *s,
                      const axe_thread_group *threads, axe_list *out);
/* The same of all statements in the body. */
void axe_simt_touches_in(axe_planner *p, int n, axe_stmt *const *body,
                         axe_list *out);
/* May both be of one element, one writing it, and the order matter?  As engines
 * fold into memory in any order, so do threads. */
bool axe_simt_conflicts(axe_planner *p, const axe_touch *a, const axe_touch *b);

/* The fence that b wants behind what threads did in global memory, as an engine
 * does it by a proxy of its own (PTX ISA, proxies); NULL: none. */
const axe_atom *axe_simt_fence_for(axe_planner *p, const axe_touch *b);

/* Does b write bytes of shared memory that one of those wrote? */
bool axe_simt_overwrites(axe_planner *p, const axe_touch *b,
                         const axe_list *all);

/* Why b waits for a, which it conflicts with. */
const char *axe_simt_why_wait(axe_planner *p, const axe_touch *a,
                              const axe_touch *b);

/* Does each thread find there only what it touched itself?  Of global tensors;
 * with all schedules made. */
bool axe_simt_finds_own(axe_planner *p, const axe_touch *a, const axe_touch *b);

/* Errors  EUNSUPPORTED: b, which fills a stage ahead of time, would have to
 * wait for a */
AXE_CHECK axe_status axe_simt_refuse_ahead(axe_planner *p, const axe_touch *a,
                                           const axe_touch *b);

/* same_thread_global.c.  One access of a global tensor. */
typedef struct axe_touching {
    const axe_stmt         *stmt;
    const axe_node         *load;
    bool                    writes;
    const axe_thread_group *who; /* whose threads run the statement */
    const axe_thread_group
        *threads; /* it, or around it: both are of one entity of it */
} axe_touching;

/* What it reaches in each dimension. */
const axe_reach *axe_simt_reach(axe_planner *p, const axe_touching *t);
/* Are there no elements that both touch, whatever loops around have come to? */
bool axe_simt_is_apart(axe_planner *p, const axe_touching *a,
                       const axe_touching *b);
/* Does each iteration of the n loops around touch elements of its own? */
bool axe_simt_iterations_apart(axe_planner *p, const axe_touching *a, int n,
                               axe_stmt *const *loop);
/* Has each element that both touch one thread that does, the same in both?
 * With all schedules made. */
bool axe_simt_is_kept(axe_planner *p, const axe_touching *a,
                      const axe_touching *b);

#endif
