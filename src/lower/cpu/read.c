/* read.c - subscripts that read tensors, or compute with indices otherwise.
 *
 * Such an element is loaded once, where the loops that it depends on are open,
 * and is an integer variable from there on; addresses and checks are ordinary
 * expressions of it. */
#include <assert.h>

#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

static bool
has_load(const axe_node *n)
{
    bool any = n->op == AXE_OP_load;

    for (int i = 0; i < n->n_arg && !any; i++)
        any = has_load(n->arg[i]);
    return any;
}

/* Is it no arithmetic of integers, so that a register must compute it? */
bool
axe_is_read(const axe_node *n)
{
    return n->op == AXE_OP_load || n->op == AXE_OP_cast ||
           (n->op == AXE_OP_select && has_load(n));
}

const axe_var *
axe_taken(const axe_lowering *lw, int at, const axe_node *n)
{
    for (const axe_taken_element *t = lw->level[at].number; t; t = t->next)
        if (axe_node_same(t->node, n))
            return t->var;
    return NULL;
}

bool
axe_reads_are_bound(const axe_lowering *lw, const axe_node *n)
{
    const axe_open_digit *b = lw->bound;
    bool                  all = true;

    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX) {
        while (b && b->of.var != n->u.var)
            b = b->next;
        return b != NULL;
    }
    for (int i = 0; i < n->n_arg && all; i++)
        all = axe_reads_are_bound(lw, n->arg[i]);
    return all;
}

bool
axe_is_computed_now(const axe_node *n)
{
    bool any = n->op == AXE_OP_load ||
               (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX);

    for (int i = 0; i < n->n_arg && !any; i++)
        any = axe_is_computed_now(n->arg[i]);
    return any;
}

const axe_node *
axe_with_reads(axe_lowering *lw, const axe_node *n)
{
    const axe_node *arg[3];

    if (!axe_is_computed_now(n))
        return n;
    if (n->op == AXE_OP_var)
        return axe_index_so_far(lw, n->u.var);
    if (axe_is_read(n))
        return axe_ivar(lw, axe_taken(lw, axe_level_of(lw, n), n));
    assert(n->n_arg <= AXE_LEN(arg));
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = axe_with_reads(lw, n->arg[i]);
    return axe_node_new(lw->cx, n->op, n->type, n->at, n->n_arg, arg);
}
