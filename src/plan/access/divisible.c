/* divisible.c - when an integer expression is a multiple of a number, as a
 * condition over the kernel's sizes. */
#include "plan/access/access.h"
#include "plan/plan_int.h"

static const axe_node *
truth(axe_ctx *cx, bool v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_bool, v);
}

/* x if c is x % n == 0, and its n; else NULL. */
static const axe_node *
divided(const axe_node *c, int64_t *n)
{
    if (c->op != AXE_OP_eq || c->arg[0]->op != AXE_OP_mod ||
        !axe_is_iconst(c->arg[0]->arg[1], n))
        return NULL;
    return c->arg[0]->arg[0];
}

bool
axe_simt_implies(const axe_node *all, const axe_node *c)
{
    const axe_node *x, *y;
    int64_t         n, k;

    if (c->op == AXE_OP_and)
        return axe_simt_implies(all, c->arg[0]) &&
               axe_simt_implies(all, c->arg[1]);
    if (all->op == AXE_OP_or)
        return axe_simt_implies(all->arg[0], c) &&
               axe_simt_implies(all->arg[1], c);
    if (all->op == AXE_OP_and &&
        (axe_simt_implies(all->arg[0], c) || axe_simt_implies(all->arg[1], c)))
        return true;
    if (c->op == AXE_OP_or)
        return axe_simt_implies(all, c->arg[0]) ||
               axe_simt_implies(all, c->arg[1]);
    x = divided(all, &n);
    y = divided(c, &k);
    return (x && y && n % k == 0 && axe_node_same(x, y)) ||
           axe_node_same(all, c);
}

const axe_node *
axe_simt_and(axe_ctx *cx, const axe_node *a, const axe_node *b)
{
    int64_t v;

    if (axe_is_iconst(a, &v))
        return v ? b : a;
    if (axe_is_iconst(b, &v))
        return v ? a : b;
    if (axe_simt_implies(b, a))
        return b;
    return axe_simt_implies(a, b) ? a : axe_node2(cx, AXE_OP_and, a, b);
}

static const axe_node *
either(axe_ctx *cx, const axe_node *a, const axe_node *b)
{
    int64_t v;

    if (axe_is_iconst(a, &v))
        return v ? a : b;
    if (axe_is_iconst(b, &v))
        return v ? b : a;
    return axe_node_same(a, b) ? a : axe_node2(cx, AXE_OP_or, a, b);
}

static const axe_node *
product(axe_ctx *cx, const axe_node *n, int64_t v)
{
    int64_t c;

    for (int i = 0; i < 2; i++)
        if (axe_is_iconst(n->arg[i], &c))
            return axe_simt_multiple(cx, n->arg[1 - i], v / axe_gcd(c, v));
    return either(cx, axe_simt_multiple(cx, n->arg[0], v),
                  axe_simt_multiple(cx, n->arg[1], v));
}

const axe_node *
axe_simt_multiple(axe_ctx *cx, const axe_node *n, int64_t v)
{
    const axe_node *by;
    int64_t         c;

    if (v == 1)
        return truth(cx, true);
    if (axe_is_iconst(n, &c))
        return truth(cx, c % v == 0);
    switch (n->op) {
    case AXE_OP_mul:
        return product(cx, n, v);
    case AXE_OP_add:
    case AXE_OP_sub:
    case AXE_OP_min:
    case AXE_OP_max:
        return axe_simt_and(cx, axe_simt_multiple(cx, n->arg[0], v),
                            axe_simt_multiple(cx, n->arg[1], v));
    case AXE_OP_select:
        return axe_simt_and(cx, axe_simt_multiple(cx, n->arg[1], v),
                            axe_simt_multiple(cx, n->arg[2], v));
    case AXE_OP_var:
        break;
    default:
        return truth(cx, false);
    }
    if (n->u.var->kind != AXE_VAR_SIZE)
        return truth(cx, false);
    by = axe_index_const(cx, v);
    return axe_node2(cx, AXE_OP_eq, axe_node2(cx, AXE_OP_mod, n, by),
                     axe_index_const(cx, 0));
}
