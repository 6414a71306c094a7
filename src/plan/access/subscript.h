/* subscript.h - one subscript of an access. */
#ifndef AXE_PLAN_ACCESS_SUBSCRIPT_H
#define AXE_PLAN_ACCESS_SUBSCRIPT_H

#include "plan/plan_int.h"

/* One subscript, taken apart. */
typedef struct axe_subscript {
    const axe_var  *index; /* if it is one index and the rest, else NULL */
    axe_affine      inner; /* of index variables */
    axe_affine      outer; /* the rest */
    const axe_node *outer_node;
    bool            computed; /* it reads an element, or divides an index */
    bool            steady;   /* but not beyond scalars */
} axe_subscript;

AXE_CHECK axe_status axe_subscript_apart(axe_planner *p, const axe_node *n,
                                         axe_subscript *out);

/* What must hold for it to be inside of a dimension of so many: nothing, a
 * guard or a check, which the operand then has. */
void axe_subscript_guard(axe_planner *p, const axe_request *r,
                         const axe_subscript *s, const axe_node *size,
                         axe_operand *op);

/* Every element asks whether it is inside. */
void axe_subscript_ask(const axe_subscript *s, const axe_node *size,
                       axe_operand *op);

const axe_node *axe_unit_node(axe_planner *p, axe_unit u);

#endif
