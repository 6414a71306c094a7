/* format.c - the form of kernel files.
 *
 * Lines stay as their author broke them, with at most one blank line between;
 * what is set is indentation, four for each block, for a statement behind its
 * header on the line before, and for what goes on; and blanks between tokens.
 * Where both `a*b` and `a * b` are usual, the text decides.  Comments stay.
 * * Where a line goes on, what its author aligned stays aligned.  All else
 * follows from the tokens and where lines end, so that formatting what was
 * formatted changes nothing. */
#include <string.h>

#include "base/ctx.h"
#include "lang/lang.h"
#include "lang/syntax.h"

/* An open brace. */
typedef struct brace {
    int  indent; /* of the line that opens the block */
    bool values; /* of a domain: {64, 128} */
} brace;

typedef struct formatter {
    axe_ctx         *cx;
    axe_buf         *out;
    const char      *text;
    const axe_token *tok; /* the next one */
    bool             line_start, after_comment;
    int              n_brace;
    brace           *brace;
    int              paren, square; /* open ones; square: of the latter */
    int              start;         /* indent of the statement's first line */
    int              nested;        /* headers on lines before, no braces */
    bool             going;         /* inside a statement */
    bool             header;        /* its brackets or name are to come */
    bool             header_done;   /* the last token ended a header */
    bool             generic;       /* inside kernel k<...> */
    bool             unary;         /* the last token is a prefix */
    bool             wide;          /* the last token is a spaced * / % */
    int              closed;        /* indent of the block closed last */
    int              shift;         /* of the line where the statement began */
} formatter;

static int
block_indent(const formatter *f)
{
    return f->n_brace > 0 ? f->brace[f->n_brace - 1].indent + 4 : 0;
}

/* Does it say something of the scope whose ranges came before? */
static bool
is_key(axe_token_kind k)
{
    return AXE_TOK_threads <= k && k <= AXE_TOK_registers;
}

static bool
is_header(axe_token_kind k)
{
    return k == AXE_TOK_for || k == AXE_TOK_if || k == AXE_TOK_produce ||
           k == AXE_TOK_consume || k == AXE_TOK_while ||
           (AXE_TOK_device <= k && k <= AXE_TOK_lane) || is_key(k);
}

/* Can a header end with it? */
static bool
ends_header(axe_token_kind k)
{
    return k == AXE_TOK_rparen || k == AXE_TOK_name || k == AXE_TOK_int;
}

static bool
ends_operand(axe_token_kind k)
{
    return k == AXE_TOK_name || k == AXE_TOK_int || k == AXE_TOK_float ||
           k == AXE_TOK_rparen || k == AXE_TOK_rbracket;
}

static bool
is_product(axe_token_kind k)
{
    return k == AXE_TOK_star || k == AXE_TOK_slash || k == AXE_TOK_percent;
}

/* `<` of a kernel's or function's parameters: behind the keyword and a name,
 * before which a result's type may stand. */
static bool
opens_generic(const formatter *f, const axe_token *first)
{
    const axe_token *t = f->tok;

    if (t->kind != AXE_TOK_lt || t == first || t[-1].kind != AXE_TOK_name)
        return false;
    do
        t--;
    while (t > first &&
           (t->kind == AXE_TOK_name || t->kind == AXE_TOK_accum ||
            t->kind == AXE_TOK_lparen || t->kind == AXE_TOK_rparen));
    return t->kind == AXE_TOK_kernel || t->kind == AXE_TOK_fn;
}

static bool
is_angle(axe_token_kind k)
{
    return k == AXE_TOK_lt || k == AXE_TOK_gt;
}

/* A blank before `(` or `[`?  `f(x)`, `x[m]`, `cta (i : 8)`, `1 + (2)`. */
static bool
blank_before_open(axe_token_kind a, axe_token_kind b, bool written)
{
    if (a == AXE_TOK_accum || a == AXE_TOK_partial)
        return false;
    if (a == AXE_TOK_name && b == AXE_TOK_lbracket)
        return false;
    return ends_operand(a) ? written : true;
}

/* Is the `-` at t one of a machine's name, as in `default cpu-avx2`, or in
 * `target sm_90a, cpu-avx2`? */
static bool
joins_machine(const axe_token *first, const axe_token *t)
{
    if (t->kind != AXE_TOK_minus)
        return false;
    while (t - first >= 2 && t[-1].kind == AXE_TOK_name &&
           (t[-2].kind == AXE_TOK_minus || t[-2].kind == AXE_TOK_comma))
        t -= 2;
    return t - first >= 2 && t[-1].kind == AXE_TOK_name &&
           (t[-2].kind == AXE_TOK_default || t[-2].kind == AXE_TOK_target);
}

/* Is the `@` at t one of a layout, 4@lane, and not one of `M @ gpu`? */
static bool
is_stride(const axe_token *t, const axe_token *first)
{
    return t > first && t[-1].kind == AXE_TOK_int && t - first > 1 &&
           t[-2].kind != AXE_TOK_lbracket;
}

/* A blank between the last token and the next, on one line? */
static bool
blank(const formatter *f, const axe_token *first)
{
    axe_token_kind a = f->tok[-1].kind, b = f->tok->kind;
    bool           written = f->tok->begin > f->tok[-1].end;
    bool           values = f->n_brace > 0 && f->brace[f->n_brace - 1].values;

    if (b == AXE_TOK_comma || b == AXE_TOK_semi || b == AXE_TOK_rparen ||
        b == AXE_TOK_rbracket || a == AXE_TOK_lparen || a == AXE_TOK_lbracket)
        return false;
    if (a == AXE_TOK_dot || b == AXE_TOK_dot || a == AXE_TOK_dots ||
        b == AXE_TOK_dots || f->unary)
        return false;
    if (a == AXE_TOK_at || b == AXE_TOK_at)
        return written && !is_stride(f->tok - (a == AXE_TOK_at), first);
    if (f->generic && (is_angle(b) || a == AXE_TOK_lt))
        return false;
    if ((is_angle(a) && is_angle(b)) ||
        (a == AXE_TOK_gt && b == AXE_TOK_lparen))
        return written;
    if (b == AXE_TOK_eq && a == AXE_TOK_name && !written)
        return strcmp(f->tok[-1].name, "max") != 0 &&
               strcmp(f->tok[-1].name, "min") != 0;
    if ((a == AXE_TOK_lbrace || b == AXE_TOK_rbrace) && a != AXE_TOK_comma)
        return !values &&
               (written || a != AXE_TOK_lbrace || b != AXE_TOK_rbrace);
    if ((a == AXE_TOK_colon || b == AXE_TOK_colon) && f->square > 0)
        return written;
    if (joins_machine(first, f->tok) || joins_machine(first, f->tok - 1))
        return false;
    if (is_product(b))
        return written;
    if (is_product(a))
        return f->wide;
    if (b == AXE_TOK_lparen || b == AXE_TOK_lbracket)
        return blank_before_open(a, b, written);
    return true;
}

static void
put_indent(formatter *f, int n)
{
    axe_putf(f->out, "%*s", n, "");
    f->line_start = false;
}

/* How far the line that begins with the next token is indented; aligned: or
 * further. */
static int
indent_of(formatter *f, bool *aligned)
{
    axe_token_kind k = f->tok->kind;

    if (k == AXE_TOK_rbrace && f->n_brace > 0)
        return f->brace[f->n_brace - 1].indent;
    if (!f->going)
        return block_indent(f);
    if (f->header_done && k != AXE_TOK_lbrace && !is_key(k))
        return f->start + 4 * ++f->nested;
    if (k == AXE_TOK_lbrace)
        return f->start + 4 * f->nested;
    *aligned = true;
    return f->start + 4 * f->nested + 4;
}

/* Lines that go on stay where they are beside the statement's first line, if
 * that is far enough in. */
static void
begin_line(formatter *f)
{
    bool aligned = false;
    int  least = indent_of(f, &aligned), written = f->tok->at.col - 1;

    if (!aligned)
        f->shift = least - written;
    written += f->shift;
    put_indent(f, aligned && written > least ? written : least);
}

static void
open_brace(formatter *f)
{
    brace b = {f->start + 4 * f->nested, f->tok[-1].kind == AXE_TOK_in};

    f->brace[f->n_brace++] = b;
    f->going = b.values;
}

static void
close_brace(formatter *f)
{
    if (f->n_brace == 0)
        return;
    f->closed = f->brace[--f->n_brace].indent;
    f->going = f->brace[f->n_brace].values;
}

/* What the token means for those behind it. */
static void
follow(formatter *f, const axe_token *first)
{
    axe_token_kind k = f->tok->kind;
    bool           unary = k == AXE_TOK_minus || k == AXE_TOK_plus;

    f->unary = k == AXE_TOK_not || k == AXE_TOK_tilde ||
               (unary && (f->tok == first || !ends_operand(f->tok[-1].kind)));
    f->paren += (k == AXE_TOK_lparen || k == AXE_TOK_lbracket) -
                (k == AXE_TOK_rparen || k == AXE_TOK_rbracket);
    f->square += (k == AXE_TOK_lbracket) - (k == AXE_TOK_rbracket);
    f->header_done =
        k == AXE_TOK_else || (f->header && f->paren == 0 && ends_header(k));
    f->header = is_header(k) || (f->header && !f->header_done);
    if (f->generic && k == AXE_TOK_gt)
        f->generic = false;
    if (k == AXE_TOK_lbrace)
        open_brace(f);
    else if (k == AXE_TOK_rbrace)
        close_brace(f);
    else if (k == AXE_TOK_semi)
        f->going = false;
}

static void
put_token(formatter *f, const axe_token *first)
{
    const axe_token *t = f->tok;
    bool             space = false, at_start = f->line_start;

    if (!f->going && t->kind != AXE_TOK_rbrace && t->kind != AXE_TOK_lbrace) {
        bool chained = t->kind == AXE_TOK_else && t > first &&
                       t[-1].kind == AXE_TOK_rbrace;
        f->start = chained ? f->closed : block_indent(f);
        f->nested = 0;
    }
    f->generic = f->generic || opens_generic(f, first);
    if (f->line_start)
        begin_line(f);
    else if (t > first)
        space = f->after_comment || blank(f, first);
    f->wide = at_start ? t[1].begin > t->end : space;
    if (t->kind != AXE_TOK_rbrace && t->kind != AXE_TOK_lbrace)
        f->going = true;
    axe_puts(f->out, space ? " " : "");
    axe_putn(f->out, f->text + t->begin, t->end - t->begin);
    f->after_comment = false;
    follow(f, first);
}

/* The comment at s, to its end; blanks before one behind a token are kept. */
static const char *
put_comment(formatter *f, const char *s, const char *end, int n_blank)
{
    bool        line = s[1] == '/';
    const char *stop = s + 2, *last;

    while (
        stop < end &&
        (line ? *stop != '\n' : memcmp(stop - 2, "*/", 2) != 0 || stop - s < 4))
        stop++;
    for (last = stop; line && strchr(" \t\r", last[-1]); last--)
        ;
    if (f->line_start)
        put_indent(f,
                   f->going ? f->start + 4 * f->nested + 4 : block_indent(f));
    else if (f->out->len > 0)
        axe_putf(f->out, "%*s", line && n_blank > 1 ? n_blank : 1, "");
    axe_putn(f->out, s, (size_t)(last - s));
    f->after_comment = true;
    return stop;
}

static void
break_line(formatter *f, int n)
{
    if (n == 0 || f->out->len == 0)
        return;
    axe_puts(f->out, n > 1 ? "\n\n" : "\n");
    f->line_start = true;
}

/* Line breaks and comments between two tokens. */
static void
put_gap(formatter *f, const char *s, const char *end)
{
    int n_line = 0, n_blank = 0;

    while (s < end) {
        if (*s == '/') {
            break_line(f, n_line);
            s = put_comment(f, s, end, n_blank);
            n_line = n_blank = 0;
            continue;
        }
        n_line += *s == '\n';
        n_blank += *s == ' ' || *s == '\t';
        s++;
    }
    break_line(f, f->tok->kind == AXE_TOK_end ? 0 : n_line);
}

axe_status
axe_module_format(axe_ctx *cx, int32_t source, axe_buf *out)
{
    const axe_module *m;
    const axe_token  *tok;
    size_t            len, at = 0;
    formatter         f = {.cx = cx, .out = out, .line_start = true};
    int               n_open = 0;

    AXE_TRY(axe_module_parse(cx, source, &m));
    AXE_TRY(axe_lex(cx, source, &tok));
    f.text = axe_source_text(cx, source, &len);
    if (len >= 3 && memcmp(f.text, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    for (const axe_token *t = tok; t->kind != AXE_TOK_end; t++)
        n_open += t->kind == AXE_TOK_lbrace;
    f.brace = axe_new_array(cx, brace, n_open + 1);
    for (f.tok = tok;; f.tok++) {
        put_gap(&f, f.text + at, f.text + f.tok->begin);
        if (f.tok->kind == AXE_TOK_end)
            break;
        put_token(&f, tok);
        at = f.tok->end;
    }
    axe_puts(out, out->len > 0 ? "\n" : "");
    return AXE_OK;
}
