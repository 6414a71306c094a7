/* range.h - the values that a subscript takes where it stands: over the ranges
 * of its variables, and under the conditions that hold there. */
#ifndef AXE_IR_RANGE_H
#define AXE_IR_RANGE_H

#include "ir/ir.h"
#include "ir/list.h"

/* A condition that holds here, or does not; innermost first. */
typedef struct axe_holds {
    const axe_node         *cond;
    bool                    no;
    const struct axe_holds *up;
} axe_holds;

typedef struct axe_reach {
    axe_ctx *cx;
    /* How far an index runs here; NULL: as the variable says. */
    const axe_node *(*extent)(const void *user, const axe_var *v);
    const void      *user;
    const axe_holds *holds;
} axe_reach;

/* An interval that holds the value of `a` wherever it is computed. */
axe_interval axe_reach_of(const axe_reach *r, const axe_affine *a);

/* affine.c: is n a sum of multiples of sizes and a constant, none below 0? */
bool axe_is_affine_size(axe_ctx *cx, const axe_node *n);

#endif
