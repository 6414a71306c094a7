/* cost.h - what a plan should cost at given sizes, before anything runs.
 *
 * The model.  A statement issues so many vector operations and so many loads
 * and stores.  Each byte it touches comes from the smallest memory level that
 * still holds it: data that a loop uses again in its next iteration is as far
 * away as all that one iteration touches.  Arguments are taken to be as warm as
 * the iteration before, the launch itself being the outermost loop.  Issuing
 * and waiting for memory overlap; what is left is tasks distributed unevenly,
 * and the launch.  Memory that is walked in short runs is slower: each new run
 * costs as much as AXE_JUMP_BYTES of a long one.
 *
 * It is meant to rank candidates and to say what limits a statement, not to
 * predict: bench/bench_cost.c says how far off it is. */
#ifndef AXE_PLAN_COST_COST_H
#define AXE_PLAN_COST_COST_H

#include "machine/levels.h"
#include "plan/plan.h"

enum { AXE_JUMP_BYTES = 256 };

/* For which launch. */
typedef struct axe_cost_at {
    const int64_t *size;     /* [kernel->n_size], or NULL: not known */
    int            n_worker; /* >= 1 */
    axe_levels     levels;
} axe_cost_at;

/* Of all executions of a statement in one launch.  cycles is -1, and the rest
 * without meaning, where it depends on sizes that are not known. */
typedef struct axe_cost {
    double runs;               /* executions */
    double issue;              /* [cycles] of one core to issue it all */
    double best;               /* the same in whole vectors of neighbours */
    double wait;               /* [cycles] for bytes of the busiest worker */
    double bytes[AXE_N_LEVEL]; /* that come from, or go to, each level */
    double jumps;              /* [bytes] that memory could have moved where
                                  it begins new rows */
    double cycles;             /* [cycles] until the last worker is done */
    bool   memory_bound;       /* waits longer than it issues */
} axe_cost;

/* Of all statements of the plan, by id; 0 where there is none, and not known
 * where the machine's kind has no model of single statements.
 * out   [p->n_schedule]
 * Cost  the square of their number */
void axe_cost_each(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
                   axe_cost *out);

/* The launch: the sum of all statements and what starting it costs.
 * Cost  some microseconds a statement */
void axe_cost_plan(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
                   axe_cost *out);

/* [s] that no plan of the kernel takes less than, at these sizes; -1: not
 * known. */
double axe_cost_least(axe_ctx *cx, const axe_plan *p, const int64_t *size);

#endif
