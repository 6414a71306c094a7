/* compose.c - one layout after another, what a layout leaves out, and what two
 * progressions have in common.
 */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/digit.h"
#include "layout/layout_int.h"
#include "layout/radix.h"

/* A's iters as a radix: reversed, with a digit of 1 if there are none. */
static axe_radix
radix_of(axe_ctx *cx, const axe_layout *a)
{
    int       n = a->n_shard;
    axe_iter *d = axe_new_array(cx, axe_iter, n > 0 ? n : 1);

    d[0] = (axe_iter){1, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    for (int k = 0; k < n; k++)
        d[k] = a->shard[n - 1 - k];
    return (axe_radix){n > 0 ? n : 1, d};
}

/* c with A's replicas, offsets and swizzle, canonical, and the dims of `shape`,
 * or as one dim where c cannot be cut so. */
static axe_status
finish(axe_ctx *cx, const axe_layout *a, const axe_layout *c, axe_shape shape,
       const axe_layout **out)
{
    int       n_replica = a->n_replica + c->n_replica;
    int       n_offset = a->n_offset + c->n_offset;
    axe_draft d = axe_draft_new(cx, c->n_shard, n_replica, n_offset, c->n_dim);
    axe_mark  m;

    d.layout->n_shard = c->n_shard;
    d.layout->n_replica = n_replica;
    d.layout->n_offset = n_offset;
    d.layout->swizzle = a->swizzle;
    axe_iters_copy(d.shard, c->n_shard, c->shard);
    axe_iters_copy(d.replica, a->n_replica, a->replica);
    axe_iters_copy(d.replica + a->n_replica, c->n_replica, c->replica);
    for (int k = 0; k < n_offset; k++)
        d.offset[k] =
            k < a->n_offset ? a->offset[k] : c->offset[k - a->n_offset];
    for (int k = 0; k < c->n_dim; k++)
        d.dim_end[k] = c->dim_end[k];
    AXE_TRY(axe_draft_finish(cx, d, "compose", &c));
    AXE_TRY(axe_layout_canon(cx, c, &c));
    m = axe_ctx_mark(cx);
    if (c->n_dim == shape.n || axe_layout_group(cx, c, shape, out) != AXE_OK) {
        axe_ctx_release(cx, m);
        *out = c;
    }
    return AXE_OK;
}

/* -------------------------------------------------------- by the definition */

enum { MAX_TABLE = 1 << 16 }; /* points of B */

/* The places (axis, unit) that A's iters use; iter k of A goes to slot[k]. */
typedef struct places {
    int       n;
    axe_iter *place;
    int      *slot;
} places;

static places
places_of(axe_ctx *cx, const axe_layout *a)
{
    places p = {0, axe_new_array(cx, axe_iter, a->n_shard + 1),
                axe_new_array(cx, int, a->n_shard + 1)};

    for (int k = 0; k < a->n_shard; k++) {
        int s = 0;
        while (s < p.n && !axe_same_place(p.place[s], a->shard[k]))
            s++;
        p.n += s == p.n;
        p.place[s] = a->shard[k];
        p.slot[k] = s;
    }
    if (p.n == 0)
        p.place[p.n++] = (axe_iter){1, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    return p;
}

/* D_A(v) into f[0..p->n). */
static void
read_point(const axe_layout *a, const places *p, int64_t v, int64_t *f)
{
    for (int k = a->n_shard - 1; k >= 0; k--) {
        f[p->slot[k]] += v % a->shard[k].extent * a->shard[k].stride;
        v /= a->shard[k].extent;
    }
}

/* The iters of a table, on their axes, without a trace if there are none. */
static axe_status
iters_of(axe_ctx *cx, const places *p, axe_table t, axe_iter it[62], int *n)
{
    int64_t at;

    *n = axe_table_iters(t, it, &at);
    if (*n < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "compose: no iter list is this map: none agrees with "
                        "it at index %" PRId64 " of %" PRId64,
                        at, t.n);
    for (int k = 0; k < *n; k++) {
        axe_iter place = p->place[it[k].axis];
        it[k].axis = it[k].stride ? place.axis : AXE_AXIS_M;
        it[k].unit = it[k].stride ? place.unit : AXE_UNIT_ONE;
    }
    return AXE_OK;
}

/* Sum of the digits of r times the replica strides. */
static int64_t
replica_at(const axe_layout *b, int64_t r)
{
    int64_t sum = 0;

    for (int k = b->n_replica - 1; k >= 0; k--) {
        sum += r % b->replica[k].extent * b->replica[k].stride;
        r /= b->replica[k].extent;
    }
    return sum;
}

static axe_status
out_of_range(axe_ctx *cx, const axe_layout *a, int64_t v)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "compose: the right layout reaches index %" PRId64
                    " of the left one, %s, of size %" PRId64,
                    v, axe_layout_text(cx, a), a->size);
}

/* The table of D_A(B(x) + r), x fastest. */
static axe_status
tabulate(axe_ctx *cx, const axe_layout *a, const axe_layout *b, axe_axis axis,
         int64_t n_replica, const places *p, axe_table *out)
{
    int64_t *f = axe_new_array(cx, int64_t, b->size * n_replica * p->n);
    int64_t *next = f;

    for (int64_t r = 0; r < n_replica; r++)
        for (int64_t x = 0; x < b->size; x++, next += p->n) {
            int64_t v = axe_layout_at(b, x, axis) + replica_at(b, r);
            v = axe_swizzle_apply(b->swizzle, v);
            if (v < 0 || v >= a->size)
                return out_of_range(cx, a, v);
            read_point(a, p, v, next);
        }
    *out = (axe_table){b->size * n_replica, p->n, f};
    return AXE_OK;
}

/* Do all replicas move by the map of the first, f(x, r) = f(x, 0) + f(0, r) -
 * f(0, 0)?  Collects f(0, r) in `first`. */
static bool
separates(axe_table t, int64_t size, int64_t *first)
{
    int64_t row = size * t.n_slot;

    for (int64_t i = 0; i < t.n * t.n_slot; i++) {
        int64_t k = i % t.n_slot, r = i / row;
        if (i % row < t.n_slot)
            first[r * t.n_slot + k] = t.f[i];
        if (t.f[i] - t.f[r * row + k] != t.f[i % row] - t.f[k])
            return false;
    }
    return true;
}

/* C found again from all its points. */
static axe_status
by_table(axe_ctx *cx, const axe_layout *a, const axe_layout *b, axe_axis axis,
         const axe_layout **out)
{
    places      p = places_of(cx, a);
    int64_t     n_point = b->size, n_replica = 1, *first;
    axe_iter    shard[62], replica[62];
    axe_layout  spec = {.shard = shard, .replica = replica};
    axe_offset *o = axe_new_array(cx, axe_offset, p.n);
    axe_table   t;

    for (int k = 0; k < b->n_replica && n_replica <= MAX_TABLE; k++)
        n_replica *= b->replica[k].extent;
    if (n_replica > MAX_TABLE || n_point > MAX_TABLE / n_replica)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "compose: the digits carry, and %" PRId64
                        " points are over the %d that are looked at one by one",
                        n_point, MAX_TABLE);
    AXE_TRY(tabulate(cx, a, b, axis, n_replica, &p, &t));
    first = axe_new_array(cx, int64_t, n_replica * p.n);
    if (!separates(t, n_point, first))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "compose: the replicas of the right layout do not move "
                        "alike under the left one");
    AXE_TRY(
        iters_of(cx, &p, (axe_table){n_point, p.n, t.f}, shard, &spec.n_shard));
    AXE_TRY(iters_of(cx, &p, (axe_table){n_replica, p.n, first}, replica,
                     &spec.n_replica));
    for (int k = 0; k < p.n; k++)
        o[k] = (axe_offset){t.f[k], p.place[k].axis, p.place[k].unit};
    spec.n_offset = p.n;
    spec.offset = o;
    return axe_layout_make(cx, &spec, out);
}

/* No coordinate of b leaves a's indices. */
static axe_status
must_fit(axe_ctx *cx, const axe_layout *a, const axe_layout *b, axe_axis axis)
{
    axe_digits g;

    AXE_TRY(axe_digits_of(cx, "compose", b, axis, &g));
    if (g.lowest < 0)
        return out_of_range(cx, a, g.lowest);
    return g.highest < a->size ? AXE_OK : out_of_range(cx, a, g.highest);
}

axe_status
axe_layout_compose(axe_ctx *cx, const axe_layout *a, const axe_layout *b,
                   const axe_layout **out)
{
    AXE_NEED(cx, a);
    AXE_NEED(cx, b);
    AXE_NEED(cx, out);
    const axe_layout *c;
    axe_status        s = AXE_ESHAPE;
    axe_shape         shape;
    axe_axis          axis;
    axe_mark          m;

    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, a), &a));
    AXE_TRY(axe_layout_canon(cx, b, &b));
    AXE_TRY(axe_axis_only(cx, "compose", b, &axis));
    if (b->swizzle.unit_bits != 0 || (b->swizzle.bits && axis != AXE_AXIS_M))
        return axe_no_swizzle(cx, "compose", b);
    shape = axe_layout_shape(cx, b);
    m = axe_ctx_mark(cx);
    if (b->swizzle.bits == 0) {
        AXE_TRY(must_fit(cx, a, b, axis));
        s = axe_radix_follow(cx, "compose", b, axis, radix_of(cx, a), &c);
    }
    if (s == AXE_ESHAPE) {
        axe_ctx_release(cx, m);
        s = by_table(cx, a, b, axis, &c);
    }
    return s == AXE_OK ? finish(cx, a, c, shape, out) : s;
}

/* -------------------------------------------------------------- complement */

/* The gap below a digit of `step` when the places below `done` are covered. */
static axe_status
cover_gap(axe_ctx *cx, const axe_layout *l, int64_t step, int64_t done,
          int64_t *extent)
{
    if (step % done != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "complement: %s has a step of %" PRId64
                        ", which is no multiple of the %" PRId64
                        " places below it",
                        axe_layout_text(cx, l), step, done);
    *extent = step / done;
    return AXE_OK;
}

static axe_status
check_complement(axe_ctx *cx, const axe_layout *l, const axe_digits *g,
                 int64_t total)
{
    bool    injective;
    int64_t w[2];

    if (total < 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "complement: a total of %" PRId64
                        " places; at least 1 is needed",
                        total);
    AXE_TRY(axe_layout_injective(cx, l, &injective, w));
    if (!injective)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "complement: %s sends index %" PRId64
                        " and index %" PRId64 " to one place",
                        axe_layout_text(cx, l), w[0], w[1]);
    if (g->lowest != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "complement: the places of %s begin at %" PRId64
                        ", not at 0",
                        axe_layout_text(cx, l), g->lowest);
    return AXE_OK;
}

axe_status
axe_layout_complement(axe_ctx *cx, const axe_layout *l, int64_t total,
                      const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_axis   axis;
    axe_digits g;
    axe_iter  *it;
    int64_t    done = 1, extent; /* places [0, done) are covered */
    int        at;

    AXE_TRY(axe_no_swizzle(cx, "complement", l));
    AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, l), &l));
    AXE_TRY(axe_axis_only(cx, "complement", l, &axis));
    AXE_TRY(axe_digits_of(cx, "complement", l, axis, &g));
    AXE_TRY(check_complement(cx, l, &g, total));
    it = axe_new_array(cx, axe_iter, g.n + 1);
    at = g.n + 1;
    for (int k = 0; k < g.n; k++) {
        const axe_digit *d = &g.digit[k];
        AXE_TRY(cover_gap(cx, l, d->step, done, &extent));
        if (extent > 1)
            it[--at] = (axe_iter){extent, done, axis, AXE_UNIT_ONE};
        if (!axe_mul(d->step, d->extent, &done))
            done = INT64_MAX;
    }
    if (done < total)
        it[--at] = (axe_iter){(total - 1) / done + 1, done, axis, AXE_UNIT_ONE};
    return axe_layout_of_iters(cx, g.n + 1 - at, it + at, out);
}

/* ------------------------------------------------------------ intersection */

axe_status
axe_iter_intersect(axe_ctx *cx, axe_iter a, axe_iter b, axe_iter *out)
{
    AXE_NEED(cx, out);
    int64_t reach_a, reach_b, step, g = axe_gcd(a.stride, b.stride);

    if (a.extent < 1 || b.extent < 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "intersect: extents %" PRId64 " and %" PRId64
                        "; both must be at least 1",
                        a.extent, b.extent);
    if (!axe_same_place(a, b) || g <= 0 || a.stride == 0 || b.stride == 0 ||
        (a.stride < 0) != (b.stride < 0))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "intersect: strides %" PRId64 " and %" PRId64
                        " must be of one sign, and of one axis and unit",
                        a.stride, b.stride);
    if (!axe_mul(a.extent - 1, a.stride, &reach_a) ||
        !axe_mul(b.extent - 1, b.stride, &reach_b) || reach_a == INT64_MIN ||
        reach_b == INT64_MIN)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "intersect: a value leaves int64");
    reach_a = reach_a < 0 ? -reach_a : reach_a;
    reach_b = reach_b < 0 ? -reach_b : reach_b;
    if (reach_b < reach_a)
        reach_a = reach_b;
    *out = (axe_iter){1, a.stride, a.axis, a.unit};
    if (!axe_mul(a.stride / g, b.stride, &step) || step == INT64_MIN)
        return AXE_OK;
    step = step < 0 ? -step : step;
    *out = (axe_iter){reach_a / step + 1, a.stride < 0 ? -step : step, a.axis,
                      a.unit};
    return AXE_OK;
}
