/* parse_expr.c - expressions, by precedence climbing.
 *
 * Depth is bounded twice: brackets and prefixes by AXE_NEST_MAX, as this file
 * recurses on them, and the whole by AXE_EXPR_MAX operations, as later walks
 * recurse on the tree, whose left side grows with every `+`. */
#include <math.h>
#include <string.h>

#include "lang/parse_int.h"

static const axe_expr *parse_binary(axe_parser *p, int min_prec);
static const axe_expr *parse_nested(axe_parser *p);

static axe_expr *
new_expr(axe_parser *p, axe_expr_kind kind, axe_span at)
{
    axe_expr *e = axe_new(p->cx, axe_expr);

    e->kind = kind;
    e->at = at;
    return e;
}

static axe_span
last_span(const axe_parser *p)
{
    return p->tok[-1].at;
}

static bool
count_op(axe_parser *p, axe_span at)
{
    if (++p->n_op <= AXE_EXPR_MAX)
        return true;
    axe_parse_fail(p, axe_fail(p->cx, at, AXE_ELIMIT,
                               "this expression has more than %d operations",
                               AXE_EXPR_MAX));
    axe_help(p->cx, "split it into several statements");
    return false;
}

static const axe_expr *
new_op(axe_parser *p, axe_op op, axe_span at, int n, const axe_expr *a,
       const axe_expr *b, const axe_expr *c)
{
    axe_expr        *e = new_expr(p, AXE_EXPR_OP, at);
    const axe_expr **arg = axe_new_array(p->cx, const axe_expr *, 3);

    arg[0] = a;
    arg[1] = b;
    arg[2] = c;
    e->op = op;
    e->n_arg = n;
    e->arg = arg;
    return e;
}

bool
axe_parse_exprs(axe_parser *p, axe_token_kind close, const char *where,
                axe_list *out)
{
    do {
        const axe_expr *e = parse_nested(p);
        if (!e)
            return false;
        axe_list_push(out, e);
    } while (axe_parse_take(p, AXE_TOK_comma));
    return axe_parse_need(p, close, where);
}

/* name = NAME { "." NAME } */
static bool
parse_path(axe_parser *p, axe_word *out)
{
    axe_word part;

    if (!axe_parse_word(p, "an expression", out))
        return false;
    while (axe_parse_take(p, AXE_TOK_dot)) {
        if (!axe_parse_word(p, "a name after `.`", &part))
            return false;
        const char *both = axe_textf(p->cx, "%s.%s", out->name, part.name);
        out->name = axe_intern(p->cx, both, strlen(both));
        out->at = axe_span_join(out->at, part.at);
    }
    return true;
}

/* argmax is the fold max that gives the index. */
static axe_fold
fold_named(const char *name)
{
    if (axe_name_picks(name))
        name += strlen("arg");
    for (int f = AXE_FOLD_SUM; f <= AXE_FOLD_MIN; f++)
        if (strcmp(axe_fold_name((axe_fold)f), name) == 0)
            return (axe_fold)f;
    return AXE_FOLD_NONE;
}

/* reduce = ( "sum" | "prod" | "max" | "min" | "argmax" | "argmin" ) "[" NAME {
 * "," NAME } "]"
 *          "(" expr ")" */
static const axe_expr *
parse_reduce(axe_parser *p, axe_word word, axe_fold fold)
{
    axe_expr *e = new_expr(p, AXE_EXPR_REDUCE, word.at);
    axe_list  over = {.cx = p->cx}, arg = {.cx = p->cx};

    do {
        axe_word *w = axe_new(p->cx, axe_word);
        if (!axe_parse_word(p, "an index to reduce over", w))
            return NULL;
        axe_list_push(&over, w);
    } while (axe_parse_take(p, AXE_TOK_comma));
    if (!axe_parse_need(p, AXE_TOK_rbracket, "after the indices reduced over"))
        return NULL;
    if (!axe_parse_need(p, AXE_TOK_lparen, "before what is reduced") ||
        !axe_parse_exprs(p, AXE_TOK_rparen, "after what is reduced", &arg))
        return NULL;
    if (arg.n != 1) {
        axe_parse_fail(p, axe_fail(p->cx, word.at, AXE_ESYNTAX,
                                   "`%s[...]` reduces one expression, not %d",
                                   word.name, arg.n));
        return NULL;
    }
    e->at = axe_span_join(word.at, last_span(p));
    e->word = word;
    e->fold = fold;
    e->picks = axe_name_picks(word.name);
    e->n_over = over.n;
    e->over = (const axe_word *const *)over.item;
    e->n_arg = 1;
    e->arg = (const axe_expr *const *)arg.item;
    return e;
}

/* "bitcast" "(" NAME ")" "(" expr ")", after its first "(" */
static const axe_expr *
parse_bits(axe_parser *p, axe_expr *e)
{
    axe_list arg = {.cx = p->cx};

    if (!axe_parse_word(p, "a type", &e->word) ||
        !axe_parse_need(p, AXE_TOK_rparen, "after the type") ||
        !axe_parse_need(p, AXE_TOK_lparen, "before the value whose bits") ||
        !axe_parse_exprs(p, AXE_TOK_rparen, "after the value", &arg))
        return NULL;
    e->kind = AXE_EXPR_BITS;
    e->at = axe_span_join(e->at, last_span(p));
    e->n_arg = arg.n;
    e->arg = (const axe_expr *const *)arg.item;
    return e;
}

/* named = name | name "[" exprs "]" | name "(" exprs ")" | reduce */
static const axe_expr *
parse_named(axe_parser *p)
{
    axe_word  word;
    axe_list  arg = {.cx = p->cx};
    axe_expr *e;

    if (!parse_path(p, &word))
        return NULL;
    e = new_expr(p, AXE_EXPR_NAME, word.at);
    e->word = word;
    if (axe_parse_take(p, AXE_TOK_lbracket)) {
        if (fold_named(word.name))
            return parse_reduce(p, word, fold_named(word.name));
        e->kind = AXE_EXPR_LOAD;
        if (!axe_parse_exprs(p, AXE_TOK_rbracket, "after the subscripts", &arg))
            return NULL;
    } else if (axe_parse_take(p, AXE_TOK_lparen)) {
        if (strcmp(word.name, AXE_BITCAST) == 0)
            return parse_bits(p, e);
        e->kind = AXE_EXPR_CALL;
        if (!axe_parse_exprs(p, AXE_TOK_rparen, "after the arguments", &arg))
            return NULL;
    }
    e->at = axe_span_join(word.at, last_span(p));
    e->n_arg = arg.n;
    e->arg = (const axe_expr *const *)arg.item;
    return e;
}

/* cast = "accum" "(" NAME ")" "(" expr ")" */
static const axe_expr *
parse_accum(axe_parser *p)
{
    axe_expr     *e = new_expr(p, AXE_EXPR_ACCUM, p->tok->at);
    axe_type_expr type;
    axe_list      arg = {.cx = p->cx};

    if (!axe_parse_type(p, &type) ||
        !axe_parse_need(p, AXE_TOK_lparen, "before the value to be cast") ||
        !axe_parse_exprs(p, AXE_TOK_rparen, "after the value to be cast", &arg))
        return NULL;
    e->at = axe_span_join(e->at, last_span(p));
    e->word = type.word;
    e->n_arg = arg.n;
    e->arg = (const axe_expr *const *)arg.item;
    return e;
}

/* primary = INT | FLOAT | "(" expr ")" | cast | named */
static const axe_expr *
parse_primary(axe_parser *p)
{
    const axe_token *t = p->tok;
    const axe_expr  *inner;
    axe_expr        *e;

    switch (t->kind) {
    case AXE_TOK_int:
    case AXE_TOK_float:
        p->tok++;
        e = new_expr(p, t->kind == AXE_TOK_int ? AXE_EXPR_INT : AXE_EXPR_FLOAT,
                     t->at);
        e->i = t->i;
        e->big = t->big;
        e->f = t->f;
        return e;
    case AXE_TOK_lparen:
        p->tok++;
        inner = parse_nested(p);
        return inner &&
                       axe_parse_need(p, AXE_TOK_rparen, "after the expression")
                   ? inner
                   : NULL;
    case AXE_TOK_accum:
        return parse_accum(p);
    default:
        return parse_named(p);
    }
}

/* part = primary [ "@" ( NAME | "(" NAME { "," NAME } ")" ) ] */
static const axe_expr *
parse_part(axe_parser *p)
{
    const axe_expr *whole = parse_primary(p);
    axe_expr       *e;
    axe_list        axes = {.cx = p->cx}, arg = {.cx = p->cx};

    if (!whole || p->tok->kind != AXE_TOK_at)
        return whole;
    p->tok++;
    p->meshed = true;
    if (!axe_parse_axes(p, &axes))
        return NULL;
    e = new_expr(p, AXE_EXPR_PART, axe_span_join(whole->at, last_span(p)));
    axe_list_push(&arg, whole);
    e->n_over = axes.n;
    e->over = (const axe_word *const *)axes.item;
    e->n_arg = 1;
    e->arg = (const axe_expr *const *)arg.item;
    return e;
}

/* unary = ( "-" | "!" | "~" ) unary | part */
static const axe_expr *
parse_unary(axe_parser *p)
{
    axe_span        at = p->tok->at;
    axe_op          op = AXE_OP_not;
    const axe_expr *a;

    if (p->tok->kind == AXE_TOK_minus)
        op = AXE_OP_neg;
    else if (p->tok->kind == AXE_TOK_tilde)
        op = AXE_OP_bnot;
    else if (p->tok->kind != AXE_TOK_not)
        return parse_part(p);
    p->tok++;
    if (!axe_parse_enter(p) || !count_op(p, at))
        return NULL;
    a = parse_unary(p);
    p->depth--;
    return a ? new_op(p, op, axe_span_join(at, a->at), 1, a, NULL, NULL) : NULL;
}

/* Loosest first; `>` and `>=` are `<` and `<=` with the sides swapped. */
static const struct {
    axe_token_kind token;
    axe_op         op;
    int            prec;
    bool           swap;
} binary_table[] = {
    {AXE_TOK_or_or, AXE_OP_or, 1, false},
    {AXE_TOK_and_and, AXE_OP_and, 2, false},
    {AXE_TOK_bar, AXE_OP_bor, 3, false},
    {AXE_TOK_caret, AXE_OP_bxor, 4, false},
    {AXE_TOK_amp, AXE_OP_band, 5, false},
    {AXE_TOK_eq_eq, AXE_OP_eq, 6, false},
    {AXE_TOK_not_eq, AXE_OP_ne, 6, false},
    {AXE_TOK_lt, AXE_OP_lt, 6, false},
    {AXE_TOK_le, AXE_OP_le, 6, false},
    {AXE_TOK_gt, AXE_OP_lt, 6, true},
    {AXE_TOK_ge, AXE_OP_le, 6, true},
    {AXE_TOK_shl, AXE_OP_shl, 7, false},
    {AXE_TOK_shr, AXE_OP_shr, 7, false},
    {AXE_TOK_plus, AXE_OP_add, 8, false},
    {AXE_TOK_minus, AXE_OP_sub, 8, false},
    {AXE_TOK_star, AXE_OP_mul, 9, false},
    {AXE_TOK_slash, AXE_OP_div, 9, false},
    {AXE_TOK_percent, AXE_OP_mod, 9, false},
};
enum { CMP_PREC = 6, SUM_PREC = 8 };

static int
find_binary(axe_token_kind kind)
{
    for (int i = 0; i < AXE_LEN(binary_table); i++)
        if (binary_table[i].token == kind)
            return i;
    return -1;
}

/* `a < b < c` is not what it looks like in any language. */
static bool
check_chain(axe_parser *p, int prec)
{
    int k = find_binary(p->tok->kind);

    if (prec != CMP_PREC || k < 0 || binary_table[k].prec != CMP_PREC)
        return true;
    axe_parse_fail(p, axe_fail(p->cx, p->tok->at, AXE_ESYNTAX,
                               "comparisons do not chain"));
    axe_help(p->cx, "write `a < b && b < c`");
    return false;
}

/* binary = unary { sign unary }, the signs binding at least as min_prec:
 *     || < && < | < ^ < & < (== != < <= > >=) < (<< >>) < (+ -) < (* / %) */
static const axe_expr *
parse_binary(axe_parser *p, int min_prec)
{
    const axe_expr *a = parse_unary(p), *b;

    for (int k; a && (k = find_binary(p->tok->kind)) >= 0 &&
                binary_table[k].prec >= min_prec;) {
        if (!count_op(p, p->tok->at))
            return NULL;
        p->tok++;
        b = parse_binary(p, binary_table[k].prec + 1);
        if (!b || !check_chain(p, binary_table[k].prec))
            return NULL;
        axe_span at = axe_span_join(a->at, b->at);
        bool     swap = binary_table[k].swap;
        a = new_op(p, binary_table[k].op, at, 2, swap ? b : a, swap ? a : b,
                   NULL);
    }
    return a;
}

/* expr = binary [ "?" expr ":" expr ] */
static const axe_expr *
parse_nested(axe_parser *p)
{
    const axe_expr *a, *b, *c;

    if (!axe_parse_enter(p))
        return NULL;
    a = parse_binary(p, 1);
    if (a && p->tok->kind == AXE_TOK_quest) {
        if (!count_op(p, p->tok->at))
            return NULL;
        p->tok++;
        b = parse_nested(p);
        if (!b || !axe_parse_need(p, AXE_TOK_colon, "after `c ? a`"))
            return NULL;
        c = parse_nested(p);
        if (!c)
            return NULL;
        a = new_op(p, AXE_OP_select, axe_span_join(a->at, c->at), 3, a, b, c);
    }
    p->depth--;
    return a;
}

const axe_expr *
axe_parse_expr(axe_parser *p)
{
    int             depth = p->depth;
    const axe_expr *e;

    p->n_op = 0;
    e = parse_nested(p);
    p->depth = depth;
    return e;
}

const axe_expr *
axe_parse_sum(axe_parser *p)
{
    int             depth = p->depth;
    const axe_expr *e;

    p->n_op = 0;
    e = parse_binary(p, SUM_PREC);
    p->depth = depth;
    return e;
}

const axe_expr *
axe_parse_place(axe_parser *p)
{
    int             depth = p->depth;
    const axe_expr *e;

    p->n_op = 0;
    e = parse_named(p);
    p->depth = depth;
    return e;
}
