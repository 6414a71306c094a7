/* box_origin.c - where boxes of a tensor map begin, and who walks them.
 *
 * A subscript is one index, which the box walks, or several that are the digits
 * of one number, and a coordinate that is one for the statement: of sizes,
 * scopes, loops, and values of scalars. */
#include "plan/access/access.h"
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

/* Its indices, that of the largest steps first: n of them. */
static int
by_steps(const axe_affine *a, int most, const axe_var **out)
{
    int n = 0;

    for (int i = 0; i < a->n; i++) {
        int at = n;
        if (a->var[i]->kind != AXE_VAR_INDEX)
            continue;
        if (n++ == most)
            return -1;
        for (; at > 0 && axe_affine_coef(a, out[at - 1]) < a->coef[i]; at--)
            out[at] = out[at - 1];
        out[at] = a->var[i];
    }
    return n;
}

int
axe_simt_walkers(axe_planner *p, const axe_request *r, const axe_node *at,
                 int most, const axe_var **out)
{
    axe_affine a;
    int64_t    step = 1;
    int n = axe_subscript_of(p->cx, at, &a) ? by_steps(&a, most, out) : -1;

    for (int i = n - 1; i >= 0; i--) {
        if (axe_affine_coef(&a, out[i]) != step)
            return -1;
        if (i > 0 && (!axe_mul(step, axe_dim_extent(axe_request_dim(r, out[i])),
                               &step) ||
                      step == 0))
            return -1;
    }
    return n;
}

static bool
is_among(const axe_var *v, int n, const axe_var *const *var)
{
    for (int i = 0; i < n; i++)
        if (var[i] == v)
            return true;
    return false;
}

bool
axe_simt_may_begin(axe_ctx *cx, const axe_node *at, int n,
                   const axe_var *const *walker)
{
    axe_affine a;

    if (!axe_subscript_of(cx, at, &a))
        return false;
    for (int i = 0; i < a.n; i++) {
        bool one = a.coef[i] == 1 || a.coef[i] == -1;
        if (!is_among(a.var[i], n, walker) &&
            (a.var[i]->kind == AXE_VAR_INDEX ||
             (axe_is_computed(a.var[i]) && !(axe_is_steady(a.var[i]) && one))))
            return false;
    }
    return true;
}
