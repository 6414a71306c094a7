/* eval_ops.c - the operations of `axe eval` that are the algebra itself: each
 * reads its arguments, calls one function of axe/layout.h, writes the result.
 * Results are in normal form unless the operation is about structure. */
#include <inttypes.h>

#include "layout/eval_int.h"

/* -------------------------------------------------- one layout, one answer */

typedef axe_status layout_fn(axe_ctx *cx, const axe_layout *l,
                             const axe_layout **out);

static axe_status
map_layout(axe_job *j, layout_fn *fn)
{
    const axe_layout *l, *out;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(fn(j->cx, l, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_canonicalize(axe_job *j)
{
    return map_layout(j, axe_layout_canon);
}

axe_status
axe_op_inverse(axe_job *j)
{
    return map_layout(j, axe_layout_inverse);
}

axe_status
axe_op_left_inverse(axe_job *j)
{
    return map_layout(j, axe_layout_left_inverse);
}

axe_status
axe_op_storage(axe_job *j)
{
    return map_layout(j, axe_layout_storage);
}

axe_status
axe_op_read(axe_job *j)
{
    const axe_layout *l;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    return axe_job_reply_raw(j, l);
}

axe_status
axe_op_text(axe_job *j)
{
    const axe_layout *l;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    return axe_job_reply_text(j, axe_layout_text(j->cx, l));
}

/* ---------------------------------------------------------------- questions */

axe_status
axe_op_equal(axe_job *j)
{
    const axe_layout *a, *b;
    bool              same;

    AXE_TRY(axe_job_layout(j, "a", &a));
    AXE_TRY(axe_job_layout(j, "b", &b));
    AXE_TRY(axe_layout_equal(j->cx, a, b, &same));
    return axe_job_reply_bool(j, same);
}

axe_status
axe_op_axis_span(axe_job *j)
{
    const axe_layout *l;
    axe_axis          axis;
    int64_t           v;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_axis(j, "axis", &axis));
    AXE_TRY(axe_layout_span(j->cx, l, axis < 0 ? AXE_AXIS_M : axis, &v));
    return axe_job_reply_int(j, v);
}

axe_status
axe_op_cosize(axe_job *j)
{
    const axe_layout *l;
    axe_axis          axis;
    int64_t           v;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_axis(j, "axis", &axis));
    AXE_TRY(axe_layout_cosize(j->cx, l, axis < 0 ? AXE_AXIS_M : axis, &v));
    return axe_job_reply_int(j, v);
}

axe_status
axe_op_differ(axe_job *j)
{
    static const char *const part[] = {
#define PART(name, text) text,
#include "axe/difference.def"
    };
    const axe_layout     *a, *b;
    axe_layout_difference d;

    AXE_TRY(axe_job_layout(j, "a", &a));
    AXE_TRY(axe_job_layout(j, "b", &b));
    AXE_TRY(axe_layout_differ(j->cx, a, b, &d));
    axe_putf(j->out, "{\"equal\":%s,\"in\":\"%s\"",
             d.part == AXE_DIFFER_NONE ? "true" : "false", part[d.part]);
    if (d.index >= 0)
        axe_putf(j->out, ",\"index\":%" PRId64 ",\"least\":%s", d.index,
                 d.least ? "true" : "false");
    axe_putc(j->out, '}');
    return AXE_OK;
}

axe_status
axe_op_injective(axe_job *j)
{
    const axe_layout *l;
    bool              yes;
    int64_t           w[2];

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_layout_injective(j->cx, l, &yes, w));
    axe_putf(j->out, "{\"injective\":%s", yes ? "true" : "false");
    if (!yes)
        axe_putf(j->out, ",\"witness\":[%" PRId64 ",%" PRId64 "]", w[0], w[1]);
    axe_putc(j->out, '}');
    return AXE_OK;
}

axe_status
axe_op_surjective(axe_job *j)
{
    const axe_layout *l;
    bool              yes;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_layout_surjective(j->cx, l, &yes));
    return axe_job_reply_bool(j, yes);
}

axe_status
axe_op_contiguous(axe_job *j)
{
    const axe_layout *l;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    return axe_job_reply_bool(j, axe_layout_contiguous(j->cx, l));
}

axe_status
axe_op_compact(axe_job *j)
{
    const axe_layout *l;
    bool              yes;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_layout_compact(j->cx, l, &yes));
    return axe_job_reply_bool(j, yes);
}

/* ---------------------------------------------------------------- the algebra
 */

/* The dims of a layout as lists of iters, its layout, and where dims end. */
axe_status
axe_op_group(axe_job *j)
{
    const axe_layout *l, *g;
    axe_shape         shape;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_layout_group(j->cx, l, shape, &g));
    axe_puts(j->out, "{\"blocks\":[");
    for (int k = 0, i = 0; k < g->n_dim; i = g->dim_end[k++]) {
        if (k > 0)
            axe_putc(j->out, ',');
        axe_json_put_iters(j->out, g->dim_end[k] - i, g->shard + i);
    }
    axe_puts(j->out, "],\"layout\":");
    axe_json_put_layout(j->out, g);
    axe_puts(j->out, ",\"seps\":[0");
    for (int k = 0; k < g->n_dim; k++)
        axe_putf(j->out, ",%d", g->dim_end[k]);
    axe_puts(j->out, "]}");
    return AXE_OK;
}

axe_status
axe_op_group_many(axe_job *j)
{
    const axe_json   *v = axe_json_get(j->in, "shapes");
    const axe_layout *l, *g;
    axe_shape        *shape;
    int               n = 0, **seps;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    if (v->kind != AXE_JSON_LIST)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "shapes must be a list of shapes, not %s",
                        axe_json_kind_text(v));
    shape = axe_new_array(j->cx, axe_shape, v->n_child);
    for (const axe_json *c = v->child; c; c = c->next)
        AXE_TRY(axe_json_to_shape(j->cx, c, "a shape", &shape[n++]));
    seps = axe_new_array(j->cx, int *, n);
    AXE_TRY(axe_layout_group_many(j->cx, l, n, shape, true, &g, seps));
    axe_putc(j->out, '[');
    axe_json_put_layout(j->out, g);
    axe_puts(j->out, ",[");
    for (int s = 0; s < n; s++) {
        if (s > 0)
            axe_putc(j->out, ',');
        axe_json_put_ints(j->out, shape[s].n + 1, seps[s]);
    }
    axe_puts(j->out, "]]");
    return AXE_OK;
}

/* Operations of two layouts with their shapes: f(a, a_shape, b, b_shape). */
typedef axe_status pair_fn(axe_ctx *cx, const axe_layout *a, axe_shape sa,
                           const axe_layout *b, axe_shape sb,
                           const axe_layout **out);

static axe_status
map_pair(axe_job *j, pair_fn *fn, const char *a, const char *a_shape,
         const char *b, const char *b_shape)
{
    const axe_layout *la, *lb, *out;
    axe_shape         sa, sb;

    AXE_TRY(axe_job_layout(j, a, &la));
    AXE_TRY(axe_job_shape(j, a_shape, &sa));
    AXE_TRY(axe_job_layout(j, b, &lb));
    AXE_TRY(axe_job_shape(j, b_shape, &sb));
    AXE_TRY(fn(j->cx, la, sa, lb, sb, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_tile(axe_job *j)
{
    return map_pair(j, axe_layout_tile, "outer", "outer_shape", "inner",
                    "inner_shape");
}

axe_status
axe_op_tile_of(axe_job *j)
{
    return map_pair(j, axe_layout_tile_of, "tiled", "tiled_shape", "inner",
                    "inner_shape");
}

axe_status
axe_op_tile_of_outer(axe_job *j)
{
    return map_pair(j, axe_layout_tile_of_outer, "tiled", "tiled_shape",
                    "outer", "outer_shape");
}

axe_status
axe_op_direct_sum(axe_job *j)
{
    return map_pair(j, axe_layout_direct_sum, "left", "left_shape", "right",
                    "right_shape");
}

axe_status
axe_op_sum_left_of(axe_job *j)
{
    return map_pair(j, axe_layout_sum_left_of, "sum", "interleaved_shape",
                    "right", "right_shape");
}

axe_status
axe_op_sum_right_of(axe_job *j)
{
    return map_pair(j, axe_layout_sum_right_of, "sum", "interleaved_shape",
                    "left", "left_shape");
}

axe_status
axe_op_tile_to(axe_job *j)
{
    const axe_layout *l, *out;
    axe_shape         to, from;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "to_shape", &to));
    AXE_TRY(axe_job_shape(j, "current_shape", &from));
    AXE_TRY(axe_layout_tile_to(j->cx, l, from, to, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_slice(axe_job *j)
{
    const axe_layout *l, *out;
    axe_shape         shape;
    int               n;
    const int64_t    *begin, *end;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_json_to_region(j->cx, axe_json_get(j->in, "region"), "region",
                               &n, &begin, &end));
    if (n != shape.n)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "slice: the region has %d dims, the shape %d", n,
                        shape.n);
    AXE_TRY(axe_layout_slice(j->cx, l, shape, begin, end, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_compose(axe_job *j)
{
    const axe_layout *a, *b, *out;

    AXE_TRY(axe_job_layout(j, "a", &a));
    AXE_TRY(axe_job_layout(j, "b", &b));
    AXE_TRY(axe_layout_compose(j->cx, a, b, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_complement(axe_job *j)
{
    const axe_layout *l, *out;
    int64_t           total;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_int(j, "total", &total));
    AXE_TRY(axe_layout_complement(j->cx, l, total, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_iter_intersect(axe_job *j)
{
    axe_iter a, b, out;

    AXE_TRY(axe_json_to_iter(j->cx, axe_json_get(j->in, "i1"), "i1", &a));
    AXE_TRY(axe_json_to_iter(j->cx, axe_json_get(j->in, "i2"), "i2", &b));
    AXE_TRY(axe_iter_intersect(j->cx, a, b, &out));
    axe_json_put_iter(j->out, out);
    return AXE_OK;
}

/* ------------------------------------------------------------ axes and sizes
 */

typedef axe_status axis_fn(axe_ctx *cx, const axe_layout *l, axe_axis a,
                           const axe_layout **out);

static axe_status
map_axis(axe_job *j, axis_fn *fn)
{
    const axe_layout *l, *out;
    axe_axis          axis;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_axis(j, "axis", &axis));
    AXE_TRY(fn(j->cx, l, axis < 0 ? AXE_AXIS_M : axis, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_fuse_axis(axe_job *j)
{
    return map_axis(j, axe_layout_fuse_axis);
}

axe_status
axe_op_split_axis(axe_job *j)
{
    return map_axis(j, axe_layout_split_axis);
}

static axe_status
map_count(axe_job *j, axe_status (*fn)(axe_ctx *cx, const axe_layout *l, int n,
                                       const axe_layout **out))
{
    const axe_layout *l, *out;
    int64_t           n;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_int(j, "num", &n));
    if (n < 1 || n > INT32_MAX)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "num is %" PRId64 ": it must be in [1, 2^31)", n);
    AXE_TRY(fn(j->cx, l, (int)n, &out));
    return axe_job_reply(j, out);
}

axe_status
axe_op_pack(axe_job *j)
{
    return map_count(j, axe_layout_pack);
}

axe_status
axe_op_unpack(axe_job *j)
{
    return map_count(j, axe_layout_unpack);
}

/* ------------------------------------------------------------------ swizzles
 */

axe_status
axe_op_swizzle_apply(axe_job *j)
{
    axe_swizzle s;
    axe_shape   x;

    AXE_TRY(axe_json_to_swizzle(j->cx, axe_json_get(j->in, "swizzle"),
                                "swizzle", &s));
    AXE_TRY(axe_job_shape(j, "x", &x));
    axe_putc(j->out, '[');
    for (int i = 0; i < x.n; i++)
        axe_putf(j->out, "%s%" PRId64, i ? "," : "",
                 axe_swizzle_apply(s, x.extent[i]));
    axe_putc(j->out, ']');
    return AXE_OK;
}

axe_status
axe_op_swizzle_recast(axe_job *j)
{
    axe_swizzle s, out;
    int64_t     bits;

    AXE_TRY(axe_json_to_swizzle(j->cx, axe_json_get(j->in, "swizzle"),
                                "swizzle", &s));
    AXE_TRY(axe_job_int(j, "bits", &bits));
    if (bits < 1 || bits > 1 << 16)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "bits is %" PRId64 ": it must be in [1, 65536]", bits);
    AXE_TRY(axe_swizzle_recast(j->cx, s, (int)bits, &out));
    axe_json_put_swizzle(j->out, out);
    return AXE_OK;
}

axe_status
axe_op_swizzle_detect(axe_job *j)
{
    axe_swizzle s;
    axe_shape   map;

    AXE_TRY(axe_job_shape(j, "map", &map));
    AXE_TRY(axe_swizzle_detect(j->cx, map.n, map.extent, &s));
    axe_json_put_swizzle(j->out, s);
    return AXE_OK;
}
