/* expr.c - the reader of layout expressions: it evaluates as it reads.
 *
 * The grammar is in axe/layout.h; each rule is a function.  "(" begins a
 * literal if ":" follows its ")", else a shape or an expression in parens.
 * Operations know nothing of the text: when one fails, a note says where it
 * stands. */
#include <string.h>

#include "base/ctx.h"
#include "layout/expr_int.h"
#include "layout/layout_int.h"

static axe_status expr(axe_expr_reader *r, axe_value *out);

/* ---------------------------------------------------------- items and calls */

/* A value as the shape it is, or a shape of one dim. */
static bool
to_shape(axe_expr_reader *r, const axe_value *v, axe_shape *out)
{
    int64_t *one;

    if (v->kind == AXE_VALUE_SHAPE)
        *out = v->shape;
    else if (v->kind == AXE_VALUE_INT) {
        one = axe_new(r->cx, int64_t);
        *one = v->integer;
        *out = (axe_shape){1, one};
    }
    return v->kind == AXE_VALUE_SHAPE || v->kind == AXE_VALUE_INT;
}

/* axis = [ "@" ] name */
static axe_status
axis(axe_expr_reader *r, axe_value *out)
{
    size_t   n;
    axe_axis a;

    axe_expr_accept(r, "@");
    n = axe_expr_name_length(r);
    if (n == 0)
        return axe_expr_expected(r, "an axis");
    AXE_TRY(axe_axis_find(r->cx, axe_expr_span(r, r->at, r->at + n),
                          axe_expr_name_text(r, n), &a));
    r->at += n;
    *out = (axe_value){.kind = AXE_VALUE_AXIS, .integer = a};
    return AXE_OK;
}

/* One argument of the type that a letter of expr.def says. */
static axe_status
argument(axe_expr_reader *r, const char *fn, char type, axe_value *out)
{
    static const struct row {
        char           type;
        axe_value_kind kind;
    } rows[] = {
        {'L', AXE_VALUE_LAYOUT},
        {'i', AXE_VALUE_INT},
    };
    size_t    from;
    axe_value v;

    axe_expr_peek(r);
    from = r->at;
    if (type == 'a')
        return axis(r, out);
    AXE_TRY(expr(r, &v));
    if (type == 's') {
        if (!to_shape(r, &v, &v.shape))
            return axe_expr_wrong_kind(r, from, fn, "a shape here", v.kind);
        v.kind = AXE_VALUE_SHAPE;
    }
    for (int i = 0; i < AXE_LEN(rows); i++)
        if (rows[i].type == type && rows[i].kind != v.kind)
            return axe_expr_wrong_kind(
                r, from, fn,
                axe_textf(r->cx, "%s here", axe_value_kind_text(rows[i].kind)),
                v.kind);
    if (type == 'w' && v.kind != AXE_VALUE_SWIZZLE &&
        v.kind != AXE_VALUE_LAYOUT)
        return axe_expr_wrong_kind(r, from, fn, "a swizzle or a layout here",
                                   v.kind);
    *out = v;
    return AXE_OK;
}

/* "(" [ argument { "," argument } ] ")" of a function whose name was read. */
static axe_status
call(axe_expr_reader *r, const axe_expr_op *op, size_t from, axe_value *out)
{
    axe_value   v[AXE_FN_ARGS] = {0};
    const char *types = op->types;
    bool        optional = false;

    if (!axe_expr_accept(r, "("))
        return axe_expr_expected(r, "'(' after the name of a function");
    for (int n = 0; *types; types++) {
        if (*types == '?') {
            optional = true;
            continue;
        }
        if (optional && axe_expr_peek(r) == ')')
            break;
        if (n > 0 && !axe_expr_accept(r, ","))
            return axe_expr_expected(
                r,
                axe_textf(r->cx, "',' and argument %d of %s", n + 1, op->name));
        AXE_TRY(argument(r, op->name, *types, &v[n++]));
    }
    if (!axe_expr_accept(r, ")"))
        return axe_expr_expected(
            r, axe_textf(r->cx, "')' after the arguments of %s", op->name));
    return axe_expr_placed(r, op->run(r->cx, v, out), from);
}

static axe_status
named(axe_expr_reader *r, size_t n, axe_value *out)
{
    const char        *name = axe_expr_name_text(r, n);
    const axe_value   *v = axe_expr_bound(r, name);
    const axe_layout  *l = axe_expr_layout(r, name);
    const axe_expr_op *op = axe_expr_find(name);
    size_t             from = r->at;
    int64_t            k;

    if (!v && !l && axe_expr_constant(r, name, &k)) {
        *out = (axe_value){.kind = AXE_VALUE_INT};
        return axe_expr_integer(r, &out->integer);
    }
    if (v && v->kind == AXE_VALUE_INT) {
        *out = *v;
        return axe_expr_integer(r, &out->integer);
    }
    if (!v && !l && strcmp(name, "swizzle") == 0) {
        *out = (axe_value){.kind = AXE_VALUE_SWIZZLE};
        return axe_swizzle_read_at(r->cx, r->source, r->text, r->len, from,
                                   &out->swizzle, &r->at);
    }
    if (!v && !l && !op)
        return axe_expr_unknown(r, n);
    r->at += n;
    if (!v && !l)
        return call(r, op, from, out);
    *out = v ? *v : (axe_value){.kind = AXE_VALUE_LAYOUT, .layout = l};
    return AXE_OK;
}

/* Does ":" follow the ")" that closes the "(" here? */
static bool
literal_follows(const axe_expr_reader *r)
{
    axe_expr_reader ahead = *r;
    int             open = 0;

    for (; ahead.at < ahead.len; ahead.at++) {
        open += ahead.text[ahead.at] == '(';
        open -= ahead.text[ahead.at] == ')';
        if (open == 0) {
            ahead.at++;
            return axe_expr_peek(&ahead) == ':';
        }
    }
    return false;
}

static axe_status
literal(axe_expr_reader *r, axe_value *out)
{
    axe_literal_env env = {r, axe_expr_constant, axe_expr_is_layout};

    *out = (axe_value){.kind = AXE_VALUE_LAYOUT};
    return axe_layout_read_at(r->cx, r->source, r->text, r->len, r->at, &env,
                              &out->layout, &r->at);
}

/* "(" expr ")" | "(" [ integer { "," integer } ] ")", the "(" read. */
static axe_status
parens(axe_expr_reader *r, axe_value *out)
{
    int64_t *extent = NULL;
    int      n = 0, cap = 0;

    if (axe_expr_accept(r, ")")) {
        *out = (axe_value){.kind = AXE_VALUE_SHAPE};
        return AXE_OK;
    }
    do {
        axe_value v;
        size_t    from;

        axe_expr_peek(r);
        from = r->at;
        AXE_TRY(expr(r, &v));
        if (n == 0 && axe_expr_accept(r, ")")) {
            *out = v;
            return AXE_OK;
        }
        if (v.kind != AXE_VALUE_INT)
            return axe_expr_wrong_kind(r, from, "a shape", "integers", v.kind);
        if (n == cap) {
            int64_t *more = axe_new_array(r->cx, int64_t, cap ? 2 * cap : 8);

            if (n > 0)
                memcpy(more, extent, (size_t)n * sizeof *more);
            extent = more;
            cap = cap ? 2 * cap : 8;
        }
        extent[n++] = v.integer;
    } while (axe_expr_accept(r, ","));
    if (!axe_expr_accept(r, ")"))
        return axe_expr_expected(r, "',' or ')'");
    *out = (axe_value){.kind = AXE_VALUE_SHAPE, .shape = {n, extent}};
    return AXE_OK;
}

static axe_status
primary(axe_expr_reader *r, axe_value *out)
{
    size_t n = axe_expr_name_length(r);
    char   c = axe_expr_peek(r);

    if (n > 0)
        return named(r, n, out);
    if (axe_expr_is_digit(c) || c == '-') {
        *out = (axe_value){.kind = AXE_VALUE_INT};
        return axe_expr_integer(r, &out->integer);
    }
    if (c != '(')
        return axe_expr_expected(r, "a layout");
    if (literal_follows(r))
        return literal(r, out);
    r->at++;
    return parens(r, out);
}

static axe_status
item(axe_expr_reader *r, axe_value *out)
{
    size_t from;

    axe_expr_peek(r);
    from = r->at;
    AXE_TRY(primary(r, out));
    while (out->kind == AXE_VALUE_LAYOUT) {
        if (axe_expr_accept(r, "["))
            AXE_TRY(axe_expr_slice(r, from, out));
        else if (axe_expr_accept(r, "("))
            AXE_TRY(axe_expr_apply(r, from, out));
        else
            break;
    }
    return AXE_OK;
}

/* ---------------------------------------------------------------- operators */

static axe_status
both_layouts(axe_expr_reader *r, size_t from, const char *who,
             const axe_value *a, const axe_value *b)
{
    if (a->kind != AXE_VALUE_LAYOUT)
        return axe_expr_wrong_kind(r, from, who, "layouts", a->kind);
    if (b->kind != AXE_VALUE_LAYOUT)
        return axe_expr_wrong_kind(r, from, who, "layouts", b->kind);
    return AXE_OK;
}

/* item [ "o" chain ] */
static axe_status
chain(axe_expr_reader *r, axe_value *out)
{
    size_t            from;
    axe_value         a, b;
    const axe_layout *l;

    axe_expr_peek(r);
    from = r->at;
    AXE_TRY(axe_expr_enter(r));
    AXE_TRY(item(r, &a));
    r->depth--;
    if (axe_expr_name_length(r) != 1 || r->text[r->at] != 'o') {
        *out = a;
        return AXE_OK;
    }
    r->at++;
    AXE_TRY(axe_expr_enter(r));
    AXE_TRY(chain(r, &b));
    r->depth--;
    if (a.kind != AXE_VALUE_SWIZZLE) {
        AXE_TRY(both_layouts(r, from, "o", &a, &b));
        return axe_expr_placed(r, axe_expr_call(r->cx, "compose", &a, &b, out),
                               from);
    }
    if (b.kind != AXE_VALUE_LAYOUT)
        return axe_expr_wrong_kind(r, from, "o", "a layout on its right",
                                   b.kind);
    AXE_TRY(axe_expr_placed(
        r, axe_layout_swizzled(r->cx, b.layout, a.swizzle, &l), from));
    *out = (axe_value){.kind = AXE_VALUE_LAYOUT, .layout = l};
    return AXE_OK;
}

/* chain { "><" chain } */
static axe_status
tile(axe_expr_reader *r, axe_value *out)
{
    size_t    from;
    axe_value a, b;

    axe_expr_peek(r);
    from = r->at;
    AXE_TRY(chain(r, &a));
    while (axe_expr_accept(r, "><")) {
        AXE_TRY(chain(r, &b));
        AXE_TRY(both_layouts(r, from, "><", &a, &b));
        AXE_TRY(
            axe_expr_placed(r, axe_expr_call(r->cx, "tile", &a, &b, &a), from));
    }
    *out = a;
    return AXE_OK;
}

/* Does a replica or an offset follow the sign, and not another layout? */
static bool
tail_follows(axe_expr_reader *r)
{
    axe_expr_reader ahead = *r;
    size_t          n;
    const char     *name;
    int64_t         k;

    if (axe_expr_accept(&ahead, "-"))
        return true;
    if (!axe_expr_accept(&ahead, "+"))
        return false;
    n = axe_expr_name_length(&ahead);
    if (n == 0)
        return axe_expr_peek(&ahead) == '[' ||
               axe_expr_is_digit(axe_expr_peek(&ahead));
    name = axe_expr_name_text(&ahead, n);
    if (axe_expr_is_layout(r, name) || axe_expr_find(name))
        return false;
    ahead.at += n;
    return axe_expr_peek(&ahead) == '@' || axe_expr_peek(&ahead) == '*' ||
           axe_expr_constant(r, name, &k);
}

/* Add a literal's tail to a layout that is not a literal: the tail is read
 * behind an empty literal. */
static axe_status
tail(axe_expr_reader *r, size_t from, axe_value *a)
{
    static const char empty[] = "():()";
    const size_t      n = sizeof empty - 1;
    axe_literal_env   env = {r, axe_expr_constant, axe_expr_is_layout};
    axe_buf           b = {.cx = r->cx};
    const axe_layout *t, *l;
    axe_layout        spec = *a->layout;
    axe_iter         *replica;
    axe_offset       *offset;
    size_t            end;

    axe_puts(&b, empty);
    axe_putn(&b, r->text + r->at, r->len - r->at);
    AXE_TRY(axe_expr_placed(
        r, axe_layout_read_at(r->cx, 0, b.text, b.len, 0, &env, &t, &end),
        from));
    if (end <= n) {
        r->at++;
        return axe_expr_expected(r, "an offset");
    }
    r->at += end - n;
    replica = axe_new_array(r->cx, axe_iter, spec.n_replica + t->n_replica);
    offset = axe_new_array(r->cx, axe_offset, spec.n_offset + t->n_offset);
    for (int i = 0; i < spec.n_replica + t->n_replica; i++)
        replica[i] = i < spec.n_replica ? spec.replica[i]
                                        : t->replica[i - spec.n_replica];
    for (int i = 0; i < spec.n_offset + t->n_offset; i++)
        offset[i] =
            i < spec.n_offset ? spec.offset[i] : t->offset[i - spec.n_offset];
    spec.replica = replica;
    spec.n_replica += t->n_replica;
    spec.offset = offset;
    spec.n_offset += t->n_offset;
    AXE_TRY(axe_expr_placed(r, axe_layout_make(r->cx, &spec, &l), from));
    a->layout = l;
    return AXE_OK;
}

/* tile { "+" ( tile | replica | offset ) } */
static axe_status
sum(axe_expr_reader *r, axe_value *out)
{
    size_t    from;
    axe_value a, b;

    axe_expr_peek(r);
    from = r->at;
    AXE_TRY(tile(r, &a));
    while (a.kind == AXE_VALUE_LAYOUT) {
        if (tail_follows(r)) {
            AXE_TRY(tail(r, from, &a));
            continue;
        }
        if (!axe_expr_accept(r, "+"))
            break;
        AXE_TRY(tile(r, &b));
        AXE_TRY(both_layouts(r, from, "+", &a, &b));
        AXE_TRY(
            axe_expr_placed(r, axe_expr_call(r->cx, "sum", &a, &b, &a), from));
    }
    *out = a;
    return AXE_OK;
}

/* sum { "|" shape } */
static axe_status
expr(axe_expr_reader *r, axe_value *out)
{
    size_t    from, shape_at;
    axe_value a, b;

    axe_expr_peek(r);
    from = r->at;
    AXE_TRY(axe_expr_enter(r));
    AXE_TRY(sum(r, &a));
    while (a.kind == AXE_VALUE_LAYOUT && axe_expr_accept(r, "|")) {
        axe_expr_peek(r);
        shape_at = r->at;
        AXE_TRY(item(r, &b));
        if (!to_shape(r, &b, &b.shape))
            return axe_expr_wrong_kind(r, shape_at, "|", "a shape", b.kind);
        AXE_TRY(axe_expr_placed(r, axe_expr_call(r->cx, "group", &a, &b, &a),
                                from));
    }
    r->depth--;
    *out = a;
    return AXE_OK;
}

/* ------------------------------------------------------------- entry points */

/* "let" name "=" expr ";", the "let" read. */
static axe_status
let(axe_expr_reader *r)
{
    axe_expr_binding *b = axe_new(r->cx, axe_expr_binding);
    size_t            n = axe_expr_name_length(r);

    if (n == 0)
        return axe_expr_expected(r, "a name after 'let'");
    b->name = axe_expr_name_text(r, n);
    if (axe_expr_find(b->name) || strcmp(b->name, "let") == 0 ||
        strcmp(b->name, "o") == 0 || strcmp(b->name, "swizzle") == 0)
        return axe_fail(r->cx, axe_expr_span(r, r->at, r->at + n), AXE_ENAME,
                        "'%s' has a meaning of its own and cannot be bound",
                        b->name);
    if (axe_expr_bound(r, b->name))
        return axe_fail(r->cx, axe_expr_span(r, r->at, r->at + n), AXE_ENAME,
                        "'%s' is bound twice", b->name);
    r->at += n;
    if (!axe_expr_accept(r, "="))
        return axe_expr_expected(r, "'='");
    AXE_TRY(expr(r, &b->value));
    if (!axe_expr_accept(r, ";"))
        return axe_expr_expected(r, "';' after the value of a name");
    b->next = r->bound;
    r->bound = b;
    return AXE_OK;
}

static bool
accept_let(axe_expr_reader *r)
{
    if (axe_expr_name_length(r) != 3 || memcmp(r->text + r->at, "let", 3) != 0)
        return false;
    r->at += 3;
    return true;
}

axe_status
axe_expr_eval(axe_ctx *cx, const char *name, const char *text,
              const axe_expr_env *env, axe_value *out)
{
    AXE_NEED(cx, name);
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    axe_expr_reader r = {
        .cx = cx, .text = text, .len = strlen(text), .env = env};
    axe_value v;

    r.source = axe_source_add(cx, name, text, r.len);
    while (accept_let(&r))
        AXE_TRY(let(&r));
    AXE_TRY(expr(&r, &v));
    axe_expr_accept(&r, ";");
    if (axe_expr_peek(&r) != '\0' || r.at < r.len)
        return axe_expr_expected(&r, "the end or an operator");
    *out = v;
    return AXE_OK;
}

axe_status
axe_expr_eval_at(axe_ctx *cx, int32_t source, size_t at,
                 const axe_expr_env *env, axe_value *out, size_t *end)
{
    AXE_NEED(cx, out);
    axe_expr_reader r = {.cx = cx, .source = source, .at = at, .env = env};
    axe_value       v;

    r.text = axe_source_text(cx, source, &r.len);
    if (at > r.len)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "byte %zu is behind the end of the source", at);
    AXE_TRY(expr(&r, &v));
    *out = v;
    *end = r.at;
    return AXE_OK;
}
