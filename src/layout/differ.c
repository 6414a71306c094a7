/* differ.c - where two layouts differ, and where a tiling breaks: the smallest
 * index that shows it.
 *
 * Equality is decided elsewhere (equal.c).  Here D, O and R of the two are
 * compared one by one: unequal O or R show at index 0; unequal D at the first
 * index whose digits differ in what they add, which is looked for among the
 * first 2^22, and behind them at the bounds of digits alone. */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

enum { LOOK_AT = 1 << 22, LOOK_AT_TILES = 1 << 20, MULTIPLES = 64 };

/* Is any coordinate of D(x) + O, in plain numbers, another? */
static bool
is_apart(const axe_ctx *cx, const axe_layout *a, const axe_layout *b,
         const bool *used, int64_t x)
{
    for (axe_axis k = 0; k < axe_n_axis(cx); k++) {
        if (!used[k])
            continue;
        int64_t at = axe_layout_at(a, x, k), bt = axe_layout_at(b, x, k);
        if (k == AXE_AXIS_M) {
            at = axe_swizzle_apply(a->swizzle, at);
            bt = axe_swizzle_apply(b->swizzle, bt);
        }
        if (at != bt)
            return true;
    }
    return false;
}

static bool *
axes_used(axe_ctx *cx, const axe_layout *a, const axe_layout *b)
{
    bool *used = axe_new_array(cx, bool, axe_n_axis(cx));

    used[AXE_AXIS_M] = true;
    for (int side = 0; side < 2; side++) {
        const axe_layout *l = side ? b : a;
        for (int i = 0; i < l->n_shard; i++)
            used[l->shard[i].axis] = true;
        for (int i = 0; i < l->n_replica; i++)
            used[l->replica[i].axis] = true;
        for (int i = 0; i < l->n_offset; i++)
            used[l->offset[i].axis] = true;
    }
    return used;
}

/* The first index that differs, -1: none was found.  *least: none before it
 * does. */
static int64_t
find_index(axe_ctx *cx, const axe_layout *a, const axe_layout *b, bool *least)
{
    bool   *used = axes_used(cx, a, b);
    int64_t n = a->size < LOOK_AT ? a->size : LOOK_AT, best = -1;

    *least = true;
    for (int64_t x = 0; x < n; x++)
        if (is_apart(cx, a, b, used, x))
            return x;
    *least = false;
    for (int side = 0; side < 2; side++) {
        const axe_layout *l = side ? b : a;
        int64_t           step = 1, x;
        for (int i = l->n_shard - 1; i >= 0; i--) {
            for (int64_t k = 1; k < MULTIPLES; k++)
                if (axe_mul(step, k, &x) && x < a->size &&
                    (best < 0 || x < best) && is_apart(cx, a, b, used, x))
                    best = x;
            step *= l->shard[i].extent;
        }
    }
    return best;
}

/* Which part of the two, of equal size, is another. */
static axe_status
find_part(axe_ctx *cx, const axe_layout *a, const axe_layout *b,
          axe_differ_part *out)
{
    axe_fiber         f, g;
    const axe_layout *ca, *cb;
    bool              same;

    AXE_TRY(axe_fiber_of(cx, "why", a, &f));
    AXE_TRY(axe_fiber_of(cx, "why", b, &g));
    AXE_TRY(axe_replicas_equal(cx, f.n_replica, f.replica, g.n_replica,
                               g.replica, &same));
    *out = AXE_DIFFER_REPLICAS;
    if (!same)
        return AXE_OK;
    AXE_TRY(axe_fibers_equal(cx, &f, &g, &same));
    *out = AXE_DIFFER_OFFSET;
    if (!same)
        return AXE_OK;
    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, a), &ca));
    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, b), &cb));
    *out = ca->n_shard == cb->n_shard &&
                   axe_iters_same(ca->n_shard, ca->shard, cb->shard)
               ? AXE_DIFFER_SWIZZLE
               : AXE_DIFFER_DIGITS;
    return AXE_OK;
}

/* The points of index x, none where they are not numbers. */
static void
points_of(axe_ctx *cx, const axe_layout *l, int64_t x, axe_points *out)
{
    axe_mark m = axe_ctx_mark(cx);

    *out = (axe_points){0, 0, NULL, NULL};
    if (x < 0 || x >= l->size || axe_layout_apply(cx, l, x, out) == AXE_OK)
        return;
    axe_ctx_release(cx, m);
    *out = (axe_points){0, 0, NULL, NULL};
}

axe_status
axe_layout_differ(axe_ctx *cx, const axe_layout *a, const axe_layout *b,
                  axe_layout_difference *out)
{
    AXE_NEED(cx, a);
    AXE_NEED(cx, b);
    AXE_NEED(cx, out);
    axe_layout_difference d = {
        .part = AXE_DIFFER_NONE, .index = -1, .least = true};
    bool same;

    AXE_TRY(axe_layout_equal(cx, a, b, &same));
    if (!same && a->size != b->size) {
        d.part = AXE_DIFFER_SIZE;
        d.index = a->size < b->size ? a->size : b->size;
    } else if (!same) {
        AXE_TRY(find_part(cx, a, b, &d.part));
        d.index = d.part == AXE_DIFFER_REPLICAS || d.part == AXE_DIFFER_OFFSET
                      ? 0
                      : find_index(cx, a, b, &d.least);
    }
    points_of(cx, a, d.index, &d.a);
    points_of(cx, b, d.index, &d.b);
    *out = d;
    return AXE_OK;
}

/* ------------------------------------------------------------------- tilings
 */

typedef struct tiling {
    int            rank;
    const int64_t *inner;
    int64_t        n_inner;
} tiling;

/* Index x of the tiled layout, whose extents are `whole`, as that of its tile's
 * first element, and where it is in the tile. */
static void
locate(const tiling *t, const int64_t *whole, int64_t x, int64_t *first,
       int64_t *inside)
{
    int64_t step = 1, step_in = 1;

    *first = *inside = 0;
    for (int k = t->rank - 1; k >= 0; k--) {
        int64_t c = x % whole[k], in = c % t->inner[k];
        x /= whole[k];
        *first += (c - in) * step;
        *inside += in * step_in;
        step *= whole[k];
        step_in *= t->inner[k];
    }
}

/* Does index x break the rule on the axis? */
static bool
breaks(const axe_layout *tiled, const axe_layout *inner, axe_axis axis,
       int64_t span, int64_t x, int64_t first, int64_t inside,
       axe_tile_break *out)
{
    int64_t got =
        axe_layout_at(tiled, x, axis) - axe_layout_at(tiled, first, axis);
    int64_t want =
        axe_layout_at(inner, inside, axis) - axe_layout_at(inner, 0, axis);
    int64_t far =
        axe_layout_at(tiled, first, axis) - axe_layout_at(tiled, 0, axis);

    *out = (axe_tile_break){x, first, axis, inside, got, want};
    if (got != want)
        return true;
    *out = (axe_tile_break){first, first, axis, -1, far, span};
    return inside == 0 && span > 0 && far % span != 0;
}

axe_status
axe_layout_tile_break(axe_ctx *cx, const axe_layout *tiled,
                      axe_shape tiled_shape, const axe_layout *inner,
                      axe_shape inner_shape, bool *found, axe_tile_break *out)
{
    AXE_NEED(cx, tiled);
    AXE_NEED_ALL(cx, tiled_shape.n, tiled_shape.extent);
    AXE_NEED(cx, inner);
    AXE_NEED_ALL(cx, inner_shape.n, inner_shape.extent);
    AXE_NEED(cx, found);
    AXE_NEED(cx, out);
    tiling  t = {inner_shape.n, inner_shape.extent, inner->size};
    int64_t n, first, inside, product = 1;

    *found = false;
    AXE_TRY(axe_axes_level(cx, &tiled, &inner));
    if (tiled_shape.n != t.rank)
        return AXE_OK;
    for (int k = 0; k < t.rank; k++) {
        if (t.inner[k] < 1 || tiled_shape.extent[k] % t.inner[k] != 0 ||
            !axe_mul(product, tiled_shape.extent[k], &product))
            return AXE_OK;
    }
    if (product != tiled->size)
        return AXE_OK;
    bool    *used = axes_used(cx, tiled, inner);
    int64_t *span = axe_new_array(cx, int64_t, axe_n_axis(cx));
    for (axe_axis k = 0; k < axe_n_axis(cx); k++)
        if (used[k] && axe_layout_span(cx, inner, k, &span[k]) != AXE_OK)
            return AXE_OK;
    n = tiled->size < LOOK_AT_TILES ? tiled->size : LOOK_AT_TILES;
    for (int64_t x = 0; x < n && !*found; x++) {
        locate(&t, tiled_shape.extent, x, &first, &inside);
        for (axe_axis k = 0; k < axe_n_axis(cx) && !*found; k++)
            *found = used[k] &&
                     breaks(tiled, inner, k, span[k], x, first, inside, out);
    }
    return AXE_OK;
}
