/* tile.c - tile and direct sum: two layouts over the interleaved domain.
 *
 *     tile        L(x || y) = outer(x) * W + inner(y),  W the inner's span
 *     direct sum  L(x || y) = left(x) + right(y)
 *
 * Both keep the iters apart: dim j of the result is dim j of the left operand
 * followed by dim j of the right one.  The whole left operand is scaled, R and
 * O too; else its copies would fall inside the tile. */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

/* Add to one of the first few places, so that there is little to sort, or
 * append to the n.  Returns the new n. */
static int
widen(axe_offset *width, int n, axe_offset more)
{
    for (int k = 0; k < n && k < 8; k++)
        if (width[k].axis == more.axis && width[k].unit == more.unit) {
            width[k].value += more.value;
            return n;
        }
    width[n] = more;
    return n + 1;
}

void
axe_widths_of(axe_ctx *cx, int n_shard, const axe_iter *shard, int n_replica,
              const axe_iter *replica, axe_widths *out)
{
    int n = 0;

    out->width = axe_offsets_room(cx, out->few, n_shard + n_replica);
    for (int k = 0; k < n_shard + n_replica; k++) {
        const axe_iter *it = k < n_shard ? &shard[k] : &replica[k - n_shard];
        int64_t         w = (it->extent - 1) * it->stride;
        if (w != 0)
            n = widen(out->width, n,
                      (axe_offset){w < 0 ? -w : w, it->axis, it->unit});
    }
    out->n = axe_offsets_sum(out->width, n);
}

int64_t
axe_widths_span(const axe_widths *w, axe_axis axis)
{
    int lo = 0, hi = w->n;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (w->width[mid].axis < axis)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == w->n || w->width[lo].axis != axis)
        return 1;
    if (w->width[lo].unit != AXE_UNIT_ONE ||
        (lo + 1 < w->n && w->width[lo + 1].axis == axis))
        return 0;
    return w->width[lo].value + 1;
}

axe_status
axe_span_unknown(axe_ctx *cx, const char *op, axe_axis axis)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s: the inner layout's span on axis %s has a run-time "
                    "size, and the outer layout uses that axis",
                    op, axe_axis_name(cx, axis));
}

/* *value times the span on `axis`. */
static axe_status
scale(axe_ctx *cx, const axe_widths *w, const char *what, int at, axe_axis axis,
      int64_t *value)
{
    int64_t span = w && *value != 0 ? axe_widths_span(w, axis) : 1;

    if (span == 0)
        return axe_span_unknown(cx, "tile", axis);
    if (!axe_mul(*value, span, value))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "tile: the outer layout's %s %d on axis %s times the "
                        "inner's span %" PRId64 " leaves int64",
                        what, at, axe_axis_name(cx, axis), span);
    return AXE_OK;
}

static axe_status
check_ranks(axe_ctx *cx, const char *op, axe_shape a, axe_shape b)
{
    if (a.n < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: a shape of %d dims", op,
                        a.n);
    if (a.n == b.n)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: shapes %s and %s differ in rank", op,
                    axe_shape_text(cx, a), axe_shape_text(cx, b));
}

static axe_status
check_no_swizzle(axe_ctx *cx, const char *op, const axe_layout *l)
{
    if (l->swizzle.bits == 0)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
             "%s: the %s operand has a swizzle, which acts on places inside a "
             "tile: %s",
             op, op[0] == 't' ? "outer" : "left", axe_layout_text(cx, l));
    axe_help(cx, "swizzle the result instead");
    return AXE_ESHAPE;
}

/* Put a's replicas and offsets, scaled, and b's into the draft. */
static axe_status
join_fibers(axe_ctx *cx, const axe_widths *w, const axe_layout *a,
            const axe_layout *b, axe_draft d)
{
    for (int k = 0; k < a->n_replica; k++) {
        d.replica[k] = a->replica[k];
        AXE_TRY(scale(cx, w, "replica", k, d.replica[k].axis,
                      &d.replica[k].stride));
    }
    for (int k = 0; k < a->n_offset; k++) {
        d.offset[k] = a->offset[k];
        AXE_TRY(
            scale(cx, w, "offset", k, d.offset[k].axis, &d.offset[k].value));
    }
    axe_iters_copy(d.replica + a->n_replica, b->n_replica, b->replica);
    for (int k = 0; k < b->n_offset; k++)
        d.offset[a->n_offset + k] = b->offset[k];
    d.layout->n_replica = a->n_replica + b->n_replica;
    d.layout->n_offset = a->n_offset + b->n_offset;
    d.layout->swizzle = b->swizzle;
    return AXE_OK;
}

/* w: what scales a; NULL for 1. */
static axe_status
interleave(axe_ctx *cx, const char *op, const axe_widths *w,
           const axe_layout *a, axe_shape sa, const axe_layout *b, axe_shape sb,
           const axe_layout **out)
{
    axe_blocks ba, bb;
    axe_draft  d;
    int        n = 0, i = 0, j = 0;

    AXE_TRY(check_ranks(cx, op, sa, sb));
    AXE_TRY(check_no_swizzle(cx, op, a));
    axe_blocks_few(&ba);
    axe_blocks_few(&bb);
    AXE_TRY(axe_cut(cx, op, a, sa, &ba));
    AXE_TRY(axe_cut(cx, op, b, sb, &bb));
    d = axe_draft_new(cx, ba.n + bb.n, a->n_replica + b->n_replica,
                      a->n_offset + b->n_offset, sa.n > 0 ? sa.n : 1);
    for (int k = 0; k < sa.n; d.dim_end[k++] = n) {
        for (; i < ba.dim_end[k]; i++, n++) {
            d.shard[n] = ba.iter[i];
            AXE_TRY(
                scale(cx, w, "iter", i, d.shard[n].axis, &d.shard[n].stride));
        }
        for (; j < bb.dim_end[k]; j++, n++)
            d.shard[n] = bb.iter[j];
    }
    d.layout->n_shard = n;
    AXE_TRY(join_fibers(cx, w, a, b, d));
    return axe_draft_finish(cx, d, op, out);
}

axe_status
axe_layout_tile(axe_ctx *cx, const axe_layout *outer, axe_shape outer_shape,
                const axe_layout *inner, axe_shape inner_shape,
                const axe_layout **out)
{
    AXE_NEED(cx, outer);
    AXE_NEED_ALL(cx, outer_shape.n, outer_shape.extent);
    AXE_NEED(cx, inner);
    AXE_NEED_ALL(cx, inner_shape.n, inner_shape.extent);
    AXE_NEED(cx, out);
    axe_widths w;

    axe_widths_of(cx, inner->n_shard, inner->shard, inner->n_replica,
                  inner->replica, &w);
    return interleave(cx, "tile", &w, outer, outer_shape, inner, inner_shape,
                      out);
}

axe_status
axe_layout_tile_to(axe_ctx *cx, const axe_layout *l, axe_shape from,
                   axe_shape to, const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED_ALL(cx, from.n, from.extent);
    AXE_NEED_ALL(cx, to.n, to.extent);
    AXE_NEED(cx, out);
    const axe_layout *grid;
    int64_t          *extent;
    axe_shape         count;

    AXE_TRY(check_ranks(cx, "tile to", from, to));
    extent = axe_new_array(cx, int64_t, to.n);
    count = (axe_shape){to.n, extent};
    for (int k = 0; k < to.n; k++) {
        if (from.extent[k] < 1 || to.extent[k] < 1 ||
            to.extent[k] % from.extent[k] != 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "tile to: at dim %d, tiles of %" PRId64
                            " do not fill %" PRId64,
                            k, from.extent[k], to.extent[k]);
        extent[k] = to.extent[k] / from.extent[k];
    }
    AXE_TRY(axe_layout_row_major(cx, count, &grid));
    return axe_layout_tile(cx, grid, count, l, from, out);
}

axe_status
axe_layout_direct_sum(axe_ctx *cx, const axe_layout *left, axe_shape left_shape,
                      const axe_layout *right, axe_shape right_shape,
                      const axe_layout **out)
{
    AXE_NEED(cx, left);
    AXE_NEED_ALL(cx, left_shape.n, left_shape.extent);
    AXE_NEED(cx, right);
    AXE_NEED_ALL(cx, right_shape.n, right_shape.extent);
    AXE_NEED(cx, out);
    return interleave(cx, "direct sum", NULL, left, left_shape, right,
                      right_shape, out);
}
