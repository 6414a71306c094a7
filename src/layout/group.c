/* group.c - cutting D into the dims of a shape, and reordering dims.
 *
 * The cut of (e_0, e_1, ...) by a shape exists iff the products of leading
 * extents of both, merged and sorted, form a chain of divisors; then at each
 * step the extent left of the iter and the extent still needed by the dim
 * divide one another.  Iters of extent 1 take no part.  The layout is cut as it
 * is spelt where that works, else in its normal form, which has a cut whenever
 * the map has one: fusing only takes boundaries away. */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

/* Is it a shape, and of `size` elements? */
static axe_status
check_shape(axe_ctx *cx, const char *op, const axe_layout *l, axe_shape shape)
{
    int64_t n = 1;

    if (shape.n < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: a shape of %d dims", op,
                        shape.n);
    for (int k = 0; k < shape.n; k++) {
        if (shape.extent[k] < 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: shape %s has extent %" PRId64
                            " at dim %d; it must be at least 1",
                            op, axe_shape_text(cx, shape), shape.extent[k], k);
        if (!axe_mul(n, shape.extent[k], &n))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: the size of shape %s leaves int64", op,
                            axe_shape_text(cx, shape));
    }
    if (n == l->size)
        return AXE_OK;
    return axe_fail(
        cx, AXE_NOWHERE, AXE_ESHAPE,
        "%s: shape %s has %" PRId64 " elements, and %s has %" PRId64, op,
        axe_shape_text(cx, shape), n, axe_layout_text(cx, l), l->size);
}

/* n canonical iters that the shape does not cut. */
static axe_status
no_cut(axe_ctx *cx, const char *op, const axe_layout *l, axe_shape shape, int n,
       const axe_iter *canon, int at, int64_t need)
{
    bool same = n == l->n_shard && axe_iters_same(n, canon, l->shard);

    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: %s cannot be cut into %s: at iter %d%s, extent "
                    "%" PRId64 " and the %" PRId64
                    " still needed do not divide one another",
                    op, axe_layout_text(cx, l), axe_shape_text(cx, shape), at,
                    same ? "" : " of its normal form", canon[at].extent, need);
}

/* Cut the normal form into dst, dim_end; the shape is checked. */
static axe_status
cut_canon(axe_ctx *cx, const char *op, const axe_layout *l, axe_shape shape,
          axe_iter *dst, int *dim_end, int *n)
{
    axe_iter        few[AXE_FEW], *room;
    const axe_iter *canon = l->shard;
    int             n_canon = l->n_shard, at = 0, len;
    int64_t         need = 0;

    if (!axe_iters_are_canon(l->n_shard, l->shard)) {
        canon = room = axe_iters_room(cx, few, l->n_shard);
        n_canon = axe_iters_canon(room, l->n_shard, l->shard);
    }
    len = axe_iters_cut(dst, dim_end, n_canon, canon, shape, &at, &need);
    if (len < 0)
        return no_cut(cx, op, l, shape, n_canon, canon, at, need);
    *n = len;
    return AXE_OK;
}

axe_status
axe_cut(axe_ctx *cx, const char *op, const axe_layout *l, axe_shape shape,
        axe_blocks *out)
{
    AXE_TRY(check_shape(cx, op, l, shape));
    if (l->n_shard + shape.n > out->cap_iter) {
        out->iter = axe_new_array(cx, axe_iter, l->n_shard + shape.n);
        out->cap_iter = l->n_shard + shape.n;
    }
    if (shape.n > out->cap_dim) {
        out->dim_end = axe_new_array(cx, int, shape.n);
        out->cap_dim = shape.n;
    }
    return cut_canon(cx, op, l, shape, out->iter, out->dim_end, &out->n);
}

/* A draft with the R, O and swizzle of l. */
static axe_draft
draft_like(axe_ctx *cx, const axe_layout *l, int n_shard, int n_dim)
{
    axe_draft d = axe_draft_new(cx, n_shard, l->n_replica, l->n_offset,
                                n_dim > 0 ? n_dim : 1);

    axe_iters_copy(d.replica, l->n_replica, l->replica);
    for (int k = 0; k < l->n_offset; k++)
        d.offset[k] = l->offset[k];
    d.layout->n_replica = l->n_replica;
    d.layout->n_offset = l->n_offset;
    d.layout->swizzle = l->swizzle;
    return d;
}

axe_status
axe_layout_group(axe_ctx *cx, const axe_layout *l, axe_shape shape,
                 const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED_ALL(cx, shape.n, shape.extent);
    AXE_NEED(cx, out);
    axe_draft d;
    int64_t   need;
    int       at, n;

    AXE_TRY(check_shape(cx, "group", l, shape));
    d = draft_like(cx, l, l->n_shard + shape.n, shape.n);
    n = axe_iters_cut(d.shard, d.dim_end, l->n_shard, l->shard, shape, &at,
                      &need);
    if (n < 0)
        AXE_TRY(cut_canon(cx, "group", l, shape, d.shard, d.dim_end, &n));
    d.layout->n_shard = n;
    return axe_draft_finish(cx, d, "group", out);
}

/* ------------------------------------------------------ several shapes */

/* Cut iter[0..*n), which has room, by each shape in turn: cutting again only
 * splits, so earlier boundaries stay.  Returns the first shape that does not
 * cut, or n_shape. */
static int
refine(axe_ctx *cx, axe_iter *iter, int *n, int n_shape, const axe_shape *shape,
       int *at, int64_t *need)
{
    for (int s = 0; s < n_shape; s++) {
        axe_iter *cut = axe_new_array(cx, axe_iter, *n + shape[s].n);
        int      *end = axe_new_array(cx, int, shape[s].n);
        int       len = axe_iters_cut(cut, end, *n, iter, shape[s], at, need);
        if (len < 0)
            return s;
        axe_iters_copy(iter, len, cut);
        *n = len;
    }
    return n_shape;
}

/* sep[k] is the first of the refined iters of dim k. */
static int *
separate(axe_ctx *cx, int n, const axe_iter *iter, axe_shape shape)
{
    int *sep = axe_new_array(cx, int, shape.n + 1);
    int  at = 0;

    for (int k = 0; k < shape.n; k++) {
        sep[k] = at;
        for (int64_t e = 1; e < shape.extent[k]; at++)
            e *= iter[at].extent;
    }
    sep[shape.n] = n;
    return sep;
}

/* The unit iter before iter[p]: where a whole run of iter[p] ends. */
static axe_iter
unit_before(int n, const axe_iter *iter, int p)
{
    axe_iter u = {1, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    int64_t  run;

    if (n == 0)
        return u;
    u = p < n ? iter[p] : iter[n - 1];
    if (p < n && axe_mul(u.extent, u.stride, &run))
        u.stride = run;
    u.extent = 1;
    return u;
}

/* Put unit iters between the n iters so that each separator of a shape that
 * repeats has its own; a shape that repeats less takes the first of them, but
 * its end is the end.  seps are rewritten.  Returns the new count.
 *
 * unit  [n + 1] unit iters before iter p; first[p]: the new place of p's first
 */
static int
add_units(axe_ctx *cx, int n, const axe_iter *iter, int n_shape,
          const axe_shape *shape, int **seps, axe_iter *dst)
{
    int *unit = axe_new_array(cx, int, n + 1);
    int *first = axe_new_array(cx, int, n + 1), len = 0;

    for (int s = 0; s < n_shape; s++)
        for (int k = 0, same = 0; k <= shape[s].n; k++) {
            same = k > 0 && seps[s][k] == seps[s][k - 1] ? same + 1 : 0;
            if (same > unit[seps[s][k]])
                unit[seps[s][k]] = same;
        }
    for (int p = 0; p <= n; p++) {
        first[p] = len;
        for (int u = 0; u < unit[p]; u++)
            dst[len++] = unit_before(n, iter, p);
        if (p < n)
            dst[len++] = iter[p];
    }
    for (int s = 0; s < n_shape; s++)
        for (int k = 0, old = -1, same = 0; k <= shape[s].n; k++) {
            same = seps[s][k] == old ? same + 1 : 0;
            old = seps[s][k];
            seps[s][k] = k == shape[s].n ? len : first[old] + same;
        }
    return len;
}

axe_status
axe_layout_group_many(axe_ctx *cx, const axe_layout *l, int n_shape,
                      const axe_shape *shape, bool keep_units,
                      const axe_layout **out, int **seps)
{
    AXE_NEED(cx, l);
    AXE_NEED_ALL(cx, n_shape, shape);
    AXE_NEED(cx, out);
    int       room = l->n_shard, n = l->n_shard, at = 0, bad;
    int64_t   need = 0;
    axe_iter *iter;
    axe_draft d;
    int     **sep;

    if (n_shape < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "group: %d shapes", n_shape);
    sep = axe_new_array(cx, int *, n_shape);
    for (int s = 0; s < n_shape; s++) {
        AXE_TRY(check_shape(cx, "group", l, shape[s]));
        room += shape[s].n;
    }
    iter = axe_new_array(cx, axe_iter, room);
    axe_iters_copy(iter, n, l->shard);
    if (n_shape == 0)
        n = axe_iters_canon(iter, n, l->shard);
    bad = refine(cx, iter, &n, n_shape, shape, &at, &need);
    if (bad < n_shape) {
        n = axe_iters_canon(iter, l->n_shard, l->shard);
        bad = refine(cx, iter, &n, n_shape, shape, &at, &need);
    }
    if (bad < n_shape)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "group: %s cannot be cut into %s%s: at iter %d, extent "
                        "%" PRId64 " and the %" PRId64
                        " still needed do not divide one another",
                        axe_layout_text(cx, l), axe_shape_text(cx, shape[bad]),
                        bad > 0 ? " and the shapes before it" : "", at,
                        iter[at].extent, need);
    for (int s = 0; s < n_shape; s++)
        sep[s] = separate(cx, n, iter, shape[s]);
    d = draft_like(cx, l, keep_units ? 2 * room + n_shape : n, 1);
    if (keep_units)
        n = add_units(cx, n, iter, n_shape, shape, sep, d.shard);
    else
        axe_iters_copy(d.shard, n, iter);
    d.layout->n_shard = d.dim_end[0] = n;
    AXE_TRY(axe_draft_finish(cx, d, "group", out));
    for (int s = 0; s < n_shape; s++)
        seps[s] = sep[s];
    return AXE_OK;
}

/* ------------------------------------------------------------- reorder */

static axe_status
check_permutation(axe_ctx *cx, const axe_layout *l, int n, const int *perm)
{
    bool *seen;

    if (n != l->n_dim)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "permute: %d numbers for the %d dims of %s", n,
                        l->n_dim, axe_layout_text(cx, l));
    seen = axe_new_array(cx, bool, n);
    for (int k = 0; k < n; k++) {
        if (perm[k] < 0 || perm[k] >= n || seen[perm[k]])
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "permute: %d at place %d is %s", perm[k], k,
                            perm[k] < 0 || perm[k] >= n ? "no dim"
                                                        : "there twice");
        seen[perm[k]] = true;
    }
    return AXE_OK;
}

axe_status
axe_layout_permute(axe_ctx *cx, const axe_layout *l, int n, const int *perm,
                   const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED_ALL(cx, n, perm);
    AXE_NEED(cx, out);
    axe_draft d;
    int       len = 0;

    AXE_TRY(check_permutation(cx, l, n, perm));
    d = draft_like(cx, l, l->n_shard, n);
    for (int k = 0; k < n; d.dim_end[k++] = len)
        for (int i = axe_dim_begin(l, perm[k]); i < l->dim_end[perm[k]]; i++)
            d.shard[len++] = l->shard[i];
    d.layout->n_shard = len;
    return axe_draft_finish(cx, d, "permute", out);
}
