/* scan.c - the characters of a layout literal. */
#include <inttypes.h>
#include <string.h>

#include "layout/scan.h"

enum { MAX_FACTOR = 16 }; /* run-time sizes in one stride */

axe_span
axe_text_span(int32_t source, const char *text, size_t from, size_t to)
{
    axe_span s = {source, 1, 1, to > from ? (int32_t)(to - from) : 1};

    for (size_t i = 0; i < from; i++) {
        s.col++;
        if (text[i] == '\n') {
            s.line++;
            s.col = 1;
        }
    }
    return s;
}

size_t
axe_text_blanks(const char *text, size_t len, size_t at)
{
    while (at < len) {
        const char *s = text + at, *end;
        if (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n') {
            at++;
            continue;
        }
        if (len - at < 2 || s[0] != '/' || s[1] != '/')
            return at;
        end = memchr(s, '\n', len - at);
        at = end ? (size_t)(end - text) : len;
    }
    return at;
}

axe_span
axe_scan_span(const axe_reader *r, size_t from, size_t to)
{
    return axe_text_span(r->source, r->text, from, to);
}

static void
skip_blanks(axe_reader *r)
{
    r->at = axe_text_blanks(r->text, r->len, r->at);
}

/* The next character after blanks, '\0' at the end. */
char
axe_scan_peek(axe_reader *r)
{
    skip_blanks(r);
    return r->at < r->len ? r->text[r->at] : '\0';
}

bool
axe_scan_take(axe_reader *r, char c)
{
    if (c == '\0' || axe_scan_peek(r) != c)
        return false;
    r->at++;
    return true;
}

/* Length of the name that begins here, 0 if none does. */
size_t
axe_scan_name_length(const axe_reader *r)
{
    const char *s = r->text + r->at;
    size_t      n = 0;

    if (r->at == r->len || !axe_is_name(s, 1))
        return 0;
    while (r->at + n < r->len && (axe_is_name(s + n, 1) || axe_is_digit(s[n])))
        n++;
    return n;
}

/* What stands here, to be quoted: a name, a number or one character. */
static size_t
token_length(const axe_reader *r)
{
    size_t n = axe_scan_name_length(r);

    if (n == 0)
        while (r->at + n < r->len && axe_is_digit(r->text[r->at + n]))
            n++;
    return n > 0 ? n : 1;
}

axe_status
axe_scan_expected(axe_reader *r, const char *what)
{
    size_t      n;
    const char *s;

    skip_blanks(r);
    n = token_length(r);
    s = r->text + r->at;
    if (r->at >= r->len)
        return axe_fail(r->cx, axe_scan_span(r, r->at, r->at), AXE_ESYNTAX,
                        "layout: expected %s, but the text ends", what);
    if (n == 1 && (*s < ' ' || *s > '~'))
        return axe_fail(r->cx, axe_scan_span(r, r->at, r->at + 1), AXE_ESYNTAX,
                        "layout: expected %s, but found byte 0x%02x", what,
                        (unsigned)(unsigned char)*s);
    return axe_fail(r->cx, axe_scan_span(r, r->at, r->at + n), AXE_ESYNTAX,
                    "layout: expected %s, but found '%.*s'", what,
                    n < 40 ? (int)n : 40, s);
}

/* name = letter { letter | digit | "_" } */
const char *
axe_scan_name(axe_reader *r)
{
    size_t      n = axe_scan_name_length(r);
    const char *name =
        n > 0 ? axe_textf(r->cx, "%.*s", (int)n, r->text + r->at) : NULL;

    r->at += n;
    return name;
}

/* number = digit { digit }, negative if so asked: INT64_MIN can be written. */
axe_status
axe_scan_number(axe_reader *r, bool negative, int64_t *out)
{
    size_t  from = r->at;
    int64_t v = 0;

    for (; r->at < r->len && axe_is_digit(r->text[r->at]); r->at++) {
        int64_t d = r->text[r->at] - '0';
        if (!axe_mul(v, 10, &v) || !axe_add(v, negative ? -d : d, &v))
            return axe_fail(r->cx, axe_scan_span(r, from, r->at + 1),
                            AXE_EOVERFLOW, "layout: a number leaves int64");
    }
    *out = v;
    return AXE_OK;
}

/* factor = number | size | constant
 *
 * Multiplies it into *value or *unit. */
static axe_status
read_factor(axe_reader *r, bool negative, const char *what, int64_t *value,
            axe_unit *unit)
{
    int64_t     v = negative ? -1 : 1, c;
    size_t      from;
    const char *name;

    axe_scan_peek(r);
    from = r->at;
    if (from < r->len && axe_is_digit(r->text[from])) {
        AXE_TRY(axe_scan_number(r, negative, &v));
    } else if ((name = axe_scan_name(r)) == NULL) {
        return axe_scan_expected(r, what);
    } else if (!r->env || !r->env->constant ||
               !r->env->constant(r->env->user, name, &c)) {
        *unit = axe_unit_mul(r->cx, *unit, axe_unit_symbol(r->cx, name));
    } else if (!axe_mul(v, c, &v)) {
        v = 0;
    }
    if (!axe_mul(*value, v, value))
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_EOVERFLOW,
                        "layout: a product leaves int64");
    if (axe_unit_n_factor(r->cx, *unit) > MAX_FACTOR)
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ELIMIT,
                        "layout: a stride has over %d run-time sizes",
                        MAX_FACTOR);
    return AXE_OK;
}

/* scaled = [ "-" ] factor { "*" factor } */
axe_status
axe_scan_scaled(axe_reader *r, const char *what, int64_t *value, axe_unit *unit)
{
    bool negative = axe_scan_take(r, '-');

    *value = 1;
    *unit = AXE_UNIT_ONE;
    AXE_TRY(read_factor(r, negative, what, value, unit));
    while (axe_scan_take(r, '*'))
        AXE_TRY(read_factor(r, false, "a factor", value, unit));
    return AXE_OK;
}

/* Skip `word` if it comes next, whole. */
bool
axe_scan_word(axe_reader *r, const char *word)
{
    size_t n = strlen(word);

    axe_scan_peek(r);
    if (axe_scan_name_length(r) != n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}
