/* core.h - the cost model of one core, between its files: what a statement
 * touches, and how long it takes. */
#ifndef AXE_PLAN_COST_CORE_H
#define AXE_PLAN_COST_CORE_H

#include "plan/cost/cost_int.h"
#include "plan/cpu/schedule.h"

/* One operand of a statement. */
typedef struct axe_cost_access {
    const axe_operand *op;
    int                nest;                       /* 0, or of its reduction */
    bool               moves[AXE_COST_LOOPS];      /* does the loop move it? */
    double             iterations[AXE_COST_LOOPS]; /* of the loop, for it */
    double             bytes[AXE_COST_LOOPS + 1];  /* touched by loops from l
                                                      inwards; last: at once */
    double run; /* [bytes] in a row before the address jumps */
} axe_cost_access;

enum { AXE_COST_NESTS = 16 };

typedef struct axe_cost_frame {
    const axe_schedule *s;
    int                 n_loop, n_around, n_own; /* all; the kernel's; and those
                                                    of nest 0 */
    int              first[AXE_COST_NESTS];      /* loop of each reduction */
    axe_cost_loop    loop[AXE_COST_LOOPS];
    double           vtrips[AXE_COST_LOOPS]; /* with vectors as one iteration */
    double           tasks, share;
    axe_cost_access *access; /* [s->n_operand] */
} axe_cost_frame;

void axe_cost_frame_make(axe_cost_env *e, const axe_schedule *s,
                         axe_cost_frame *out);

/* Lanes of the machine's vectors for the elements of a map, as they are kept;
 * 1 for what is no map. */
int axe_map_most_lanes(const axe_plan *p, const axe_schedule *s);

/* core_issue.c: [cycles] of one core to issue all of a statement's vector
 * operations, loads and stores. */
double axe_cost_issue(const axe_cost_env *e, const axe_cost_frame *f);
/* The same if whole vectors, `faster` times as long, were moved by the atoms
 * for neighbours. */
double axe_cost_issue_best(const axe_cost_env *e, const axe_cost_frame *f,
                           double faster);

/* The row of plan/target.h: each statement, and all. */
void axe_core_cost_each(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
                        axe_cost *out);
void axe_core_cost(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
                   axe_cost *out);

#endif
