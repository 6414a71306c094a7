/* operand_use.c - what the operands of a map depend on, and loads that are one.
 *
 * An element that a value names twice is loaded once, where both stand in the
 * same reduction or both in none: its array has the iterations of that nest. */
#include "plan/plan_int.h"
#include "plan/simt/simt.h"

bool
axe_nest_has(const axe_nest *nest, const axe_var *v)
{
    for (int i = 0; i < nest->n_dim; i++)
        if (nest->dim[i].var == v)
            return true;
    return false;
}

bool
axe_operand_depends(const axe_operand *op, const axe_var *v)
{
    bool any = axe_mentions(op->base, v) || axe_operand_asks(op, v);

    for (int i = 0; i < op->n_term; i++)
        any = any || op->term[i].var == v;
    for (int i = 0; i < op->n_guard; i++)
        any = any || op->guard[i].var == v;
    for (int i = 0; i < op->n_check; i++)
        any = any || axe_mentions(op->check[i].outer, v);
    return any;
}

int
axe_simt_nest_of(const axe_schedule *s, int i)
{
    const axe_operand *op = &s->operand[i];

    for (int k = 1; k < s->n_nest; k++)
        for (int d = 0; d < s->nest[k].n_dim; d++)
            if (axe_operand_depends(op, s->nest[k].dim[d].var) &&
                axe_node_holds(s->nest[k].reduce, op->load))
                return k;
    return 0;
}

int
axe_simt_first_load(const axe_schedule *s, int i)
{
    for (int k = 0; k < i; k++)
        if (axe_node_same(s->operand[i].load, s->operand[k].load) &&
            axe_simt_nest_of(s, i) == axe_simt_nest_of(s, k) &&
            (k > 0 || axe_node_holds(s->value, s->operand[0].load)))
            return k;
    return i;
}
