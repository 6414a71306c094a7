/* parse_stmt.c - statements and declarations of tensors. */
#include <stdlib.h>
#include <string.h>

#include "lang/parse_int.h"

static axe_syntax *
new_stmt(axe_parser *p, axe_syntax_kind kind)
{
    axe_syntax *s = axe_new(p->cx, axe_syntax);

    s->kind = kind;
    s->at = p->tok->at;
    return s;
}

static void
set_body(axe_syntax *s, const axe_list *body)
{
    s->n_body = body->n;
    s->body = (const axe_syntax *const *)body->item;
}

/* type = NAME | "accum" "(" NAME ")" */
bool
axe_parse_type(axe_parser *p, axe_type_expr *out)
{
    out->accum = axe_parse_take(p, AXE_TOK_accum);
    if (!out->accum)
        return axe_parse_word(p, "a type", &out->word);
    return axe_parse_need(p, AXE_TOK_lparen, "after `accum`") &&
           axe_parse_word(p, "a type", &out->word) &&
           axe_parse_need(p, AXE_TOK_rparen, "after the type");
}

/* dims = "[" expr { "," expr } "]" */
bool
axe_parse_dims(axe_parser *p, axe_tensor_decl *t)
{
    axe_list dim = {.cx = p->cx}, text = {.cx = p->cx};

    if (!axe_parse_need(p, AXE_TOK_lbracket, "with the tensor's shape")) {
        axe_help(p->cx, "a single element is one of an array: `%s[1]`",
                 t->word.name);
        return false;
    }
    do {
        const axe_token *from = p->tok;
        const axe_expr  *e = axe_parse_expr(p);
        if (!e)
            return false;
        axe_list_push(&dim, e);
        axe_list_push(&text, axe_parse_text(p, from));
    } while (axe_parse_take(p, AXE_TOK_comma));
    t->n_dim = dim.n;
    t->dim = (const axe_expr *const *)dim.item;
    t->dim_text = (const char *const *)text.item;
    return axe_parse_need(p, AXE_TOK_rbracket, "after the shape");
}

/* layout = what the layout room reads, up to `;` or `=` outside brackets */
static bool
parse_layout(axe_parser *p, const char **text, axe_span *at, size_t *begin,
             size_t *end)
{
    const axe_token *from = p->tok;
    int              open = 0;

    for (; p->tok->kind != AXE_TOK_end && p->tok->kind != AXE_TOK_lbrace &&
           p->tok->kind != AXE_TOK_rbrace;
         p->tok++) {
        axe_token_kind k = p->tok->kind;
        if (open == 0 && (k == AXE_TOK_semi || k == AXE_TOK_eq))
            break;
        open += (k == AXE_TOK_lparen || k == AXE_TOK_lbracket) -
                (k == AXE_TOK_rparen || k == AXE_TOK_rbracket);
    }
    if (p->tok == from)
        return axe_parse_expected(p, "a layout");
    *text = axe_parse_text(p, from);
    *begin = from->begin;
    *end = p->tok[-1].end;
    *at = axe_span_join(from->at, p->tok[-1].at);
    return true;
}

/* The word for a space, if it is one; else REG, as scalars are. */
static bool
take_space(axe_parser *p, axe_space *out)
{
    static const axe_token_kind word[AXE_N_SPACE] = {
#define SPACE(id, word, slow, fast, pitch, operand, owner, room) AXE_TOK_##word,
#include "ir/spaces.def"
    };

    for (int s = 0; s < AXE_N_SPACE; s++)
        if (axe_parse_take(p, word[s])) {
            *out = (axe_space)s;
            return true;
        }
    *out = AXE_SPACE_REG;
    return false;
}

/* tensor = ( "reg" | "shared" | "tmem" | "global" ) type NAME dims
 *          [ ":" layout ] [ "=" expr ]
 * scalar = type NAME [ "=" expr ] */
static const axe_tensor_decl *
parse_tensor(axe_parser *p)
{
    axe_tensor_decl *t = axe_new(p->cx, axe_tensor_decl);
    bool             scalar = !take_space(p, &t->space);

    if (!axe_parse_type(p, &t->type) ||
        !axe_parse_word(p, "the tensor's name", &t->word) ||
        (!scalar && !axe_parse_dims(p, t)))
        return NULL;
    if (axe_parse_is_held(p) && t->space == AXE_SPACE_GLOBAL) {
        if (!axe_parse_held(p, t))
            return NULL;
    } else if (!scalar && axe_parse_take(p, AXE_TOK_colon) &&
               !parse_layout(p, &t->layout_text, &t->layout_at,
                             &t->layout_begin, &t->layout_end))
        return NULL;
    if (axe_parse_take(p, AXE_TOK_eq)) {
        t->init = axe_parse_expr(p);
        if (!t->init)
            return NULL;
    }
    return t;
}

static const axe_syntax *
parse_tensor_stmt(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_TENSOR);
    axe_list    one = {.cx = p->cx};

    axe_list_push(&one, parse_tensor(p));
    s->n_tensor = 1;
    s->tensor = (const axe_tensor_decl *const *)one.item;
    return s->tensor[0] &&
                   axe_parse_need(p, AXE_TOK_semi, "after the declaration")
               ? s
               : NULL;
}

/* pipeline = "pipeline" NAME "[" expr "]" "{" { tensor ";" } "}" */
static const axe_syntax *
parse_pipeline(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_PIPELINE);
    axe_list    tensor = {.cx = p->cx};

    p->tok++;
    if (!axe_parse_word(p, "the pipeline's name", &s->word) ||
        !axe_parse_need(p, AXE_TOK_lbracket, "with the number of stages"))
        return NULL;
    s->value = axe_parse_expr(p);
    if (!s->value || !axe_parse_need(p, AXE_TOK_rbracket, "after the stages") ||
        !axe_parse_need(p, AXE_TOK_lbrace, "before the pipeline's tensors"))
        return NULL;
    while (p->tok->kind == AXE_TOK_reg || p->tok->kind == AXE_TOK_shared ||
           p->tok->kind == AXE_TOK_tmem) {
        const axe_tensor_decl *t = parse_tensor(p);
        if (!t || !axe_parse_need(p, AXE_TOK_semi, "after the declaration"))
            return NULL;
        axe_list_push(&tensor, t);
    }
    if (!axe_parse_take(p, AXE_TOK_rbrace)) {
        axe_parse_expected(p, "`shared`, `reg`, `tmem` or `}`");
        return NULL;
    }
    s->n_tensor = tensor.n;
    s->tensor = (const axe_tensor_decl *const *)tensor.item;
    return s;
}

/* while = "while" "(" expr ")" block */
static const axe_syntax *
parse_while(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_WHILE);
    axe_list    body = {.cx = p->cx};

    p->tok++;
    if (!axe_parse_need(p, AXE_TOK_lparen, "before the condition") ||
        !(s->value = axe_parse_expr(p)) ||
        !axe_parse_need(p, AXE_TOK_rparen, "after the condition") ||
        !axe_parse_block(p, &body))
        return NULL;
    set_body(s, &body);
    return s;
}

/* leave = ( "break" | "continue" ) ";" */
static const axe_syntax *
parse_leave(axe_parser *p, axe_syntax_kind kind)
{
    axe_syntax *s = new_stmt(p, kind);

    p->tok++;
    return axe_parse_need(p, AXE_TOK_semi, "after the statement") ? s : NULL;
}

/* if = "if" "(" expr ")" block [ "else" block ] */
static const axe_syntax *
parse_if(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_IF);
    axe_list    body = {.cx = p->cx}, other = {.cx = p->cx};

    p->tok++;
    if (!axe_parse_need(p, AXE_TOK_lparen, "before the condition") ||
        !(s->value = axe_parse_expr(p)) ||
        !axe_parse_need(p, AXE_TOK_rparen, "after the condition") ||
        !axe_parse_block(p, &body) ||
        (axe_parse_take(p, AXE_TOK_else) && !axe_parse_block(p, &other)))
        return NULL;
    set_body(s, &body);
    s->n_other = other.n;
    s->other = (const axe_syntax *const *)other.item;
    return s;
}

/* produce = "produce" NAME ( block | statement ); consume likewise */
static const axe_syntax *
parse_stage(axe_parser *p, axe_syntax_kind kind)
{
    axe_syntax *s = new_stmt(p, kind);
    axe_list    body = {.cx = p->cx};

    p->tok++;
    if (!axe_parse_word(p, "the pipeline's name", &s->word) ||
        !axe_parse_block(p, &body))
        return NULL;
    s->at = axe_span_join(s->at, s->word.at);
    set_body(s, &body);
    return s;
}

/* index = "index" NAME { "," NAME } ";" */
static const axe_syntax *
parse_index(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_INDEX);
    axe_list    words = {.cx = p->cx};

    p->tok++;
    do {
        axe_word *w = axe_new(p->cx, axe_word);
        if (!axe_parse_word(p, "the index's name", w))
            return NULL;
        axe_list_push(&words, w);
    } while (axe_parse_take(p, AXE_TOK_comma));
    s->n_word = words.n;
    s->words = (const axe_word *const *)words.item;
    return axe_parse_need(p, AXE_TOK_semi, "after the indices") ? s : NULL;
}

/* const = "const" NAME "=" expr ";" */
static const axe_syntax *
parse_const(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_CONST);

    p->tok++;
    if (!axe_parse_word(p, "the constant's name", &s->word) ||
        !axe_parse_need(p, AXE_TOK_eq, "after the constant's name") ||
        !(s->value = axe_parse_expr(p)) ||
        !axe_parse_need(p, AXE_TOK_semi, "after the constant"))
        return NULL;
    return s;
}

/* layout = "layout" NAME "=" layout ";" */
static const axe_syntax *
parse_layout_stmt(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_LAYOUT);

    p->tok++;
    if (!axe_parse_word(p, "the layout's name", &s->word) ||
        !axe_parse_need(p, AXE_TOK_eq, "after the layout's name") ||
        !parse_layout(p, &s->layout_text, &s->layout_at, &s->layout_begin,
                      &s->layout_end) ||
        !axe_parse_need(p, AXE_TOK_semi, "after the layout"))
        return NULL;
    return s;
}

static const axe_syntax *
parse_barrier(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_BARRIER);

    p->tok++;
    return axe_parse_need(p, AXE_TOK_semi, "after `barrier`") ? s : NULL;
}

/* `max` or `min` with `=` right behind it. */
static bool
is_max_min(const axe_token *t)
{
    return t->kind == AXE_TOK_name && t[1].kind == AXE_TOK_eq &&
           t[1].begin == t->end &&
           (strcmp(t->name, "max") == 0 || strcmp(t->name, "min") == 0);
}

/* "=", "+=", "*=", "max" "=" or "min" "=" */
static bool
parse_fold(axe_parser *p, axe_fold *out)
{
    const axe_token *t = p->tok;

    if (axe_parse_take(p, AXE_TOK_eq))
        *out = AXE_FOLD_NONE;
    else if (axe_parse_take(p, AXE_TOK_add_eq))
        *out = AXE_FOLD_SUM;
    else if (axe_parse_take(p, AXE_TOK_mul_eq))
        *out = AXE_FOLD_MUL;
    else if (is_max_min(t)) {
        *out = t->name[1] == 'a' ? AXE_FOLD_MAX : AXE_FOLD_MIN;
        p->tok += 2;
    } else
        return axe_parse_expected(p, "`=`, `+=`, `*=`, `max=` or `min=`");
    return true;
}

/* assign = place fold expr { attr } ";" */
static const axe_syntax *
parse_assign(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_ASSIGN);

    s->dst = axe_parse_place(p);
    if (!s->dst || !parse_fold(p, &s->fold) ||
        !(s->value = axe_parse_expr(p)) || !axe_parse_attrs(p, s))
        return NULL;
    s->at = axe_span_join(s->at, p->tok[-1].at);
    return axe_parse_need(p, AXE_TOK_semi, "after the statement") ? s : NULL;
}

/* The name of an atom: NAME { "." NAME }, without blanks. */
static const char *
parse_atom_name(axe_parser *p)
{
    axe_buf  b = {.cx = p->cx};
    axe_word w;

    if (!axe_parse_word(p, "an atom's name", &w))
        return NULL;
    axe_puts(&b, w.name);
    while (axe_parse_take(p, AXE_TOK_dot)) {
        if (!axe_parse_word(p, "the rest of the atom's name", &w))
            return NULL;
        axe_putf(&b, ".%s", w.name);
    }
    return axe_intern(p->cx, b.text, b.len);
}

/* source, or the product of two */
static const axe_expr *
parse_sources(axe_parser *p)
{
    const axe_expr **arg = axe_new_array(p->cx, const axe_expr *, 2);
    axe_expr        *e = axe_new(p->cx, axe_expr);

    arg[0] = axe_parse_place(p);
    if (!arg[0] || !axe_parse_take(p, AXE_TOK_comma))
        return arg[0];
    arg[1] = axe_parse_place(p);
    if (!arg[1])
        return NULL;
    *e = (axe_expr){.kind = AXE_EXPR_OP,
                    .at = axe_span_join(arg[0]->at, arg[1]->at),
                    .op = AXE_OP_mul,
                    .n_arg = 2,
                    .arg = arg};
    return e;
}

/* atom = "atom" NAME { "." NAME } "(" place "," place [ "," place ] ")" ";":
 * d = a, or d += a * b */
static const axe_syntax *
parse_atom(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_ASSIGN);

    p->tok++;
    if (!(s->atom = parse_atom_name(p)) ||
        !axe_parse_need(p, AXE_TOK_lparen, "before the atom's operands") ||
        !(s->dst = axe_parse_place(p)) ||
        !axe_parse_need(p, AXE_TOK_comma,
                        "and one or two sources behind the destination") ||
        !(s->value = parse_sources(p)) ||
        !axe_parse_need(p, AXE_TOK_rparen, "after the atom's operands"))
        return NULL;
    if (s->value->kind == AXE_EXPR_OP)
        s->fold = AXE_FOLD_SUM;
    s->at = axe_span_join(s->at, p->tok[-1].at);
    return axe_parse_need(p, AXE_TOK_semi, "after the statement") ? s : NULL;
}

/* Of what begins with a name: `f32 s`, `load(...)`, `s = ...`, `x[m] = ...`. */
static const axe_syntax *
parse_named(axe_parser *p)
{
    const axe_token *t = p->tok;

    if (t[1].kind == AXE_TOK_lparen)
        return axe_parse_call(p);
    if (t[1].kind != AXE_TOK_name || is_max_min(&t[1]))
        return parse_assign(p);
    return parse_tensor_stmt(p);
}

static const axe_syntax *
parse_stmt(axe_parser *p)
{
    switch (p->tok->kind) {
    case AXE_TOK_core:
    case AXE_TOK_cluster:
    case AXE_TOK_cta:
    case AXE_TOK_warpgroup:
    case AXE_TOK_warp:
    case AXE_TOK_thread:
    case AXE_TOK_lane:
        return axe_parse_scope(p);
    case AXE_TOK_roles:
        return axe_parse_group(p, AXE_SYNTAX_ROLES);
    case AXE_TOK_overlap:
        return axe_parse_group(p, AXE_SYNTAX_OVERLAP);
    case AXE_TOK_turn:
        return axe_parse_turn(p);
    case AXE_TOK_device:
        return axe_parse_device(p);
    case AXE_TOK_for:
        return axe_parse_for(p);
    case AXE_TOK_if:
        return parse_if(p);
    case AXE_TOK_barrier:
        return parse_barrier(p);
    case AXE_TOK_reg:
    case AXE_TOK_shared:
    case AXE_TOK_tmem:
    case AXE_TOK_global:
    case AXE_TOK_accum:
        return parse_tensor_stmt(p);
    case AXE_TOK_pipeline:
        return parse_pipeline(p);
    case AXE_TOK_produce:
        return parse_stage(p, AXE_SYNTAX_PRODUCE);
    case AXE_TOK_consume:
        return parse_stage(p, AXE_SYNTAX_CONSUME);
    case AXE_TOK_index:
        return parse_index(p);
    case AXE_TOK_const:
        return parse_const(p);
    case AXE_TOK_layout:
        return parse_layout_stmt(p);
    case AXE_TOK_name:
        return parse_named(p);
    case AXE_TOK_atom:
        return parse_atom(p);
    case AXE_TOK_while:
        return parse_while(p);
    case AXE_TOK_break:
        return parse_leave(p, AXE_SYNTAX_BREAK);
    case AXE_TOK_continue:
        return parse_leave(p, AXE_SYNTAX_CONTINUE);
    default:
        axe_parse_expected(p, "a statement");
        if (p->tok->kind == AXE_TOK_return)
            axe_help(p->cx, "`return` ends a function with a result, and "
                            "stands nowhere else");
        return NULL;
    }
}

/* Go past the `;` that ends the statement begun at `from`, or past its block;
 * stop before a `}` that is not its own.  In the head of a loop a `;` is C's.
 */
static void
skip_stmt(axe_parser *p, const axe_token *from)
{
    int open = 0;

    if (from->kind != AXE_TOK_for || p->tok->kind != AXE_TOK_rparen)
        p->tok = from;
    for (; p->tok->kind != AXE_TOK_end && !axe_parse_is_top(p->tok->kind);
         p->tok++) {
        if (p->tok->kind == AXE_TOK_lbrace)
            open++;
        if (p->tok->kind == AXE_TOK_rbrace && --open < 0)
            return;
        if (open == 0 && p->tok[1].kind != AXE_TOK_else &&
            (p->tok->kind == AXE_TOK_semi || p->tok->kind == AXE_TOK_rbrace)) {
            p->tok++;
            return;
        }
    }
}

void
axe_parse_item(axe_parser *p, axe_list *out)
{
    const axe_token  *from = p->tok;
    int               depth = p->depth;
    const axe_syntax *s = parse_stmt(p);

    p->depth = depth;
    if (s)
        axe_list_push(out, s);
    else
        skip_stmt(p, from);
}

/* Said once: blocks around it are not closed either. */
static void
unclosed(axe_parser *p, axe_span at)
{
    int n = axe_n_error(p->cx);

    axe_parse_expected(p, "`}`");
    if (axe_n_error(p->cx) > n)
        axe_note(p->cx, at, "to close this");
}

/* block = "{" { statement } "}" | statement */
bool
axe_parse_block(axe_parser *p, axe_list *out)
{
    axe_span at = p->tok->at;

    if (!axe_parse_enter(p))
        return false;
    if (!axe_parse_take(p, AXE_TOK_lbrace)) {
        axe_parse_item(p, out);
        p->depth--;
        return true;
    }
    while (p->tok->kind != AXE_TOK_rbrace && p->tok->kind != AXE_TOK_end &&
           !axe_parse_is_top(p->tok->kind))
        axe_parse_item(p, out);
    p->depth--;
    if (axe_parse_take(p, AXE_TOK_rbrace))
        return true;
    if (!p->ended)
        unclosed(p, at);
    return false;
}
