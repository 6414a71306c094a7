/* cost_int.h - between the files of the cost model. */
#ifndef AXE_PLAN_COST_COST_INT_H
#define AXE_PLAN_COST_COST_INT_H

#include "plan/cost/cost.h"

enum { AXE_COST_LOOPS = 96 };

/* A loop around or inside a statement, outermost first. */
typedef struct axe_cost_loop {
    const axe_stmt  *stmt; /* of the kernel; NULL: a digit of a nest */
    const axe_var   *var;
    const axe_digit *digit; /* NULL: of the kernel */
    int              nest;  /* the digit's */
    int              lanes; /* steps of the digit that one iteration makes */
    double           trips;
} axe_cost_loop;

enum { AXE_COST_CONDS = 16 };

/* A branch that the statement stands in. */
typedef struct axe_cost_cond {
    const axe_node *cond;
    bool            want;
} axe_cost_cond;

/* An access counted as if all that it moves were of use, or, if operand is -1,
 * a statement as if no two threads did the same; s NULL: none. */
typedef struct axe_cost_ideal {
    const axe_schedule *s;
    int                 operand;
} axe_cost_ideal;

/* What is known while a statement is looked at. */
typedef struct axe_cost_env {
    axe_ctx           *cx;
    const axe_plan    *plan;
    const axe_cost_at *at;
    const axe_var     *var; /* at hand, with its value; others are 0 */
    double             value;
    axe_cost_ideal     ideal;
    int                n_loop; /* of the kernel, around the statement */
    axe_cost_loop      loop[AXE_COST_LOOPS];
    int                n_cond;
    axe_cost_cond      cond[AXE_COST_CONDS];
    double             tasks; /* of the outermost scope */
    double             share; /* of all iterations, if it stands in a branch */
    double launches; /* machines with threads: iterations of the host's loops */
} axe_cost_env;

/* The value of an index expression; NAN where a size is not known. */
double axe_cost_value(const axe_cost_env *e, const axe_node *n);

/* What computes the scalar that n reads, if one statement does; else NULL. */
const axe_node *axe_cost_scalar(const axe_cost_env *e, const axe_node *n);

/* Is it an element of an integer tensor of the arguments, or a scalar that is
 * one?  Then that load, else NULL. */
const axe_node *axe_cost_index(const axe_cost_env *e, const axe_node *n);

/* The loops of the kernel around the statement, with their iterations.  false
 * if the statement is not in the kernel. */
bool axe_cost_around(axe_cost_env *e, const axe_stmt *s);

/* Mean over all iterations of the loops around of f(number of values that v
 * takes), where v runs to `extent` but not past any limit that the schedule
 * knows. */
typedef double axe_cost_fn(double n, double unit);
double axe_cost_mean(axe_cost_env *e, const axe_schedule *s, const axe_var *v,
                     double extent, axe_cost_fn *f, double unit);

#endif
