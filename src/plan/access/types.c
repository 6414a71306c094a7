/* types.c - can the machine compute in the types of a statement?
 *
 * A type without a row is told of by who would hold it in registers: copies of
 * it pass by engines that need none.  A type whose row needs a feature is
 * refused here, before anything of the statement is planned. */
#include "plan/access/access.h"

typedef struct search {
    const axe_machine *mc;
    const axe_node    *lacks; /* the first node of a type that it lacks */
} search;

static bool
lacks(const axe_machine *mc, axe_type t)
{
    for (int i = 0; i < mc->n_compute; i++)
        if (mc->compute[i].type == t)
            return !axe_machine_has_feature(mc, mc->compute[i].needs);
    return false;
}

static void
visit(void *user, const axe_node *n)
{
    search  *s = user;
    axe_type t = n->op == AXE_OP_load ? n->u.tensor->type : n->type;

    if (!s->lacks && lacks(s->mc, t))
        s->lacks = n;
}

axe_status
axe_check_types(axe_planner *p, const axe_stmt *s)
{
    search   f = {.mc = p->mc};
    axe_type t;

    axe_node_walk(s->dst, visit, &f);
    axe_node_walk(s->value, visit, &f);
    if (!f.lacks)
        return AXE_OK;
    t = f.lacks->op == AXE_OP_load ? f.lacks->u.tensor->type : f.lacks->type;
    return axe_compute_type(p->cx, p->mc, f.lacks->at, t, &t);
}
