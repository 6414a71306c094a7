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

#include "base/ctx.h"
#include "layout/scan.h"

typedef struct iters {
    int       n, cap;
    axe_iter *iter;
} iters;

/* extent = scaled, without a size */
static axe_status
read_extent(axe_reader *r, axe_iter *it)
{
    size_t from;

    axe_scan_peek(r);
    from = r->at;
    AXE_TRY(axe_scan_scaled(r, "an extent", &it->extent, &it->unit));
    if (it->unit == AXE_UNIT_ONE)
        return AXE_OK;
    return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESYNTAX,
                    "layout: an extent must be a number, and '%s' is a "
                    "run-time size",
                    axe_unit_text(r->cx, it->unit));
}

/* axis = [ "@" name ] */
static axe_status
read_axis(axe_reader *r, axe_axis *out)
{
    size_t      from;
    const char *name;

    *out = AXE_AXIS_M;
    if (!axe_scan_take(r, '@'))
        return AXE_OK;
    axe_scan_peek(r);
    from = r->at;
    name = axe_scan_name(r);
    if (!name)
        return axe_scan_expected(r, "an axis");
    return axe_axis_find(r->cx, axe_scan_span(r, from, r->at), name, out);
}

/* stride = scaled axis */
static axe_status
read_stride(axe_reader *r, axe_iter *it)
{
    AXE_TRY(axe_scan_scaled(r, "a stride", &it->stride, &it->unit));
    return read_axis(r, &it->axis);
}

static void
append(axe_reader *r, iters *v, axe_iter it)
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
append_dim(axe_reader *r, dims *d, int end)
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
read_dim(axe_reader *r, iters *v)
{
    axe_iter it = {1, 0, AXE_AXIS_M, AXE_UNIT_ONE};

    if (!axe_scan_take(r, '(')) {
        AXE_TRY(read_extent(r, &it));
        append(r, v, it);
        return AXE_OK;
    }
    if (axe_scan_take(r, ')'))
        return AXE_OK;
    do {
        if (axe_scan_peek(r) == '(')
            return axe_scan_expected(r, "an extent (dims nest one level deep)");
        AXE_TRY(read_extent(r, &it));
        append(r, v, it);
    } while (axe_scan_take(r, ','));
    return axe_scan_take(r, ')') ? AXE_OK : axe_scan_expected(r, "',' or ')'");
}

/* extents = "(" [ dim { "," dim } ] ")" */
static axe_status
read_extents(axe_reader *r, iters *v, dims *d)
{
    if (!axe_scan_take(r, '('))
        return axe_scan_expected(r, "'(' before the extents");
    if (axe_scan_take(r, ')')) {
        append_dim(r, d, 0);
        return AXE_OK;
    }
    do {
        AXE_TRY(read_dim(r, v));
        append_dim(r, d, v->n);
    } while (axe_scan_take(r, ','));
    return axe_scan_take(r, ')') ? AXE_OK : axe_scan_expected(r, "',' or ')'");
}

/* The strides of iters [from, to): bare if there is one and it is bare. */
static axe_status
read_dim_strides(axe_reader *r, iters *v, int dim, int from, int to)
{
    size_t begin;
    bool   nested;

    axe_scan_peek(r);
    begin = r->at;
    nested = axe_scan_take(r, '(');
    if (!nested && to - from == 1)
        return read_stride(r, &v->iter[from]);
    for (int k = from; nested && k < to; k++) {
        if (k > from && !axe_scan_take(r, ','))
            break;
        AXE_TRY(read_stride(r, &v->iter[k]));
    }
    if (nested && axe_scan_take(r, ')'))
        return AXE_OK;
    return axe_fail(r->cx, axe_scan_span(r, begin, r->at), AXE_ESYNTAX,
                    "layout: dim %d has %d extent%s, and its strides are not "
                    "nested in the same way",
                    dim, to - from, to - from == 1 ? "" : "s");
}

/* strides = as the extents, with a stride for each */
static axe_status
read_strides(axe_reader *r, iters *v, const dims *d)
{
    if (!axe_scan_take(r, '('))
        return axe_scan_expected(r, "'(' before the strides");
    if (v->n == 0 && d->n == 1 && axe_scan_take(r, ')'))
        return AXE_OK;
    for (int k = 0; k < d->n; k++) {
        if (k > 0 && !axe_scan_take(r, ','))
            return axe_fail(r->cx, axe_scan_span(r, r->at, r->at), AXE_ESYNTAX,
                            "layout: %d dims of extents, but %d of strides",
                            d->n, k);
        AXE_TRY(read_dim_strides(r, v, k, k ? d->end[k - 1] : 0, d->end[k]));
    }
    return axe_scan_take(r, ')')
               ? AXE_OK
               : axe_scan_expected(r, "')' after the last stride");
}

/* replica = "[" ( extent ":" stride | extents ":" strides ) "]"
 *
 * The lists are flat. */
static axe_status
read_replica(axe_reader *r, iters *v)
{
    axe_iter it = {1, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    iters    list = {0};
    dims     flat = {0};
    size_t   from;

    if (!axe_scan_take(r, '['))
        return axe_scan_expected(r, "'['");
    axe_scan_peek(r);
    from = r->at;
    if (axe_scan_peek(r) != '(') {
        AXE_TRY(read_extent(r, &it));
        if (!axe_scan_take(r, ':'))
            return axe_scan_expected(r, "':'");
        AXE_TRY(read_stride(r, &it));
        append(r, &list, it);
    } else {
        AXE_TRY(read_extents(r, &list, &flat));
        if (flat.n != list.n && list.n > 0)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESYNTAX,
                            "layout: replicas have no dims; write one list");
        if (!axe_scan_take(r, ':'))
            return axe_scan_expected(r, "':'");
        AXE_TRY(read_strides(r, &list, &flat));
    }
    for (int k = 0; k < list.n; k++)
        append(r, v, list.iter[k]);
    return axe_scan_take(r, ']') ? AXE_OK : axe_scan_expected(r, "']'");
}

/* Does an offset follow the sign, or another layout? */
static bool
offset_follows(axe_reader *r)
{
    size_t      from, n;
    const char *name;
    bool        yes;

    if (axe_scan_take(r, '-') || axe_is_digit(axe_scan_peek(r)))
        return true;
    n = axe_scan_name_length(r);
    if (n == 0)
        return false;
    from = r->at;
    name = axe_scan_name(r);
    yes = axe_scan_peek(r) != '(' &&
          !(r->env && r->env->layout && r->env->layout(r->env->user, name));
    r->at = from;
    return yes;
}

/* offset = ( "+" | "-" ) scaled axis */
static axe_status
read_offset(axe_reader *r, bool negative, axe_offset *o)
{
    size_t from = r->at;

    AXE_TRY(axe_scan_scaled(r, "an offset", &o->value, &o->unit));
    AXE_TRY(read_axis(r, &o->axis));
    if (negative && !axe_mul(o->value, -1, &o->value))
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_EOVERFLOW,
                        "layout: a number leaves int64");
    return AXE_OK;
}

typedef struct offsets {
    int         n, cap;
    axe_offset *offset;
} offsets;

static void
append_offset(axe_reader *r, offsets *v, axe_offset o)
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
read_tail(axe_reader *r, iters *replica, offsets *off)
{
    for (;;) {
        size_t     from = r->at, after;
        bool       negative = axe_scan_peek(r) == '-';
        axe_offset o;
        if (!axe_scan_take(r, '+') && !axe_scan_take(r, '-')) {
            r->at = from;
            return AXE_OK;
        }
        if (!negative && axe_scan_peek(r) == '[') {
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

static axe_status
read_field(axe_reader *r, int limit, int *out)
{
    bool    negative = axe_scan_take(r, '-');
    size_t  from;
    int64_t v;

    if (!axe_is_digit(axe_scan_peek(r)))
        return axe_scan_expected(r, "a number");
    from = r->at;
    AXE_TRY(axe_scan_number(r, negative, &v));
    if (v < -limit || v > limit)
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESHAPE,
                        "layout: %" PRId64 " is no field of a swizzle", v);
    *out = (int)v;
    return AXE_OK;
}

/* swizzle = "swizzle" ( "(" ( 32 | 64 | 128 ) ")"
 *                     | "<" bits "," base "," shift ">" [ unit "b" ] ) */
static axe_status
read_swizzle(axe_reader *r, axe_swizzle *out)
{
    axe_swizzle s = {0, 4, 3, 8};
    size_t      from;
    int         row;

    if (axe_scan_take(r, '(')) {
        axe_scan_peek(r);
        from = r->at;
        AXE_TRY(read_field(r, 1 << 20, &row));
        s.bits = row == 32 ? 1 : row == 64 ? 2 : row == 128 ? 3 : 0;
        if (s.bits == 0)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESHAPE,
                            "layout: there is no swizzle(%d); rows are of 32, "
                            "64 or 128 bytes",
                            row);
        *out = s;
        return axe_scan_take(r, ')') ? AXE_OK : axe_scan_expected(r, "')'");
    }
    if (!axe_scan_take(r, '<'))
        return axe_scan_expected(r, "'(' or '<' after 'swizzle'");
    s.unit_bits = 0;
    AXE_TRY(read_field(r, 64, &s.bits));
    if (!axe_scan_take(r, ','))
        return axe_scan_expected(r, "','");
    AXE_TRY(read_field(r, 64, &s.base));
    if (!axe_scan_take(r, ','))
        return axe_scan_expected(r, "','");
    AXE_TRY(read_field(r, 64, &s.shift));
    if (!axe_scan_take(r, '>'))
        return axe_scan_expected(r, "'>'");
    if (axe_is_digit(axe_scan_peek(r))) {
        AXE_TRY(read_field(r, 1 << 20, &s.unit_bits));
        if (!axe_scan_word(r, "b"))
            return axe_scan_expected(r, "'b' after the bits of a unit");
    }
    *out = s;
    return AXE_OK;
}

/* layout = [ swizzle "o" ] extents ":" strides tail */
static axe_status
read_layout(axe_reader *r, const axe_layout **out)
{
    axe_layout spec = {0};
    iters      shard = {0}, replica = {0};
    offsets    off = {0};
    dims       d = {0};
    axe_status st;
    size_t     from;

    axe_scan_peek(r);
    from = r->at;
    if (axe_scan_word(r, "swizzle")) {
        AXE_TRY(read_swizzle(r, &spec.swizzle));
        if (!axe_scan_word(r, "o"))
            return axe_scan_expected(r, "'o' between swizzle and layout");
    }
    AXE_TRY(read_extents(r, &shard, &d));
    if (!axe_scan_take(r, ':'))
        return axe_scan_expected(r, "':' between extents and strides");
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
        axe_note(r->cx, axe_scan_span(r, from, r->at), "in this layout");
    return st;
}

axe_status
axe_layout_read_at(axe_ctx *cx, int32_t source, const char *text, size_t len,
                   size_t at, const axe_literal_env *env,
                   const axe_layout **out, size_t *end)
{
    axe_reader        r = {cx, source, text, len, at, env};
    const axe_layout *l;

    AXE_TRY(read_layout(&r, &l));
    axe_scan_peek(&r);
    *out = l;
    *end = r.at;
    return AXE_OK;
}

axe_status
axe_replicas_read_at(axe_ctx *cx, int32_t source, const char *text, size_t len,
                     size_t at, const axe_literal_env *env,
                     const axe_layout **out, size_t *end)
{
    axe_reader        r = {cx, source, text, len, at, env};
    iters             replica = {0};
    axe_layout        spec = {0};
    const axe_layout *l;

    while (axe_scan_take(&r, '+'))
        AXE_TRY(read_replica(&r, &replica));
    spec.n_replica = replica.n;
    spec.replica = replica.iter;
    AXE_TRY(axe_layout_make(cx, &spec, &l));
    axe_scan_peek(&r);
    *out = l;
    *end = r.at;
    return AXE_OK;
}

axe_status
axe_swizzle_read_at(axe_ctx *cx, int32_t source, const char *text, size_t len,
                    size_t at, axe_swizzle *out, size_t *end)
{
    axe_reader  r = {cx, source, text, len, at, NULL};
    axe_swizzle s;

    if (!axe_scan_word(&r, "swizzle"))
        return axe_scan_expected(&r, "'swizzle'");
    AXE_TRY(read_swizzle(&r, &s));
    AXE_TRY(axe_swizzle_check(cx, s));
    *out = s;
    *end = r.at;
    return AXE_OK;
}

axe_status
axe_layout_read(axe_ctx *cx, const char *text, const axe_layout **out)
{
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    axe_reader        r = {cx, 0, text, strlen(text), 0, NULL};
    const axe_layout *l;

    AXE_TRY(read_layout(&r, &l));
    if (axe_scan_peek(&r) != '\0' || r.at < r.len)
        return axe_scan_expected(&r, "the end");
    *out = l;
    return AXE_OK;
}
