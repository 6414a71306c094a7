/* json.c - a reader and a writer of JSON.
 *
 * The reader is recursive descent over a text of known length: it never looks
 * at text[len], counts its depth, and reports the first thing it cannot read.
 * Numbers follow RFC 8259 to the letter, so "01", "+1" and "1." are errors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

typedef struct reader {
    axe_ctx    *cx;
    const char *text;
    size_t      len, at;
} reader;

static axe_status value(reader *r, int depth, axe_json *out);

static axe_status
syntax(reader *r, size_t at, const char *what)
{
    return axe_fail(r->cx, AXE_NOWHERE, AXE_ESYNTAX, "column %zu: %s", at + 1,
                    what);
}

static int
peek(const reader *r)
{
    return r->at < r->len ? (unsigned char)r->text[r->at] : -1;
}

static void
blanks(reader *r)
{
    while (r->at < r->len && memchr(" \t\r\n", r->text[r->at], 4))
        r->at++;
}

static bool
accept(reader *r, char c)
{
    blanks(r);
    if (peek(r) != (unsigned char)c)
        return false;
    r->at++;
    return true;
}

/* Length of the UTF-8 sequence at s, of at most n bytes; 0 if it is not one
 * (overlong forms, surrogates and values over 10FFFF are not). */
static size_t
utf8_len(const unsigned char *s, size_t n)
{
    static const struct row {
        unsigned char lo, hi, second_lo, second_hi;
        size_t        len;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (int i = 0; i < AXE_LEN(rows); i++) {
        if (s[0] < rows[i].lo || s[0] > rows[i].hi)
            continue;
        if (n < rows[i].len)
            return 0;
        if (rows[i].len > 1 &&
            (s[1] < rows[i].second_lo || s[1] > rows[i].second_hi))
            return 0;
        for (size_t k = 2; k < rows[i].len; k++)
            if (s[k] < 0x80 || s[k] > 0xbf)
                return 0;
        return rows[i].len;
    }
    return 0;
}

static void
put_utf8(axe_buf *b, uint32_t c)
{
    if (c < 0x80) {
        axe_putc(b, (char)c);
        return;
    }
    if (c < 0x800) {
        axe_putc(b, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000)
            axe_putc(b, (char)(0xe0 | c >> 12));
        else {
            axe_putc(b, (char)(0xf0 | c >> 18));
            axe_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        axe_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    axe_putc(b, (char)(0x80 | (c & 0x3f)));
}

static bool
hex4(reader *r, uint32_t *out)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t          v = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        int         c = peek(r);
        const char *d;

        if (c >= 'A' && c <= 'F')
            c += 'a' - 'A';
        d = c > 0 ? memchr(digits, c, 16) : NULL;
        if (!d)
            return false;
        v = v << 4 | (uint32_t)(d - digits);
    }
    *out = v;
    return true;
}

/* After "\u": one code point, two escapes if it is a surrogate pair. */
static axe_status
escape_u(reader *r, axe_buf *b)
{
    size_t   at = r->at - 2;
    uint32_t c, low;

    if (!hex4(r, &c))
        return syntax(r, at, "\\u needs four hexadecimal digits");
    if (c >= 0xd800 && c < 0xdc00 && r->len - r->at >= 2 &&
        memcmp(r->text + r->at, "\\u", 2) == 0) {
        r->at += 2;
        if (!hex4(r, &low))
            return syntax(r, at, "\\u needs four hexadecimal digits");
        if (low >= 0xdc00 && low < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c >= 0xd800 && c < 0xe000)
        return syntax(r, at, "half of a surrogate pair");
    put_utf8(b, c);
    return AXE_OK;
}

static axe_status
escape(reader *r, axe_buf *b)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int               c = peek(r);
    const char       *p = c > 0 ? memchr(from, c, sizeof from - 1) : NULL;

    if (c < 0)
        return syntax(r, r->at, "the text is not closed");
    r->at++;
    if (c == 'u')
        return escape_u(r, b);
    if (!p)
        return syntax(r, r->at - 2, "unknown escape");
    axe_putc(b, to[p - from]);
    return AXE_OK;
}

/* A text; r stands behind its opening quote. */
static axe_status
string(reader *r, const char **out, size_t *len)
{
    size_t  start = r->at - 1;
    axe_buf b = {.cx = r->cx};

    while (peek(r) != '"') {
        size_t n = 0;
        int    c = peek(r);

        if (c < 0)
            return syntax(r, start, "the text is not closed");
        if (c < 0x20)
            return syntax(r, r->at, "a control character in a text");
        if (c == '\\') {
            r->at++;
            AXE_TRY(escape(r, &b));
            continue;
        }
        n = utf8_len((const unsigned char *)r->text + r->at, r->len - r->at);
        if (n == 0)
            return syntax(r, r->at, "a byte that is not UTF-8");
        axe_putn(&b, r->text + r->at, n);
        r->at += n;
    }
    r->at++;
    *out = b.text ? b.text : "";
    *len = b.len;
    return AXE_OK;
}

static size_t
digits(reader *r)
{
    size_t start = r->at;

    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
    return r->at - start;
}

/* Skip a number by RFC 8259; is it one, and an integer? */
static bool
skip_number(reader *r, bool *integer)
{
    size_t n_lead;

    if (peek(r) == '-')
        r->at++;
    n_lead = peek(r) == '0' ? 1 : digits(r);
    if (peek(r) == '0')
        r->at++;
    *integer = true;
    if (n_lead == 0)
        return false;
    if (peek(r) == '.') {
        r->at++;
        *integer = false;
        if (digits(r) == 0)
            return false;
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        *integer = false;
        if (peek(r) == '+' || peek(r) == '-')
            r->at++;
        if (digits(r) == 0)
            return false;
    }
    return true;
}

static bool
to_int64(const char *s, size_t n, int64_t *out)
{
    bool    neg = n > 0 && s[0] == '-';
    int64_t v = 0;

    for (size_t i = neg; i < n; i++)
        if (!axe_mul(v, 10, &v) ||
            !axe_add(v, neg ? '0' - s[i] : s[i] - '0', &v))
            return false;
    *out = v;
    return true;
}

static axe_status
number(reader *r, axe_json *out)
{
    size_t  start = r->at;
    bool    integer;
    axe_buf b = {.cx = r->cx};

    if (!skip_number(r, &integer))
        return syntax(r, start, "not a number");
    out->kind = AXE_JSON_INT;
    if (integer && to_int64(r->text + start, r->at - start, &out->integer))
        return AXE_OK;
    axe_putn(&b, r->text + start, r->at - start);
    out->kind = AXE_JSON_REAL;
    out->text = b.text;
    out->len = b.len;
    return AXE_OK;
}

static axe_status
word(reader *r, axe_json *out)
{
    static const struct row {
        const char   *name;
        axe_json_kind kind;
        bool          truth;
    } rows[] = {
        {"null", AXE_JSON_NULL, false},
        {"true", AXE_JSON_BOOL, true},
        {"false", AXE_JSON_BOOL, false},
    };

    for (int i = 0; i < AXE_LEN(rows); i++) {
        size_t n = strlen(rows[i].name);

        if (r->len - r->at < n || memcmp(r->text + r->at, rows[i].name, n) != 0)
            continue;
        r->at += n;
        out->kind = rows[i].kind;
        out->truth = rows[i].truth;
        return AXE_OK;
    }
    return syntax(r, r->at, "expected a value");
}

static int
by_key(const void *a, const void *b)
{
    const axe_json *x = *(const axe_json *const *)a;
    const axe_json *y = *(const axe_json *const *)b;
    size_t          n = x->key_len < y->key_len ? x->key_len : y->key_len;
    int             c = memcmp(x->key, y->key, n);

    if (c != 0)
        return c;
    if (x->key_len != y->key_len)
        return x->key_len < y->key_len ? -1 : 1;
    return x->col < y->col ? -1 : x->col > y->col;
}

static axe_status
check_keys(reader *r, const axe_json *object)
{
    int              n = object->n_child;
    const axe_json **all;

    if (n < 2)
        return AXE_OK;
    all = axe_new_array(r->cx, const axe_json *, n);
    n = 0;
    for (const axe_json *c = object->child; c; c = c->next)
        all[n++] = c;
    qsort(all, (size_t)n, sizeof *all, by_key);
    for (int i = 1; i < n; i++)
        if (all[i - 1]->key_len == all[i]->key_len &&
            memcmp(all[i - 1]->key, all[i]->key, all[i]->key_len) == 0)
            return axe_fail(r->cx, AXE_NOWHERE, AXE_ESYNTAX,
                            "column %zu: the key \"%s\" is there twice",
                            all[i]->col, all[i]->key);
    return AXE_OK;
}

static axe_status
member_key(reader *r, axe_json *out)
{
    if (!accept(r, '"'))
        return syntax(r, r->at, "expected a key in quotes");
    AXE_TRY(string(r, &out->key, &out->key_len));
    if (!accept(r, ':'))
        return syntax(r, r->at, "expected ':'");
    return AXE_OK;
}

/* The inside of a list or an object; r stands behind its opening bracket. */
static axe_status
children(reader *r, int depth, char close, axe_json *out)
{
    const axe_json **link = &out->child;

    if (depth >= AXE_JSON_DEPTH)
        return axe_fail(r->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "column %zu: nested deeper than %d", r->at,
                        AXE_JSON_DEPTH);
    if (accept(r, close))
        return AXE_OK;
    do {
        axe_json *c = axe_new(r->cx, axe_json);

        if (out->kind == AXE_JSON_OBJECT)
            AXE_TRY(member_key(r, c));
        AXE_TRY(value(r, depth + 1, c));
        *link = c;
        link = &c->next;
        if (out->n_child == INT32_MAX)
            return syntax(r, r->at, "too many values");
        out->n_child++;
    } while (accept(r, ','));
    if (!accept(r, close))
        return syntax(r, r->at,
                      close == ']' ? "expected ',' or ']'"
                                   : "expected ',' or '}'");
    return out->kind == AXE_JSON_OBJECT ? check_keys(r, out) : AXE_OK;
}

static axe_status
value(reader *r, int depth, axe_json *out)
{
    int c;

    blanks(r);
    c = peek(r);
    out->col = r->at + 1;
    if (c == '-' || (c >= '0' && c <= '9'))
        return number(r, out);
    if (c != '"' && c != '[' && c != '{')
        return word(r, out);
    r->at++;
    if (c == '"') {
        out->kind = AXE_JSON_TEXT;
        return string(r, &out->text, &out->len);
    }
    out->kind = c == '[' ? AXE_JSON_LIST : AXE_JSON_OBJECT;
    return children(r, depth, c == '[' ? ']' : '}', out);
}

axe_status
axe_json_read(axe_ctx *cx, const char *text, size_t len, const axe_json **out)
{
    reader    r = {.cx = cx, .text = text, .len = len};
    axe_json *v = axe_new(cx, axe_json);

    AXE_TRY(value(&r, 0, v));
    blanks(&r);
    if (r.at < len)
        return syntax(&r, r.at, "expected the end");
    *out = v;
    return AXE_OK;
}

const axe_json *
axe_json_get(const axe_json *v, const char *key)
{
    size_t n = strlen(key);

    if (!v || v->kind != AXE_JSON_OBJECT)
        return NULL;
    for (const axe_json *c = v->child; c; c = c->next)
        if (c->key_len == n && memcmp(c->key, key, n) == 0)
            return c;
    return NULL;
}

const char *
axe_json_kind_text(const axe_json *v)
{
    static const char *const names[] = {
        [AXE_JSON_NULL] = "null",        [AXE_JSON_BOOL] = "a truth value",
        [AXE_JSON_INT] = "an integer",   [AXE_JSON_REAL] = "a number",
        [AXE_JSON_TEXT] = "a text",      [AXE_JSON_LIST] = "a list",
        [AXE_JSON_OBJECT] = "an object",
    };

    return v ? names[v->kind] : "nothing";
}

void
axe_json_put_text(axe_buf *b, const char *text, size_t len)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";

    axe_putc(b, '"');
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        const char   *p = c ? memchr(from, c, sizeof from - 1) : NULL;
        size_t        n = utf8_len((const unsigned char *)text + i, len - i);

        if (p)
            axe_putf(b, "\\%c", to[p - from]);
        else if (c < 0x20)
            axe_putf(b, "\\u%04x", c);
        else if (n == 0)
            axe_puts(b, "\xef\xbf\xbd");
        else
            axe_putn(b, text + i, n);
        i += n > 0 ? n : 1;
    }
    axe_putc(b, '"');
}

static void
put_children(axe_buf *b, const axe_json *v)
{
    bool object = v->kind == AXE_JSON_OBJECT;

    axe_putc(b, object ? '{' : '[');
    for (const axe_json *c = v->child; c; c = c->next) {
        if (object) {
            axe_json_put_text(b, c->key, c->key_len);
            axe_putc(b, ':');
        }
        axe_json_put(b, c);
        if (c->next)
            axe_putc(b, ',');
    }
    axe_putc(b, object ? '}' : ']');
}

void
axe_json_put(axe_buf *b, const axe_json *v)
{
    switch (v->kind) {
    case AXE_JSON_NULL:
        axe_puts(b, "null");
        break;
    case AXE_JSON_BOOL:
        axe_puts(b, v->truth ? "true" : "false");
        break;
    case AXE_JSON_INT:
        axe_putf(b, "%" PRId64, v->integer);
        break;
    case AXE_JSON_REAL:
        axe_putn(b, v->text, v->len);
        break;
    case AXE_JSON_TEXT:
        axe_json_put_text(b, v->text, v->len);
        break;
    case AXE_JSON_LIST:
    case AXE_JSON_OBJECT:
        put_children(b, v);
        break;
    }
}
