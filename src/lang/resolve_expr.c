/* resolve_expr.c - values: names, operators, functions, casts.
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

/* ------------------------------------------------------------ operations */

static bool
check_kind(axe_resolver *r, axe_op op, const axe_node *n, axe_span at)
{
    unsigned       traits = axe_op_table[op].traits;
    axe_type_class cls = axe_type_table[n->type].cls;
    const char    *need = NULL;

    if ((traits & AXE_TRAIT_BOOLS) && cls != AXE_CLASS_BOOL)
        need = "a condition";
    else if ((traits & (AXE_TRAIT_FLOATS | AXE_TRAIT_TESTS)) &&
             cls != AXE_CLASS_FLOAT)
        need = "a floating-point value";
    else if ((traits & AXE_TRAIT_INT) && n->type != AXE_TYPE_INDEX)
        need = "index integers (i64)";
    else if ((traits & AXE_TRAIT_INTS) && cls != AXE_CLASS_INT &&
             cls != AXE_CLASS_UINT)
        need = "an integer";
    else if ((traits & AXE_TRAIT_ARITH) && cls == AXE_CLASS_BOOL)
        need = "a number";
    if (!need)
        return true;
    return axe_resolve_fail(
        r, axe_fail(r->cx, at, AXE_ETYPE, "`%s` needs %s, but `%s` is %s",
                    axe_op_sign(op), need, axe_node_text(r->cx, n),
                    axe_type_text(n->type)));
}

/* Two operands that are not of one type. */
static bool
mismatch(axe_resolver *r, axe_span at, const axe_node *a, const axe_node *b)
{
    bool int_b = axe_type_is_float(a->type) && !axe_type_is_float(b->type);
    const axe_node *narrow = int_b || axe_type_widens(b->type, a->type) ? b : a;
    const axe_node *wide = narrow == a ? b : a;

    axe_resolve_fail(r,
                     axe_fail(r->cx, at, AXE_ETYPE,
                              "`%s` is %s but `%s` is "
                              "%s",
                              axe_node_text(r->cx, a), axe_type_text(a->type),
                              axe_node_text(r->cx, b), axe_type_text(b->type)));
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
            a->node = axe_literal_adapt(r, a->node, AXE_TYPE_f64, at);
            b->node = axe_literal_adapt(r, b->node, AXE_TYPE_f64, at);
        }
    } else if (a->literal)
        a->node = axe_literal_adapt(r, a->node, b->node->type, a->node->at);
    else if (b->literal)
        b->node = axe_literal_adapt(r, b->node, a->node->type, b->node->at);
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
    const axe_node *arg[3] = {NULL, NULL, NULL}, *made;
    double          v[3] = {0};
    bool            literal = true;

    for (int i = 0; i < n; i++) {
        arg[i] = a[i].node;
        literal = literal && a[i].literal == AXE_LITERAL;
    }
    for (int i = 0; i < n && literal; i++)
        if ((axe_op_table[op].traits & AXE_TRAIT_FLOATS) &&
            arg[i]->type == AXE_TYPE_INDEX)
            arg[i] = axe_literal_adapt(r, arg[i], AXE_TYPE_f64, at);
    for (int i = 0; i < n; i++)
        if (!check_kind(r, op, arg[i], at))
            return AXE_FAILED;
    for (int i = 0; i < n; i++)
        v[i] = arg[i]->op == AXE_OP_fconst ? arg[i]->u.f : 0;
    if (literal && arg[0]->op == AXE_OP_fconst)
        return axe_literal_float(r, op, at, v);
    made = axe_node_new(r->cx, op, axe_op_type(op, arg), at, n, arg);
    if (!check_folded(r, op, at, made))
        return AXE_FAILED;
    return (axe_typed){made, literal ? AXE_LITERAL : AXE_TYPED};
}

/* `x & 1 == 0` is x & (1 == 0), as in C. */
static bool
check_precedence(axe_resolver *r, axe_op op, const axe_expr *e)
{
    const char *sign = axe_op_sign(op);

    if (op != AXE_OP_band && op != AXE_OP_bor && op != AXE_OP_bxor)
        return true;
    for (int i = 0; i < e->n_arg; i++) {
        const axe_expr *a = e->arg[i];
        if (a->kind != AXE_EXPR_OP ||
            !(axe_op_table[a->op].traits & AXE_TRAIT_CMP))
            continue;
        axe_resolve_fail(r, axe_fail(r->cx, a->at, AXE_ETYPE,
                                     "`%s` needs integers, but this is a "
                                     "condition",
                                     sign));
        axe_help(r->cx,
                 "comparisons bind tighter than `%s`: write `(a %s b) == c`",
                 sign, sign);
        return false;
    }
    return true;
}

static axe_typed
apply(axe_resolver *r, axe_op op, const axe_expr *e, int want)
{
    axe_typed a[3] = {AXE_FAILED, AXE_FAILED, AXE_FAILED};
    unsigned  traits = axe_op_table[op].traits;
    bool      passes = (traits & AXE_TRAIT_ARITH) ||
                  ((traits & (AXE_TRAIT_INT | AXE_TRAIT_INTS)) &&
                   want == (int)AXE_TYPE_INDEX);

    if (!check_precedence(r, op, e))
        return AXE_FAILED;
    for (int i = 0; i < e->n_arg; i++)
        a[i] = axe_resolve_value(r, e->arg[i], passes ? want : AXE_NO_TYPE);
    for (int i = 0; i < e->n_arg; i++)
        if (!a[i].node)
            return AXE_FAILED;
    for (int k = 0; k < 2; k++) /* again: the last may be the first typed */
        for (int i = 1; i < e->n_arg; i++)
            if (!unify(r, e->at, &a[0], &a[i]))
                return AXE_FAILED;
    return make_op(r, op, e->at, e->n_arg, a);
}

static axe_typed
resolve_select(axe_resolver *r, const axe_expr *e, int want)
{
    axe_typed c = axe_resolve_value(r, e->arg[0], AXE_NO_TYPE);
    axe_typed a = axe_resolve_value(r, e->arg[1], want);
    axe_typed b = axe_resolve_value(r, e->arg[2], want);

    if (!c.node || !a.node || !b.node || !unify(r, e->at, &a, &b))
        return AXE_FAILED;
    if (c.node->type != AXE_TYPE_bool)
        return axe_resolve_failed(
            r, axe_fail(r->cx, e->arg[0]->at, AXE_ETYPE,
                        "`%s` is %s, but `?` needs a condition",
                        axe_node_text(r->cx, c.node),
                        axe_type_text(c.node->type)));
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
        return AXE_FAILED;
    if (e->n_arg != 1)
        return axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ESYNTAX,
                                              "a cast takes one value, not %d",
                                              e->n_arg));
    v = axe_resolve_value(r, e->arg[0], AXE_NO_TYPE);
    if (!v.node)
        return AXE_FAILED;
    if (to == AXE_TYPE_bool && v.node->type != AXE_TYPE_bool) {
        axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                       "`%s` is %s, which is not cast to bool",
                                       axe_node_text(r->cx, v.node),
                                       axe_type_text(v.node->type)));
        axe_help(r->cx, "compare it: `%s != 0`", axe_node_text(r->cx, v.node));
        return AXE_FAILED;
    }
    n = v.literal && v.node->type != AXE_TYPE_bool
            ? axe_literal_adapt(r, v.node, to, e->at)
            : axe_cast(r->cx, e->at, to, v.node);
    return (axe_typed){n, AXE_TYPED};
}

/* bitcast(T)(x); a literal has no bits before it has a type. */
static axe_typed
resolve_bits(axe_resolver *r, const axe_expr *e)
{
    axe_type  to;
    axe_typed v;
    int       bits;

    if (!axe_resolve_type(r, (axe_type_expr){e->word, false}, &to))
        return AXE_FAILED;
    if (e->n_arg != 1)
        return axe_resolve_failed(
            r, axe_fail(r->cx, e->at, AXE_ESYNTAX,
                        "a bitcast takes one value, not %d", e->n_arg));
    v = axe_resolve_value(r, e->arg[0], AXE_NO_TYPE);
    if (!v.node)
        return AXE_FAILED;
    bits = axe_type_table[v.node->type].bits;
    if (v.literal) {
        axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                       "`%s` has no type, and so no bits",
                                       axe_node_text(r->cx, v.node)));
        axe_help(r->cx, "give it one, as in `bitcast(%s)(%s%d(%s))`",
                 axe_type_table[to].name,
                 v.node->op == AXE_OP_iconst ? "u" : "f",
                 axe_type_table[to].bits, axe_node_text(r->cx, v.node));
        return AXE_FAILED;
    }
    if (bits != axe_type_table[to].bits || bits < 8 || to == AXE_TYPE_bool ||
        v.node->type == AXE_TYPE_bool)
        return axe_resolve_failed(
            r, axe_fail(r->cx, e->at, AXE_ETYPE,
                        "a bitcast is between numbers of one size, but `%s` "
                        "is %s, and %s is asked for",
                        axe_node_text(r->cx, v.node),
                        axe_type_text(v.node->type), axe_type_table[to].name));
    return (axe_typed){
        axe_node_new(r->cx, AXE_OP_bitcast, to, e->at, 1, &v.node), AXE_TYPED};
}

static axe_typed
resolve_call(axe_resolver *r, const axe_expr *e, int want)
{
    axe_op     op;
    axe_type   type;
    axe_entry *x = axe_names_find(r, e->word.name);

    if (axe_type_find(e->word.name, &type) || (x && x->kind == AXE_ENTRY_TYPE))
        return resolve_cast(r, e, false);
    if (strcmp(e->word.name, "sum") == 0 || strcmp(e->word.name, "prod") == 0 ||
        axe_name_picks(e->word.name))
        return axe_resolve_failed(
            r, axe_fail(r->cx, e->word.at, AXE_ESYNTAX,
                        "`%s` needs the indices it reduces over, as "
                        "in `%s[k](...)`",
                        e->word.name, e->word.name));
    if (x && x->kind == AXE_ENTRY_FN)
        return axe_resolve_result(r, e, want);
    if (e->n_arg == axe_macro_args(e->word.name))
        return axe_resolve_value(r, axe_macro(r, e), want);
    if (axe_macro_args(e->word.name) > 0)
        return axe_resolve_failed(
            r,
            axe_fail(r->cx, e->at, AXE_ESYNTAX, "`%s` takes %d values, not %d",
                     e->word.name, axe_macro_args(e->word.name), e->n_arg));
    if (!axe_function_find(e->word.name, &op)) {
        x = axe_names_need(r, e->word, "function");
        if (x)
            axe_resolve_failed(r, axe_fail(r->cx, e->word.at, AXE_ETYPE,
                                           "`%s` is %s, not a function",
                                           x->name, axe_entry_text(x)));
        return AXE_FAILED;
    }
    if (e->n_arg != axe_op_table[op].n_arg)
        return axe_resolve_failed(
            r,
            axe_fail(r->cx, e->at, AXE_ESYNTAX, "`%s` takes %d values, not %d",
                     e->word.name, axe_op_table[op].n_arg, e->n_arg));
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
    return AXE_FAILED;
}

/* n as if it were written at `at`. */
static const axe_node *
placed(axe_resolver *r, const axe_node *n, axe_span at)
{
    axe_node *copy = axe_new_flex(r->cx, axe_node, arg, n->n_arg);

    *copy = *n;
    if (n->n_arg > 0)
        memcpy(copy->arg, n->arg, (size_t)n->n_arg * sizeof n->arg[0]);
    copy->at = at;
    return copy;
}

static axe_typed resolve_load(axe_resolver *r, const axe_expr *e, int want);

static axe_typed
resolve_name(axe_resolver *r, const axe_expr *e, int want)
{
    axe_typed  v = resolve_builtin(r, e);
    axe_entry *x;

    if (v.node)
        return v;
    x = axe_names_need(r, e->word, "name");
    if (!x)
        return AXE_FAILED;
    if (x->kind == AXE_ENTRY_CONST)
        return (axe_typed){placed(r, x->value, e->at), AXE_LITERAL};
    if (r->host && x->kind == AXE_ENTRY_TENSOR && axe_is_scalar(x->tensor)) {
        x->used = true;
        return (axe_typed){
            axe_var_node(r->cx, e->at, axe_value_size(r, x->tensor)),
            AXE_TYPED};
    }
    if (x->kind == AXE_ENTRY_TENSOR && x->tensor->rank == 0)
        return resolve_load(r, e, want);
    if (x->kind == AXE_ENTRY_VALUE || x->kind == AXE_ENTRY_AXIS)
        return (axe_typed){placed(r, x->value, e->at), AXE_TYPED};
    if (x->kind == AXE_ENTRY_VAR)
        return (axe_typed){axe_var_node(r->cx, e->at, x->var), AXE_TYPED};
    if (x->kind == AXE_ENTRY_INDEX && r->dst) {
        x->used = true;
        return (axe_typed){axe_var_node(r->cx, e->at, x->var), AXE_TYPED};
    }
    axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                   "`%s` is %s, which has no value "
                                   "here",
                                   x->name, axe_entry_text(x)));
    if (x->kind == AXE_ENTRY_TENSOR)
        axe_help(r->cx, "name its elements: `%s[...]`", x->name);
    if (x->kind == AXE_ENTRY_INDEX)
        axe_help(r->cx, "an index has values only in index statements");
    return AXE_FAILED;
}

/* ---------------------------------------------------------------- values */

/* A parameter without dimensions, where a number must be known before the
 * launch's arguments are. */
static axe_typed
no_argument(axe_resolver *r, const axe_expr *e)
{
    axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                   "`%s` is an argument, whose value is not "
                                   "known here",
                                   e->word.name));
    axe_help(r->cx,
             "a size is no parameter: without `%s` among them, whoever calls "
             "the kernel gives it by its name",
             e->word.name);
    return AXE_FAILED;
}

static axe_typed
resolve_load(axe_resolver *r, const axe_expr *e, int want)
{
    const axe_node *n;

    if (!r->dst && e->n_arg == 0 && !r->scalars)
        return no_argument(r, e);
    if (!r->dst && e->n_arg > 0)
        return axe_resolve_failed(
            r, axe_fail(r->cx, e->at, AXE_ETYPE,
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
        if (e->big)
            return (axe_typed){axe_iconst(r->cx, e->at, AXE_TYPE_u64, e->i),
                               AXE_TYPED};
        return (axe_typed){axe_iconst(r->cx, e->at, AXE_TYPE_INDEX, e->i),
                           AXE_LITERAL};
    case AXE_EXPR_FLOAT:
        return (axe_typed){axe_fconst(r->cx, e->at, AXE_TYPE_f64, e->f),
                           AXE_LITERAL};
    case AXE_EXPR_NAME:
        return resolve_name(r, e, want);
    case AXE_EXPR_LOAD:
        return resolve_load(r, e, want);
    case AXE_EXPR_CALL:
        return resolve_call(r, e, want);
    case AXE_EXPR_ACCUM:
        return resolve_cast(r, e, true);
    case AXE_EXPR_BITS:
        return resolve_bits(r, e);
    case AXE_EXPR_REDUCE:
        return e->picks ? axe_resolve_pick(r, e)
                        : axe_resolve_reduce(r, e, want);
    case AXE_EXPR_PART:
        return (axe_typed){
            axe_resolve_part(
                r, e, axe_resolve_index(r, e->arg[0], false, "an extent")),
            AXE_TYPED};
    case AXE_EXPR_OP:
        return e->op == AXE_OP_select ? resolve_select(r, e, want)
                                      : apply(r, e->op, e, want);
    }
    return AXE_FAILED;
}

const axe_node *
axe_resolve_to(axe_resolver *r, axe_typed v, axe_type to, axe_span at,
               const char *what)
{
    const char *text;

    if (v.literal)
        return axe_literal_adapt(r, v.node, to, at);
    if (axe_type_widens(v.node->type, to))
        return axe_cast(r->cx, at, to, v.node);
    text = axe_node_text(r->cx, v.node);
    axe_resolve_fail(
        r, axe_fail(r->cx, at, AXE_ETYPE, "%s %s, but the value is %s", what,
                    axe_type_table[to].name, axe_type_text(v.node->type)));
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

static bool
is_whole(axe_type t)
{
    return axe_type_table[t].cls == AXE_CLASS_INT ||
           axe_type_table[t].cls == AXE_CLASS_UINT;
}

const axe_node *
axe_resolve_index(axe_resolver *r, const axe_expr *e, bool reads,
                  const char *what)
{
    axe_typed v = axe_resolve_value(r, e, reads ? AXE_TYPE_INDEX : AXE_NO_TYPE);
    const axe_node *load = NULL;

    if (!v.node)
        return NULL;
    axe_node_walk(v.node, find_load, &load);
    if (load && !reads) {
        axe_resolve_failed(r,
                           axe_fail(r->cx, e->at, AXE_EUNSUPPORTED,
                                    "%s that reads `%s` is not supported yet",
                                    what, axe_node_text(r->cx, load)));
        return NULL;
    }
    if (load && is_whole(v.node->type))
        return axe_cast(r->cx, e->at, AXE_TYPE_INDEX, v.node);
    if (v.node->type == AXE_TYPE_INDEX)
        return v.node;
    axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                   "%s is an integer, but `%s` is %s", what,
                                   axe_node_text(r->cx, v.node),
                                   axe_type_text(v.node->type)));
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
