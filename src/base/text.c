/* text.c - text in the arena: formatting, growing buffers, interned names. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx_int.h"
#include "base/text.h"

enum { SHORT = 128 }; /* most texts are shorter: they are formatted once */

char *
axe_vtextf(axe_ctx *cx, const char *fmt, va_list ap)
{
    va_list again;
    char    text[SHORT], *s;
    int     len;

    assert(fmt);
    va_copy(again, ap);
    len = vsnprintf(text, sizeof text, fmt, ap);
    if (len < 0)
        len = 0;
    s = axe_alloc(cx, (size_t)len + 1);
    if (len < SHORT)
        memcpy(s, text, (size_t)len);
    else
        vsnprintf(s, (size_t)len + 1, fmt, again);
    va_end(again);
    return s;
}

char *
axe_textf(axe_ctx *cx, const char *fmt, ...)
{
    va_list ap;
    char   *s;

    va_start(ap, fmt);
    s = axe_vtextf(cx, fmt, ap);
    va_end(ap);
    return s;
}

static void
reserve(axe_buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 2 * SHORT;
    char  *text;

    if (b->len + n < b->cap)
        return;
    while (cap <= b->len + n)
        cap *= 2;
    text = axe_alloc(b->cx, cap);
    if (b->len > 0)
        memcpy(text, b->text, b->len);
    b->text = text;
    b->cap = cap;
}

void
axe_putn(axe_buf *b, const char *s, size_t n)
{
    reserve(b, n);
    if (n > 0)
        memcpy(b->text + b->len, s, n);
    b->len += n;
    b->text[b->len] = '\0';
}

void
axe_putc(axe_buf *b, char c)
{
    axe_putn(b, &c, 1);
}

void
axe_puts(axe_buf *b, const char *s)
{
    axe_putn(b, s, strlen(s));
}

void
axe_putf(axe_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    int     len;

    assert(fmt);
    va_start(ap, fmt);
    va_copy(again, ap);
    reserve(b, SHORT);
    len = vsnprintf(b->text + b->len, b->cap - b->len, fmt, ap);
    if (len > 0 && (size_t)len >= b->cap - b->len) {
        reserve(b, (size_t)len);
        vsnprintf(b->text + b->len, (size_t)len + 1, fmt, again);
    }
    b->len += len > 0 ? (size_t)len : 0;
    b->text[b->len] = '\0';
    va_end(again);
    va_end(ap);
}

uint64_t
axe_text_hash(const char *text, size_t len)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return h;
}

/* The place of this text in the table, free or taken. */
static const char **
probe(axe_names *t, const char *s, size_t len)
{
    uint64_t h = axe_text_hash(s, len);
    size_t   i = (size_t)(h ^ h >> 32) & (t->cap - 1);

    while (t->slot[i] &&
           (strlen(t->slot[i]) != len || memcmp(t->slot[i], s, len) != 0))
        i = (i + 1) & (t->cap - 1);
    return &t->slot[i];
}

static void
grow(axe_ctx *cx, axe_names *t)
{
    axe_names old = *t;

    t->cap = old.cap ? 2 * old.cap : 64;
    t->slot = axe_alloc_forever(cx, t->cap * sizeof t->slot[0]);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slot[i])
            *probe(t, old.slot[i], strlen(old.slot[i])) = old.slot[i];
}

const char *
axe_intern(axe_ctx *cx, const char *text, size_t len)
{
    axe_names   *t = &cx->names;
    const char **place;

    if (2 * (t->n + 1) > t->cap)
        grow(cx, t);
    place = probe(t, text, len);
    if (!*place) {
        char *copy = axe_alloc_forever(cx, len + 1);
        if (len > 0)
            memcpy(copy, text, len);
        *place = copy;
        t->n++;
    }
    return *place;
}

enum { NEAR_MAX = 32 };

/* Edit distance with swaps of neighbours, for names shorter than NEAR_MAX. */
static int
distance(const char *a, int na, const char *b, int nb)
{
    int row[3][NEAR_MAX + 1] = {{0}};

    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *cur = row[i % 3], *up = row[(i + 2) % 3], *upup = row[(i + 1) % 3];
        cur[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = up[j - 1] + (a[i - 1] != b[j - 1]);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = cur[j - 1] + 1 < best ? cur[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && upup[j - 2] + 1 < best)
                best = upup[j - 2] + 1;
            cur[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *
axe_nearest(const char *name, int n, const char *const *names)
{
    size_t      len = strlen(name);
    int         best = (int)(len + 2) / 3;
    const char *found = NULL;

    if (len > NEAR_MAX)
        return NULL;
    for (int i = 0; i < n; i++) {
        size_t k = names[i] ? strlen(names[i]) : NEAR_MAX + 1;
        if (k > NEAR_MAX)
            continue;
        if (len == 1 && (k != 1 || (name[0] ^ names[i][0]) != ('a' ^ 'A')))
            continue;
        int  d = distance(name, (int)len, names[i], (int)k);
        bool begins = k > len && memcmp(name, names[i], len) == 0;
        if (d <= best && (!found || d < best || (d == best && begins))) {
            best = d;
            found = names[i];
        }
    }
    return found;
}

/* Bytes of the character at s that a terminal may have; 0: none. */
static size_t
plain_char(const unsigned char *s, size_t n)
{
    size_t len = s[0] < 0x80   ? 1
                 : s[0] < 0xc2 ? 0
                 : s[0] < 0xe0 ? 2
                 : s[0] < 0xf0 ? 3
                 : s[0] < 0xf5 ? 4
                               : 0;

    if (len == 1)
        return (s[0] >= 0x20 && s[0] != 0x7f) || s[0] == '\t';
    if (len > n || (s[0] == 0xc2 && n > 1 && s[1] < 0xa0))
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

void
axe_put_plain(axe_buf *b, const char *s, size_t n, bool lines)
{
    for (size_t i = 0; i < n;) {
        size_t k = plain_char((const unsigned char *)s + i, n - i);
        if (lines && s[i] == '\n')
            k = 1;
        if (k > 0)
            axe_putn(b, s + i, k);
        else
            axe_putc(b, '.');
        i += k > 0 ? k : 1;
    }
}

const char *
axe_text_plain(axe_ctx *cx, const char *s)
{
    axe_buf b = {.cx = cx};

    axe_put_plain(&b, s, strlen(s), false);
    return b.text ? b.text : "";
}
