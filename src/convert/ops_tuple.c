/* ops_tuple.c - operations on CuTe's trees as such: coordinates, modes, compact
 * strides, swizzles as tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/ops.h"
#include "convert/strided.h"
#include "convert/text.h"

/* ---------------------------------------------------------------- structure */

axe_status
axe_cop_flatten(axe_job *j)
{
    axe_cute a, *leaf;
    int      n;

    AXE_TRY(axe_job_cute(j, "a", &a));
    n = axe_cute_leaves(j->cx, &a, &leaf);
    if (!axe_cute_is_leaf(&a))
        a = axe_cute_tuple(j->cx, n, leaf);
    return axe_job_reply_cute(j, &a);
}

/* Mode `at` of l, or ESHAPE. */
static axe_status
mode_at(axe_job *j, const axe_cute *l, int64_t at, const axe_cute **out)
{
    if (at < 0 || at >= axe_cute_rank(l))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s has no mode %" PRId64, axe_cute_text(j->cx, l), at);
    *out = axe_cute_mode(l, (int)at);
    return AXE_OK;
}

axe_status
axe_cop_get(axe_job *j)
{
    axe_cute        a;
    const axe_cute *l = &a;
    axe_shape       path;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_shape(j, "path", &path));
    for (int i = 0; i < path.n; i++)
        AXE_TRY(mode_at(j, l, path.extent[i], &l));
    return axe_job_reply_cute(j, l);
}

axe_status
axe_cop_group(axe_job *j)
{
    axe_cute  a, *mode, in;
    axe_shape r;
    int       n = 0;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_shape(j, "from_to", &r));
    if (r.n != 2 || r.extent[0] < 0 || r.extent[1] <= r.extent[0] ||
        r.extent[1] > axe_cute_rank(&a))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "from_to must be [from, to) of the %d modes of %s",
                        axe_cute_rank(&a), axe_cute_text(j->cx, &a));
    mode = axe_new_array(j->cx, axe_cute, axe_cute_rank(&a) + 1);
    in = axe_cute_tuple(j->cx, (int)(r.extent[1] - r.extent[0]),
                        axe_cute_mode(&a, (int)r.extent[0]));
    for (int i = 0; i < axe_cute_rank(&a); i++)
        if (i == r.extent[0])
            mode[n++] = in;
        else if (i < r.extent[0] || i >= r.extent[1])
            mode[n++] = *axe_cute_mode(&a, i);
    a = (axe_cute){.n_mode = n, .mode = mode};
    return axe_job_reply_cute(j, &a);
}

axe_status
axe_cop_concat(axe_job *j)
{
    axe_cute *mode, l;
    int       n;

    AXE_TRY(axe_job_cutes(j, "parts", &n, &mode));
    l = (axe_cute){.n_mode = n, .mode = mode};
    AXE_TRY(axe_cute_check(j->cx, "concat", &l));
    return axe_job_reply_cute(j, &l);
}

axe_status
axe_cop_evaluate(axe_job *j)
{
    enum { MOST = 1 << 20 };
    axe_cute a;
    int64_t  y;

    AXE_TRY(axe_job_cute(j, "a", &a));
    if (axe_cute_size(&a) > MOST)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "evaluate_1d: %" PRId64
                        " values; at most %d are listed",
                        axe_cute_size(&a), MOST);
    axe_puts(j->out, "{\"map\":[");
    for (int64_t i = 0; i < axe_cute_size(&a); i++) {
        AXE_TRY(axe_cute_at(j->cx, &a, i, &y));
        axe_putf(j->out, "%s%" PRId64, i ? "," : "", y);
    }
    axe_puts(j->out, "]}");
    return AXE_OK;
}

/* -------------------------------------------------------------- coordinates */

/* The index of a coordinate in l: an integer is a linear index of its mode, a
 * list has one for each, null is 0. */
static axe_status
index_of(axe_job *j, const axe_json *c, const axe_cute *l, int64_t *out)
{
    int64_t  sum = 0, part;
    int      i = 0;
    axe_cute own;

    if (c->kind == AXE_JSON_NULL) {
        *out = 0;
        return AXE_OK;
    }
    if (c->kind == AXE_JSON_INT) {
        own = *l;
        return axe_cute_at(j->cx, &own, c->integer, out);
    }
    if (c->kind != AXE_JSON_LIST || c->n_child != axe_cute_rank(l))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "column %zu: a coordinate of %s is an integer or a "
                        "list of %d",
                        c->col, axe_cute_shape_text(j->cx, l),
                        axe_cute_rank(l));
    for (c = c->child; c; c = c->next) {
        AXE_TRY(index_of(j, c, axe_cute_mode(l, i++), &part));
        if (!axe_add(sum, part, &sum))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "the index of a coordinate leaves int64");
    }
    *out = sum;
    return AXE_OK;
}

axe_status
axe_cop_crd2idx(axe_job *j)
{
    axe_cute shape, l;
    int64_t  idx;

    if (axe_json_get(j->in, "stride")) {
        AXE_TRY(axe_json_to_cute(j, j->in, "layout", &l));
    } else {
        AXE_TRY(axe_job_tree(j, "shape", &shape));
        AXE_TRY(axe_cute_check(j->cx, "shape", &shape));
        AXE_TRY(axe_cute_compact(j->cx, &shape, 1, &l));
    }
    AXE_TRY(index_of(j, axe_json_get(j->in, "crd"), &l, &idx));
    axe_putf(j->out, "{\"idx\":%" PRId64 "}", idx);
    return AXE_OK;
}

/* The digits of *at in the shape: the last one, if `last`, has what is left. */
static void
put_digits(axe_buf *b, const axe_cute *shape, int64_t *at, bool last)
{
    int64_t n = axe_cute_is_leaf(shape) ? shape->shape : 1;

    if (axe_cute_is_leaf(shape)) {
        axe_putf(b, "%" PRId64, last ? *at : *at % n);
        *at /= n;
        return;
    }
    axe_putc(b, '[');
    for (int i = 0; i < shape->n_mode; i++) {
        if (i > 0)
            axe_putc(b, ',');
        put_digits(b, &shape->mode[i], at, last && i == shape->n_mode - 1);
    }
    axe_putc(b, ']');
}

axe_status
axe_cop_idx2crd(axe_job *j)
{
    axe_cute shape;
    int64_t  idx;

    AXE_TRY(axe_job_tree(j, "shape", &shape));
    AXE_TRY(axe_cute_check(j->cx, "shape", &shape));
    AXE_TRY(axe_job_int(j, "idx", &idx));
    if (idx < 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "idx2crd: index %" PRId64 "; at least 0 is needed",
                        idx);
    axe_puts(j->out, "{\"crd\":");
    put_digits(j->out, &shape, &idx, true);
    axe_putc(j->out, '}');
    return AXE_OK;
}

/* The modes of l that are null in the coordinate. */
static axe_status
kept(axe_job *j, const axe_json *c, const axe_cute *l, axe_cute *out, int *n)
{
    axe_cute *mode;
    int       m = 0, i = 0;

    if (c->kind == AXE_JSON_NULL) {
        out[(*n)++] = *l;
        return AXE_OK;
    }
    if (c->kind != AXE_JSON_LIST)
        return AXE_OK;
    mode = axe_new_array(j->cx, axe_cute, axe_cute_rank(l) + 1);
    for (c = c->child; c; c = c->next)
        AXE_TRY(kept(j, c, axe_cute_mode(l, i++), mode, &m));
    if (m > 0)
        out[(*n)++] = (axe_cute){.n_mode = m, .mode = mode};
    return AXE_OK;
}

axe_status
axe_cop_slice(axe_job *j)
{
    const axe_json *c = axe_json_get(j->in, "crd");
    axe_cute        a, own, out = axe_cute_leaf(1, 0);
    int64_t         offset;
    int             n = 0;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(index_of(j, c, &a, &offset));
    AXE_TRY(kept(j, c, &a, &own, &n));
    if (n > 0)
        out = own;
    axe_puts(j->out, "{\"layout\":");
    AXE_TRY(axe_job_reply_cute(j, &out));
    axe_putf(j->out, ",\"offset\":%" PRId64 "}", offset);
    return AXE_OK;
}

/* ------------------------------------------------------------ trees of numbers
 */

static axe_status
reply_tree(axe_job *j, const char *key, const axe_cute *l, bool stride)
{
    axe_putf(j->out, "{\"%s\":", key);
    axe_put_tree(j->out, l, stride);
    axe_putc(j->out, '}');
    return AXE_OK;
}

axe_status
axe_cop_prefix(axe_job *j)
{
    axe_cute shape, l;

    AXE_TRY(axe_job_tree(j, "shape", &shape));
    AXE_TRY(axe_cute_check(j->cx, "shape", &shape));
    AXE_TRY(axe_cute_compact(j->cx, &shape, 1, &l));
    return reply_tree(j, "stride", &l, true);
}

/* l with its modes, and theirs, the other way round. */
static axe_cute
turned(axe_ctx *cx, const axe_cute *l)
{
    axe_cute *mode;

    if (axe_cute_is_leaf(l))
        return *l;
    mode = axe_new_array(cx, axe_cute, l->n_mode + 1);
    for (int i = 0; i < l->n_mode; i++)
        mode[l->n_mode - 1 - i] = turned(cx, &l->mode[i]);
    return (axe_cute){.n_mode = l->n_mode, .mode = mode};
}

axe_status
axe_cop_compact(axe_job *j)
{
    axe_cute    shape, l;
    const char *order;
    bool        right;

    AXE_TRY(axe_job_tree(j, "shape", &shape));
    AXE_TRY(axe_cute_check(j->cx, "shape", &shape));
    AXE_TRY(axe_job_text(j, "order", &order));
    right = order && strcmp(order, "right") == 0;
    if (order && !right && strcmp(order, "left") != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "order is \"left\" or \"right\", not \"%s\"", order);
    if (right)
        shape = turned(j->cx, &shape);
    AXE_TRY(axe_cute_compact(j->cx, &shape, 1, &l));
    if (right)
        l = turned(j->cx, &l);
    return reply_tree(j, "stride", &l, true);
}

static axe_status
inner(axe_job *j, const axe_cute *a, const axe_cute *b, int64_t *sum)
{
    int64_t p;

    if (a->n_mode != b->n_mode)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "inner_product: %s and %s are not nested alike",
                        axe_cute_shape_text(j->cx, a),
                        axe_cute_shape_text(j->cx, b));
    for (int i = 0; i < a->n_mode; i++)
        AXE_TRY(inner(j, &a->mode[i], &b->mode[i], sum));
    if (axe_cute_is_leaf(a) &&
        (!axe_mul(a->shape, b->shape, &p) || !axe_add(*sum, p, sum)))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "inner_product: a sum leaves int64");
    return AXE_OK;
}

axe_status
axe_cop_inner(axe_job *j)
{
    axe_cute a, b;
    int64_t  sum = 0;

    AXE_TRY(axe_job_tree(j, "a", &a));
    AXE_TRY(axe_job_tree(j, "b", &b));
    AXE_TRY(inner(j, &a, &b, &sum));
    axe_putf(j->out, "{\"value\":%" PRId64 "}", sum);
    return AXE_OK;
}

/* The shape l over its first *n elements (`keep`), or what is left of it when
 * they are one.  Each mode takes or leaves a divisor; *n is what it left. */
static axe_status
part_of(axe_job *j, const axe_cute *l, bool keep, int64_t *n, axe_cute *out)
{
    axe_cute *mode;
    int64_t   s = l->shape, by = *n;

    if (axe_cute_is_leaf(l)) {
        if (by % s != 0 && s % by != 0)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: %" PRId64 " and %" PRId64
                            " do not divide one another",
                            keep ? "shape_mod" : "shape_div", s, by);
        *n = by >= s ? by / s : 1;
        *out =
            axe_cute_leaf(keep ? (by < s ? by : s) : (by < s ? s / by : 1), 0);
        return AXE_OK;
    }
    mode = axe_new_array(j->cx, axe_cute, l->n_mode + 1);
    for (int i = 0; i < l->n_mode; i++)
        AXE_TRY(part_of(j, &l->mode[i], keep, n, &mode[i]));
    *out = (axe_cute){.n_mode = l->n_mode, .mode = mode};
    return AXE_OK;
}

static axe_status
shape_part(axe_job *j, const char *key, bool keep)
{
    axe_cute shape, out;
    int64_t  n;

    AXE_TRY(axe_job_tree(j, "shape", &shape));
    AXE_TRY(axe_cute_check(j->cx, "shape", &shape));
    AXE_TRY(axe_job_int(j, key, &n));
    if (n < 1)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s is %" PRId64 "; at least 1 is needed", key, n);
    AXE_TRY(part_of(j, &shape, keep, &n, &out));
    return reply_tree(j, "shape", &out, false);
}

axe_status
axe_cop_shape_div(axe_job *j)
{
    return shape_part(j, "by", false);
}

axe_status
axe_cop_shape_mod(axe_job *j)
{
    return shape_part(j, "keep", true);
}

/* ----------------------------------------------------------------- swizzles */

static axe_status
read_swizzle(axe_job *j, axe_swizzle *s)
{
    int64_t b, m, shift;

    AXE_TRY(axe_job_int(j, "b", &b));
    AXE_TRY(axe_job_int(j, "m", &m));
    AXE_TRY(axe_job_int(j, "s", &shift));
    if (b < 0 || b > 62 || m < 0 || m > 62 || shift < -62 || shift > 62)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "a swizzle's fields are at most 62, and b and m at "
                        "least 0");
    *s = (axe_swizzle){(int)b, (int)m, (int)shift, 0};
    return b == 0 ? AXE_OK : axe_swizzle_check(j->cx, *s);
}

static axe_status
reply_swizzle(axe_job *j, int b, int m, int s)
{
    axe_putf(j->out, "{\"b\":%d,\"m\":%d,\"s\":%d}", b, m, s);
    return AXE_OK;
}

axe_status
axe_cop_swizzle(axe_job *j)
{
    enum { MOST = 20 };
    axe_swizzle s;
    int         top;

    AXE_TRY(read_swizzle(j, &s));
    top = s.bits + s.base + abs(s.shift);
    if (top > MOST)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "swizzle: a table of 2^%d numbers; at most 2^%d are "
                        "listed",
                        top, MOST);
    axe_puts(j->out, "{\"map\":[");
    for (int64_t i = 0; i < (int64_t)1 << top; i++)
        axe_putf(j->out, "%s%" PRId64, i ? "," : "", axe_swizzle_apply(s, i));
    axe_puts(j->out, "]}");
    return AXE_OK;
}

axe_status
axe_cop_swizzle_upcast(axe_job *j)
{
    axe_swizzle s;
    int64_t     n;
    int         log = 0;

    AXE_TRY(read_swizzle(j, &s));
    AXE_TRY(axe_job_int(j, "n", &n));
    while (log < 62 && (int64_t)1 << log < n)
        log++;
    if (n < 1 || (int64_t)1 << log != n || log > s.base)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "swizzle_upcast: %" PRId64
                        " elements of <%d, %d, %d> do not move as one",
                        n, s.bits, s.base, s.shift);
    return reply_swizzle(j, s.bits, s.base - log, s.shift);
}

/* The lowest bit of v and how many ones follow; false if there is anything
 * else in it. */
static bool
run_of_ones(int64_t v, int *low, int *n)
{
    *low = *n = 0;
    if (v <= 0)
        return false;
    for (; !(v & 1); v >>= 1)
        ++*low;
    for (; v & 1; v >>= 1)
        ++*n;
    return v == 0;
}

axe_status
axe_cop_make_swizzle(axe_job *j)
{
    int64_t y, z;
    int     low_y, low_z, n_y, n_z;

    AXE_TRY(axe_job_int(j, "y", &y));
    AXE_TRY(axe_job_int(j, "z", &z));
    if (!run_of_ones(y, &low_y, &n_y) || !run_of_ones(z, &low_z, &n_z) ||
        n_y != n_z || (y & z))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "make_swizzle: %" PRId64 " and %" PRId64
                        " are not two runs of as many bits, apart",
                        y, z);
    return reply_swizzle(j, n_y, low_y < low_z ? low_y : low_z, low_y - low_z);
}

/* CuTe's names of what wgmma reads: the major, the bytes of a row. */
axe_status
axe_cop_smem_atom(axe_job *j)
{
    static const struct {
        const char *name;
        int         bits;
    } widths[] = {{"INTER", 0}, {"SW32", 1}, {"SW64", 2}, {"SW128", 3}};
    const char *name;
    int64_t     bits, row;
    axe_swizzle s;
    axe_cute    mode[2], l;
    int         at = -1, log = 0;
    bool        k;

    AXE_TRY(axe_job_text(j, "name", &name));
    AXE_TRY(axe_job_int(j, "elem_bits", &bits));
    k = name && strncmp(name, "Layout_K_", 9) == 0;
    for (int i = 0; name && i < AXE_LEN(widths); i++)
        if (strstr(name, axe_textf(j->cx, "_%s_Atom", widths[i].name)))
            at = i;
    if (at < 0 || (!k && strncmp(name, "Layout_MN_", 10) != 0))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ENAME,
                        "smem_atom: no atom '%s'; there are Layout_K_ and "
                        "Layout_MN_ INTER, SW32, SW64, SW128 _Atom",
                        name ? name : "");
    while (log < 8 && 1 << log < bits)
        log++;
    if (bits < 4 || bits != 1 << log || bits > 64)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "smem_atom: elements of %" PRId64
                        " bits; 4 to 64, a power of two",
                        bits);
    row = ((int64_t)128 << widths[at].bits) / bits;
    s = (axe_swizzle){widths[at].bits, 4 + 3 - log, 3, 0};
    mode[!k] = axe_cute_leaf(8, row);
    mode[k] = axe_cute_leaf(row, 1);
    l = axe_cute_tuple(j->cx, 2, mode);
    axe_putf(j->out, "{\"swizzle\":[%d,%d,3],\"layout\":", s.bits,
             s.bits ? s.base : 4);
    AXE_TRY(axe_job_reply_cute(j, &l));
    axe_puts(j->out, ",\"map\":[");
    for (int64_t i = 0; i < 8 * row; i++) {
        int64_t x;

        AXE_TRY(axe_cute_at(j->cx, &l, i, &x));
        axe_putf(j->out, "%s%" PRId64, i ? "," : "", axe_swizzle_apply(s, x));
    }
    axe_puts(j->out, "]}");
    return AXE_OK;
}

/* -------------------------------------------------------------------- views
 */

axe_status
axe_cop_numpy(axe_job *j)
{
    const axe_json   *b = axe_json_get(j->in, "broadcast");
    axe_shape         shape, stride;
    axe_view          v;
    const axe_layout *l;

    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_job_shape(j, "strides_bytes", &stride));
    AXE_TRY(axe_job_int(j, "itemsize", &v.item));
    AXE_TRY(axe_job_int(j, "offset_bytes", &v.offset));
    if (shape.n != stride.n || v.item < 1)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "numpy_to_axe: %d extents, %d strides, elements of "
                        "%" PRId64 " bytes",
                        shape.n, stride.n, v.item);
    v.n = shape.n;
    v.extent = shape.extent;
    v.stride = stride.extent;
    v.broadcast = b && b->kind == AXE_JSON_BOOL && b->truth;
    AXE_TRY(axe_view_to_axe(j->cx, "numpy_to_axe", &v, &l));
    return axe_job_reply_dims(j, l);
}
