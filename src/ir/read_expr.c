/* read_expr.c - reading expressions of the IR's text.
 *
 * Nodes are made by the same constructors as everywhere; their types follow
 * from the operands and are checked when the kernel is whole. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/read_int.h"

static axe_status read_prec(axe_reader *r, int prec, const axe_node **out);
static axe_status read_unary(axe_reader *r, const axe_node **out);

static axe_status
count_op(axe_reader *r)
{
    if (++r->n_op <= AXE_EXPR_MAX)
        return AXE_OK;
    return axe_fail(r->cx, axe_read_at(r), AXE_ELIMIT,
                    "this expression has more than %d operations",
                    AXE_EXPR_MAX);
}

/* expr { "," expr } close */
static axe_status
read_list(axe_reader *r, const char *close, axe_list *out)
{
    do {
        const axe_node *n;
        AXE_TRY(read_prec(r, PREC_SELECT, &n));
        axe_list_push(out, n);
    } while (axe_read_take(r, ","));
    return axe_read_need(r, close);
}

static axe_status
read_subscripts(axe_reader *r, axe_span at, const axe_tensor *t,
                const axe_node **out)
{
    axe_list sub = {.cx = r->cx};

    AXE_TRY(read_list(r, "]", &sub));
    if (sub.n != t->rank)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "`%s` has %d dimensions, but %d subscripts are given",
                        t->name, t->rank, sub.n);
    *out = axe_load(r->cx, at, t, (const axe_node *const *)sub.item);
    return AXE_OK;
}

axe_status
axe_read_place(axe_reader *r, const axe_node **out)
{
    axe_span         at = axe_read_at(r);
    const char      *name;
    const axe_named *what;

    r->n_op = 0;
    AXE_TRY(axe_read_name(r, &name));
    what = axe_read_find(r, name);
    if (!what || !what->tensor)
        return axe_fail(r->cx, at, AXE_ENAME, "there is no tensor `%s` here",
                        name);
    if (what->tensor->rank == 0) {
        *out = axe_load(r->cx, at, what->tensor, NULL);
        return AXE_OK;
    }
    AXE_TRY(axe_read_need(r, "["));
    return read_subscripts(r, at, axe_read_seen(r, what), out);
}

static void
look_for_others(void *user, const axe_node *n)
{
    bool *others = user;

    *others = *others || n->op == AXE_OP_load || n->op == AXE_OP_reduce ||
              n->type != AXE_TYPE_INDEX ||
              (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE);
}

/* [ "to" sum ]: the same wherever the index is, so over sizes alone. */
static axe_status
read_limit(axe_reader *r, axe_dim *d)
{
    axe_var        *v = (axe_var *)d->var;
    const axe_node *limit;
    bool            others = false;

    if (!axe_read_word(r, "to"))
        return AXE_OK;
    AXE_TRY(read_prec(r, PREC_ADD, &limit));
    axe_node_walk(limit, look_for_others, &others);
    if (others)
        return axe_fail(r->cx, limit->at, AXE_ESYNTAX,
                        "an index stops at an expression over sizes, not `%s`",
                        axe_node_text(r->cx, limit));
    if (v->limit && !axe_node_same(v->limit, limit))
        return axe_fail(r->cx, limit->at, AXE_ESYNTAX,
                        "`%s` stops at `%s` elsewhere", v->name,
                        axe_node_text(r->cx, v->limit));
    v->limit = limit;
    return AXE_OK;
}

axe_status
axe_read_dims(axe_reader *r, axe_list *dims)
{
    do {
        axe_span         at = axe_read_at(r);
        axe_dim         *d = axe_new(r->cx, axe_dim);
        const char      *name;
        const axe_named *what;
        AXE_TRY(axe_read_name(r, &name));
        what = axe_read_find(r, name);
        if (!what || !what->var || what->var->kind != AXE_VAR_INDEX)
            return axe_fail(r->cx, at, AXE_ENAME, "there is no index `%s`",
                            name);
        d->var = what->var;
        AXE_TRY(axe_read_need(r, ":"));
        AXE_TRY(read_prec(r, PREC_ADD, &d->extent));
        AXE_TRY(read_limit(r, d));
        axe_list_push(dims, d);
    } while (axe_read_take(r, ","));
    return AXE_OK;
}

/* fold "[" dims "]" "(" expr ")" */
static axe_status
read_reduce(axe_reader *r, axe_span at, axe_fold fold, const axe_node **out)
{
    axe_list        dims = {.cx = r->cx};
    axe_dim        *over;
    const axe_node *body;

    AXE_TRY(axe_read_dims(r, &dims));
    AXE_TRY(axe_read_need(r, "]"));
    AXE_TRY(axe_read_need(r, "("));
    AXE_TRY(read_prec(r, PREC_SELECT, &body));
    AXE_TRY(axe_read_need(r, ")"));
    over = axe_new_array(r->cx, axe_dim, dims.n);
    for (int i = 0; i < dims.n; i++)
        over[i] = *(const axe_dim *)dims.item[i];
    *out = axe_reduce(r->cx, at, fold, dims.n, over, body);
    return AXE_OK;
}

static axe_fold
fold_named(const char *name)
{
    for (int f = AXE_FOLD_SUM; f <= AXE_FOLD_MIN; f++)
        if (strcmp(axe_fold_name((axe_fold)f), name) == 0)
            return (axe_fold)f;
    return AXE_FOLD_NONE;
}

static bool
function_named(const char *name, axe_op *out)
{
    for (int op = 0; op < AXE_N_OP; op++)
        if (strcmp(axe_op_table[op].name, name) == 0 &&
            axe_op_table[op].n_arg > 0 && op != AXE_OP_cast &&
            op != AXE_OP_reduce) {
            *out = (axe_op)op;
            return true;
        }
    return false;
}

/* TYPE ")" "(", after "bitcast(" */
static axe_status
read_bits(axe_reader *r, axe_type *out)
{
    const char *name;

    AXE_TRY(axe_read_name(r, &name));
    if (!axe_type_find(name, out))
        return axe_fail(r->cx, axe_read_at(r), AXE_ETYPE, "`%s` is not a type",
                        name);
    AXE_TRY(axe_read_need(r, ")"));
    return axe_read_need(r, "(");
}

/* ( TYPE | FUNCTION | "bitcast" "(" TYPE ")" ) "(" list ")" */
static axe_status
read_call(axe_reader *r, axe_span at, const char *name, const axe_node **out)
{
    axe_list               arg = {.cx = r->cx};
    axe_op                 op = AXE_OP_cast;
    axe_type               type = AXE_TYPE_f32;
    bool                   cast = axe_type_find(name, &type);
    const axe_node *const *a;

    if (!cast && !function_named(name, &op))
        return axe_fail(r->cx, at, AXE_ENAME, "there is no function `%s`",
                        name);
    if (op == AXE_OP_bitcast)
        AXE_TRY(read_bits(r, &type));
    cast = cast || op == AXE_OP_bitcast;
    AXE_TRY(read_list(r, ")", &arg));
    if (arg.n != axe_op_table[op].n_arg)
        return axe_fail(r->cx, at, AXE_ESYNTAX, "`%s` takes %d values, not %d",
                        name, axe_op_table[op].n_arg, arg.n);
    a = (const axe_node *const *)arg.item;
    *out =
        axe_node_new(r->cx, op, cast ? type : axe_op_type(op, a), at, arg.n, a);
    return AXE_OK;
}

/* "f32.inf", "f16.nan", "true" */
static bool
read_special(axe_reader *r, axe_span at, const char *name, const axe_node **out)
{
    const char *dot = strchr(name, '.');
    axe_type    type;

    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        *out = axe_iconst(r->cx, at, AXE_TYPE_bool, name[0] == 't');
        return true;
    }
    if (!dot || (strcmp(dot, ".inf") != 0 && strcmp(dot, ".nan") != 0) ||
        !axe_type_find(axe_textf(r->cx, "%.*s", (int)(dot - name), name),
                       &type) ||
        !axe_type_is_float(type))
        return false;
    *out = axe_fconst(r->cx, at, type,
                      dot[1] == 'i' ? (double)INFINITY : (double)NAN);
    return true;
}

static axe_status
read_named(axe_reader *r, const axe_node **out)
{
    axe_span         at = axe_read_at(r);
    const char      *name;
    const axe_named *what;

    AXE_TRY(axe_read_name(r, &name));
    if (read_special(r, at, name, out))
        return AXE_OK;
    if (axe_read_take(r, "("))
        return read_call(r, at, name, out);
    what = axe_read_find(r, name);
    if (axe_read_take(r, "[")) {
        if (what && what->tensor)
            return read_subscripts(r, at, axe_read_seen(r, what), out);
        if (fold_named(name))
            return read_reduce(r, at, fold_named(name), out);
    } else if (what && what->var) {
        *out = axe_var_node(r->cx, at, what->var);
        return AXE_OK;
    } else if (what && what->tensor && what->tensor->rank == 0) {
        *out = axe_load(r->cx, at, what->tensor, NULL);
        return AXE_OK;
    }
    return axe_fail(r->cx, at, AXE_ENAME, "`%s` has no meaning here", name);
}

/* The type after "_", or the one of plain constants. */
static axe_status
read_suffix(axe_reader *r, axe_type plain, axe_type *out)
{
    const char *from = r->s + 1, *name;

    *out = plain;
    if (r->s == r->end || *r->s != '_')
        return AXE_OK;
    for (r->s++; r->s < r->end && isalnum((unsigned char)*r->s);)
        r->s++;
    name = axe_textf(r->cx, "%.*s", (int)(r->s - from), from);
    if (axe_type_find(name, out))
        return AXE_OK;
    return axe_fail(r->cx, axe_read_at(r), AXE_ETYPE, "`%s` is not a type",
                    name);
}

static void
skip_number(axe_reader *r, bool *is_float)
{
    const char *from;

    *is_float = false;
    while (r->s < r->end && (isdigit((unsigned char)*r->s) || *r->s == '.'))
        *is_float = *r->s++ == '.' || *is_float;
    if (r->s < r->end && *r->s == 'e') {
        from = r->s++;
        if (r->s < r->end && (*r->s == '+' || *r->s == '-'))
            r->s++;
        *is_float = true;
        if (r->s == r->end || !isdigit((unsigned char)*r->s))
            r->s = from;
        while (r->s < r->end && isdigit((unsigned char)*r->s))
            r->s++;
    }
}

/* minus: a sign stood before it, which -9223372036854775808 needs to know. */
static axe_status
read_number(axe_reader *r, bool minus, const axe_node **out)
{
    axe_span    at = axe_read_at(r);
    const char *from = r->s;
    char       *text, *end;
    bool        is_float;
    axe_type    type;
    double      f;
    int64_t     i;

    skip_number(r, &is_float);
    text =
        axe_textf(r->cx, "%s%.*s", minus ? "-" : "", (int)(r->s - from), from);
    AXE_TRY(read_suffix(r, is_float ? AXE_TYPE_f64 : AXE_TYPE_INDEX, &type));
    errno = 0;
    f = strtod(text, &end);
    if (*end != '\0')
        return axe_fail(r->cx, at, AXE_ESYNTAX, "`%s` is not a number", text);
    if (axe_type_is_float(type)) {
        *out = axe_fconst(r->cx, at, type, f);
        return AXE_OK;
    }
    errno = 0;
    i = type == AXE_TYPE_u64 && !minus ? (int64_t)strtoull(text, &end, 10)
                                       : strtoll(text, &end, 10);
    if (*end != '\0' || errno == ERANGE || !axe_type_fits(type, i))
        return axe_fail(r->cx, at, AXE_EOVERFLOW, "%s does not fit %s", text,
                        axe_type_table[type].name);
    *out = axe_iconst(r->cx, at, type, i);
    return AXE_OK;
}

static axe_status
read_primary(axe_reader *r, const axe_node **out)
{
    axe_read_at(r);
    if (axe_read_take(r, "(")) {
        AXE_TRY(read_prec(r, PREC_SELECT, out));
        return axe_read_need(r, ")");
    }
    if (r->s < r->end && isdigit((unsigned char)*r->s))
        return read_number(r, false, out);
    return read_named(r, out);
}

/* unary = ( "-" | "!" | "~" ) unary | primary */
static axe_status
read_unary(axe_reader *r, const axe_node **out)
{
    bool   minus = axe_read_take(r, "-"), bits = axe_read_take(r, "~");
    axe_op op = minus ? AXE_OP_neg : bits ? AXE_OP_bnot : AXE_OP_not;

    if (!minus && !bits && !axe_read_take(r, "!"))
        return read_primary(r, out);
    if (minus && r->s < r->end && isdigit((unsigned char)*r->s))
        return read_number(r, true, out);
    AXE_TRY(axe_read_enter(r));
    AXE_TRY(count_op(r));
    AXE_TRY(read_unary(r, out));
    *out = axe_node1(r->cx, op, *out);
    r->depth--;
    return AXE_OK;
}

static const axe_sign *
take_binary(axe_reader *r, int prec)
{
    const axe_sign *found = NULL;
    size_t          len = 0;

    axe_read_at(r); /* at what is not blank */
    for (int i = 0; i < AXE_N_SIGN; i++) {
        const axe_sign *s = &axe_sign_table[i];
        size_t          n = strlen(s->text);
        if (s->prec < PREC_UNARY && n > len && (size_t)(r->end - r->s) >= n &&
            memcmp(r->s, s->text, n) == 0) {
            found = s;
            len = n;
        }
    }
    return found && found->prec >= prec && axe_read_take(r, found->text) ? found
                                                                         : NULL;
}

static axe_status
read_select(axe_reader *r, const axe_node **out)
{
    const axe_node *arg[3] = {*out, NULL, NULL};

    AXE_TRY(count_op(r));
    AXE_TRY(read_prec(r, PREC_SELECT, &arg[1]));
    AXE_TRY(axe_read_need(r, ":"));
    AXE_TRY(read_prec(r, PREC_SELECT, &arg[2]));
    *out = axe_node_new(r->cx, AXE_OP_select, arg[1]->type, arg[0]->at, 3, arg);
    return AXE_OK;
}

/* binary = unary { sign binary } [ "?" expr ":" expr ], as tight as prec */
static axe_status
read_prec(axe_reader *r, int prec, const axe_node **out)
{
    const axe_sign *s;
    const axe_node *b;

    AXE_TRY(axe_read_enter(r));
    AXE_TRY(read_unary(r, out));
    while ((s = take_binary(r, prec)) != NULL) {
        AXE_TRY(count_op(r));
        AXE_TRY(read_prec(r, s->prec + 1, &b));
        *out = axe_node2(r->cx, s->op, *out, b);
    }
    if (prec == PREC_SELECT && axe_read_take(r, "?"))
        AXE_TRY(read_select(r, out));
    r->depth--;
    return AXE_OK;
}

axe_status
axe_read_expr(axe_reader *r, const axe_node **out)
{
    r->n_op = 0;
    return read_prec(r, PREC_SELECT, out);
}
