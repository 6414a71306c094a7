/* query.c - the points of an index, spans and sizes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

enum { MAX_COPIES = 1 << 20 };

int64_t
axe_layout_at(const axe_layout *l, int64_t x, axe_axis axis)
{
    uint64_t sum = 0; /* wraps, where x is beyond the size */

    for (int k = l->n_shard - 1; k >= 0; k--) {
        int64_t e = l->shard[k].extent, digit = k > 0 ? x % e : x;
        if (l->shard[k].axis == axis && l->shard[k].unit == AXE_UNIT_ONE)
            sum += (uint64_t)digit * (uint64_t)l->shard[k].stride;
        x /= e;
    }
    for (int k = 0; k < l->n_offset; k++)
        if (l->offset[k].axis == axis && l->offset[k].unit == AXE_UNIT_ONE)
            sum += (uint64_t)l->offset[k].value;
    return (int64_t)sum;
}

/* What a step on the axis counts, of unit 1 only. */
static uint64_t
weight_of(int n, const axe_axis *axis, const int64_t *by, axe_axis a,
          axe_unit unit)
{
    for (int i = 0; i < n; i++)
        if (axis[i] == a && unit == AXE_UNIT_ONE)
            return (uint64_t)by[i];
    return 0;
}

/* The list is made from the fast end on: each iter repeats what there is, a
 * step further each time. */
void
axe_layout_list(const axe_layout *l, int n, const axe_axis *axis,
                const int64_t *by, int64_t *out)
{
    uint64_t begin = 0;
    int64_t  run = 1;

    for (int k = 0; k < l->n_offset; k++)
        begin += (uint64_t)l->offset[k].value *
                 weight_of(n, axis, by, l->offset[k].axis, l->offset[k].unit);
    out[0] = (int64_t)begin;
    for (int k = l->n_shard - 1; k >= 0; run *= l->shard[k--].extent) {
        const axe_iter *it = &l->shard[k];
        uint64_t        step =
            (uint64_t)it->stride * weight_of(n, axis, by, it->axis, it->unit);
        for (int64_t x = run; x < run * it->extent; x++)
            out[x] = (int64_t)((uint64_t)out[x - run] + step);
    }
}

/* Does the iter move anything? */
static bool
moves(axe_iter it)
{
    return it.extent > 1 && it.stride != 0;
}

/* The parts of L(x): one entry for each iter that moves and each offset, with
 * 0 for a replica.  Sorted by axis.  -1 if there is a unit. */
static int
parts_at(const axe_layout *l, int64_t x, axe_offset *part)
{
    int n = 0;

    for (int k = l->n_shard - 1; k >= 0; k--) {
        axe_iter it = l->shard[k];
        if (moves(it))
            part[n++] =
                (axe_offset){x % it.extent * it.stride, it.axis, it.unit};
        x /= it.extent;
    }
    for (int k = 0; k < l->n_replica; k++)
        if (moves(l->replica[k]))
            part[n++] = (axe_offset){0, l->replica[k].axis, l->replica[k].unit};
    for (int k = 0; k < l->n_offset; k++)
        part[n++] = l->offset[k];
    for (int k = 0; k < n; k++)
        if (part[k].unit != AXE_UNIT_ONE)
            return -1;
    axe_offsets_sort(part, n);
    return n;
}

/* The coordinates that one axis takes at x. */
typedef struct column {
    axe_axis axis;
    int64_t  base;
    int64_t  n, *copy; /* added to base; NULL: 0 alone */
} column;

static int
columns_of(int n_part, const axe_offset *part, column *col)
{
    int n = 0;

    for (int k = 0; k < n_part; k++) {
        if (n == 0 || col[n - 1].axis != part[k].axis)
            col[n++] = (column){part[k].axis, 0, 1, NULL};
        col[n - 1].base += part[k].value;
    }
    return n;
}

static axe_status
too_many(axe_ctx *cx)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                    "apply: an index has over %d points", MAX_COPIES);
}

/* Give each column its copies; *n_point: their product. */
static axe_status
add_copies(axe_ctx *cx, const axe_layout *l, int n_col, column *col,
           int64_t *n_point)
{
    axe_iter   *r = axe_new_array(cx, axe_iter, l->n_replica);
    axe_offset *off = axe_new_array(cx, axe_offset, l->n_replica);
    int         n_off, n, c = 0;

    n = axe_replicas_turn(r, l->n_replica, l->replica, off, &n_off);
    n = axe_replicas_absorb(r, n);
    axe_offsets_sort(off, n_off);
    for (int k = 0; k < n_off; k++) {
        while (col[c].axis < off[k].axis)
            c++;
        col[c].base += off[k].value;
    }
    c = 0;
    for (int run; n > 0; n -= run, r += run) {
        run = axe_place_run(n, r);
        while (col[c].axis < r->axis)
            c++;
        col[c].copy = axe_sums_points(cx, run, r, MAX_COPIES, &col[c].n);
        if (!col[c].copy || !axe_mul(*n_point, col[c].n, n_point) ||
            *n_point > MAX_COPIES)
            return too_many(cx);
    }
    (void)n_col;
    return AXE_OK;
}

static int
compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Swizzle the column of axis m and put it in order again. */
static void
swizzle_column(axe_ctx *cx, axe_swizzle s, column *col)
{
    if (!col->copy)
        col->copy = axe_new(cx, int64_t);
    for (int64_t k = 0; k < col->n; k++)
        col->copy[k] = axe_swizzle_apply(s, col->base + col->copy[k]);
    col->base = 0;
    qsort(col->copy, (size_t)col->n, sizeof(int64_t), compare_int64);
}

/* The product of the columns, the last axis fastest: in order, as each is. */
static void
multiply(int n_col, const column *col, int64_t n_point, int64_t *coord)
{
    int64_t repeat = n_point;

    for (int c = 0; c < n_col; c++) {
        int64_t k = 0, left;
        left = repeat /= col[c].n;
        for (int64_t p = 0; p < n_point; p++, left--) {
            if (left == 0) {
                left = repeat;
                k = k + 1 < col[c].n ? k + 1 : 0;
            }
            coord[p * n_col + c] =
                col[c].base + (col[c].copy ? col[c].copy[k] : 0);
        }
    }
}

static axe_status
check_index(axe_ctx *cx, const axe_layout *l, int64_t x)
{
    if (x < 0 || x >= l->size)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "apply: index %" PRId64 " is outside [0, %" PRId64 ")",
                        x, l->size);
    if (l->swizzle.bits > 0 && l->swizzle.unit_bits != 0)
        return axe_fail(
            cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
            "apply: the swizzle of %s acts on units of %d bits, not "
            "on elements; recast it, as recast(L, 16) does for 16 bits",
            axe_layout_text(cx, l), l->swizzle.unit_bits);
    return AXE_OK;
}

axe_status
axe_layout_apply(axe_ctx *cx, const axe_layout *l, int64_t x, axe_points *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_offset few[AXE_FEW], *part;
    column     few_col[AXE_FEW], *col;
    int        room = l->n_shard + l->n_replica + l->n_offset, n, n_col;
    int64_t    n_point = 1, *coord;
    axe_axis  *axis;

    AXE_TRY(check_index(cx, l, x));
    part = axe_offsets_room(cx, few, room);
    n = parts_at(l, x, part);
    if (n < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "apply: %s has a run-time size",
                        axe_layout_text(cx, l));
    col = n <= AXE_FEW ? few_col : axe_new_array(cx, column, n);
    n_col = columns_of(n, part, col);
    if (l->n_replica > 0)
        AXE_TRY(add_copies(cx, l, n_col, col, &n_point));
    if (l->swizzle.bits > 0 && n_col > 0 && col[0].axis == AXE_AXIS_M)
        swizzle_column(cx, l->swizzle, &col[0]);
    axis = axe_new_array(cx, axe_axis, n_col);
    coord = axe_new_array(cx, int64_t, n_point * n_col);
    for (int c = 0; c < n_col; c++)
        axis[c] = col[c].axis;
    multiply(n_col, col, n_point, coord);
    *out = (axe_points){n_col, (int)n_point, axis, coord};
    return AXE_OK;
}

/* Lowest and highest coordinate on `axis`, without the offset. */
static axe_status
range_on(axe_ctx *cx, const char *op, const axe_layout *l, axe_axis axis,
         int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int k = 0; k < l->n_shard + l->n_replica; k++) {
        axe_iter it = k < l->n_shard ? l->shard[k] : l->replica[k - l->n_shard];
        if (it.axis != axis || !moves(it))
            continue;
        if (it.unit != AXE_UNIT_ONE)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "%s: %s has the run-time size %s on axis %s", op,
                            axe_layout_text(cx, l), axe_unit_text(cx, it.unit),
                            axe_axis_name(cx, axis));
        *(it.stride < 0 ? lo : hi) += (it.extent - 1) * it.stride;
    }
    return AXE_OK;
}

axe_status
axe_layout_span(axe_ctx *cx, const axe_layout *l, axe_axis axis, int64_t *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    int64_t lo, hi;

    AXE_TRY(range_on(cx, "span", l, axis, &lo, &hi));
    *out = hi - lo + 1;
    return AXE_OK;
}

/* The end of the block, of those the swizzle maps to themselves, that holds
 * coordinate hi. */
static bool
block_end(axe_swizzle s, int64_t hi, int64_t *out)
{
    int64_t block = (int64_t)1
                    << (s.base + (s.shift < 0 ? -s.shift : 0) + s.bits);

    return axe_mul(hi / block, block, out) && axe_add(*out, block, out);
}

axe_status
axe_layout_cosize(axe_ctx *cx, const axe_layout *l, axe_axis axis, int64_t *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    int64_t lo, hi, end;

    AXE_TRY(range_on(cx, "cosize", l, axis, &lo, &hi));
    for (int k = 0; k < l->n_offset; k++) {
        if (l->offset[k].axis != axis)
            continue;
        if (l->offset[k].unit != AXE_UNIT_ONE)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "cosize: %s has a run-time offset on axis %s",
                            axe_layout_text(cx, l), axe_axis_name(cx, axis));
        lo += l->offset[k].value;
        hi += l->offset[k].value;
    }
    if (lo < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "cosize: %s has the coordinate %" PRId64 " on axis %s",
                        axe_layout_text(cx, l), lo, axe_axis_name(cx, axis));
    end = hi + 1;
    if (l->swizzle.bits > 0 && axis == AXE_AXIS_M &&
        hi >>
            (l->swizzle.base + (l->swizzle.shift > 0 ? l->swizzle.shift : 0)) &&
        !block_end(l->swizzle, hi, &end))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "cosize: the swizzle of %s leaves int64",
                        axe_layout_text(cx, l));
    *out = end;
    return AXE_OK;
}

bool
axe_layout_contiguous(axe_ctx *cx, const axe_layout *l)
{
    axe_iter      only = {0, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    int           n = 0, axis = -1;
    axe_axis_kind kind;

    if (l->swizzle.bits > 0)
        return false;
    for (int k = 0; k < l->n_replica; k++)
        if (moves(l->replica[k]))
            return false;
    for (int k = l->n_shard - 1; k >= 0; k--) {
        axe_iter it = l->shard[k];
        if (it.extent == 1)
            continue;
        if (n++ == 0)
            only = (axe_iter){1, it.stride, it.axis, it.unit};
        if (!axe_same_place(it, only) || it.stride != only.extent)
            return false;
        only.extent *= it.extent;
    }
    axis = n > 0 ? only.axis : l->n_offset > 0 ? l->offset[0].axis : AXE_AXIS_M;
    kind = axe_axis_kind_of(cx, axis);
    for (int k = 0; k < l->n_offset; k++)
        if (l->offset[k].axis != axis || l->offset[k].unit != AXE_UNIT_ONE)
            return false;
    return only.unit == AXE_UNIT_ONE &&
           (kind == AXE_KIND_MEMORY || kind == AXE_KIND_REG);
}

axe_status
axe_layout_fiber_size(axe_ctx *cx, const axe_layout *l, int64_t *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_iter   *r = axe_new_array(cx, axe_iter, l->n_replica);
    axe_offset *off = axe_new_array(cx, axe_offset, l->n_replica);
    int         n, n_off;
    int64_t     size = 1, members;

    n = axe_replicas_turn(r, l->n_replica, l->replica, off, &n_off);
    n = axe_replicas_absorb(r, n);
    for (int run; n > 0; n -= run, r += run) {
        run = axe_place_run(n, r);
        if (!axe_sums_count(cx, run, r, &members))
            return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                            "fiber size: the replicas on axis %s have over %d "
                            "runs of neighbours",
                            axe_axis_name(cx, r->axis), AXE_SET_MAX);
        if (!axe_mul(size, members, &size))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "fiber size: it leaves int64");
    }
    *out = size;
    return AXE_OK;
}
