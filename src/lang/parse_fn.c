/* parse_fn.c - functions, which are expanded in place, and calls of them. */
#include "lang/parse_int.h"

/* types = "<" "type" NAME { "," "type" NAME } ">" */
static bool
parse_types(axe_parser *p, axe_fn_decl *f)
{
    axe_list out = {.cx = p->cx};

    if (!axe_parse_take(p, AXE_TOK_lt))
        return true;
    do {
        axe_word *w = axe_new(p->cx, axe_word);
        if (!axe_parse_need(p, AXE_TOK_type, "before a type that is open") ||
            !axe_parse_word(p, "a type's name", w))
            return false;
        axe_list_push(&out, w);
    } while (axe_parse_take(p, AXE_TOK_comma));
    f->n_type = out.n;
    f->type = (const axe_word *const *)out.item;
    return axe_parse_need(p, AXE_TOK_gt, "after the types");
}

/* args = "(" [ arg { "," arg } ] ")", arg = type NAME [ dims ] */
static bool
parse_args(axe_parser *p, axe_fn_decl *f)
{
    axe_list out = {.cx = p->cx};

    if (!axe_parse_need(p, AXE_TOK_lparen, "before the arguments"))
        return false;
    if (axe_parse_take(p, AXE_TOK_rparen))
        return true;
    do {
        axe_tensor_decl *t = axe_new(p->cx, axe_tensor_decl);
        if (!axe_parse_type(p, &t->type) ||
            !axe_parse_word(p, "the argument's name", &t->word) ||
            (p->tok->kind == AXE_TOK_lbracket && !axe_parse_dims(p, t)))
            return false;
        axe_list_push(&out, t);
    } while (axe_parse_take(p, AXE_TOK_comma));
    f->n_param = out.n;
    f->param = (const axe_tensor_decl *const *)out.item;
    return axe_parse_need(p, AXE_TOK_rparen, "after the arguments");
}

/* Is there a type before the function's name? */
static bool
has_result(const axe_parser *p)
{
    return p->tok[0].kind == AXE_TOK_accum ||
           (p->tok[0].kind == AXE_TOK_name && p->tok[1].kind == AXE_TOK_name);
}

/* Constants, and scalars with their value. */
static bool
check_local(axe_parser *p, const axe_syntax *s)
{
    bool ok = s->kind == AXE_SYNTAX_CONST;

    if (s->kind == AXE_SYNTAX_TENSOR)
        ok = s->n_tensor == 1 && s->tensor[0]->n_dim == 0 && s->tensor[0]->init;
    if (ok)
        return true;
    axe_parse_fail(p, axe_fail(p->cx, s->at, AXE_ESYNTAX,
                               "a function with a result holds constants, "
                               "scalars with a value, and `return`"));
    axe_help(p->cx, s->kind == AXE_SYNTAX_IF ? "choose by `return x ? y : z;`"
                                             : "as in `f32 y = 2 * x;`");
    return false;
}

/* "{" { const | type NAME "=" expr ";" } "return" expr ";" "}" */
static bool
parse_valued(axe_parser *p, axe_fn_decl *f, axe_list *body)
{
    if (!axe_parse_need(p, AXE_TOK_lbrace, "before the function's body"))
        return false;
    while (!axe_parse_take(p, AXE_TOK_return)) {
        int n = body->n;
        if (p->tok->kind == AXE_TOK_rbrace || p->tok->kind == AXE_TOK_end ||
            axe_parse_is_top(p->tok->kind))
            return axe_parse_expected(p, "`return` with the function's result");
        axe_parse_item(p, body);
        if (body->n > n && !check_local(p, body->item[body->n - 1]))
            body->n = n;
    }
    f->value = axe_parse_expr(p);
    return f->value && axe_parse_need(p, AXE_TOK_semi, "after the result") &&
           axe_parse_need(p, AXE_TOK_rbrace, "after the result");
}

static bool
parse_body(axe_parser *p, axe_list *body)
{
    if (p->tok->kind != AXE_TOK_lbrace)
        return axe_parse_expected(p, "`{` before the function's body");
    return axe_parse_block(p, body);
}

const axe_fn_decl *
axe_parse_fn(axe_parser *p)
{
    axe_fn_decl *f = axe_new(p->cx, axe_fn_decl);
    axe_list     body = {.cx = p->cx};
    bool         valued = has_result(p);

    if ((valued && !axe_parse_type(p, &f->result)) ||
        !axe_parse_word(p, "the function's name", &f->word) ||
        !parse_types(p, f) || !parse_args(p, f) ||
        !(valued ? parse_valued(p, f, &body) : parse_body(p, &body)))
        return NULL;
    f->n_body = body.n;
    f->body = (const axe_syntax *const *)body.item;
    return f;
}

const axe_syntax *
axe_parse_call(axe_parser *p)
{
    axe_syntax *s = axe_new(p->cx, axe_syntax);
    axe_list    arg = {.cx = p->cx};

    s->kind = AXE_SYNTAX_CALL;
    s->at = p->tok->at;
    if (!axe_parse_word(p, "the function's name", &s->word) ||
        !axe_parse_need(p, AXE_TOK_lparen, "before the arguments"))
        return NULL;
    if (!axe_parse_take(p, AXE_TOK_rparen)) {
        do {
            const axe_expr *e = axe_parse_expr(p);
            if (!e)
                return NULL;
            axe_list_push(&arg, e);
        } while (axe_parse_take(p, AXE_TOK_comma));
        if (!axe_parse_need(p, AXE_TOK_rparen, "after the arguments"))
            return NULL;
    }
    s->at = axe_span_join(s->at, p->tok[-1].at);
    s->n_arg = arg.n;
    s->arg = (const axe_expr *const *)arg.item;
    return axe_parse_need(p, AXE_TOK_semi, "after the call") ? s : NULL;
}
