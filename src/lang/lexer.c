/* lexer.c - text to tokens, all of a file at once.
 *
 * Columns count bytes.  A bad character is reported once and skipped, with
 * those of its kind that follow it, so that one stray paste is one error. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "lang/syntax.h"

static const struct {
    const char *text;
    bool        is_word, soon;
} token_table[AXE_N_TOK] = {
    [AXE_TOK_end] = {"the end of the file", false, false},
    [AXE_TOK_name] = {"a name", false, false},
    [AXE_TOK_int] = {"an integer", false, false},
    [AXE_TOK_float] = {"a number", false, false},
    [AXE_TOK_text] = {"a text", false, false},
#define WORD(name) [AXE_TOK_##name] = {#name, true, false},
#define SOON(name) [AXE_TOK_##name] = {#name, true, true},
#define SIGN(name, text) [AXE_TOK_##name] = {text, false, false},
#include "lang/tokens.def"
};

const char *
axe_token_text(axe_token_kind kind)
{
    return token_table[kind].text;
}

bool
axe_token_is_soon(axe_token_kind kind)
{
    return token_table[kind].soon;
}

enum { ERROR_MAX = 20 };

typedef struct lexer {
    axe_ctx    *cx;
    int32_t     source, line;
    const char *text, *s, *end, *line_start;
    axe_status  status;
    int         n_error;
    axe_token  *tok;
    int         n, cap;
} lexer;

static axe_span
span_at(const lexer *l, const char *from, const char *to)
{
    return (axe_span){l->source, l->line, (int32_t)(from - l->line_start) + 1,
                      (int32_t)(to - from)};
}

static void
note_status(lexer *l, axe_status st)
{
    if (l->status == AXE_OK)
        l->status = st;
    if (++l->n_error < ERROR_MAX)
        return;
    axe_note(l->cx, AXE_NOWHERE, "the rest of the file is not read");
    l->s = l->end;
}

static axe_token *
push(lexer *l, axe_token_kind kind, const char *from, const char *to)
{
    if (l->n == l->cap) {
        int        cap = l->cap ? 2 * l->cap : 256;
        axe_token *t = axe_new_array(l->cx, axe_token, cap);
        if (l->n > 0)
            memcpy(t, l->tok, (size_t)l->n * sizeof *t);
        l->tok = t;
        l->cap = cap;
    }
    l->tok[l->n] = (axe_token){
        .kind = kind,
        .at = span_at(l, from, to),
        .begin = (size_t)(from - l->text),
        .end = (size_t)(to - l->text),
    };
    return &l->tok[l->n++];
}

static void
newline(lexer *l)
{
    l->line++;
    l->line_start = l->s;
}

static void
skip_line(lexer *l)
{
    while (l->s < l->end && *l->s != '\n')
        l->s++;
}

static void
skip_comment(lexer *l)
{
    axe_span at = span_at(l, l->s, l->s + 2);

    l->s += 2;
    while (l->end - l->s >= 2 && memcmp(l->s, "*/", 2) != 0)
        if (*l->s++ == '\n')
            newline(l);
    if (l->end - l->s >= 2) {
        l->s += 2;
        return;
    }
    l->s = l->end;
    note_status(l,
                axe_fail(l->cx, at, AXE_ESYNTAX, "this comment is not closed"));
    axe_help(l->cx, "end it with `*/`; comments do not nest");
}

/* Skip blanks and comments. */
static void
skip_blank(lexer *l)
{
    while (l->s < l->end) {
        if (*l->s == '\n') {
            l->s++;
            newline(l);
        } else if (*l->s == ' ' || *l->s == '\t' || *l->s == '\r')
            l->s++;
        else if (l->end - l->s >= 2 && memcmp(l->s, "//", 2) == 0)
            skip_line(l);
        else if (l->end - l->s >= 2 && memcmp(l->s, "/*", 2) == 0)
            skip_comment(l);
        else
            return;
    }
}

static bool
starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool
goes_on_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void
lex_name(lexer *l)
{
    const char *from = l->s;
    axe_token  *t;
    size_t      len;

    while (l->s < l->end && goes_on_name(*l->s))
        l->s++;
    len = (size_t)(l->s - from);
    t = push(l, AXE_TOK_name, from, l->s);
    t->name = axe_intern(l->cx, from, len);
    for (int k = 0; k < AXE_N_TOK; k++)
        if (token_table[k].is_word && strcmp(token_table[k].text, t->name) == 0)
            t->kind = (axe_token_kind)k;
}

static void
skip_digits(lexer *l)
{
    while (l->s < l->end && isdigit((unsigned char)*l->s))
        l->s++;
}

/* "." that is not the first of "..", or an exponent. */
static bool
skip_fraction(lexer *l)
{
    const char *from = l->s, *mark;

    if (l->s < l->end && *l->s == '.' &&
        !(l->end - l->s >= 2 && l->s[1] == '.')) {
        l->s++;
        skip_digits(l);
    }
    if (l->s < l->end && (*l->s == 'e' || *l->s == 'E')) {
        mark = l->s++;
        if (l->s < l->end && (*l->s == '+' || *l->s == '-'))
            l->s++;
        if (l->s == l->end || !isdigit((unsigned char)*l->s))
            l->s = mark;
        skip_digits(l);
    }
    return l->s != from;
}

/* "0x" and digits: below 2^64, from 2^63 on of u64. */
static void
lex_bits(lexer *l)
{
    const char *from = l->s, *text;
    axe_token  *t;
    uint64_t    v;

    l->s += 2;
    while (l->s < l->end && isxdigit((unsigned char)*l->s))
        l->s++;
    t = push(l, AXE_TOK_int, from, l->s);
    text = axe_textf(l->cx, "%.*s", (int)(l->s - from), from);
    errno = 0;
    v = strtoull(text, NULL, 16);
    t->i = (int64_t)v;
    t->big = v > INT64_MAX;
    if (errno == ERANGE)
        note_status(l, axe_fail(l->cx, t->at, AXE_EOVERFLOW,
                                "%s has more than 64 bits", text));
}

static bool
starts_bits(const lexer *l)
{
    return l->end - l->s > 2 && l->s[0] == '0' && l->s[1] == 'x' &&
           isxdigit((unsigned char)l->s[2]);
}

/* Decimal numbers are those of i64; u64 has more, by their bits. */
static void
refuse_long(lexer *l, const axe_token *t, const char *text)
{
    uint64_t v;

    note_status(l, axe_fail(l->cx, t->at, AXE_EOVERFLOW,
                            "%s does not fit a 64-bit integer", text));
    errno = 0;
    v = strtoull(text, NULL, 10);
    if (errno == 0)
        axe_help(l->cx, "for u64 write its bits, `0x%" PRIx64 "`", v);
}

static void
lex_decimal(lexer *l)
{
    const char *from = l->s, *text;
    axe_token  *t;
    bool        is_float;

    skip_digits(l);
    is_float = skip_fraction(l);
    t = push(l, is_float ? AXE_TOK_float : AXE_TOK_int, from, l->s);
    text = axe_textf(l->cx, "%.*s", (int)(l->s - from), from);
    errno = 0;
    if (is_float)
        t->f = strtod(text, NULL);
    else
        t->i = strtoll(text, NULL, 10);
    if (!is_float && errno == ERANGE)
        refuse_long(l, t, text);
}

static void
lex_number(lexer *l)
{
    const char *from = l->s;

    if (starts_bits(l))
        lex_bits(l);
    else
        lex_decimal(l);
    if (l->s < l->end && goes_on_name(*l->s)) {
        while (l->s < l->end && goes_on_name(*l->s))
            l->s++;
        note_status(l, axe_fail(l->cx, span_at(l, from, l->s), AXE_ESYNTAX,
                                "`%.*s` is neither a number nor a name",
                                (int)(l->s - from), from));
    }
}

/* "..." on one line; escapes are for who reads it. */
static void
lex_text(lexer *l)
{
    const char *from = l->s++;

    while (l->s < l->end && *l->s != '"' && *l->s != '\n')
        l->s++;
    if (l->s < l->end && *l->s == '"')
        l->s++;
    else
        note_status(l, axe_fail(l->cx, span_at(l, from, l->s), AXE_ESYNTAX,
                                "this text is not closed on its line"));
    push(l, AXE_TOK_text, from, l->s);
}

static bool
lex_sign(lexer *l)
{
    for (int k = 0; k < AXE_N_TOK; k++) {
        size_t n = strlen(token_table[k].text);
        if (k > AXE_TOK_text && !token_table[k].is_word &&
            (size_t)(l->end - l->s) >= n &&
            memcmp(l->s, token_table[k].text, n) == 0) {
            push(l, (axe_token_kind)k, l->s, l->s + n);
            l->s += n;
            return true;
        }
    }
    return false;
}

static bool
is_foreign(char c)
{
    unsigned char u = (unsigned char)c;

    return u < 32 ? c != '\n' && c != '\t' && c != '\r'
                  : u > 126 || strchr("#$'\\`", c) != NULL;
}

static void
skip_foreign(lexer *l)
{
    const char   *from = l->s;
    unsigned char c = (unsigned char)*from;

    do
        l->s++;
    while (l->s < l->end && is_foreign(*l->s));
    if (c > 32 && c < 127)
        note_status(l, axe_fail(l->cx, span_at(l, from, l->s), AXE_ESYNTAX,
                                "`%c` has no meaning here", c));
    else
        note_status(l, axe_fail(l->cx, span_at(l, from, l->s), AXE_ESYNTAX,
                                "byte 0x%02x has no meaning here", c));
}

axe_status
axe_lex(axe_ctx *cx, int32_t source, const axe_token **out)
{
    size_t      len;
    const char *text = axe_source_text(cx, source, &len);
    lexer       l = {
              .cx = cx,
              .source = source,
              .line = 1,
              .text = text,
              .s = text,
              .end = text + len,
              .line_start = text,
    };

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        l.s += 3;
    for (skip_blank(&l); l.s < l.end; skip_blank(&l)) {
        if (starts_name(*l.s))
            lex_name(&l);
        else if (isdigit((unsigned char)*l.s))
            lex_number(&l);
        else if (*l.s == '"')
            lex_text(&l);
        else if (!lex_sign(&l))
            skip_foreign(&l);
    }
    push(&l, AXE_TOK_end, l.end, l.end);
    *out = l.tok;
    return l.status;
}
