/* box_origin.c - where boxes of a tensor map begin.
 *
 * A subscript is one index, which the box walks, and a coordinate that is one
 * for the statement: of sizes, scopes, loops, and values of scalars. */
#include "plan/plan_int.h"
#include "plan/simt/copy/copy_int.h"

const axe_node *
axe_simt_origin(axe_ctx *cx, const axe_node *n)
{
    const axe_node *arg[3];

    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX)
        return axe_iconst(cx, n->at, n->type, 0);
    if (n->n_arg == 0 || n->n_arg > 3)
        return n;
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = axe_simt_origin(cx, n->arg[i]);
    return axe_node_new(cx, n->op, n->type, n->at, n->n_arg, arg);
}

bool
axe_simt_may_begin(axe_ctx *cx, const axe_node *at, const axe_var *v)
{
    axe_affine a;

    if (!axe_subscript_of(cx, at, &a))
        return false;
    for (int i = 0; i < a.n; i++) {
        bool one = a.coef[i] == 1 || a.coef[i] == -1;
        if (a.var[i] != v &&
            (a.var[i]->kind == AXE_VAR_INDEX ||
             (axe_is_computed(a.var[i]) && !(axe_is_steady(a.var[i]) && one))))
            return false;
    }
    return true;
}
