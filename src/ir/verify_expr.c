/* verify_expr.c - types follow ops.def, every name is in scope. */
#include "ir/verify_int.h"

bool
axe_verify_fail(axe_verifier *v, axe_status st)
{
    if (v->status == AXE_OK)
        v->status = st;
    return false;
}

/* ------------------------------------------------------------------- types */

bool
axe_verify_needs(axe_verifier *v, const axe_node *n, const char *need)
{
    return axe_verify_fail(v, axe_fail(v->cx, n->at, AXE_ETYPE,
                                       "`%s` (%s) needs %s",
                                       axe_node_text(v->cx, n),
                                       axe_type_table[n->type].name, need));
}

static bool
same_args(const axe_node *n, axe_type type)
{
    for (int i = 0; i < n->n_arg; i++)
        if (n->arg[i]->type != type)
            return false;
    return true;
}

static bool
check_const(axe_verifier *v, const axe_node *n)
{
    bool is_float = axe_type_is_float(n->type);

    if (n->op == AXE_OP_fconst)
        return is_float || axe_verify_needs(v, n, "a floating type");
    return (!is_float && axe_type_fits(n->type, n->u.i)) ||
           axe_verify_needs(v, n, "an integer type that holds it");
}

static bool
check_select(axe_verifier *v, const axe_node *n)
{
    if (n->arg[0]->type != AXE_TYPE_bool)
        return axe_verify_needs(v, n, "a condition before `?`");
    return (n->arg[1]->type == n->type && n->arg[2]->type == n->type) ||
           axe_verify_needs(v, n, "both its values of its own type");
}

/* By the traits of ops.def. */
static bool
check_traits(axe_verifier *v, const axe_node *n)
{
    unsigned t = axe_op_table[n->op].traits;

    if ((t & AXE_TRAIT_BOOLS) &&
        !(n->type == AXE_TYPE_bool && same_args(n, AXE_TYPE_bool)))
        return axe_verify_needs(v, n, "conditions");
    if ((t & AXE_TRAIT_CMP) &&
        !(n->type == AXE_TYPE_bool && same_args(n, n->arg[0]->type)))
        return axe_verify_needs(v, n, "operands of one type");
    if ((t & (AXE_TRAIT_ARITH | AXE_TRAIT_FLOATS | AXE_TRAIT_INT |
              AXE_TRAIT_INTS)) &&
        !same_args(n, n->type))
        return axe_verify_needs(v, n, "operands of its own type");
    if ((t & AXE_TRAIT_ARITH) && n->type == AXE_TYPE_bool)
        return axe_verify_needs(v, n, "numbers");
    if ((t & AXE_TRAIT_FLOATS) && !axe_type_is_float(n->type))
        return axe_verify_needs(v, n, "a floating type");
    if ((t & AXE_TRAIT_TESTS) &&
        !(n->type == AXE_TYPE_bool && axe_type_is_float(n->arg[0]->type)))
        return axe_verify_needs(v, n, "a floating type");
    if ((t & AXE_TRAIT_INTS) &&
        (axe_type_is_float(n->type) || n->type == AXE_TYPE_bool))
        return axe_verify_needs(v, n, "integers");
    if ((t & AXE_TRAIT_INT) && n->type != AXE_TYPE_INDEX)
        return axe_verify_needs(v, n, "index integers");
    return true;
}

/* ------------------------------------------------------------- expressions */

/* cond: n is a condition, of a choice between extents. */
static bool
check_extent(axe_verifier *v, const axe_node *n, bool cond)
{
    if (n->type != (cond ? AXE_TYPE_bool : AXE_TYPE_INDEX))
        return axe_verify_needs(
            v, n, cond ? "to be a condition" : "to be an index integer");
    for (int i = 0; i < n->n_arg; i++)
        if (!check_extent(v, n->arg[i], n->arg[i]->type == AXE_TYPE_bool))
            return false;
    if (n->op != AXE_OP_load && n->op != AXE_OP_reduce &&
        !(n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX))
        return true;
    return axe_verify_fail(v, axe_fail(v->cx, n->at, AXE_ESHAPE,
                                       "`%s` cannot be part of an extent",
                                       axe_node_text(v->cx, n)));
}

bool
axe_verify_extent(axe_verifier *v, const axe_node *n)
{
    return axe_verify_expr(v, n) && check_extent(v, n, false);
}

bool
axe_verify_index(axe_verifier *v, const axe_var *x, const axe_node *extent)
{
    if (x->kind != AXE_VAR_INDEX || axe_list_has(&v->vars, x))
        return axe_verify_fail(
            v, axe_fail(v->cx, x->at, AXE_ENAME,
                        "`%s` is not an index, or is bound twice", x->name));
    if (!axe_verify_extent(v, extent))
        return false;
    axe_list_push(&v->vars, x);
    return true;
}

static bool
check_reduce(axe_verifier *v, const axe_node *n)
{
    int  mark = v->vars.n;
    bool ok = true;

    for (int i = 0; i < n->u.reduce.n_over && ok; i++)
        ok = axe_verify_index(v, n->u.reduce.over[i], n->u.reduce.extent[i]);
    ok = ok && axe_verify_expr(v, n->arg[0]);
    v->vars.n = mark;
    if (!ok)
        return false;
    if (n->u.reduce.fold == AXE_FOLD_NONE || n->type == AXE_TYPE_bool ||
        n->arg[0]->type != n->type)
        return axe_verify_needs(v, n, "numbers of its own type");
    return true;
}

static bool
check_load(axe_verifier *v, const axe_node *n)
{
    const axe_tensor *t = n->u.tensor;

    if (!axe_list_has(&v->tensors, t))
        return axe_verify_fail(v, axe_fail(v->cx, n->at, AXE_ENAME,
                                           "tensor `%s` is not in scope",
                                           t->name));
    if (n->n_arg != t->rank || n->type != t->type)
        return axe_verify_needs(v, n, "the rank and type of its tensor");
    for (int i = 0; i < n->n_arg; i++)
        if (!axe_verify_expr(v, n->arg[i]))
            return false;
    return same_args(n, AXE_TYPE_INDEX) ||
           axe_verify_needs(v, n, "index subscripts");
}

static bool
check_var(axe_verifier *v, const axe_node *n)
{
    if (!axe_list_has(&v->vars, n->u.var))
        return axe_verify_fail(v, axe_fail(v->cx, n->at, AXE_ENAME,
                                           "`%s` is not in scope",
                                           n->u.var->name));
    return n->type == AXE_TYPE_INDEX || axe_verify_needs(v, n, "an index type");
}

bool
axe_verify_expr(axe_verifier *v, const axe_node *n)
{
    if (n->op == AXE_OP_iconst || n->op == AXE_OP_fconst)
        return check_const(v, n);
    if (n->op == AXE_OP_var)
        return check_var(v, n);
    if (n->op == AXE_OP_load)
        return check_load(v, n);
    if (n->op == AXE_OP_reduce)
        return check_reduce(v, n);
    for (int i = 0; i < n->n_arg; i++)
        if (!axe_verify_expr(v, n->arg[i]))
            return false;
    if (n->op == AXE_OP_select)
        return check_select(v, n);
    if (n->op == AXE_OP_cast)
        return n->type != AXE_TYPE_bool ||
               axe_verify_needs(v, n, "a comparison to become a condition");
    if (n->op == AXE_OP_bitcast)
        return axe_type_table[n->type].bits ==
                   axe_type_table[n->arg[0]->type].bits ||
               axe_verify_needs(v, n, "as many bits as its operand has");
    return check_traits(v, n);
}
