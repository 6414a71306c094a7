/* text.c - words and numbers of a text. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"

void
read_fail(reader *r, const char *format, ...)
{
    va_list ap;
    int     n;

    if (r->bad)
        return;
    r->bad = true;
    n = snprintf(r->said, r->n_said, "line %d of the PTX: ", r->line);
    va_start(ap, format);
    vsnprintf(r->said + n, r->n_said - (size_t)n, format, ap);
    va_end(ap);
}

void *
read_grow(void *p, int n, size_t size)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return p;
    p = realloc(p, (size_t)(n > 0 ? 2 * n : 1) * size);
    if (!p)
        abort();
    return p;
}

/* -------------------------------------------------------------------- words */

void
read_skip(reader *r)
{
    for (;;) {
        if (*r->s == '\n')
            r->line++;
        if (isspace((unsigned char)*r->s))
            r->s++;
        else if (r->s[0] == '/' && r->s[1] == '/')
            r->s += strcspn(r->s, "\n");
        else
            return;
    }
}

bool
read_eat(reader *r, char c)
{
    read_skip(r);
    if (*r->s != c)
        return false;
    r->s++;
    return true;
}

void
read_want(reader *r, char c)
{
    if (!read_eat(r, c))
        read_fail(r, "'%c' is missing before '%.20s'", c, r->s);
}

bool
read_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* Letters, and `extra` ones. */
const char *
read_word(reader *r, char out[MAX_NAME], const char *extra)
{
    int n = 0;

    read_skip(r);
    while (n < MAX_NAME - 1 && *r->s &&
           (read_in_word(*r->s) || strchr(extra, *r->s)))
        out[n++] = *r->s++;
    out[n] = '\0';
    if (n == 0)
        read_fail(r, "a word is missing before '%.20s'", r->s);
    return out;
}

/* ------------------------------------------------------------------ numbers */

static uint64_t
atom(reader *r)
{
    char    *end;
    uint64_t v;

    read_skip(r);
    if (read_eat(r, '(')) {
        v = read_number(r, 0);
        read_want(r, ')');
        return v;
    }
    if (read_eat(r, '-'))
        return 0 - atom(r);
    if (read_eat(r, '~'))
        return ~atom(r);
    if (r->s[0] == '0' && (r->s[1] == 'f' || r->s[1] == 'd')) {
        v = strtoull(r->s + 2, &end, 16);
    } else {
        v = strtoull(r->s, &end, 0);
        end += *end == 'U';
    }
    if (*end == '.') {
        double d = strtod(r->s, &end);
        memcpy(&v, &d, sizeof v);
    }
    if (end == r->s)
        read_fail(r, "a number is missing before '%.20s'", r->s);
    r->s = end;
    return v;
}

static const struct {
    const char *text;
    int         binds;
} binary[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4},
              {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6},  {"%", 6}};

static uint64_t
apply(reader *r, char op, uint64_t a, uint64_t b)
{
    switch (op) {
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case '<':
        return a << (b & 63);
    case '>':
        return a >> (b & 63);
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    }
    if (b == 0)
        read_fail(r, "a division by 0");
    return b == 0 ? 0 : op == '/' ? a / b : a % b;
}

/* A constant expression, of operators that bind more than `least`. */
uint64_t
read_number(reader *r, int least)
{
    uint64_t a = atom(r);

    for (;;) {
        size_t i = 0;
        read_skip(r);
        while (i < LEN(binary) &&
               strncmp(r->s, binary[i].text, strlen(binary[i].text)) != 0)
            i++;
        if (i == LEN(binary) || binary[i].binds <= least || r->bad)
            return a;
        r->s += strlen(binary[i].text);
        a = apply(r, binary[i].text[0], a, read_number(r, binary[i].binds));
    }
}
