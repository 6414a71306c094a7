/* branch.c - kernels that are a branch, whose sides may be compiled apart. */
#include "lower/lower.h"

static void
look_for_others(void *user, const axe_node *n)
{
    bool *others = user;

    *others = *others || n->op == AXE_OP_load || n->op == AXE_OP_reduce ||
              (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE);
}

const axe_lir *
axe_lowered_branch(const axe_lowered *l)
{
    const axe_lir *in = NULL;
    bool           others = false;

    for (int i = 0; i < l->body.n; i++)
        if (l->body.item[i]->kind == AXE_LIR_IF && !in)
            in = l->body.item[i];
        else if (l->body.item[i]->kind != AXE_LIR_OP)
            return NULL;
    if (!in || in->body.n == 0 || in->other.n == 0)
        return NULL;
    axe_node_walk(in->value, look_for_others, &others);
    return others ? NULL : in;
}
