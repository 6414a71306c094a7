/* types.c - can the machine compute in the types of a statement?
 *
 * A type whose row needs a feature that the machine lacks is refused here,
 * before anything of the statement is planned.  A type without any row is not:
 * copy engines move it, and whoever would hold it in registers reports it. */
#include "plan/access/access.h"

typedef struct search {
    const axe_machine *mc;
    const axe_node    *lacks; /* the first node with a type that mc lacks */
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
