/* expr_read.c - the words of layout expressions: places, tokens, names and
 * integers.  Nesting is counted, so that no text can exhaust the stack. */
#include <inttypes.h>
#include <string.h>

#include "layout/expr_int.h"
#include "layout/layout_int.h"
#include "layout/scan.h"

enum { MAX_DEPTH = 64, MAX_BOUND = 64 };

/* ----------------------------------------------------------- places, tokens */

axe_span
axe_expr_span(const axe_expr_reader *r, size_t from, size_t to)
{
    return axe_text_span(r->source, r->text, from, to);
}

static void
blanks(axe_expr_reader *r)
{
    r->at = axe_text_blanks(r->text, r->len, r->at);
}

/* The next character after blanks, 0 at the end. */
char
axe_expr_peek(axe_expr_reader *r)
{
    blanks(r);
    return r->at < r->len ? r->text[r->at] : '\0';
}

bool
axe_expr_accept(axe_expr_reader *r, const char *token)
{
    size_t n = strlen(token);

    blanks(r);
    if (r->len - r->at < n || memcmp(r->text + r->at, token, n) != 0)
        return false;
    r->at += n;
    return true;
}

bool
axe_expr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the name that begins after blanks; 0: none does. */
size_t
axe_expr_name_length(axe_expr_reader *r)
{
    size_t n = 0;

    blanks(r);
    while (r->at + n < r->len &&
           (axe_is_name(r->text + r->at + n, 1) ||
            (n > 0 && axe_expr_is_digit(r->text[r->at + n]))))
        n++;
    return n;
}

/* The next n bytes, which are a name. */
const char *
axe_expr_name_text(axe_expr_reader *r, size_t n)
{
    return axe_textf(r->cx, "%.*s", (int)n, r->text + r->at);
}

axe_status
axe_expr_expected(axe_expr_reader *r, const char *what)
{
    size_t n = axe_expr_name_length(r);
    char   c = axe_expr_peek(r);

    if (c == '\0' && r->at >= r->len)
        return axe_fail(r->cx, axe_expr_span(r, r->at, r->at), AXE_ESYNTAX,
                        "expected %s, but the text ends", what);
    if (n > 0)
        return axe_fail(r->cx, axe_expr_span(r, r->at, r->at + n), AXE_ESYNTAX,
                        "expected %s, but found '%s'", what,
                        axe_expr_name_text(r, n));
    if (c < ' ' || c > '~')
        return axe_fail(r->cx, axe_expr_span(r, r->at, r->at), AXE_ESYNTAX,
                        "expected %s, but found byte 0x%02x", what,
                        (unsigned)(unsigned char)c);
    return axe_fail(r->cx, axe_expr_span(r, r->at, r->at), AXE_ESYNTAX,
                    "expected %s, but found '%c'", what, c);
}

axe_status
axe_expr_enter(axe_expr_reader *r)
{
    if (++r->depth > MAX_DEPTH)
        return axe_fail(r->cx, axe_expr_span(r, r->at, r->at), AXE_ELIMIT,
                        "expressions nest deeper than %d", MAX_DEPTH);
    return AXE_OK;
}

/* Where a failed operation stands. */
axe_status
axe_expr_placed(axe_expr_reader *r, axe_status st, size_t from)
{
    if (st != AXE_OK)
        axe_note(r->cx, axe_expr_span(r, from, r->at), "in this expression");
    return st;
}

axe_status
axe_expr_wrong_kind(axe_expr_reader *r, size_t from, const char *who,
                    const char *wanted, axe_value_kind found)
{
    return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_ETYPE,
                    "%s needs %s, and this is %s", who, wanted,
                    axe_value_kind_text(found));
}

/* -------------------------------------------------------------------- names */

const axe_value *
axe_expr_bound(const axe_expr_reader *r, const char *name)
{
    for (const axe_expr_binding *b = r->bound; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return &b->value;
    return NULL;
}

bool
axe_expr_constant(void *user, const char *name, int64_t *out)
{
    const axe_expr_reader *r = user;
    const axe_value       *v = axe_expr_bound(r, name);

    if (v && v->kind == AXE_VALUE_INT) {
        *out = v->integer;
        return true;
    }
    return !v && r->env && r->env->constant &&
           r->env->constant(r->env->user, name, out);
}

const axe_layout *
axe_expr_layout(const axe_expr_reader *r, const char *name)
{
    const axe_value *v = axe_expr_bound(r, name);

    if (v)
        return v->kind == AXE_VALUE_LAYOUT ? v->layout : NULL;
    return r->env && r->env->layout ? r->env->layout(r->env->user, name) : NULL;
}

bool
axe_expr_is_layout(void *user, const char *name)
{
    return axe_expr_layout(user, name) != NULL;
}

axe_status
axe_expr_unknown(axe_expr_reader *r, size_t n)
{
    const char *name = axe_expr_name_text(r, n);
    const char *near = axe_expr_nearest(name), *bound[MAX_BOUND];
    int         n_bound = 0;
    axe_status  st;

    for (const axe_expr_binding *b = r->bound; b && n_bound < MAX_BOUND;
         b = b->next)
        bound[n_bound++] = b->name;
    if (axe_nearest(name, n_bound, bound))
        near = axe_nearest(name, n_bound, bound);
    st = axe_fail(r->cx, axe_expr_span(r, r->at, r->at + n), AXE_ENAME,
                  "there is no layout, constant or function '%s'", name);
    if (near)
        axe_help(r->cx, "did you mean '%s'?", near);
    return st;
}

/* ----------------------------------------------------------------- integers */

/* digit { digit } */
static axe_status
number(axe_expr_reader *r, int64_t *out)
{
    size_t  from = r->at;
    int64_t v = 0;

    if (!axe_expr_is_digit(axe_expr_peek(r)))
        return axe_expr_expected(r, "an integer");
    for (; r->at < r->len && axe_expr_is_digit(r->text[r->at]); r->at++)
        if (!axe_mul(v, 10, &v) || !axe_add(v, r->text[r->at] - '0', &v))
            return axe_fail(r->cx, axe_expr_span(r, from, r->at + 1),
                            AXE_EOVERFLOW, "the number leaves int64");
    *out = v;
    return AXE_OK;
}

/* number | constant | "-" factor | "(" integer ")" */
static axe_status
factor(axe_expr_reader *r, int64_t *out)
{
    size_t  n = axe_expr_name_length(r), from = r->at;
    int64_t v;

    if (n > 0) {
        if (!axe_expr_constant(r, axe_expr_name_text(r, n), out))
            return axe_fail(r->cx, axe_expr_span(r, from, from + n), AXE_ENAME,
                            "'%s' is not a constant", axe_expr_name_text(r, n));
        r->at += n;
        return AXE_OK;
    }
    AXE_TRY(axe_expr_enter(r));
    if (axe_expr_accept(r, "-")) {
        AXE_TRY(factor(r, &v));
        if (!axe_mul(v, -1, &v))
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_EOVERFLOW,
                            "the number leaves int64");
    } else if (axe_expr_accept(r, "(")) {
        AXE_TRY(axe_expr_integer(r, &v));
        if (!axe_expr_accept(r, ")"))
            return axe_expr_expected(r, "')'");
    } else {
        AXE_TRY(number(r, &v));
    }
    r->depth--;
    *out = v;
    return AXE_OK;
}

/* factor { ( "*" | "/" ) factor } */
static axe_status
product(axe_expr_reader *r, int64_t *out)
{
    size_t  from = r->at;
    int64_t a, b;

    AXE_TRY(factor(r, &a));
    for (;;) {
        bool divide = axe_expr_peek(r) == '/';

        if (!axe_expr_accept(r, "*") && !axe_expr_accept(r, "/"))
            break;
        AXE_TRY(factor(r, &b));
        if (divide && (b == 0 || (b == -1 && a == INT64_MIN)))
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_EARG,
                            "a division by %" PRId64 " that has no value", b);
        if (divide)
            a /= b;
        else if (!axe_mul(a, b, &a))
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_EOVERFLOW,
                            "the product leaves int64");
    }
    *out = a;
    return AXE_OK;
}

/* product { ( "+" | "-" ) product } */
axe_status
axe_expr_integer(axe_expr_reader *r, int64_t *out)
{
    size_t  from = r->at;
    int64_t a, b;

    AXE_TRY(product(r, &a));
    for (;;) {
        bool minus = axe_expr_peek(r) == '-';

        if (!axe_expr_accept(r, "+") && !axe_expr_accept(r, "-"))
            break;
        AXE_TRY(product(r, &b));
        if ((minus && !axe_mul(b, -1, &b)) || !axe_add(a, b, &a))
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_EOVERFLOW,
                            "the sum leaves int64");
    }
    *out = a;
    return AXE_OK;
}
