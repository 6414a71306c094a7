/* expr.c - the reader of layout expressions: it evaluates as it reads.
 *
 * The grammar is in axe/layout.h; each rule is a function.  "(" begins a
 * literal if ":" follows its ")", else a shape or an expression in parens.
 * Nesting is counted, so that no text can exhaust the stack.  Operations know
 * nothing of the text: when one fails, a note says where it stands. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/expr_int.h"
#include "layout/layout_int.h"

enum { MAX_DEPTH = 64, MAX_COORD = 64 };

/* A name bound by "let". */
typedef struct binding {
    const struct binding *next;
    const char           *name;
    axe_value             value;
} binding;

typedef struct reader {
    axe_ctx            *cx;
    int32_t             source;
    const char         *text;
    size_t              len, at;
    int                 depth;
    const axe_expr_env *env;
    const binding      *bound;
} reader;

static axe_status expr(reader *r, axe_value *out);
static axe_status integer(reader *r, int64_t *out);

/* ----------------------------------------------------------- places, tokens */

static axe_span
span(const reader *r, size_t from, size_t to)
{
    axe_span s = {r->source, 1, 1, to > from ? (int32_t)(to - from) : 1};

    for (size_t i = 0; i < from; i++) {
        s.col++;
        if (r->text[i] == '\n') {
            s.line++;
            s.col = 1;
        }
    }
    return s;
}

static void
blanks(reader *r)
{
    while (r->at < r->len) {
        const char *s = r->text + r->at, *end;

        if (memchr(" \t\r\n", *s, 4)) {
            r->at++;
            continue;
        }
        if (r->len - r->at < 2 || s[0] != '/' || s[1] != '/')
            return;
        end = memchr(s, '\n', r->len - r->at);
        r->at = end ? (size_t)(end - r->text) : r->len;
    }
}

/* The next character after blanks, 0 at the end. */
static char
peek(reader *r)
{
    blanks(r);
    return r->at < r->len ? r->text[r->at] : '\0';
}

static bool
accept(reader *r, const char *token)
{
    size_t n = strlen(token);

    blanks(r);
    if (r->len - r->at < n || memcmp(r->text + r->at, token, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the name that begins after blanks; 0: none does. */
static size_t
name_length(reader *r)
{
    size_t n = 0;

    blanks(r);
    while (r->at + n < r->len && (axe_is_name(r->text + r->at + n, 1) ||
                                  (n > 0 && is_digit(r->text[r->at + n]))))
        n++;
    return n;
}

/* The next n bytes, which are a name. */
static const char *
name_text(reader *r, size_t n)
{
    return axe_textf(r->cx, "%.*s", (int)n, r->text + r->at);
}

static axe_status
expected(reader *r, const char *what)
{
    size_t n = name_length(r);
    char   c = peek(r);

    if (c == '\0' && r->at >= r->len)
        return axe_fail(r->cx, span(r, r->at, r->at), AXE_ESYNTAX,
                        "expected %s, but the text ends", what);
    if (n > 0)
        return axe_fail(r->cx, span(r, r->at, r->at + n), AXE_ESYNTAX,
                        "expected %s, but found '%s'", what, name_text(r, n));
    if (c < ' ' || c > '~')
        return axe_fail(r->cx, span(r, r->at, r->at), AXE_ESYNTAX,
                        "expected %s, but found byte 0x%02x", what,
                        (unsigned)(unsigned char)c);
    return axe_fail(r->cx, span(r, r->at, r->at), AXE_ESYNTAX,
                    "expected %s, but found '%c'", what, c);
}

static axe_status
enter(reader *r)
{
    if (++r->depth > MAX_DEPTH)
        return axe_fail(r->cx, span(r, r->at, r->at), AXE_ELIMIT,
                        "expressions nest deeper than %d", MAX_DEPTH);
    return AXE_OK;
}

/* Where a failed operation stands. */
static axe_status
placed(reader *r, axe_status st, size_t from)
{
    if (st != AXE_OK)
        axe_note(r->cx, span(r, from, r->at), "in this expression");
    return st;
}

static axe_status
wrong_kind(reader *r, size_t from, const char *who, const char *wanted,
           axe_value_kind found)
{
    return axe_fail(r->cx, span(r, from, r->at), AXE_ETYPE,
                    "%s needs %s, and this is %s", who, wanted,
                    axe_value_kind_text(found));
}

/* -------------------------------------------------------------------- names */

static const axe_value *
find_bound(const reader *r, const char *name)
{
    for (const binding *b = r->bound; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return &b->value;
    return NULL;
}

static bool
find_constant(void *user, const char *name, int64_t *out)
{
    const reader    *r = user;
    const axe_value *v = find_bound(r, name);

    if (v && v->kind == AXE_VALUE_INT) {
        *out = v->integer;
        return true;
    }
    return !v && r->env && r->env->constant &&
           r->env->constant(r->env->user, name, out);
}

static const axe_layout *
find_layout(const reader *r, const char *name)
{
    const axe_value *v = find_bound(r, name);

    if (v)
        return v->kind == AXE_VALUE_LAYOUT ? v->layout : NULL;
    return r->env && r->env->layout ? r->env->layout(r->env->user, name) : NULL;
}

static bool
is_layout(void *user, const char *name)
{
    return find_layout(user, name) != NULL;
}

/* ----------------------------------------------------------------- integers */

/* digit { digit } */
static axe_status
number(reader *r, int64_t *out)
{
    size_t  from = r->at;
    int64_t v = 0;

    if (!is_digit(peek(r)))
        return expected(r, "an integer");
    for (; r->at < r->len && is_digit(r->text[r->at]); r->at++)
        if (!axe_mul(v, 10, &v) || !axe_add(v, r->text[r->at] - '0', &v))
            return axe_fail(r->cx, span(r, from, r->at + 1), AXE_EOVERFLOW,
                            "the number leaves int64");
    *out = v;
    return AXE_OK;
}

/* number | constant | "-" factor | "(" integer ")" */
static axe_status
factor(reader *r, int64_t *out)
{
    size_t  n = name_length(r), from = r->at;
    int64_t v;

    if (n > 0) {
        if (!find_constant(r, name_text(r, n), out))
            return axe_fail(r->cx, span(r, from, from + n), AXE_ENAME,
                            "'%s' is not a constant", name_text(r, n));
        r->at += n;
        return AXE_OK;
    }
    AXE_TRY(enter(r));
    if (accept(r, "-")) {
        AXE_TRY(factor(r, &v));
        if (!axe_mul(v, -1, &v))
            return axe_fail(r->cx, span(r, from, r->at), AXE_EOVERFLOW,
                            "the number leaves int64");
    } else if (accept(r, "(")) {
        AXE_TRY(integer(r, &v));
        if (!accept(r, ")"))
            return expected(r, "')'");
    } else {
        AXE_TRY(number(r, &v));
    }
    r->depth--;
    *out = v;
    return AXE_OK;
}

/* factor { ( "*" | "/" ) factor } */
static axe_status
product(reader *r, int64_t *out)
{
    size_t  from = r->at;
    int64_t a, b;

    AXE_TRY(factor(r, &a));
    for (;;) {
        bool divide = peek(r) == '/';

        if (!accept(r, "*") && !accept(r, "/"))
            break;
        AXE_TRY(factor(r, &b));
        if (divide && (b == 0 || (b == -1 && a == INT64_MIN)))
            return axe_fail(r->cx, span(r, from, r->at), AXE_EARG,
                            "a division by %" PRId64 " that has no value", b);
        if (divide)
            a /= b;
        else if (!axe_mul(a, b, &a))
            return axe_fail(r->cx, span(r, from, r->at), AXE_EOVERFLOW,
                            "the product leaves int64");
    }
    *out = a;
    return AXE_OK;
}

/* product { ( "+" | "-" ) product } */
static axe_status
integer(reader *r, int64_t *out)
{
    size_t  from = r->at;
    int64_t a, b;

    AXE_TRY(product(r, &a));
    for (;;) {
        bool minus = peek(r) == '-';

        if (!accept(r, "+") && !accept(r, "-"))
            break;
        AXE_TRY(product(r, &b));
        if ((minus && !axe_mul(b, -1, &b)) || !axe_add(a, b, &a))
            return axe_fail(r->cx, span(r, from, r->at), AXE_EOVERFLOW,
                            "the sum leaves int64");
    }
    *out = a;
    return AXE_OK;
}

/* ---------------------------------------------------------- items and calls */

/* A value as the shape it is, or a shape of one dim. */
static bool
to_shape(reader *r, const axe_value *v, axe_shape *out)
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
axis(reader *r, axe_value *out)
{
    size_t   n;
    axe_axis a;

    accept(r, "@");
    n = name_length(r);
    if (n == 0)
        return expected(r, "an axis");
    AXE_TRY(
        axe_axis_find(r->cx, span(r, r->at, r->at + n), name_text(r, n), &a));
    r->at += n;
    *out = (axe_value){.kind = AXE_VALUE_AXIS, .integer = a};
    return AXE_OK;
}

/* One argument of the type that a letter of expr.def says. */
static axe_status
argument(reader *r, const char *fn, char type, axe_value *out)
{
    static const struct row {
        char           type;
        axe_value_kind kind;
    } rows[] = {
        {'L', AXE_VALUE_LAYOUT},
        {'i', AXE_VALUE_INT},
        {'w', AXE_VALUE_SWIZZLE},
    };
    size_t    from;
    axe_value v;

    peek(r);
    from = r->at;
    if (type == 'a')
        return axis(r, out);
    AXE_TRY(expr(r, &v));
    if (type == 's') {
        if (!to_shape(r, &v, &v.shape))
            return wrong_kind(r, from, fn, "a shape here", v.kind);
        v.kind = AXE_VALUE_SHAPE;
    }
    for (int i = 0; i < AXE_LEN(rows); i++)
        if (rows[i].type == type && rows[i].kind != v.kind)
            return wrong_kind(
                r, from, fn,
                axe_textf(r->cx, "%s here", axe_value_kind_text(rows[i].kind)),
                v.kind);
    *out = v;
    return AXE_OK;
}

/* "(" [ argument { "," argument } ] ")" of a function whose name was read. */
static axe_status
call(reader *r, const axe_expr_op *op, size_t from, axe_value *out)
{
    axe_value   v[AXE_FN_ARGS] = {0};
    const char *types = op->types;
    bool        optional = false;

    if (!accept(r, "("))
        return expected(r, "'(' after the name of a function");
    for (int n = 0; *types; types++) {
        if (*types == '?') {
            optional = true;
            continue;
        }
        if (optional && peek(r) == ')')
            break;
        if (n > 0 && !accept(r, ","))
            return expected(r, axe_textf(r->cx, "',' and argument %d of %s",
                                         n + 1, op->name));
        AXE_TRY(argument(r, op->name, *types, &v[n++]));
    }
    if (!accept(r, ")"))
        return expected(
            r, axe_textf(r->cx, "')' after the arguments of %s", op->name));
    return placed(r, op->run(r->cx, v, out), from);
}

static axe_status
unknown(reader *r, size_t n)
{
    const char *name = name_text(r, n);
    const char *near = axe_expr_nearest(name), *bound[MAX_COORD];
    int         n_bound = 0;
    axe_status  st;

    for (const binding *b = r->bound; b && n_bound < MAX_COORD; b = b->next)
        bound[n_bound++] = b->name;
    if (axe_nearest(name, n_bound, bound))
        near = axe_nearest(name, n_bound, bound);
    st = axe_fail(r->cx, span(r, r->at, r->at + n), AXE_ENAME,
                  "there is no layout, constant or function '%s'", name);
    if (near)
        axe_help(r->cx, "did you mean '%s'?", near);
    return st;
}

static axe_status
named(reader *r, size_t n, axe_value *out)
{
    const char        *name = name_text(r, n);
    const axe_value   *v = find_bound(r, name);
    const axe_layout  *l = find_layout(r, name);
    const axe_expr_op *op = axe_expr_find(name);
    size_t             from = r->at;
    int64_t            k;

    if (!v && !l && find_constant(r, name, &k)) {
        *out = (axe_value){.kind = AXE_VALUE_INT};
        return integer(r, &out->integer);
    }
    if (v && v->kind == AXE_VALUE_INT) {
        *out = *v;
        return integer(r, &out->integer);
    }
    if (!v && !l && strcmp(name, "swizzle") == 0) {
        *out = (axe_value){.kind = AXE_VALUE_SWIZZLE};
        return axe_swizzle_read_at(r->cx, r->source, r->text, r->len, from,
                                   &out->swizzle, &r->at);
    }
    if (!v && !l && !op)
        return unknown(r, n);
    r->at += n;
    if (!v && !l)
        return call(r, op, from, out);
    *out = v ? *v : (axe_value){.kind = AXE_VALUE_LAYOUT, .layout = l};
    return AXE_OK;
}

/* Does ":" follow the ")" that closes the "(" here? */
static bool
literal_follows(const reader *r)
{
    reader ahead = *r;
    int    open = 0;

    for (; ahead.at < ahead.len; ahead.at++) {
        open += ahead.text[ahead.at] == '(';
        open -= ahead.text[ahead.at] == ')';
        if (open == 0) {
            ahead.at++;
            return peek(&ahead) == ':';
        }
    }
    return false;
}

static axe_status
literal(reader *r, axe_value *out)
{
    axe_literal_env env = {r, find_constant, is_layout};

    *out = (axe_value){.kind = AXE_VALUE_LAYOUT};
    return axe_layout_read_at(r->cx, r->source, r->text, r->len, r->at, &env,
                              &out->layout, &r->at);
}

/* "(" expr ")" | "(" [ integer { "," integer } ] ")", the "(" read. */
static axe_status
parens(reader *r, axe_value *out)
{
    int64_t *extent = NULL;
    int      n = 0, cap = 0;

    if (accept(r, ")")) {
        *out = (axe_value){.kind = AXE_VALUE_SHAPE};
        return AXE_OK;
    }
    do {
        axe_value v;
        size_t    from;

        peek(r);
        from = r->at;
        AXE_TRY(expr(r, &v));
        if (n == 0 && accept(r, ")")) {
            *out = v;
            return AXE_OK;
        }
        if (v.kind != AXE_VALUE_INT)
            return wrong_kind(r, from, "a shape", "integers", v.kind);
        if (n == cap) {
            int64_t *more = axe_new_array(r->cx, int64_t, cap ? 2 * cap : 8);

            if (n > 0)
                memcpy(more, extent, (size_t)n * sizeof *more);
            extent = more;
            cap = cap ? 2 * cap : 8;
        }
        extent[n++] = v.integer;
    } while (accept(r, ","));
    if (!accept(r, ")"))
        return expected(r, "',' or ')'");
    *out = (axe_value){.kind = AXE_VALUE_SHAPE, .shape = {n, extent}};
    return AXE_OK;
}

static axe_status
primary(reader *r, axe_value *out)
{
    size_t n = name_length(r);
    char   c = peek(r);

    if (n > 0)
        return named(r, n, out);
    if (is_digit(c) || c == '-') {
        *out = (axe_value){.kind = AXE_VALUE_INT};
        return integer(r, &out->integer);
    }
    if (c != '(')
        return expected(r, "a layout");
    if (literal_follows(r))
        return literal(r, out);
    r->at++;
    return parens(r, out);
}

/* ------------------------------------------------------------- postfix forms
 */

/* bound = [ integer ] [ ":" [ integer ] ], for a dim of the given extent */
static axe_status
range(reader *r, int64_t extent, int64_t *begin, int64_t *end)
{
    char c = peek(r);

    *begin = 0;
    if (c != ':')
        AXE_TRY(integer(r, begin));
    if (!accept(r, ":")) {
        if (axe_add(*begin, 1, end))
            return AXE_OK;
        *end = *begin;
        return AXE_OK;
    }
    c = peek(r);
    *end = extent;
    return c == ',' || c == ']' ? AXE_OK : integer(r, end);
}

/* "[" range { "," range } "]", the "[" read. */
static axe_status
slice(reader *r, size_t from, axe_value *v)
{
    axe_shape         shape = axe_layout_shape(r->cx, v->layout);
    int64_t          *begin = axe_new_array(r->cx, int64_t, shape.n);
    int64_t          *end = axe_new_array(r->cx, int64_t, shape.n);
    const axe_layout *l;
    int               n = 0;

    do {
        if (n == shape.n)
            return axe_fail(r->cx, span(r, from, r->at), AXE_ESHAPE,
                            "more than %d ranges for a layout of %d dims",
                            shape.n, shape.n);
        AXE_TRY(range(r, shape.extent[n], &begin[n], &end[n]));
        n++;
    } while (accept(r, ","));
    if (!accept(r, "]"))
        return expected(r, "',' or ']'");
    if (n < shape.n)
        return axe_fail(r->cx, span(r, from, r->at), AXE_ESHAPE,
                        "%d ranges for a layout of %d dims", n, shape.n);
    AXE_TRY(placed(r, axe_layout_slice(r->cx, v->layout, shape, begin, end, &l),
                   from));
    v->layout = l;
    return AXE_OK;
}

/* "(" index { "," index } ")", the "(" read: one flat index, or one for each
 * dim. */
static axe_status
apply(reader *r, size_t from, axe_value *v)
{
    axe_shape shape = axe_layout_shape(r->cx, v->layout);
    int64_t   c[MAX_COORD], x = 0;
    int       n = 0;

    do {
        if (n == MAX_COORD)
            return axe_fail(r->cx, span(r, from, r->at), AXE_ELIMIT,
                            "a coordinate of more than %d parts", MAX_COORD);
        AXE_TRY(integer(r, &c[n++]));
    } while (accept(r, ","));
    if (!accept(r, ")"))
        return expected(r, "',' or ')'");
    if (n == 1)
        shape = (axe_shape){1, &v->layout->size};
    if (n != shape.n)
        return axe_fail(r->cx, span(r, from, r->at), AXE_ESHAPE,
                        "a coordinate of %d parts for a layout of %d dims", n,
                        shape.n);
    for (int k = 0; k < n; k++) {
        if (c[k] < 0 || c[k] >= shape.extent[k])
            return axe_fail(r->cx, span(r, from, r->at), AXE_ESHAPE,
                            "index %" PRId64 " is outside [0, %" PRId64 ")",
                            c[k], shape.extent[k]);
        x = x * shape.extent[k] + c[k];
    }
    v->kind = AXE_VALUE_POINTS;
    return placed(r, axe_layout_apply(r->cx, v->layout, x, &v->points), from);
}

static axe_status
item(reader *r, axe_value *out)
{
    size_t from;

    peek(r);
    from = r->at;
    AXE_TRY(primary(r, out));
    while (out->kind == AXE_VALUE_LAYOUT) {
        if (accept(r, "["))
            AXE_TRY(slice(r, from, out));
        else if (accept(r, "("))
            AXE_TRY(apply(r, from, out));
        else
            break;
    }
    return AXE_OK;
}

/* ---------------------------------------------------------------- operators */

static axe_status
both_layouts(reader *r, size_t from, const char *who, const axe_value *a,
             const axe_value *b)
{
    if (a->kind != AXE_VALUE_LAYOUT)
        return wrong_kind(r, from, who, "layouts", a->kind);
    if (b->kind != AXE_VALUE_LAYOUT)
        return wrong_kind(r, from, who, "layouts", b->kind);
    return AXE_OK;
}

/* item [ "o" chain ] */
static axe_status
chain(reader *r, axe_value *out)
{
    size_t            from;
    axe_value         a, b;
    const axe_layout *l;

    peek(r);
    from = r->at;
    AXE_TRY(enter(r));
    AXE_TRY(item(r, &a));
    r->depth--;
    if (name_length(r) != 1 || r->text[r->at] != 'o') {
        *out = a;
        return AXE_OK;
    }
    r->at++;
    AXE_TRY(enter(r));
    AXE_TRY(chain(r, &b));
    r->depth--;
    if (a.kind != AXE_VALUE_SWIZZLE) {
        AXE_TRY(both_layouts(r, from, "o", &a, &b));
        return placed(r, axe_expr_call(r->cx, "compose", &a, &b, out), from);
    }
    if (b.kind != AXE_VALUE_LAYOUT)
        return wrong_kind(r, from, "o", "a layout on its right", b.kind);
    AXE_TRY(
        placed(r, axe_layout_swizzled(r->cx, b.layout, a.swizzle, &l), from));
    *out = (axe_value){.kind = AXE_VALUE_LAYOUT, .layout = l};
    return AXE_OK;
}

/* chain { "><" chain } */
static axe_status
tile(reader *r, axe_value *out)
{
    size_t    from;
    axe_value a, b;

    peek(r);
    from = r->at;
    AXE_TRY(chain(r, &a));
    while (accept(r, "><")) {
        AXE_TRY(chain(r, &b));
        AXE_TRY(both_layouts(r, from, "><", &a, &b));
        AXE_TRY(placed(r, axe_expr_call(r->cx, "tile", &a, &b, &a), from));
    }
    *out = a;
    return AXE_OK;
}

/* Does a replica or an offset follow the sign, and not another layout? */
static bool
tail_follows(reader *r)
{
    reader      ahead = *r;
    size_t      n;
    const char *name;
    int64_t     k;

    if (accept(&ahead, "-"))
        return true;
    if (!accept(&ahead, "+"))
        return false;
    n = name_length(&ahead);
    if (n == 0)
        return peek(&ahead) == '[' || is_digit(peek(&ahead));
    name = name_text(&ahead, n);
    if (is_layout(r, name) || axe_expr_find(name))
        return false;
    ahead.at += n;
    return peek(&ahead) == '@' || peek(&ahead) == '*' ||
           find_constant(r, name, &k);
}

/* Add a literal's tail to a layout that is not a literal: the tail is read
 * behind an empty literal. */
static axe_status
tail(reader *r, size_t from, axe_value *a)
{
    static const char empty[] = "():()";
    const size_t      n = sizeof empty - 1;
    axe_literal_env   env = {r, find_constant, is_layout};
    axe_buf           b = {.cx = r->cx};
    const axe_layout *t, *l;
    axe_layout        spec = *a->layout;
    axe_iter         *replica;
    axe_offset       *offset;
    size_t            end;

    axe_puts(&b, empty);
    axe_putn(&b, r->text + r->at, r->len - r->at);
    AXE_TRY(placed(
        r, axe_layout_read_at(r->cx, 0, b.text, b.len, 0, &env, &t, &end),
        from));
    if (end <= n) {
        r->at++;
        return expected(r, "an offset");
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
    AXE_TRY(placed(r, axe_layout_make(r->cx, &spec, &l), from));
    a->layout = l;
    return AXE_OK;
}

/* tile { "+" ( tile | replica | offset ) } */
static axe_status
sum(reader *r, axe_value *out)
{
    size_t    from;
    axe_value a, b;

    peek(r);
    from = r->at;
    AXE_TRY(tile(r, &a));
    while (a.kind == AXE_VALUE_LAYOUT) {
        if (tail_follows(r)) {
            AXE_TRY(tail(r, from, &a));
            continue;
        }
        if (!accept(r, "+"))
            break;
        AXE_TRY(tile(r, &b));
        AXE_TRY(both_layouts(r, from, "+", &a, &b));
        AXE_TRY(placed(r, axe_expr_call(r->cx, "sum", &a, &b, &a), from));
    }
    *out = a;
    return AXE_OK;
}

/* sum { "|" shape } */
static axe_status
expr(reader *r, axe_value *out)
{
    size_t    from, shape_at;
    axe_value a, b;

    peek(r);
    from = r->at;
    AXE_TRY(enter(r));
    AXE_TRY(sum(r, &a));
    while (a.kind == AXE_VALUE_LAYOUT && accept(r, "|")) {
        peek(r);
        shape_at = r->at;
        AXE_TRY(item(r, &b));
        if (!to_shape(r, &b, &b.shape))
            return wrong_kind(r, shape_at, "|", "a shape", b.kind);
        AXE_TRY(placed(r, axe_expr_call(r->cx, "group", &a, &b, &a), from));
    }
    r->depth--;
    *out = a;
    return AXE_OK;
}

/* ------------------------------------------------------------- entry points */

/* "let" name "=" expr ";", the "let" read. */
static axe_status
let(reader *r)
{
    binding *b = axe_new(r->cx, binding);
    size_t   n = name_length(r);

    if (n == 0)
        return expected(r, "a name after 'let'");
    b->name = name_text(r, n);
    if (axe_expr_find(b->name) || strcmp(b->name, "let") == 0 ||
        strcmp(b->name, "o") == 0 || strcmp(b->name, "swizzle") == 0)
        return axe_fail(r->cx, span(r, r->at, r->at + n), AXE_ENAME,
                        "'%s' has a meaning of its own and cannot be bound",
                        b->name);
    if (find_bound(r, b->name))
        return axe_fail(r->cx, span(r, r->at, r->at + n), AXE_ENAME,
                        "'%s' is bound twice", b->name);
    r->at += n;
    if (!accept(r, "="))
        return expected(r, "'='");
    AXE_TRY(expr(r, &b->value));
    if (!accept(r, ";"))
        return expected(r, "';' after the value of a name");
    b->next = r->bound;
    r->bound = b;
    return AXE_OK;
}

static bool
accept_let(reader *r)
{
    if (name_length(r) != 3 || memcmp(r->text + r->at, "let", 3) != 0)
        return false;
    r->at += 3;
    return true;
}

axe_status
axe_expr_eval(axe_ctx *cx, const char *name, const char *text,
              const axe_expr_env *env, axe_value *out)
{
    reader    r = {.cx = cx, .text = text, .len = strlen(text), .env = env};
    axe_value v;

    r.source = axe_source_add(cx, name, text, r.len);
    while (accept_let(&r))
        AXE_TRY(let(&r));
    AXE_TRY(expr(&r, &v));
    accept(&r, ";");
    if (peek(&r) != '\0' || r.at < r.len)
        return expected(&r, "the end or an operator");
    *out = v;
    return AXE_OK;
}

axe_status
axe_expr_eval_at(axe_ctx *cx, int32_t source, size_t at,
                 const axe_expr_env *env, axe_value *out, size_t *end)
{
    reader    r = {.cx = cx, .source = source, .at = at, .env = env};
    axe_value v;

    r.text = axe_source_text(cx, source, &r.len);
    if (at > r.len)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "byte %zu is behind the end of the source", at);
    AXE_TRY(expr(&r, &v));
    *out = v;
    *end = r.at;
    return AXE_OK;
}
