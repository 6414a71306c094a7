/* simt_same.c - loads of a map that are one.
 *
 * An element that a value names twice is loaded once, where both stand in the
 * same reduction or both in none: its array has the turns of that nest. */
#include "plan/simt_int.h"

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
