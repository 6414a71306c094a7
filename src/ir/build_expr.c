/* build_expr.c - a builder's expressions.
 *
 * Operators and functions go by their spelling, read from the tables that the
 * printer uses.  Nodes are made by the constructors that the front end uses, so
 * that the same constants fold. */
#include <string.h>

#include "ir/build_int.h"
#include "ir/text_int.h"

const axe_ir_expr *
axe_build_int(axe_builder *b, const char *type, int64_t value)
{
    axe_type t = AXE_TYPE_INDEX;

    if (!axe_build_begin(b) || (type && !axe_build_type(b, type, &t)))
        return NULL;
    if (axe_type_is_float(t) || !axe_type_fits(t, value)) {
        axe_build_fail(b, AXE_ETYPE, "%lld is not a value of %s",
                       (long long)value, axe_type_table[t].name);
        return NULL;
    }
    return axe_build_node(b, axe_iconst(b->cx, b->at, t, value), 1);
}

const axe_ir_expr *
axe_build_float(axe_builder *b, const char *type, double value)
{
    axe_type t;

    if (!axe_build_begin(b) || !axe_build_type(b, type, &t))
        return NULL;
    if (!axe_type_is_float(t)) {
        axe_build_fail(b, AXE_ETYPE, "%s is not a floating type", type);
        return NULL;
    }
    return axe_build_node(b, axe_fconst(b->cx, b->at, t, value), 1);
}

const axe_ir_expr *
axe_build_load(axe_builder *b, const axe_ir_tensor *t, int n,
               const axe_ir_expr *const *subscript)
{
    const axe_node *sub[AXE_RANK_MAX];
    int64_t         n_op = 1;

    if (!axe_build_begin(b) || !axe_build_has_tensor(b, t))
        return NULL;
    if (n != t->tensor->rank || (n > 0 && !subscript)) {
        axe_build_fail(b, AXE_ESHAPE,
                       "`%s` has %d dimensions, but %d subscripts are given",
                       t->tensor->name, t->tensor->rank, subscript ? n : 0);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (!axe_build_has_expr(b, subscript[i], "a subscript"))
            return NULL;
        sub[i] = subscript[i]->node;
        n_op += subscript[i]->n_op;
    }
    return axe_build_node(b, axe_load(b->cx, b->at, t->tensor, sub), n_op);
}

/* The operation spelt `text` with n_arg operands. */
static bool
find_op(axe_builder *b, const char *text, int n_arg, axe_op *out)
{
    const char *known[AXE_N_OP];
    int         n = 0;

    for (int op = 0; op < AXE_N_OP; op++) {
        bool is_op = axe_op_table[op].n_arg == n_arg && op != AXE_OP_cast &&
                     op != AXE_OP_reduce;
        if (!is_op)
            continue;
        known[n++] = axe_op_sign((axe_op)op);
        if (text && strcmp(known[n - 1], text) == 0) {
            *out = (axe_op)op;
            return true;
        }
    }
    return axe_build_unknown(
        b, n_arg == 1 ? "operation of one value" : "operation of two values",
        text, n, known);
}

static const axe_ir_expr *
make_op(axe_builder *b, axe_op op, int n_arg, const axe_ir_expr *const *x)
{
    const axe_node *arg[3];
    int64_t         n_op = 1;

    for (int i = 0; i < n_arg; i++) {
        if (!axe_build_has_expr(b, x[i], "an operand"))
            return NULL;
        arg[i] = x[i]->node;
        n_op += x[i]->n_op;
    }
    return axe_build_node(
        b, axe_node_new(b->cx, op, axe_op_type(op, arg), b->at, n_arg, arg),
        n_op);
}

const axe_ir_expr *
axe_build_unary(axe_builder *b, const char *op, const axe_ir_expr *x)
{
    axe_op of;

    return axe_build_begin(b) && find_op(b, op, 1, &of) ? make_op(b, of, 1, &x)
                                                        : NULL;
}

const axe_ir_expr *
axe_build_binary(axe_builder *b, const char *op, const axe_ir_expr *x,
                 const axe_ir_expr *y)
{
    bool greater = op && op[0] == '>' && (!op[1] || strcmp(op, ">=") == 0);
    const axe_ir_expr *arg[] = {greater ? y : x, greater ? x : y};
    axe_op             of;

    if (greater)
        op = op[1] ? "<=" : "<";
    return axe_build_begin(b) && find_op(b, op, 2, &of) ? make_op(b, of, 2, arg)
                                                        : NULL;
}

const axe_ir_expr *
axe_build_select(axe_builder *b, const axe_ir_expr *cond, const axe_ir_expr *x,
                 const axe_ir_expr *y)
{
    const axe_ir_expr *arg[] = {cond, x, y};

    if (!axe_build_begin(b) || !axe_build_has_expr(b, cond, "the condition"))
        return NULL;
    if (cond->node->type != AXE_TYPE_bool) {
        axe_build_fail(b, AXE_ETYPE, "`%s` (%s) is not a condition",
                       axe_node_text(b->cx, cond->node),
                       axe_type_table[cond->node->type].name);
        return NULL;
    }
    return make_op(b, AXE_OP_select, 3, arg);
}

const axe_ir_expr *
axe_build_cast(axe_builder *b, const char *type, const axe_ir_expr *x)
{
    axe_type t;

    if (!axe_build_begin(b) || !axe_build_type(b, type, &t) ||
        !axe_build_has_expr(b, x, "the value"))
        return NULL;
    return axe_build_node(b, axe_cast(b->cx, b->at, t, x->node), x->n_op + 1);
}

static bool
find_fold(axe_builder *b, const char *name, axe_fold *out)
{
    const char *known[AXE_FOLD_MIN];

    for (int f = AXE_FOLD_SUM; f <= AXE_FOLD_MIN; f++) {
        known[f - 1] = axe_fold_name((axe_fold)f);
        if (name && strcmp(known[f - 1], name) == 0) {
            *out = (axe_fold)f;
            return true;
        }
    }
    return axe_build_unknown(b, "fold", name, AXE_LEN(known), known);
}

static bool
over_index(axe_builder *b, const axe_ir_expr *index, const axe_ir_expr *x,
           axe_dim *dim)
{
    axe_status st;

    if (!axe_build_has_expr(b, index, "an index"))
        return false;
    if (index->node->op != AXE_OP_var ||
        index->node->u.var->kind != AXE_VAR_INDEX)
        return axe_build_fail(b, AXE_ETYPE, "`%s` is not an index",
                              axe_node_text(b->cx, index->node));
    dim->var = index->node->u.var;
    st = axe_index_extent(b->cx, &b->tiled, dim->var, b->at, 1, &x->node,
                          &dim->extent);
    if (st != AXE_OK)
        b->status = st;
    return st == AXE_OK;
}

const axe_ir_expr *
axe_build_reduce(axe_builder *b, const char *fold, int n,
                 const axe_ir_expr *const *index, const axe_ir_expr *x)
{
    axe_dim  dim[AXE_RANK_MAX];
    axe_fold f;

    if (!axe_build_begin(b) || !find_fold(b, fold, &f) ||
        !axe_build_has_expr(b, x, "the value"))
        return NULL;
    if (n < 1 || n > AXE_RANK_MAX || !index) {
        axe_build_fail(b, AXE_ESHAPE, "a fold has 1 to %d indices, not %d",
                       AXE_RANK_MAX, index ? n : 0);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        if (!over_index(b, index[i], x, &dim[i]))
            return NULL;
    return axe_build_node(b, axe_reduce(b->cx, b->at, f, n, dim, x->node),
                          x->n_op + 1);
}

const axe_ir_expr *
axe_build_tiled(axe_builder *b, const axe_ir_expr *i, int64_t by,
                const axe_ir_expr *m)
{
    const axe_node *step;

    if (!axe_build_begin(b) || !axe_build_has_expr(b, i, "the tile's number") ||
        !axe_build_has_expr(b, m, "the element's number"))
        return NULL;
    step = axe_iconst(b->cx, b->at, AXE_TYPE_INDEX, by);
    step = axe_node2(b->cx, AXE_OP_mul, i->node, step);
    return axe_build_node(b, axe_node2(b->cx, AXE_OP_add, step, m->node),
                          i->n_op + m->n_op + 2);
}
