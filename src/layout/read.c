/* read.c - the reader of layout literals.
 *
 * One pass over the text with no recursion: dims nest one level deep.  Each
 * rule is one function with its grammar above it.  A reader stops at the first
 * character that cannot go on with the literal, so that the languages around
 * it (expressions, kernels) share it.
 *
 * In "L + x", x is an offset or a replica where it cannot be another layout:
 * "(" , a name that env knows as a layout, and a name before "(" are not. */
#include <inttypes.h>
#include <string.h>

#include "layout/layout_int.h"

enum { MAX_FACTOR = 16 }; /* run-time sizes in one stride */

typedef struct reader {
    axe_ctx               *cx;
    int32_t                source;
    const char            *text;
    size_t                 len, at;
    const axe_literal_env *env;
} reader;

typedef struct iters {
    int       n, cap;
    axe_iter *iter;
} iters;

static axe_span
span_of(const reader *r, size_t from, size_t to)
{
    axe_span s = {r->source, 1, 1, to > from ? (int32_t)(to - from) : 1};

    for (size_t i = 0; i < from; i++) {
        s.col++;
        if (r->text[i] == '\n') {
            s.line++;
            s.col = 1;
        }
    }
    return s;
}

/* blank = " " | "\t" | "\r" | "\n" | "//" to the end of the line */
static void
skip_blanks(reader *r)
{
    while (r->at < r->len) {
        const char *s = r->text + r->at, *end;
        if (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n') {
            r->at++;
            continue;
        }
        if (r->len - r->at < 2 || s[0] != '/' || s[1] != '/')
            return;
        end = memchr(s, '\n', r->len - r->at);
        r->at = end ? (size_t)(end - r->text) : r->len;
    }
}

/* The next character after blanks, '\0' at the end. */
static char
peek(reader *r)
{
    skip_blanks(r);
    return r->at < r->len ? r->text[r->at] : '\0';
}

static bool
take(reader *r, char c)
{
    if (c == '\0' || peek(r) != c)
        return false;
    r->at++;
    return true;
}

static bool
is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* Length of the name that begins here, 0 if none does. */
static size_t
name_length(const reader *r)
{
    const char *s = r->text + r->at;
    size_t      n = 0;

    if (r->at == r->len || !axe_is_name(s, 1))
        return 0;
    while (r->at + n < r->len && (axe_is_name(s + n, 1) || is_digit(s[n])))
        n++;
    return n;
}

/* What stands here, to be quoted: a name, a number or one character. */
static size_t
token_length(const reader *r)
{
    size_t n = name_length(r);

    if (n == 0)
        while (r->at + n < r->len && is_digit(r->text[r->at + n]))
            n++;
    return n > 0 ? n : 1;
}

static axe_status
expected(reader *r, const char *what)
{
    size_t      n;
    const char *s;

    skip_blanks(r);
    n = token_length(r);
    s = r->text + r->at;
    if (r->at >= r->len)
        return axe_fail(r->cx, span_of(r, r->at, r->at), AXE_ESYNTAX,
                        "layout: expected %s, but the text ends", what);
    if (n == 1 && (*s < ' ' || *s > '~'))
        return axe_fail(r->cx, span_of(r, r->at, r->at + 1), AXE_ESYNTAX,
                        "layout: expected %s, but found byte 0x%02x", what,
                        (unsigned)(unsigned char)*s);
    return axe_fail(r->cx, span_of(r, r->at, r->at + n), AXE_ESYNTAX,
                    "layout: expected %s, but found '%.*s'", what,
                    n < 40 ? (int)n : 40, s);
}

/* name = letter { letter | digit | "_" } */
static const char *
read_name(reader *r)
{
    size_t      n = name_length(r);
    const char *name =
        n > 0 ? axe_textf(r->cx, "%.*s", (int)n, r->text + r->at) : NULL;

    r->at += n;
    return name;
}

/* number = digit { digit }, negative if so asked: INT64_MIN can be written. */
static axe_status
read_number(reader *r, bool negative, int64_t *out)
{
    size_t  from = r->at;
    int64_t v = 0;

    for (; r->at < r->len && is_digit(r->text[r->at]); r->at++) {
        int64_t d = r->text[r->at] - '0';
        if (!axe_mul(v, 10, &v) || !axe_add(v, negative ? -d : d, &v))
            return axe_fail(r->cx, span_of(r, from, r->at + 1), AXE_EOVERFLOW,
                            "layout: a number leaves int64");
    }
    *out = v;
    return AXE_OK;
}

/* factor = number | size | constant
 *
 * Multiplies it into *value or *unit. */
static axe_status
read_factor(reader *r, bool negative, const char *what, int64_t *value,
            axe_unit *unit)
{
    int64_t     v = negative ? -1 : 1, c;
    size_t      from;
    const char *name;

    peek(r);
    from = r->at;
    if (from < r->len && is_digit(r->text[from])) {
        AXE_TRY(read_number(r, negative, &v));
    } else if ((name = read_name(r)) == NULL) {
        return expected(r, what);
    } else if (!r->env || !r->env->constant ||
               !r->env->constant(r->env->user, name, &c)) {
        *unit = axe_unit_mul(r->cx, *unit, axe_unit_symbol(r->cx, name));
    } else if (!axe_mul(v, c, &v)) {
        v = 0;
    }
    if (!axe_mul(*value, v, value))
        return axe_fail(r->cx, span_of(r, from, r->at), AXE_EOVERFLOW,
                        "layout: a product leaves int64");
    if (axe_unit_n_factor(r->cx, *unit) > MAX_FACTOR)
        return axe_fail(r->cx, span_of(r, from, r->at), AXE_ELIMIT,
                        "layout: a stride has over %d run-time sizes",
                        MAX_FACTOR);
    return AXE_OK;
}

/* scaled = [ "-" ] factor { "*" factor } */
static axe_status
read_scaled(reader *r, const char *what, int64_t *value, axe_unit *unit)
{
    bool negative = take(r, '-');

    *value = 1;
    *unit = AXE_UNIT_ONE;
    AXE_TRY(read_factor(r, negative, what, value, unit));
    while (take(r, '*'))
        AXE_TRY(read_factor(r, false, "a factor", value, unit));
    return AXE_OK;
}

/* extent = scaled, without a size */
static axe_status
read_extent(reader *r, axe_iter *it)
{
    size_t from;

    peek(r);
    from = r->at;
    AXE_TRY(read_scaled(r, "an extent", &it->extent, &it->unit));
    if (it->unit == AXE_UNIT_ONE)
        return AXE_OK;
    return axe_fail(r->cx, span_of(r, from, r->at), AXE_ESYNTAX,
                    "layout: an extent must be a number, and '%s' is a "
                    "run-time size",
                    axe_unit_text(r->cx, it->unit));
}

/* axis = [ "@" name ] */
static axe_status
read_axis(reader *r, axe_axis *out)
{
    size_t      from;
    const char *name;

    *out = AXE_AXIS_M;
    if (!take(r, '@'))
        return AXE_OK;
    peek(r);
    from = r->at;
    name = read_name(r);
    if (!name)
        return expected(r, "an axis");
    return axe_axis_find(r->cx, span_of(r, from, r->at), name, out);
}

/* stride = scaled axis */
static axe_status
read_stride(reader *r, axe_iter *it)
{
    AXE_TRY(read_scaled(r, "a stride", &it->stride, &it->unit));
    return read_axis(r, &it->axis);
}

static void
append(reader *r, iters *v, axe_iter it)
{
    if (v->n == v->cap) {
        axe_iter *more =
            axe_new_array(r->cx, axe_iter, v->cap ? 2 * v->cap : 8);
        axe_iters_copy(more, v->n, v->iter);
        v->iter = more;
        v->cap = v->cap ? 2 * v->cap : 8;
    }
    v->iter[v->n++] = it;
}

/* The dims of a tree: dim k is iters [k ? end[k - 1] : 0, end[k]). */
typedef struct dims {
    int  n, cap;
    int *end;
} dims;

static void
append_dim(reader *r, dims *d, int end)
{
    if (d->n == d->cap) {
        int *more = axe_new_array(r->cx, int, d->cap ? 2 * d->cap : 8);
        if (d->n > 0)
            memcpy(more, d->end, (size_t)d->n * sizeof *more);
        d->end = more;
        d->cap = d->cap ? 2 * d->cap : 8;
    }
    d->end[d->n++] = end;
}

/* dim = extent | "(" [ extent { "," extent } ] ")" */
static axe_status
read_dim(reader *r, iters *v)
{
    axe_iter it = {1, 0, AXE_AXIS_M, AXE_UNIT_ONE};

    if (!take(r, '(')) {
        AXE_TRY(read_extent(r, &it));
        append(r, v, it);
        return AXE_OK;
    }
    if (take(r, ')'))
        return AXE_OK;
    do {
        if (peek(r) == '(')
            return expected(r, "an extent (dims nest one level deep)");
        AXE_TRY(read_extent(r, &it));
        append(r, v, it);
    } while (take(r, ','));
    return take(r, ')') ? AXE_OK : expected(r, "',' or ')'");
}

/* extents = "(" [ dim { "," dim } ] ")" */
static axe_status
read_extents(reader *r, iters *v, dims *d)
{
    if (!take(r, '('))
        return expected(r, "'(' before the extents");
    if (take(r, ')')) {
        append_dim(r, d, 0);
        return AXE_OK;
    }
    do {
        AXE_TRY(read_dim(r, v));
        append_dim(r, d, v->n);
    } while (take(r, ','));
    return take(r, ')') ? AXE_OK : expected(r, "',' or ')'");
}

/* The strides of iters [from, to): bare if there is one and it is bare. */
static axe_status
read_dim_strides(reader *r, iters *v, int dim, int from, int to)
{
    bool   open;
    size_t begin;

    peek(r);
    begin = r->at;
    open = take(r, '(');
    for (int k = from; k < to; k++) {
        if (k > from && !take(r, ','))
            break;
        AXE_TRY(read_stride(r, &v->iter[k]));
        if (!open && to - from == 1)
            return AXE_OK;
    }
    if (open && take(r, ')'))
        return AXE_OK;
    return axe_fail(r->cx, span_of(r, begin, r->at), AXE_ESYNTAX,
                    "layout: dim %d has %d extent%s, and its strides are not "
                    "nested in the same way",
                    dim, to - from, to - from == 1 ? "" : "s");
}

/* strides = as the extents, with a stride for each */
static axe_status
read_strides(reader *r, iters *v, const dims *d)
{
    if (!take(r, '('))
        return expected(r, "'(' before the strides");
    if (v->n == 0 && d->n == 1 && take(r, ')'))
        return AXE_OK;
    for (int k = 0; k < d->n; k++) {
        if (k > 0 && !take(r, ','))
            return axe_fail(r->cx, span_of(r, r->at, r->at), AXE_ESYNTAX,
                            "layout: %d dims of extents, but %d of strides",
                            d->n, k);
        AXE_TRY(read_dim_strides(r, v, k, k ? d->end[k - 1] : 0, d->end[k]));
    }
    return take(r, ')') ? AXE_OK : expected(r, "')' after the last stride");
}

/* replica = "[" ( extent ":" stride | extents ":" strides ) "]"
 *
 * The lists are flat. */
static axe_status
read_replica(reader *r, iters *v)
{
    axe_iter it = {1, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    iters    list = {0};
    dims     flat = {0};
    size_t   from;

    if (!take(r, '['))
        return expected(r, "'['");
    peek(r);
    from = r->at;
    if (peek(r) != '(') {
        AXE_TRY(read_extent(r, &it));
        if (!take(r, ':'))
            return expected(r, "':'");
        AXE_TRY(read_stride(r, &it));
        append(r, &list, it);
    } else {
        AXE_TRY(read_extents(r, &list, &flat));
        if (flat.n != list.n && list.n > 0)
            return axe_fail(r->cx, span_of(r, from, r->at), AXE_ESYNTAX,
                            "layout: replicas have no dims; write one list");
        if (!take(r, ':'))
            return expected(r, "':'");
        AXE_TRY(read_strides(r, &list, &flat));
    }
    for (int k = 0; k < list.n; k++)
        append(r, v, list.iter[k]);
    return take(r, ']') ? AXE_OK : expected(r, "']'");
}

/* Does an offset follow the sign, or another layout? */
static bool
offset_follows(reader *r)
{
    size_t      from, n;
    const char *name;
    bool        yes;

    if (take(r, '-') || is_digit(peek(r)))
        return true;
    n = name_length(r);
    if (n == 0)
        return false;
    from = r->at;
    name = read_name(r);
    yes = peek(r) != '(' &&
          !(r->env && r->env->layout && r->env->layout(r->env->user, name));
    r->at = from;
    return yes;
}

/* offset = ( "+" | "-" ) scaled axis */
static axe_status
read_offset(reader *r, bool negative, axe_offset *o)
{
    size_t from = r->at;

    AXE_TRY(read_scaled(r, "an offset", &o->value, &o->unit));
    AXE_TRY(read_axis(r, &o->axis));
    if (negative && !axe_mul(o->value, -1, &o->value))
        return axe_fail(r->cx, span_of(r, from, r->at), AXE_EOVERFLOW,
                        "layout: a number leaves int64");
    return AXE_OK;
}

typedef struct offsets {
    int         n, cap;
    axe_offset *offset;
} offsets;

static void
append_offset(reader *r, offsets *v, axe_offset o)
{
    if (v->n == v->cap) {
        int         cap = v->cap ? 2 * v->cap : 4;
        axe_offset *more = axe_new_array(r->cx, axe_offset, cap);
        if (v->n > 0)
            memcpy(more, v->offset, (size_t)v->n * sizeof *more);
        v->offset = more;
        v->cap = cap;
    }
    v->offset[v->n++] = o;
}

/* tail = { "+" replica | ( "+" | "-" ) offset } */
static axe_status
read_tail(reader *r, iters *replica, offsets *off)
{
    for (;;) {
        size_t     from = r->at, after;
        bool       negative = peek(r) == '-';
        axe_offset o;
        if (!take(r, '+') && !take(r, '-')) {
            r->at = from;
            return AXE_OK;
        }
        if (!negative && peek(r) == '[') {
            AXE_TRY(read_replica(r, replica));
            continue;
        }
        after = r->at;
        if (!offset_follows(r)) {
            r->at = from;
            return AXE_OK;
        }
        r->at = after;
        AXE_TRY(read_offset(r, negative, &o));
        append_offset(r, off, o);
    }
}

/* Skip `word` if it comes next, whole. */
static bool
take_word(reader *r, const char *word)
{
    size_t n = strlen(word);

    peek(r);
    if (name_length(r) != n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static axe_status
read_field(reader *r, int limit, int *out)
{
    bool    negative = take(r, '-');
    size_t  from;
    int64_t v;

    if (!is_digit(peek(r)))
        return expected(r, "a number");
    from = r->at;
    AXE_TRY(read_number(r, negative, &v));
    if (v < -limit || v > limit)
        return axe_fail(r->cx, span_of(r, from, r->at), AXE_ESHAPE,
                        "layout: %" PRId64 " is no field of a swizzle", v);
    *out = (int)v;
    return AXE_OK;
}

/* swizzle = "swizzle" ( "(" ( 32 | 64 | 128 ) ")"
 *                     | "<" bits "," base "," shift ">" [ unit "b" ] ) */
static axe_status
read_swizzle(reader *r, axe_swizzle *out)
{
    axe_swizzle s = {0, 4, 3, 8};
    int         row;

    if (take(r, '(')) {
        AXE_TRY(read_field(r, 1 << 20, &row));
        s.bits = row == 32 ? 1 : row == 64 ? 2 : row == 128 ? 3 : 0;
        if (s.bits == 0)
            return axe_fail(r->cx, span_of(r, r->at - 1, r->at), AXE_ESHAPE,
                            "layout: there is no swizzle(%d); rows are of 32, "
                            "64 or 128 bytes",
                            row);
        *out = s;
        return take(r, ')') ? AXE_OK : expected(r, "')'");
    }
    if (!take(r, '<'))
        return expected(r, "'(' or '<' after 'swizzle'");
    s.unit_bits = 0;
    AXE_TRY(read_field(r, 64, &s.bits));
    if (!take(r, ','))
        return expected(r, "','");
    AXE_TRY(read_field(r, 64, &s.base));
    if (!take(r, ','))
        return expected(r, "','");
    AXE_TRY(read_field(r, 64, &s.shift));
    if (!take(r, '>'))
        return expected(r, "'>'");
    if (is_digit(peek(r))) {
        AXE_TRY(read_field(r, 1 << 20, &s.unit_bits));
        if (!take_word(r, "b"))
            return expected(r, "'b' after the bits of a unit");
    }
    *out = s;
    return AXE_OK;
}

/* layout = [ swizzle "o" ] extents ":" strides tail */
static axe_status
read_layout(reader *r, const axe_layout **out)
{
    axe_layout spec = {0};
    iters      shard = {0}, replica = {0};
    offsets    off = {0};
    dims       d = {0};
    axe_status st;
    size_t     from;

    peek(r);
    from = r->at;
    if (take_word(r, "swizzle")) {
        AXE_TRY(read_swizzle(r, &spec.swizzle));
        if (!take_word(r, "o"))
            return expected(r, "'o' between swizzle and layout");
    }
    AXE_TRY(read_extents(r, &shard, &d));
    if (!take(r, ':'))
        return expected(r, "':' between extents and strides");
    AXE_TRY(read_strides(r, &shard, &d));
    AXE_TRY(read_tail(r, &replica, &off));
    spec.n_shard = shard.n;
    spec.shard = shard.iter;
    spec.n_replica = replica.n;
    spec.replica = replica.iter;
    spec.n_offset = off.n;
    spec.offset = off.offset;
    spec.n_dim = d.n;
    spec.dim_end = d.end;
    st = axe_layout_make(r->cx, &spec, out);
    if (st != AXE_OK && r->source > 0)
        axe_note(r->cx, span_of(r, from, r->at), "in this layout");
    return st;
}

axe_status
axe_layout_read_at(axe_ctx *cx, int32_t source, const char *text, size_t len,
                   size_t at, const axe_literal_env *env,
                   const axe_layout **out, size_t *end)
{
    reader            r = {cx, source, text, len, at, env};
    const axe_layout *l;

    AXE_TRY(read_layout(&r, &l));
    *out = l;
    *end = r.at;
    return AXE_OK;
}

axe_status
axe_swizzle_read_at(axe_ctx *cx, int32_t source, const char *text, size_t len,
                    size_t at, axe_swizzle *out, size_t *end)
{
    reader      r = {cx, source, text, len, at, NULL};
    axe_swizzle s;

    if (!take_word(&r, "swizzle"))
        return expected(&r, "'swizzle'");
    AXE_TRY(read_swizzle(&r, &s));
    AXE_TRY(axe_swizzle_check(cx, s));
    *out = s;
    *end = r.at;
    return AXE_OK;
}

axe_status
axe_layout_read(axe_ctx *cx, const char *text, const axe_layout **out)
{
    reader            r = {cx, 0, text, strlen(text), 0, NULL};
    const axe_layout *l;

    AXE_TRY(read_layout(&r, &l));
    if (peek(&r) != '\0' || r.at < r.len)
        return expected(&r, "the end");
    *out = l;
    return AXE_OK;
}
