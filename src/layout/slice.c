/* slice.c - the layout of a region, exactly.
 *
 * Each dim is a block of canonical iters, cut by itself.  Of the region
 * [b, b + T) of a block, fast digits that are 0 at b and whose extents divide
 * what is left of T are kept whole.  The first that is not is the pivot
 * (E, s): `rem` runs of what was kept start at its digit d = q mod E, where q
 * is the index of the first run, and it wraps w = (d + rem - 1) div E times.
 * With g the map of the iters left of the pivot and n_j = q div E + j + 1, the
 * run moves at wrap j, instead of by s, by
 *
 *     K_j = g(n_j) - g(n_j - 1) - (E - 1) s
 *
 * a vector over (axis, unit); K_j = s is a wrap that nobody sees.  An iter can
 * hold a vector on one place only, or none (stride 0).  Then
 *
 *     w = 0                      (rem : s)
 *     w = 1, K_0 = s             (rem : s)
 *     w = 1, rem = 2(E - d)      (2 : K_0 + (E-d-1) s), (E-d : s)
 *     w >= 2, all K equal,       (rem/E : K_0 + (E-1) s),
 *       2d = E, E | rem            (2 : K_0 + (E/2-1) s), (E/2 : s)
 *     w = 3, K_0 = K_2 = s,      (2 : K_1 + (2E-d-1) s), (2E-d : s)
 *       K_1 != s,
 *       rem = 2(2E - d)
 *
 * and no other region is a layout.  tests/prop/test_oracle_slice.c compares
 * this with a reconstruction from the points. */
#include <assert.h>
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

/* One block while it is cut. */
typedef struct pivot {
    axe_ctx        *cx;
    int             n; /* iters left of the pivot */
    const axe_iter *left;
    axe_iter        at;
    int64_t         q, d, rem, w;
} pivot;

/* A vector over places: entries in order, no zeros. */
typedef struct jump {
    int         n;
    axe_offset *part;
    axe_offset  few[AXE_FEW];
} jump;

static void
set_room(const pivot *p, jump *v)
{
    v->part = axe_offsets_room(p->cx, v->few, p->n + 3);
    v->n = 0;
}

static void
add_part(jump *v, int64_t value, axe_iter on)
{
    v->part[v->n++] = (axe_offset){value, on.axis, on.unit};
}

/* K of the wrap to n, plus (steps - 1) s.  In the sum every iter of the layout
 * stands at most once, so it cannot overflow. */
static void
jump_at(const pivot *p, int64_t n, int64_t steps, jump *v)
{
    int     k = p->n - 1;
    int64_t back = steps - p->at.extent;

    set_room(p, v);
    for (; k > 0 && n % p->left[k].extent == 0; n /= p->left[k--].extent)
        add_part(v, -(p->left[k].extent - 1) * p->left[k].stride, p->left[k]);
    add_part(v, p->left[k].stride, p->left[k]);
    if (back * p->at.stride != 0)
        add_part(v, back * p->at.stride, p->at);
    v->n = axe_offsets_sum(v->part, v->n);
    assert(v->n >= 0);
}

/* K_j = s? */
static bool
unseen(const pivot *p, int64_t n)
{
    jump v;

    jump_at(p, n, 1, &v);
    if (p->at.stride == 0)
        return v.n == 0;
    return v.n == 1 && v.part[0].value == p->at.stride &&
           v.part[0].axis == p->at.axis && v.part[0].unit == p->at.unit;
}

static bool
same_jump(const jump *a, const jump *b)
{
    if (a->n != b->n)
        return false;
    for (int k = 0; k < a->n; k++)
        if (a->part[k].value != b->part[k].value ||
            a->part[k].axis != b->part[k].axis ||
            a->part[k].unit != b->part[k].unit)
            return false;
    return true;
}

/* Are all K_j equal?  Of two wraps in a row one carries no further (plain), and
 * of two that do, one stops at the next iter; as the block is canonical that
 * one differs from the plain ones.  So the first two of all and the first two
 * of those that carry further tell. */
static bool
all_equal(const pivot *p)
{
    int64_t n0 = p->q / p->at.extent + 1, e = p->left[p->n - 1].extent;
    int64_t first = (e - n0 % e) % e;
    int64_t test[] = {1, first, e < p->w ? first + e : p->w};
    jump    v0, v;

    jump_at(p, n0, 1, &v0);
    for (int k = 0; k < AXE_LEN(test); k++) {
        if (test[k] >= p->w)
            continue;
        jump_at(p, n0 + test[k], 1, &v);
        if (!same_jump(&v0, &v))
            return false;
    }
    return true;
}

/* Why a pivot has no iters. */
typedef enum why { FINE, IRREGULAR, TWO_AXES } why;

/* An iter that moves by K of the wrap to n, plus (steps - 1) s. */
static why
jump_iter(const pivot *p, int64_t extent, int64_t n, int64_t steps,
          axe_iter *out)
{
    jump v;

    jump_at(p, n, steps, &v);
    if (v.n > 1)
        return TWO_AXES;
    *out = (axe_iter){extent, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    if (v.n == 1)
        *out =
            (axe_iter){extent, v.part[0].value, v.part[0].axis, v.part[0].unit};
    return FINE;
}

/* The iters, slow to fast, of the pivot's digits. */
static why
cut_pivot(const pivot *p, axe_iter out[3], int *n_out)
{
    int64_t  e = p->at.extent, n0 = p->q / e + 1, half = 0;
    axe_iter run = p->at;
    why      st;

    *n_out = 1;
    run.extent = p->rem;
    out[0] = run;
    if (p->w == 0 || (p->w == 1 && unseen(p, n0)))
        return FINE;
    if (p->w == 1 && p->rem % 2 == 0 && p->rem / 2 == e - p->d) {
        half = e - p->d;
    } else if (p->w == 3 && p->rem % 2 == 0 && p->rem / 2 == 2 * e - p->d &&
               unseen(p, n0) && unseen(p, n0 + 2)) {
        half = 2 * e - p->d;
        n0++;
    } else if (p->w < 2 || 2 * p->d != e || p->rem % e != 0 || unseen(p, n0) ||
               !all_equal(p)) {
        return IRREGULAR;
    }
    if (half == 0) {
        half = e / 2;
        st = jump_iter(p, p->rem / e, n0, e, &out[0]);
        if (st != FINE)
            return st;
        *n_out = 2;
    }
    st = jump_iter(p, 2, n0, half, &out[*n_out - 1]);
    run.extent = half;
    out[(*n_out)++] = run;
    return st;
}

/* The region of one dim, for messages. */
typedef struct region {
    const axe_layout *l;
    int               dim;
    int64_t           begin, end;
} region;

static axe_status
no_layout(axe_ctx *cx, const region *r, const pivot *p, why st, int64_t run)
{
    int64_t e = p->at.extent;

    if (st == TWO_AXES)
        axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                 "slice: no layout is [%" PRId64 ", %" PRId64
                 ") of dim %d of %s: where iter %d, extent %" PRId64
                 ", wraps, it moves on two axes at once",
                 r->begin, r->end, r->dim, axe_layout_text(cx, r->l), p->n, e);
    else
        axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                 "slice: no layout is [%" PRId64 ", %" PRId64
                 ") of dim %d of %s: %" PRId64 " steps of iter %d, extent "
                 "%" PRId64 ", from its place %" PRId64 " wrap %" PRId64
                 " times, unevenly",
                 r->begin, r->end, r->dim, axe_layout_text(cx, r->l), p->rem,
                 p->n, e, p->d, p->w);
    axe_help(cx,
             "begin and end at multiples of %" PRId64
             ", or stay between two of them",
             e * run);
    return AXE_ESHAPE;
}

/* The region of a block of n canonical iters, appended to dst[from..*len). */
static axe_status
cut_block(axe_ctx *cx, const region *r, int n, const axe_iter *iter,
          axe_iter *dst, int *len)
{
    pivot    p = {.cx = cx, .q = r->begin, .rem = r->end - r->begin};
    int      from = *len, k = n, n_out;
    axe_iter out[3];
    why      st;

    for (; k > 0; k--) {
        int64_t e = iter[k - 1].extent, left = p.rem / e;
        if (left * e != p.rem || p.q % e != 0)
            break;
        p.q /= e;
        p.rem = left;
    }
    if (k > 0) {
        p.n = k - 1;
        p.left = iter;
        p.at = iter[k - 1];
        p.d = p.q % p.at.extent;
        p.w = (p.d + p.rem - 1) / p.at.extent;
        st = cut_pivot(&p, out, &n_out);
        if (st != FINE)
            return no_layout(cx, r, &p, st, (r->end - r->begin) / p.rem);
        for (int i = 0; i < n_out; i++)
            *len = axe_iters_push(dst, from, *len, out[i]);
    }
    for (; k < n; k++)
        *len = axe_iters_push(dst, from, *len, iter[k]);
    return AXE_OK;
}

static axe_status
check_region(axe_ctx *cx, int64_t extent, const region *r)
{
    if (r->begin < 0 || r->begin > r->end || r->end > extent)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "slice: [%" PRId64 ", %" PRId64
                        ") is not inside dim %d, [0, %" PRId64 ")",
                        r->begin, r->end, r->dim, extent);
    if (r->begin == r->end)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "slice: [%" PRId64 ", %" PRId64
                        ") of dim %d is empty; a layout has at least one "
                        "element",
                        r->begin, r->end, r->dim);
    return AXE_OK;
}

/* What index x of the block adds to the offset: an entry for each digit but 0.
 * Returns how many. */
static int
origin(int n, const axe_iter *iter, int64_t x, axe_offset *out)
{
    int n_out = 0;

    for (int k = n - 1; k >= 0 && x > 0; x /= iter[k--].extent)
        if (x % iter[k].extent != 0)
            out[n_out++] = (axe_offset){x % iter[k].extent * iter[k].stride,
                                        iter[k].axis, iter[k].unit};
    return n_out;
}

axe_status
axe_layout_slice(axe_ctx *cx, const axe_layout *l, axe_shape shape,
                 const int64_t *begin, const int64_t *end,
                 const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED_ALL(cx, shape.n, shape.extent);
    AXE_NEED_ALL(cx, shape.n, begin);
    AXE_NEED_ALL(cx, shape.n, end);
    AXE_NEED(cx, out);
    axe_blocks b;
    axe_draft  d;

    axe_blocks_few(&b);
    AXE_TRY(axe_cut(cx, "slice", l, shape, &b));
    d = axe_draft_new(cx, b.n + 2 * shape.n, l->n_replica, l->n_offset + b.n,
                      shape.n > 0 ? shape.n : 1);
    for (int k = 0, at = 0; k < shape.n; at = b.dim_end[k++]) {
        region r = {l, k, begin[k], end[k]};
        int    n = b.dim_end[k] - at;
        AXE_TRY(check_region(cx, shape.extent[k], &r));
        AXE_TRY(cut_block(cx, &r, n, b.iter + at, d.shard, &d.layout->n_shard));
        d.layout->n_offset +=
            origin(n, b.iter + at, begin[k], d.offset + d.layout->n_offset);
        d.dim_end[k] = d.layout->n_shard;
    }
    for (int k = 0; k < l->n_offset; k++)
        d.offset[d.layout->n_offset++] = l->offset[k];
    axe_iters_copy(d.replica, l->n_replica, l->replica);
    d.layout->n_replica = l->n_replica;
    d.layout->swizzle = l->swizzle;
    return axe_draft_finish(cx, d, "slice", out);
}
