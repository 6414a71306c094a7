/* number.c - numbers and conditions of the kernel as numbers of the trace. */
#include "lower/systolic/sys.h"

const sys_bind *
sys_bound(const sys *s, const axe_var *v)
{
    for (int i = s->n_bind - 1; i >= 0; i--)
        if (s->bind[i].v == v)
            return &s->bind[i];
    return NULL;
}

static sys_ex
no_number(sys *s, const axe_node *n)
{
    sys_fail(s, n->at, "run the kernel on another machine",
             "%s: a number that %s does not compute", axe_node_text(s->cx, n),
             s->plan->machine->name);
    return sys_c(0);
}

static sys_ex
of_var(sys *s, const axe_node *n)
{
    const axe_var  *v = n->u.var;
    const sys_bind *b = sys_bound(s, v);

    if (b)
        return b->base;
    if (v->kind == AXE_VAR_SIZE && v->is_fixed)
        return sys_c(v->fixed);
    if (v->kind == AXE_VAR_PART)
        return sys_of(s, v->extent);
    if (v == s->k->cores)
        return sys_c(1);
    return s->var[v->id] ? sys_name(s->var[v->id]) : no_number(s, n);
}

sys_ex
sys_of(sys *s, const axe_node *n)
{
    int64_t c;

    if (axe_is_iconst(n, &c))
        return sys_c(c);
    if (n->op == AXE_OP_var)
        return of_var(s, n);
    if (n->n_arg != 2)
        return no_number(s, n);
    sys_ex a = sys_of(s, n->arg[0]), b = sys_of(s, n->arg[1]);
    switch (n->op) {
    case AXE_OP_add:
        return sys_add(s, a, b);
    case AXE_OP_sub:
        return sys_sub(s, a, b);
    case AXE_OP_mul:
        return sys_mul(s, a, b);
    case AXE_OP_div:
        return sys_div(s, a, b);
    case AXE_OP_mod:
        return sys_mod(s, a, b);
    case AXE_OP_cdiv:
        return sys_div(s, sys_add(s, a, sys_sub(s, b, sys_c(1))), b);
    case AXE_OP_min:
        return sys_min(s, a, b);
    case AXE_OP_max:
        return sys_max(s, a, b);
    default:
        return no_number(s, n);
    }
}

sys_ex
sys_cond(sys *s, const axe_node *n, bool no)
{
    sys_ex a, b, one = sys_c(1);

    if (n->op == AXE_OP_not)
        return sys_cond(s, n->arg[0], !no);
    if (n->op == AXE_OP_and || n->op == AXE_OP_or) {
        a = sys_cond(s, n->arg[0], no);
        b = sys_cond(s, n->arg[1], no);
        return (n->op == AXE_OP_and) != no ? sys_min(s, a, b)
                                           : sys_max(s, a, b);
    }
    if (n->n_arg != 2 || axe_type_is_float(n->arg[0]->type) ||
        axe_node_loads(n))
        return no_number(s, n);
    a = sys_of(s, n->arg[0]);
    b = sys_of(s, n->arg[1]);
    /* a < b: b - a is 1 or more. */
    sys_ex less = sys_min(s, one, sys_max(s, sys_c(0), sys_sub(s, b, a)));
    sys_ex more = sys_min(s, one, sys_max(s, sys_c(0), sys_sub(s, a, b)));
    sys_ex out;
    switch (n->op) {
    case AXE_OP_lt:
        out = less;
        break;
    case AXE_OP_le:
        out = sys_sub(s, one, more);
        break;
    case AXE_OP_ne:
        out = sys_max(s, less, more);
        break;
    case AXE_OP_eq:
        out = sys_sub(s, one, sys_max(s, less, more));
        break;
    default:
        return no_number(s, n);
    }
    return no ? sys_sub(s, one, out) : out;
}
