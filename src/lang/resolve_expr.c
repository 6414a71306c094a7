/* resolve_expr.c - values: names, types, literals.
 *
 * Types meet by three rules.  A literal takes the type of what it meets.  Two
 * other operands have one type, or it is an error.  In a statement that
 * accumulates, loads are widened to the destination's type first (`want`),
 * through + - * / min max and ?:, but not into casts, comparisons or functions,
 * so that products of f16 are made in f32 when they are summed in f32. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lang/resolve_int.h"

static const axe_typed failed = {NULL, AXE_TYPED};

static axe_typed
fail(axe_resolver *r, axe_status st)
{
    axe_resolve_fail(r, st);
    return failed;
}

static const char *
type_name(axe_type t)
{
    return t == AXE_TYPE_INDEX ? "an integer (i64)" : axe_type_table[t].name;
}

/* ------------------------------------------------------------- literals */

static const axe_node *
literal_float(axe_resolver *r, const axe_node *n, axe_type to, axe_span at)
{
    double v = n->op == AXE_OP_iconst ? (double)n->u.i : n->u.f;

    if (isfinite(v) && fabs(v) > axe_type_max(to)) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, at, AXE_EOVERFLOW,
                                  "%s is beyond %s, whose largest value is "
                                  "%g",
                                  axe_node_text(r->cx, n),
                                  axe_type_table[to].name, axe_type_max(to)));
        return NULL;
    }
    return axe_fconst(r->cx, at, to, v);
}

static const axe_node *adapt(axe_resolver *r, const axe_node *n, axe_type to,
                             axe_span at);

/* A choice between literals, or a fold of one, in a type. */
static const axe_node *
adapt_soft(axe_resolver *r, const axe_node *n, axe_type to, axe_span at)
{
    int             last = n->n_arg - 1;
    const axe_node *arg[3] = {n->arg[0], NULL, NULL};
    axe_dim        *over;

    for (int i = n->op == AXE_OP_select; i <= last; i++) {
        arg[i] = adapt(r, n->arg[i], to, at);
        if (!arg[i])
            return NULL;
    }
    if (n->op == AXE_OP_select)
        return axe_node_new(r->cx, n->op, to, n->at, 3, arg);
    over = axe_new_array(r->cx, axe_dim, n->u.reduce.n_over);
    for (int i = 0; i < n->u.reduce.n_over; i++)
        over[i] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
    return axe_reduce(r->cx, n->at, n->u.reduce.fold, n->u.reduce.n_over, over,
                      arg[0]);
}

/* A literal in a type. */
static const axe_node *
adapt(axe_resolver *r, const axe_node *n, axe_type to, axe_span at)
{
    bool to_bool = to == AXE_TYPE_bool;

    if (n->type == to)
        return n;
    if (n->op == AXE_OP_select || n->op == AXE_OP_reduce)
        return adapt_soft(r, n, to, at);
    if (to_bool || n->type == AXE_TYPE_bool) {
        axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ETYPE, "`%s` is not %s %s",
                                     axe_node_text(r->cx, n),
                                     to_bool ? "a" : "of type",
                                     axe_type_table[to].name));
        return NULL;
    }
    if (axe_type_is_float(to))
        return literal_float(r, n, to, at);
    if (n->op == AXE_OP_fconst) {
        axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ETYPE,
                                     "%s is not an integer, but %s is needed",
                                     axe_node_text(r->cx, n), type_name(to)));
        return NULL;
    }
    if (!axe_type_fits(to, n->u.i)) {
        axe_resolve_fail(r, axe_fail(r->cx, at, AXE_EOVERFLOW,
                                     "%" PRId64 " does not fit %s", n->u.i,
                                     axe_type_table[to].name));
        return NULL;
    }
    return axe_iconst(r->cx, at, to, n->u.i);
}

static bool
eval_float(axe_op op, double a, double b, double *out)
{
    switch (op) {
    case AXE_OP_add:
        return *out = a + b, true;
    case AXE_OP_sub:
        return *out = a - b, true;
    case AXE_OP_mul:
        return *out = a * b, true;
    case AXE_OP_div:
        return *out = a / b, true;
    case AXE_OP_min:
        return *out = fmin(a, b), true;
    case AXE_OP_max:
        return *out = fmax(a, b), true;
    case AXE_OP_neg:
        return *out = -a, true;
    case AXE_OP_exp:
        return *out = exp(a), true;
    case AXE_OP_exp2:
        return *out = exp2(a), true;
    case AXE_OP_log:
        return *out = log(a), true;
    case AXE_OP_sqrt:
        return *out = sqrt(a), true;
    case AXE_OP_rsqrt:
        return *out = 1 / sqrt(a), true;
    case AXE_OP_tanh:
        return *out = tanh(a), true;
    case AXE_OP_abs:
        return *out = fabs(a), true;
    default:
        return false;
    }
}

static bool
compare_floats(axe_op op, double a, double b)
{
    return op == AXE_OP_eq   ? a == b
           : op == AXE_OP_ne ? a != b
           : op == AXE_OP_lt ? a < b
                             : a <= b;
}

/* op on float literals. */
static axe_typed
float_literal(axe_resolver *r, axe_op op, axe_span at, double a, double b)
{
    double v;

    if (axe_op_table[op].traits & AXE_TRAIT_CMP)
        return (axe_typed){
            axe_iconst(r->cx, at, AXE_TYPE_bool, compare_floats(op, a, b)),
            AXE_LITERAL};
    if (!eval_float(op, a, b, &v))
        return fail(r, axe_fail(r->cx, at, AXE_ETYPE,
                                "`%s` is not defined on numbers with a "
                                "fraction",
                                axe_op_sign(op)));
    if (isnan(v))
        return fail(
            r, axe_fail(r->cx, at, AXE_ETYPE, "this constant has no value"));
    return (axe_typed){axe_fconst(r->cx, at, AXE_TYPE_f64, v), AXE_LITERAL};
}

/* ------------------------------------------------------------ operations */

static bool
check_kind(axe_resolver *r, axe_op op, const axe_node *n, axe_span at)
{
    unsigned       traits = axe_op_table[op].traits;
    axe_type_class cls = axe_type_table[n->type].cls;
    const char    *need = NULL;

    if ((traits & AXE_TRAIT_BOOLS) && cls != AXE_CLASS_BOOL)
        need = "a condition";
    else if ((traits & AXE_TRAIT_FLOATS) && cls != AXE_CLASS_FLOAT)
        need = "a floating-point value";
    else if ((traits & AXE_TRAIT_INT) && n->type != AXE_TYPE_INDEX)
        need = "index integers (i64)";
    else if ((traits & AXE_TRAIT_ARITH) && cls == AXE_CLASS_BOOL)
        need = "a number";
    if (!need)
        return true;
    return axe_resolve_fail(
        r, axe_fail(r->cx, at, AXE_ETYPE, "`%s` needs %s, but `%s` is %s",
                    axe_op_sign(op), need, axe_node_text(r->cx, n),
                    type_name(n->type)));
}

/* Two operands that are not of one type. */
static bool
mismatch(axe_resolver *r, axe_span at, const axe_node *a, const axe_node *b)
{
    bool int_b = axe_type_is_float(a->type) && !axe_type_is_float(b->type);
    const axe_node *narrow = int_b || axe_type_widens(b->type, a->type) ? b : a;
    const axe_node *wide = narrow == a ? b : a;

    axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ETYPE,
                                 "`%s` is %s but `%s` is "
                                 "%s",
                                 axe_node_text(r->cx, a), type_name(a->type),
                                 axe_node_text(r->cx, b), type_name(b->type)));
    if (wide->type != AXE_TYPE_bool && narrow->type != AXE_TYPE_bool)
        axe_help(r->cx, "cast one of them: `%s(%s)`",
                 axe_type_table[wide->type].name, axe_node_text(r->cx, narrow));
    return false;
}

/* Bring a and b to one type. */
static bool
unify(axe_resolver *r, axe_span at, axe_typed *a, axe_typed *b)
{
    bool floats;

    if (a->literal && b->literal) {
        floats = axe_type_is_float(a->node->type) ||
                 axe_type_is_float(b->node->type);
        if (floats && a->node->type != b->node->type) {
            a->node = adapt(r, a->node, AXE_TYPE_f64, at);
            b->node = adapt(r, b->node, AXE_TYPE_f64, at);
        }
    } else if (a->literal)
        a->node = adapt(r, a->node, b->node->type, a->node->at);
    else if (b->literal)
        b->node = adapt(r, b->node, a->node->type, b->node->at);
    if (!a->node || !b->node)
        return false;
    return a->node->type == b->node->type || mismatch(r, at, a->node, b->node);
}

static bool
divides(axe_op op)
{
    return op == AXE_OP_div || op == AXE_OP_mod || op == AXE_OP_cdiv;
}

/* What folding left undone because it has no value is an error. */
static bool
check_folded(axe_resolver *r, axe_op op, axe_span at, const axe_node *n)
{
    int64_t v;

    if (n->op != op || n->n_arg == 0 || axe_type_is_float(n->type))
        return true;
    if (n->n_arg == 2 && divides(op) && axe_is_iconst(n->arg[1], &v) && v == 0)
        return axe_resolve_fail(
            r, axe_fail(r->cx, at, AXE_EARG, "division by zero"));
    for (int i = 0; i < n->n_arg; i++)
        if (n->arg[i]->op != AXE_OP_iconst)
            return true;
    return axe_resolve_fail(
        r, axe_fail(r->cx, at, AXE_EOVERFLOW, "`%s` does not fit %s",
                    axe_node_text(r->cx, n), axe_type_table[n->type].name));
}

static axe_typed
make_op(axe_resolver *r, axe_op op, axe_span at, int n, const axe_typed *a)
{
    const axe_node *arg[2] = {a[0].node, n == 2 ? a[1].node : NULL}, *made;
    bool            literal =
        a[0].literal == AXE_LITERAL && (n == 1 || a[1].literal == AXE_LITERAL);

    if (literal && (axe_op_table[op].traits & AXE_TRAIT_FLOATS) &&
        arg[0]->type == AXE_TYPE_INDEX)
        arg[0] = adapt(r, arg[0], AXE_TYPE_f64, at);
    for (int i = 0; i < n; i++)
        if (!check_kind(r, op, arg[i], at))
            return failed;
    if (literal && arg[0]->op == AXE_OP_fconst)
        return float_literal(r, op, at, arg[0]->u.f, n == 2 ? arg[1]->u.f : 0);
    made = axe_node_new(r->cx, op, axe_op_type(op, arg), at, n, arg);
    if (!check_folded(r, op, at, made))
        return failed;
    return (axe_typed){made, literal ? AXE_LITERAL : AXE_TYPED};
}

static axe_typed
apply(axe_resolver *r, axe_op op, const axe_expr *e, int want)
{
    axe_typed a[2] = {failed, failed};
    bool      passes = axe_op_table[op].traits & AXE_TRAIT_ARITH;

    for (int i = 0; i < e->n_arg; i++)
        a[i] = axe_resolve_value(r, e->arg[i], passes ? want : AXE_NO_TYPE);
    for (int i = 0; i < e->n_arg; i++)
        if (!a[i].node)
            return failed;
    if (e->n_arg == 2 && !unify(r, e->at, &a[0], &a[1]))
        return failed;
    return make_op(r, op, e->at, e->n_arg, a);
}

static axe_typed
resolve_select(axe_resolver *r, const axe_expr *e, int want)
{
    axe_typed c = axe_resolve_value(r, e->arg[0], AXE_NO_TYPE);
    axe_typed a = axe_resolve_value(r, e->arg[1], want);
    axe_typed b = axe_resolve_value(r, e->arg[2], want);

    if (!c.node || !a.node || !b.node || !unify(r, e->at, &a, &b))
        return failed;
    if (c.node->type != AXE_TYPE_bool)
        return fail(r, axe_fail(r->cx, e->arg[0]->at, AXE_ETYPE,
                                "`%s` is %s, but `?` needs a condition",
                                axe_node_text(r->cx, c.node),
                                type_name(c.node->type)));
    const axe_node *arg[] = {c.node, a.node, b.node};
    bool            soft = a.literal && b.literal;
    bool constant = a.literal == AXE_LITERAL && b.literal == AXE_LITERAL &&
                    c.literal == AXE_LITERAL;
    return (axe_typed){
        axe_node_new(r->cx, AXE_OP_select, a.node->type, e->at, 3, arg),
        constant ? AXE_LITERAL
        : soft   ? AXE_SOFT
                 : AXE_TYPED,
    };
}

/* ------------------------------------------------------------ casts, calls */

bool
axe_resolve_type(axe_resolver *r, axe_type_expr t, axe_type *out)
{
    axe_entry *e;
    axe_type   type;

    if (!axe_type_find(t.word.name, &type)) {
        e = axe_names_need(r, t.word, "type");
        if (!e)
            return false;
        if (e->kind != AXE_ENTRY_TYPE)
            return axe_resolve_fail(r, axe_fail(r->cx, t.word.at, AXE_ETYPE,
                                                "`%s` is %s, not a type",
                                                e->name, axe_entry_text(e)));
        type = e->type;
    }
    *out = t.accum ? axe_type_table[type].accum : type;
    return true;
}

static axe_typed
resolve_cast(axe_resolver *r, const axe_expr *e, bool accum)
{
    axe_type        to;
    axe_typed       v;
    const axe_node *n;

    if (!axe_resolve_type(r, (axe_type_expr){e->word, accum}, &to))
        return failed;
    if (e->n_arg != 1)
        return fail(r, axe_fail(r->cx, e->at, AXE_ESYNTAX,
                                "a cast takes one value, not %d", e->n_arg));
    v = axe_resolve_value(r, e->arg[0], AXE_NO_TYPE);
    if (!v.node)
        return failed;
    if (to == AXE_TYPE_bool && v.node->type != AXE_TYPE_bool) {
        fail(r,
             axe_fail(r->cx, e->at, AXE_ETYPE,
                      "`%s` is %s, which is not cast to bool",
                      axe_node_text(r->cx, v.node), type_name(v.node->type)));
        axe_help(r->cx, "compare it: `%s != 0`", axe_node_text(r->cx, v.node));
        return failed;
    }
    n = v.literal && v.node->type != AXE_TYPE_bool
            ? adapt(r, v.node, to, e->at)
            : axe_cast(r->cx, e->at, to, v.node);
    return (axe_typed){n, AXE_TYPED};
}

static axe_typed
resolve_call(axe_resolver *r, const axe_expr *e, int want)
{
    axe_op     op;
    axe_type   type;
    axe_entry *x = axe_names_find(r, e->word.name);

    if (axe_type_find(e->word.name, &type) || (x && x->kind == AXE_ENTRY_TYPE))
        return resolve_cast(r, e, false);
    if (strcmp(e->word.name, "sum") == 0 || strcmp(e->word.name, "prod") == 0)
        return fail(r, axe_fail(r->cx, e->word.at, AXE_ESYNTAX,
                                "`%s` needs the indices it reduces over, as "
                                "in `%s[k](...)`",
                                e->word.name, e->word.name));
    if (!axe_function_find(e->word.name, &op)) {
        x = axe_names_need(r, e->word, "function");
        if (x)
            fail(r, axe_fail(r->cx, e->word.at, AXE_ETYPE,
                             "`%s` is %s, not a function", x->name,
                             axe_entry_text(x)));
        return failed;
    }
    if (e->n_arg != axe_op_table[op].n_arg)
        return fail(r, axe_fail(r->cx, e->at, AXE_ESYNTAX,
                                "`%s` takes %d values, not %d", e->word.name,
                                axe_op_table[op].n_arg, e->n_arg));
    return apply(r, op, e, want);
}

/* ---------------------------------------------------------------- names */

static axe_typed
resolve_builtin(axe_resolver *r, const axe_expr *e)
{
    const char *name = e->word.name;

    if (strcmp(name, "inf") == 0)
        return (axe_typed){
            axe_fconst(r->cx, e->at, AXE_TYPE_f64, (double)INFINITY),
            AXE_LITERAL};
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        return (axe_typed){
            axe_iconst(r->cx, e->at, AXE_TYPE_bool, name[0] == 't'),
            AXE_LITERAL};
    return failed;
}

static axe_typed
resolve_name(axe_resolver *r, const axe_expr *e)
{
    axe_typed  v = resolve_builtin(r, e);
    axe_entry *x;

    if (v.node)
        return v;
    x = axe_names_need(r, e->word, "name");
    if (!x)
        return failed;
    if (x->kind == AXE_ENTRY_CONST) {
        axe_node *n = axe_new(r->cx, axe_node);
        *n = *x->value;
        n->at = e->at;
        return (axe_typed){n, AXE_LITERAL};
    }
    if (x->kind == AXE_ENTRY_VAR)
        return (axe_typed){axe_var_node(r->cx, e->at, x->var), AXE_TYPED};
    if (x->kind == AXE_ENTRY_INDEX && r->dst) {
        x->used = true;
        return (axe_typed){axe_var_node(r->cx, e->at, x->var), AXE_TYPED};
    }
    fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                     "`%s` is %s, which has no value "
                     "here",
                     x->name, axe_entry_text(x)));
    if (x->kind == AXE_ENTRY_TENSOR)
        axe_help(r->cx, "name its elements: `%s[...]`", x->name);
    if (x->kind == AXE_ENTRY_INDEX)
        axe_help(r->cx, "an index has values only in index statements");
    return failed;
}

/* Reading and writing a pipeline's tensors go by its stages. */
static bool
check_stage(axe_resolver *r, const axe_expr *e, const axe_entry *x,
            bool writing)
{
    axe_stmt_kind stage = x->pipeline->stage;

    if (writing && stage != AXE_STMT_PRODUCE)
        return axe_resolve_fail(r,
                                axe_fail(r->cx, e->at, AXE_ENAME,
                                         "`%s` is written outside `produce %s`",
                                         x->name, x->pipeline->name));
    if (!writing && stage == AXE_STMT_PIPELINE)
        return axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ENAME,
                                            "`%s` is read outside `consume %s`",
                                            x->name, x->pipeline->name));
    return true;
}

static bool
check_access(axe_resolver *r, const axe_expr *e, axe_entry *x, bool writing)
{
    const axe_tensor *t = x->tensor;

    if (t->pipeline && !check_stage(r, e, x, writing))
        return false;
    if (writing && t->dir == AXE_DIR_IN) {
        axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                     "`%s` is an `in` argument and cannot be "
                                     "written",
                                     x->name));
        axe_note(r->cx, x->at, "declared here; `inout` may be written");
        return false;
    }
    if (!writing && !x->written &&
        (t->dir == AXE_DIR_OUT || t->dir == AXE_DIR_LOCAL)) {
        axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ENAME,
                                     "`%s` is read before anything was written "
                                     "to it",
                                     x->name));
        if (t->dir == AXE_DIR_OUT)
            axe_help(r->cx, "declare it `inout` if the caller fills it");
        else
            axe_help(r->cx, "begin it: `%s %s %s[...] = 0;`",
                     axe_space_name(t->space), axe_type_table[t->type].name,
                     t->name);
        return false;
    }
    return true;
}

const axe_node *
axe_resolve_load(axe_resolver *r, const axe_expr *e, bool writing)
{
    axe_entry       *x = axe_names_need(r, e->word, "tensor");
    const axe_node **sub = axe_new_array(r->cx, const axe_node *, e->n_arg);
    bool             ok = true;

    if (!x)
        return NULL;
    if (x->kind != AXE_ENTRY_TENSOR) {
        fail(r,
             axe_fail(r->cx, e->word.at, AXE_ETYPE, "`%s` is %s, not a tensor",
                      x->name, axe_entry_text(x)));
        return NULL;
    }
    for (int i = 0; i < e->n_arg; i++) {
        sub[i] = axe_resolve_index(r, e->arg[i], "a subscript");
        ok = ok && sub[i];
    }
    if (e->n_arg != x->tensor->rank) {
        fail(r,
             axe_fail(r->cx, e->at, AXE_ESHAPE,
                      "`%s` has %d dimension%s, but %d subscript%s", x->name,
                      x->tensor->rank, x->tensor->rank == 1 ? "" : "s",
                      e->n_arg, e->n_arg == 1 ? " is given" : "s are given"));
        axe_note(r->cx, x->at, "declared here");
        return NULL;
    }
    if (!ok || !check_access(r, e, x, writing))
        return NULL;
    if (!writing)
        x->used = true;
    return axe_load(r->cx, e->at, x->tensor, sub);
}

/* ------------------------------------------------------------- reductions */

/* Does `name` occur in e other than bound by a reduction? */
static bool
occurs_free(const axe_expr *e, const char *name)
{
    for (int i = 0; i < e->n_over; i++)
        if (e->over[i]->name == name)
            return false;
    if (e->kind == AXE_EXPR_NAME && e->word.name == name)
        return true;
    for (int i = 0; i < e->n_arg; i++)
        if (occurs_free(e->arg[i], name))
            return true;
    return false;
}

/* A variable that is also free in the statement gets another name inside the
 * reduction: n.1. */
static axe_entry *
bind_over(axe_resolver *r, const axe_word *w)
{
    axe_entry  *x = axe_names_need(r, *w, "index"), *inner;
    const char *name;

    if (!x)
        return NULL;
    if (x->kind != AXE_ENTRY_INDEX) {
        fail(r, axe_fail(r->cx, w->at, AXE_ETYPE, "`%s` is %s, not an index",
                         x->name, axe_entry_text(x)));
        return NULL;
    }
    if (x->reducing) {
        fail(r, axe_fail(r->cx, w->at, AXE_ENAME,
                         "`%s` is reduced over already, around here", x->name));
        return NULL;
    }
    x->used = true;
    inner = axe_new(r->cx, axe_entry);
    *inner = *x;
    inner->reducing = true;
    if (occurs_free(r->dst, w->name) || occurs_free(r->value, w->name)) {
        name = axe_textf(r->cx, "%s.1", w->name);
        inner->var = axe_resolve_index_var(
            r, axe_intern(r->cx, name, strlen(name)), w->at);
    }
    return inner;
}

/* The dims of a reduction, from its resolved body. */
static bool
over_dims(axe_resolver *r, const axe_expr *e, const axe_node *body,
          axe_dim *dim, int first)
{
    for (int i = 0; i < e->n_over; i++) {
        const axe_entry *x = r->names.item[first + i];
        dim[i].var = x->var;
        dim[i].extent = axe_resolve_extent(r, x->var, e->over[i]->at, 1, &body);
        if (!dim[i].extent)
            return false;
    }
    return true;
}

static axe_typed
resolve_reduce(axe_resolver *r, const axe_expr *e, int want)
{
    int       mark = r->names.n;
    axe_dim  *dim = axe_new_array(r->cx, axe_dim, e->n_over);
    axe_typed v = failed;
    bool      ok = true;

    if (!r->dst)
        return fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                "a reduction has a value only in an index "
                                "statement"));
    for (int i = 0; i < e->n_over && ok; i++) {
        axe_entry *x = bind_over(r, e->over[i]);
        ok = x != NULL;
        if (ok)
            axe_list_push(&r->names, x);
    }
    if (ok)
        v = axe_resolve_value(r, e->arg[0], want);
    if (v.node && v.literal == AXE_LITERAL) {
        fail(r,
             axe_fail(r->cx, e->at, AXE_ETYPE, "a constant cannot be reduced"));
        v = failed;
    }
    if (v.node && v.node->type == AXE_TYPE_bool) {
        fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                         "`%s[...]` needs numbers, but `%s` is a condition",
                         e->word.name, axe_node_text(r->cx, v.node)));
        v = failed;
    }
    if (v.node && over_dims(r, e, v.node, dim, mark))
        v.node = axe_reduce(r->cx, e->at, e->fold, e->n_over, dim, v.node);
    else
        v = failed;
    r->names.n = mark;
    return v;
}

/* ---------------------------------------------------------------- values */

static axe_typed
resolve_load(axe_resolver *r, const axe_expr *e, int want)
{
    const axe_node *n;

    if (!r->dst)
        return fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                "an element of a tensor has no value here"));
    n = axe_resolve_load(r, e, false);
    if (n && want != AXE_NO_TYPE && axe_type_widens(n->type, (axe_type)want))
        n = axe_cast(r->cx, e->at, (axe_type)want, n);
    return (axe_typed){n, AXE_TYPED};
}

axe_typed
axe_resolve_value(axe_resolver *r, const axe_expr *e, int want)
{
    switch (e->kind) {
    case AXE_EXPR_INT:
        return (axe_typed){axe_iconst(r->cx, e->at, AXE_TYPE_INDEX, e->i),
                           AXE_LITERAL};
    case AXE_EXPR_FLOAT:
        return (axe_typed){axe_fconst(r->cx, e->at, AXE_TYPE_f64, e->f),
                           AXE_LITERAL};
    case AXE_EXPR_NAME:
        return resolve_name(r, e);
    case AXE_EXPR_LOAD:
        return resolve_load(r, e, want);
    case AXE_EXPR_CALL:
        return resolve_call(r, e, want);
    case AXE_EXPR_ACCUM:
        return resolve_cast(r, e, true);
    case AXE_EXPR_REDUCE:
        return resolve_reduce(r, e, want);
    case AXE_EXPR_OP:
        return e->op == AXE_OP_select ? resolve_select(r, e, want)
                                      : apply(r, e->op, e, want);
    }
    return failed;
}

const axe_node *
axe_resolve_to(axe_resolver *r, axe_typed v, axe_type to, axe_span at,
               const char *what)
{
    const char *text;

    if (v.literal)
        return adapt(r, v.node, to, at);
    if (axe_type_widens(v.node->type, to))
        return axe_cast(r->cx, at, to, v.node);
    text = axe_node_text(r->cx, v.node);
    axe_resolve_fail(
        r, axe_fail(r->cx, at, AXE_ETYPE, "%s %s, but the value is %s", what,
                    axe_type_table[to].name, type_name(v.node->type)));
    if (to != AXE_TYPE_bool)
        axe_help(r->cx, "write `%s(%s)` to convert it", axe_type_table[to].name,
                 text);
    return NULL;
}

static void
find_load(void *user, const axe_node *n)
{
    const axe_node **found = user;

    if (n->op == AXE_OP_load)
        *found = n;
}

const axe_node *
axe_resolve_index(axe_resolver *r, const axe_expr *e, const char *what)
{
    axe_typed       v = axe_resolve_value(r, e, AXE_NO_TYPE);
    const axe_node *load = NULL;

    if (!v.node)
        return NULL;
    axe_node_walk(v.node, find_load, &load);
    if (load) {
        fail(r, axe_fail(r->cx, e->at, AXE_EUNSUPPORTED,
                         "%s that reads `%s` is not supported yet", what,
                         axe_node_text(r->cx, load)));
        return NULL;
    }
    if (v.node->type == AXE_TYPE_INDEX)
        return v.node;
    fail(r,
         axe_fail(r->cx, e->at, AXE_ETYPE, "%s is an integer, but `%s` is %s",
                  what, axe_node_text(r->cx, v.node), type_name(v.node->type)));
    return NULL;
}

bool
axe_resolve_int(axe_resolver *r, const axe_expr *e, const char *what,
                int64_t *out)
{
    axe_typed v = axe_resolve_value(r, e, AXE_NO_TYPE);

    if (!v.node)
        return false;
    if (v.literal && v.node->type == AXE_TYPE_INDEX &&
        axe_is_iconst(v.node, out))
        return true;
    return axe_resolve_fail(
        r, axe_fail(r->cx, e->at, AXE_ETYPE,
                    "%s must be a compile-time integer, and `%s` is not one",
                    what, axe_node_text(r->cx, v.node)));
}
