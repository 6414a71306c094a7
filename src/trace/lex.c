/* lex.c - a trace's text as words: where they are, what they name, what was
 * expected instead. */
#include <ctype.h>
#include <string.h>

#include "trace/lex.h"

void
axe_lex_skip(axe_trace_reader *r)
{
    for (;; r->s++) {
        if (*r->s == '#')
            r->s += strcspn(r->s, "\n");
        if (*r->s == '\n') {
            r->line = r->s + 1;
            r->n_line++;
        } else if (*r->s != ' ' && *r->s != '\t' && *r->s != '\r')
            return;
    }
}

static bool
is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* How long the word is that comes next; 0: none. */
size_t
axe_lex_word(axe_trace_reader *r)
{
    size_t n = 0;

    axe_lex_skip(r);
    while (is_letter(r->s[n]))
        n++;
    return isdigit((unsigned char)*r->s) ? 0 : n;
}

axe_span
axe_lex_here(axe_trace_reader *r, size_t len)
{
    axe_lex_skip(r);
    return (axe_span){r->source, r->n_line, (int32_t)(r->s - r->line) + 1,
                      (int32_t)(len ? len : 1)};
}

axe_status
axe_lex_expected(axe_trace_reader *r, const char *what)
{
    size_t n = axe_lex_word(r);

    if (n == 0 && *r->s)
        n = 1;
    return n == 0
               ? axe_fail(r->cx, axe_lex_here(r, 1), AXE_ESYNTAX,
                          "expected %s, and the text ends", what)
               : axe_fail(r->cx, axe_lex_here(r, n), AXE_ESYNTAX,
                          "expected %s, not '%s'", what,
                          axe_text_plain(
                              r->cx, axe_textf(r->cx, "%.*s",
                                               (int)(n > 64 ? 64 : n), r->s)));
}

bool
axe_lex_take(axe_trace_reader *r, char c)
{
    axe_lex_skip(r);
    if (*r->s != c)
        return false;
    r->s++;
    return true;
}

bool
axe_lex_is_word(axe_trace_reader *r, const char *w)
{
    size_t n = axe_lex_word(r);

    return n == strlen(w) && memcmp(r->s, w, n) == 0;
}

bool
axe_lex_take_word(axe_trace_reader *r, const char *w)
{
    if (!axe_lex_is_word(r, w))
        return false;
    r->s += strlen(w);
    return true;
}

axe_status
axe_lex_need(axe_trace_reader *r, char c)
{
    const char what[] = {'\'', c, '\'', '\0'};

    return axe_lex_take(r, c) ? AXE_OK : axe_lex_expected(r, what);
}

axe_status
axe_lex_need_name(axe_trace_reader *r, const char *what, const char **out)
{
    size_t n = axe_lex_word(r);

    if (n == 0)
        return axe_lex_expected(r, what);
    *out = axe_intern(r->cx, r->s, n);
    r->s += n;
    return AXE_OK;
}

/* What the next word names here, innermost first; NULL: nothing. */
const axe_trace_name *
axe_lex_named(axe_trace_reader *r)
{
    size_t n = axe_lex_word(r);

    for (int i = r->n_scope - 1; n > 0 && i >= 0; i--)
        if (r->scope[i].len == n && memcmp(r->scope[i].text, r->s, n) == 0)
            return &r->scope[i];
    return NULL;
}

void
axe_lex_declare(axe_trace_reader *r, const char *text, bool is_var, int number)
{
    r->scope[r->n_scope++] =
        (axe_trace_name){text, strlen(text), is_var, number};
}

/* A new variable; its number. */
axe_status
axe_lex_new_var(axe_trace_reader *r, int *out)
{
    const char *text;
    axe_span    at = axe_lex_here(r, axe_lex_word(r));

    AXE_TRY(axe_lex_need_name(r, "the name of a variable", &text));
    if (r->out->n_var == AXE_TRACE_MAX_VARS || r->n_scope == AXE_LEN(r->scope))
        return axe_fail(r->cx, at, AXE_ELIMIT, "more than %d variables",
                        AXE_TRACE_MAX_VARS);
    *out = r->out->n_var++;
    r->out->var[*out] = text;
    axe_lex_declare(r, text, true, *out);
    return AXE_OK;
}

axe_status
axe_lex_number(axe_trace_reader *r, int64_t *out)
{
    axe_span at = axe_lex_here(r, strspn(r->s, "0123456789"));
    int64_t  x = 0;

    if (!isdigit((unsigned char)*r->s))
        return axe_lex_expected(r, "a number");
    for (; isdigit((unsigned char)*r->s); r->s++)
        if (!axe_mul(x, 10, &x) || !axe_add(x, *r->s - '0', &x))
            return axe_fail(r->cx, at, AXE_EOVERFLOW,
                            "the number does not fit 64 bits");
    *out = x;
    return AXE_OK;
}
