/* layout.c - making layouts, and what every layout satisfies.
 *
 * Invariants of a layout handed out: every extent is at least 1; axes and units
 * are known to the ctx; the dims (one at least: a layout not cut into dims has
 * one) end in ascending order at n_shard; offsets are sorted by axis and unit
 * without zeros or repeats; `size` is the product of the extents; on each axis
 * and unit |offset| + sum |stride| (extent - 1) < INT64_MAX, so that no sum of
 * coordinates, nor a span, can overflow. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

axe_draft
axe_draft_new(axe_ctx *cx, int n_shard, int n_replica, int n_offset, int n_dim)
{
    size_t iters = (size_t)n_shard + (size_t)n_replica;
    size_t at_iter = sizeof(axe_layout);
    size_t at_offset = at_iter + iters * sizeof(axe_iter);
    size_t at_dim = at_offset + (size_t)n_offset * sizeof(axe_offset);
    char  *p = axe_alloc(cx, at_dim + (size_t)n_dim * sizeof(int));

    axe_draft d = {
        .layout = (axe_layout *)(void *)p,
        .shard = (axe_iter *)(void *)(p + at_iter),
        .replica = (axe_iter *)(void *)(p + at_iter) + n_shard,
        .offset = (axe_offset *)(void *)(p + at_offset),
        .dim_end = (int *)(void *)(p + at_dim),
    };
    d.layout->shard = d.shard;
    d.layout->replica = d.replica;
    d.layout->offset = d.offset;
    d.layout->dim_end = d.dim_end;
    d.layout->n_dim = n_dim;
    return d;
}

axe_draft
axe_draft_copy(axe_ctx *cx, const axe_layout *l, int n_more)
{
    axe_draft d = axe_draft_new(cx, l->n_shard + n_more, l->n_replica,
                                l->n_offset, l->n_dim);

    d.layout->n_shard = l->n_shard;
    d.layout->n_replica = l->n_replica;
    d.layout->n_offset = l->n_offset;
    d.layout->swizzle = l->swizzle;
    axe_iters_copy(d.shard, l->n_shard, l->shard);
    axe_iters_copy(d.replica, l->n_replica, l->replica);
    for (int k = 0; k < l->n_offset; k++)
        d.offset[k] = l->offset[k];
    for (int k = 0; k < l->n_dim; k++)
        d.dim_end[k] = l->dim_end[k];
    return d;
}

static int
compare_place(axe_offset a, axe_offset b)
{
    if (a.axis != b.axis)
        return a.axis < b.axis ? -1 : 1;
    return a.unit == b.unit ? 0 : a.unit < b.unit ? -1 : 1;
}

static void
sift(axe_offset *o, int n, int k)
{
    for (int child; (child = 2 * k + 1) < n; k = child) {
        axe_offset t = o[k];
        if (child + 1 < n && compare_place(o[child], o[child + 1]) < 0)
            child++;
        if (compare_place(t, o[child]) >= 0)
            return;
        o[k] = o[child];
        o[child] = t;
    }
}

static void
sort_many(axe_offset *o, int n)
{
    for (int k = n / 2 - 1; k >= 0; k--)
        sift(o, n, k);
    for (int k = n - 1; k > 0; k--) {
        axe_offset t = o[0];
        o[0] = o[k];
        o[k] = t;
        sift(o, k, 0);
    }
}

void
axe_offsets_sort(axe_offset *o, int n)
{
    if (n > AXE_FEW) {
        sort_many(o, n);
        return;
    }
    for (int k = 1; k < n; k++) {
        axe_offset t = o[k];
        int        i = k;
        for (; i > 0 && compare_place(t, o[i - 1]) < 0; i--)
            o[i] = o[i - 1];
        o[i] = t;
    }
}

axe_offset *
axe_offsets_room(axe_ctx *cx, axe_offset *few, int n)
{
    return n <= AXE_FEW ? few : axe_new_array(cx, axe_offset, n);
}

int
axe_offsets_sum(axe_offset *o, int n)
{
    int left = 0;

    if (n > 1)
        axe_offsets_sort(o, n);
    for (int k = 0; k < n; k++) {
        axe_offset t = o[k];
        while (k + 1 < n && compare_place(o[k + 1], t) == 0)
            if (!axe_add(t.value, o[++k].value, &t.value))
                return -1;
        if (t.value != 0)
            o[left++] = t;
    }
    return left;
}

/* |stride| (extent - 1); false if it does not fit. */
static bool
reach_of(axe_iter it, int64_t *out)
{
    return axe_mul(it.extent - 1, it.stride, out) &&
           (*out >= 0 || axe_mul(*out, -1, out));
}

/* Is the sum of all reaches, whatever the axis, below INT64_MAX?  It is for
 * every layout in earnest, and saves looking at each axis alone. */
static bool
plainly_fits(const axe_layout *l)
{
    int64_t total = 0, r;

    for (int k = 0; k < l->n_shard; k++)
        if (!reach_of(l->shard[k], &r) || !axe_add(total, r, &total))
            return false;
    for (int k = 0; k < l->n_replica; k++)
        if (!reach_of(l->replica[k], &r) || !axe_add(total, r, &total))
            return false;
    for (int k = 0; k < l->n_offset; k++) {
        r = l->offset[k].value;
        if (!axe_add(total, r < 0 ? -(r + 1) : r, &total))
            return false;
    }
    return total < INT64_MAX - l->n_offset;
}

static axe_status
check_iters_reach(axe_ctx *cx, const char *op, const char *what, int n,
                  const axe_iter *iter, axe_offset *out)
{
    for (int k = 0; k < n; k++) {
        int64_t r;
        if (!reach_of(iter[k], &r))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: %s iter %d, extent %" PRId64
                            " times stride %" PRId64 ", leaves int64",
                            op, what, k, iter[k].extent, iter[k].stride);
        out[k] = (axe_offset){r, iter[k].axis, iter[k].unit};
    }
    return AXE_OK;
}

/* The exact check, axis by axis. */
static axe_status
check_reach(axe_ctx *cx, const char *op, const axe_layout *l)
{
    int         n = l->n_shard + l->n_replica, at = 0;
    axe_offset *reach = axe_new_array(cx, axe_offset, n + l->n_offset);

    AXE_TRY(check_iters_reach(cx, op, "shard", l->n_shard, l->shard, reach));
    AXE_TRY(check_iters_reach(cx, op, "replica", l->n_replica, l->replica,
                              reach + l->n_shard));
    for (int k = 0; k < l->n_offset; k++) {
        axe_offset o = l->offset[k];
        if (o.value == INT64_MIN)
            o.value = INT64_MAX;
        o.value = o.value < 0 ? -o.value : o.value;
        reach[n++] = o;
    }
    axe_offsets_sort(reach, n);
    while (at < n) {
        axe_offset sum = reach[at++];
        bool       fits = true;
        while (at < n && compare_place(reach[at], sum) == 0)
            fits = axe_add(sum.value, reach[at++].value, &sum.value) && fits;
        if (!fits || sum.value == INT64_MAX)
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: the coordinates on axis %s leave int64", op,
                            axe_axis_name(cx, sum.axis));
    }
    return AXE_OK;
}

axe_status
axe_draft_finish(axe_ctx *cx, axe_draft d, const char *op,
                 const axe_layout **out)
{
    axe_layout *l = d.layout;

    l->size = 1;
    for (int k = 0; k < l->n_shard; k++)
        if (!axe_mul(l->size, l->shard[k].extent, &l->size))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: the size leaves int64 at iter %d, extent "
                            "%" PRId64,
                            op, k, l->shard[k].extent);
    if (l->n_offset > 0)
        l->n_offset = axe_offsets_sum(d.offset, l->n_offset);
    if (l->n_offset < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "%s: the offsets on one axis add up beyond int64", op);
    if (!plainly_fits(l))
        AXE_TRY(check_reach(cx, op, l));
    *out = l;
    return AXE_OK;
}

static axe_status
check_iters(axe_ctx *cx, const char *what, int n, const axe_iter *iter)
{
    for (int k = 0; k < n; k++) {
        if (iter[k].extent < 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: %s iter %d has extent %" PRId64
                            "; it must be at least 1",
                            what, k, iter[k].extent);
        if (!axe_axis_known(cx, iter[k].axis) ||
            !axe_unit_known(cx, iter[k].unit))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "layout: %s iter %d has axis %d and unit %d, which "
                            "this context does not have",
                            what, k, (int)iter[k].axis, (int)iter[k].unit);
    }
    return AXE_OK;
}

static axe_status
check_offsets(axe_ctx *cx, int n, const axe_offset *o)
{
    for (int k = 0; k < n; k++)
        if (!axe_axis_known(cx, o[k].axis) || !axe_unit_known(cx, o[k].unit))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "layout: offset %d has axis %d and unit %d, which "
                            "this context does not have",
                            k, (int)o[k].axis, (int)o[k].unit);
    return AXE_OK;
}

static axe_status
check_dims(axe_ctx *cx, const axe_layout *l)
{
    int begin = 0;

    for (int k = 0; k < l->n_dim; begin = l->dim_end[k++])
        if (l->dim_end[k] < begin || l->dim_end[k] > l->n_shard)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: dim %d ends at iter %d, after %d, of %d",
                            k, l->dim_end[k], begin, l->n_shard);
    if (l->n_dim > 0 && begin != l->n_shard)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: the dims end at iter %d, the iters at %d",
                        begin, l->n_shard);
    return AXE_OK;
}

axe_status
axe_layout_make(axe_ctx *cx, const axe_layout *spec, const axe_layout **out)
{
    AXE_NEED(cx, spec);
    AXE_NEED(cx, out);
    axe_draft d;
    int       n_dim = spec->n_dim > 0 ? spec->n_dim : 1;

    if (spec->n_shard < 0 || spec->n_replica < 0 || spec->n_offset < 0 ||
        spec->n_dim < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: a count is negative");
    AXE_TRY(check_iters(cx, "shard", spec->n_shard, spec->shard));
    AXE_TRY(check_iters(cx, "replica", spec->n_replica, spec->replica));
    AXE_TRY(check_offsets(cx, spec->n_offset, spec->offset));
    AXE_TRY(check_dims(cx, spec));
    if (spec->swizzle.bits != 0)
        AXE_TRY(axe_swizzle_check(cx, spec->swizzle));

    d = axe_draft_new(cx, spec->n_shard, spec->n_replica, spec->n_offset,
                      n_dim);
    d.layout->n_shard = spec->n_shard;
    d.layout->n_replica = spec->n_replica;
    d.layout->n_offset = spec->n_offset;
    d.layout->swizzle =
        spec->swizzle.bits > 0 ? spec->swizzle : (axe_swizzle){0, 0, 0, 0};
    axe_iters_copy(d.shard, spec->n_shard, spec->shard);
    axe_iters_copy(d.replica, spec->n_replica, spec->replica);
    if (spec->n_offset > 0)
        memcpy(d.offset, spec->offset,
               (size_t)spec->n_offset * sizeof d.offset[0]);
    d.dim_end[0] = spec->n_shard;
    for (int k = 0; k < spec->n_dim; k++)
        d.dim_end[k] = spec->dim_end[k];
    return axe_draft_finish(cx, d, "layout", out);
}

axe_status
axe_layout_of_iters(axe_ctx *cx, int n, const axe_iter *iter,
                    const axe_layout **out)
{
    AXE_NEED_ALL(cx, n, iter);
    AXE_NEED(cx, out);
    axe_layout spec = {.n_shard = n, .shard = iter};

    return axe_layout_make(cx, &spec, out);
}

/* One dim per extent, with the stride given, or row-major if there is none. */
static axe_status
make_strided(axe_ctx *cx, axe_shape shape, const int64_t *stride,
             const axe_layout **out)
{
    axe_draft d;
    int64_t   pitch = 1;

    if (shape.n < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "layout: a shape of %d dims",
                        shape.n);
    d = axe_draft_new(cx, shape.n, 0, 0, shape.n > 0 ? shape.n : 1);
    for (int k = shape.n - 1; k >= 0; k--) {
        d.shard[k] = (axe_iter){.extent = shape.extent[k],
                                .stride = stride ? stride[k] : pitch};
        d.dim_end[k] = k + 1;
        if (!stride && shape.extent[k] > 0 &&
            !axe_mul(pitch, shape.extent[k], &pitch))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "layout: the size of shape %s leaves int64",
                            axe_shape_text(cx, shape));
    }
    d.layout->n_shard = shape.n;
    AXE_TRY(check_iters(cx, "shard", shape.n, d.shard));
    return axe_draft_finish(cx, d, "layout", out);
}

axe_status
axe_layout_row_major(axe_ctx *cx, axe_shape shape, const axe_layout **out)
{
    AXE_NEED_ALL(cx, shape.n, shape.extent);
    AXE_NEED(cx, out);
    return make_strided(cx, shape, NULL, out);
}

axe_status
axe_layout_strided(axe_ctx *cx, axe_shape shape, const int64_t *stride,
                   const axe_layout **out)
{
    AXE_NEED_ALL(cx, shape.n, shape.extent);
    AXE_NEED_ALL(cx, shape.n, stride);
    AXE_NEED(cx, out);
    return make_strided(cx, shape, stride, out);
}

axe_shape
axe_layout_shape(axe_ctx *cx, const axe_layout *l)
{
    int64_t *extent = axe_new_array(cx, int64_t, l->n_dim);

    for (int k = 0; k < l->n_dim; k++) {
        extent[k] = 1;
        for (int i = axe_dim_begin(l, k); i < l->dim_end[k]; i++)
            extent[k] *= l->shard[i].extent;
    }
    return (axe_shape){l->n_dim, extent};
}

const axe_layout *
axe_layout_flat(axe_ctx *cx, const axe_layout *l)
{
    axe_layout *flat;
    int        *end;

    if (l->n_dim == 1)
        return l;
    flat = axe_new(cx, axe_layout);
    end = axe_new(cx, int);
    *end = l->n_shard;
    *flat = *l;
    flat->n_dim = 1;
    flat->dim_end = end;
    return flat;
}

bool
axe_swizzle_same(axe_swizzle a, axe_swizzle b)
{
    return a.bits == b.bits &&
           (a.bits == 0 || (a.base == b.base && a.shift == b.shift &&
                            a.unit_bits == b.unit_bits));
}
