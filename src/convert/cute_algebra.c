/* cute_algebra.c - CuTe's algebra on one or two layouts, sound.
 *
 * Composition is the place where CuTe itself is not: it looks at each mode of B
 * alone, so a sum of modes may carry out of a digit of A, and a mode may leave
 * a digit that it does not fill: (6,2):(1,100) o (4,2):(1,4) gives (4,2):(1,4).
 * Here all of B follows A at once, by axe_layout_compose, which is exact. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "convert/cute.h"

/* ---------------------------------------------------------------- coalesce */

/* The leaves of l, slowest kept even where its size is 1 if `open`: beyond the
 * domain it goes on.  out has room for them all; returns how many. */
static int
merge(int n, const axe_cute *leaf, bool open, axe_cute *out)
{
    int m = 0;

    for (int i = 0; i < n; i++) {
        axe_cute *last = m > 0 ? &out[m - 1] : NULL;
        int64_t   run;

        if (leaf[i].shape == 1 && !(open && i == n - 1))
            continue;
        if (last && axe_cute_same_basis(last->basis, leaf[i].basis) &&
            axe_mul(last->shape, last->stride, &run) && run == leaf[i].stride)
            last->shape *= leaf[i].shape;
        else
            out[m++] = leaf[i];
    }
    return m;
}

/* n leaves as CuTe's flat results are: 1:0, a leaf, or a tuple. */
static axe_cute
flat(axe_ctx *cx, int n, const axe_cute *leaf)
{
    if (n == 0)
        return axe_cute_leaf(1, 0);
    return n == 1 ? leaf[0] : axe_cute_tuple(cx, n, leaf);
}

axe_status
axe_cute_coalesce(axe_ctx *cx, const axe_cute *l, axe_cute *out)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf);

    *out = flat(cx, merge(n, leaf, false, leaf), leaf);
    return AXE_OK;
}

axe_status
axe_cute_coalesce_by(axe_ctx *cx, const axe_cute *l, const axe_cute *profile,
                     axe_cute *out)
{
    int       n = axe_cute_rank(l);
    axe_cute *mode;

    if (axe_cute_is_leaf(profile))
        return axe_cute_coalesce(cx, l, out);
    if (axe_cute_rank(profile) > n)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "coalesce: the profile has %d modes, the layout %d",
                        axe_cute_rank(profile), n);
    mode = axe_new_array(cx, axe_cute, n + 1);
    for (int i = 0; i < n; i++) {
        mode[i] = *axe_cute_mode(l, i);
        if (i < axe_cute_rank(profile))
            AXE_TRY(axe_cute_coalesce_by(cx, &mode[i],
                                         axe_cute_mode(profile, i), &mode[i]));
    }
    *out = (axe_cute){.n_mode = n, .mode = mode};
    return AXE_OK;
}

/* The leaves without those of stride 0, coalesced. */
static int
filtered(axe_ctx *cx, const axe_cute *l, axe_cute **out)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf);

    for (int i = 0; i < n; i++)
        if (leaf[i].stride == 0)
            leaf[i].shape = 1;
    *out = leaf;
    return merge(n, leaf, false, leaf);
}

axe_status
axe_cute_filter(axe_ctx *cx, const axe_cute *l, axe_cute *out)
{
    axe_cute *leaf;
    int       n = filtered(cx, l, &leaf);

    *out = flat(cx, n, leaf);
    return AXE_OK;
}

/* Refuse strides that are coordinates: `what` is about integers. */
static axe_status
integers_only(axe_ctx *cx, const char *what, int n, const axe_cute *leaf)
{
    for (int i = 0; i < n; i++)
        if (leaf[i].basis.n > 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "%s: %s has a coordinate for a stride; integers "
                            "are needed",
                            what, axe_cute_text(cx, &leaf[i]));
    return AXE_OK;
}

/* ------------------------------------------------------------- composition */

/* Smallest and largest sum of the leaves. */
static void
reach(int n, const axe_cute *leaf, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int i = 0; i < n; i++) {
        int64_t end = (leaf[i].shape - 1) * leaf[i].stride;

        *(end < 0 ? low : high) += end;
    }
}

static axe_status
too_far(axe_ctx *cx, const axe_cute *a)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                    "composition: indices of %s leave int64",
                    axe_cute_text(cx, a));
}

/* a as a layout of Axe on as many indices as b reaches, its last mode going on;
 * *shift is added to those of b so that none is negative, and *back to the
 * result's coordinate for it. */
static axe_status
open_layout(axe_ctx *cx, const axe_cute *a, int64_t low, int64_t high,
            int64_t *shift, int64_t *back, const axe_layout **out)
{
    axe_cute *leaf;
    axe_iter *it;
    int       n = axe_cute_leaves(cx, a, &leaf);
    int64_t   run = 1, turns = 0;

    if (n == 0)
        leaf[n++] = axe_cute_leaf(1, 0);
    n = merge(n, leaf, true, leaf);
    for (int i = 0; i < n - 1; i++)
        run *= leaf[i].shape;
    if (low < 0)
        turns = -(low / run) + (low % run != 0);
    if (!axe_mul(turns, run, shift) || !axe_add(high, *shift, &high) ||
        !axe_mul(turns, leaf[n - 1].stride, back) || high == INT64_MAX)
        return too_far(cx, a);
    leaf[n - 1].shape = high / run + 1;
    it = axe_new_array(cx, axe_iter, n);
    for (int i = 0; i < n; i++)
        it[n - 1 - i] =
            (axe_iter){leaf[i].shape, leaf[i].stride, AXE_AXIS_M, AXE_UNIT_ONE};
    return axe_layout_of_iters(cx, n, it, out);
}

/* n leaves as a layout of Axe, one dim each, the first one fastest. */
static axe_status
leaves_layout(axe_ctx *cx, int n, const axe_cute *leaf, int64_t shift,
              const axe_layout **out)
{
    axe_iter  *it = axe_new_array(cx, axe_iter, n + 1);
    int       *end = axe_new_array(cx, int, n + 1);
    axe_offset o = {shift, AXE_AXIS_M, AXE_UNIT_ONE};

    for (int i = 0; i < n; i++) {
        it[n - 1 - i] =
            (axe_iter){leaf[i].shape, leaf[i].stride, AXE_AXIS_M, AXE_UNIT_ONE};
        end[i] = i + 1;
    }
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = n,
                                         .n_dim = n,
                                         .n_offset = 1,
                                         .shard = it,
                                         .dim_end = end,
                                         .offset = &o},
                           out);
}

/* Dim k of c as a tree, its iters turned round. */
static axe_cute
tree_of_dim(axe_ctx *cx, const axe_layout *c, int k, int64_t shape)
{
    int       from = k > 0 ? c->dim_end[k - 1] : 0, n = c->dim_end[k] - from;
    axe_cute *leaf = axe_new_array(cx, axe_cute, n + 1);

    for (int i = 0; i < n; i++) {
        axe_iter it = c->shard[from + n - 1 - i];
        leaf[i] = axe_cute_leaf(it.extent, it.stride);
    }
    return n == 0 ? axe_cute_leaf(shape, 0) : flat(cx, n, leaf);
}

/* Why not, with the smallest index where no layout of b's modes agrees: up to
 * it the sum of what each mode does alone is the map, there it is not. */
static axe_status
refuse(axe_ctx *cx, const axe_cute *a, int n, const axe_cute *leaf,
       const char *why)
{
    enum { MOST = 1 << 16 };
    axe_cute      b = axe_cute_tuple(cx, n, leaf);
    const int64_t size = axe_cute_size(&b);

    axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
             "composition: no layout with the modes of %s is %s of it",
             axe_cute_text(cx, &b), axe_cute_text(cx, a));
    for (int64_t i = 0; i < size && i < MOST; i++) {
        int64_t at = i, x, y, part, sum = 0, rest = i;

        AXE_TRY(axe_cute_at(cx, &b, i, &x));
        AXE_TRY(axe_cute_at(cx, a, x, &y));
        for (int k = 0; k < n; k++) {
            at = rest % leaf[k].shape;
            rest /= leaf[k].shape;
            AXE_TRY(axe_cute_at(cx, a, at * leaf[k].stride, &part));
            sum += part;
        }
        if (sum == y)
            continue;
        axe_note(cx, AXE_NOWHERE,
                 "index %" PRId64 " goes to %" PRId64 " and on to %" PRId64
                 ", but its modes alone add up to %" PRId64,
                 i, x, y, sum);
        return AXE_ESHAPE;
    }
    axe_note(cx, AXE_NOWHERE, "a mode alone is no layout: %s", why);
    return AXE_ESHAPE;
}

/* a of each of n leaves that are added up: out[i] is the tree for leaf i. */
static axe_status
follow(axe_ctx *cx, const axe_cute *a, int n, const axe_cute *leaf,
       axe_cute *out)
{
    const axe_layout *la, *lb, *c;
    int64_t           low, high, shift, back;
    axe_cute         *own;
    axe_mark          m;
    axe_status        s;
    int               n_own = axe_cute_leaves(cx, a, &own);
    char              why[256] = "its steps differ";

    AXE_TRY(integers_only(cx, "composition", n_own, own));
    reach(n, leaf, &low, &high);
    AXE_TRY(open_layout(cx, a, low, high, &shift, &back, &la));
    AXE_TRY(leaves_layout(cx, n, leaf, shift, &lb));
    m = axe_ctx_mark(cx);
    s = axe_layout_compose(cx, la, lb, &c);
    if (s == AXE_ESHAPE || (s == AXE_OK && c->n_dim != n)) {
        if (s == AXE_ESHAPE)
            snprintf(why, sizeof why, "%s", axe_last_error(cx));
        axe_ctx_release(cx, m);
        return refuse(cx, a, n, leaf, why);
    }
    AXE_TRY(s);
    for (int i = 0; i < n; i++)
        out[i] = tree_of_dim(cx, c, n - 1 - i, leaf[i].shape);
    return AXE_OK;
}

/* The mode of a that a basis names, outermost number last. */
static const axe_cute *
mode_at(const axe_cute *a, axe_cute_basis basis)
{
    for (int i = basis.n - 1; i >= 0 && a; i--)
        a = !axe_cute_is_leaf(a) && basis.at[i] < a->n_mode
                ? &a->mode[basis.at[i]]
                : NULL;
    return a;
}

/* b with its leaves, in order, replaced by those of `tree`. */
static axe_cute
graft(axe_ctx *cx, const axe_cute *b, const axe_cute **tree)
{
    axe_cute *mode;

    if (axe_cute_is_leaf(b))
        return *(*tree)++;
    mode = axe_new_array(cx, axe_cute, b->n_mode + 1);
    for (int i = 0; i < b->n_mode; i++)
        mode[i] = graft(cx, &b->mode[i], tree);
    return (axe_cute){.n_mode = b->n_mode, .mode = mode};
}

axe_status
axe_cute_compose(axe_ctx *cx, const axe_cute *a, const axe_cute *b,
                 axe_cute *out)
{
    axe_cute       *leaf, *part, *got, *tree;
    const axe_cute *next, *target;
    int            *from, n = axe_cute_leaves(cx, b, &leaf);
    bool           *done = axe_new_array(cx, bool, n + 1);

    part = axe_new_array(cx, axe_cute, n + 1);
    got = axe_new_array(cx, axe_cute, n + 1);
    tree = axe_new_array(cx, axe_cute, n + 1);
    from = axe_new_array(cx, int, n + 1);
    for (int i = 0; i < n; i++) {
        int m = 0;

        if (done[i])
            continue;
        if (!(target = mode_at(a, leaf[i].basis)))
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "composition: %s names a mode that %s has not",
                            axe_cute_text(cx, &leaf[i]), axe_cute_text(cx, a));
        for (int k = i; k < n; k++)
            if (axe_cute_same_basis(leaf[k].basis, leaf[i].basis)) {
                from[m] = k;
                done[k] = true;
                part[m++] = leaf[k];
            }
        AXE_TRY(follow(cx, target, m, part, got));
        for (int k = 0; k < m; k++)
            tree[from[k]] = got[k];
    }
    next = tree;
    *out = graft(cx, b, &next);
    return axe_cute_check(cx, "composition", out);
}

/* -------------------------------------------------------------- complement */

static int
by_stride(const void *a, const void *b)
{
    const axe_cute *x = a, *y = b;

    if (x->stride != y->stride)
        return x->stride < y->stride ? -1 : 1;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

/* ceil(total / n) of a shape, mode by mode: each takes what n has left. */
static int64_t
shrink(const axe_cute *total, int64_t n)
{
    int64_t size = 1;

    if (axe_cute_is_leaf(total))
        return (total->shape - 1) / n + 1;
    for (int i = 0; i < total->n_mode; i++) {
        int64_t own = axe_cute_size(&total->mode[i]);

        size *= shrink(&total->mode[i], n);
        n = (n - 1) / own + 1;
    }
    return size;
}

axe_status
axe_cute_complement(axe_ctx *cx, const axe_cute *l, const axe_cute *total,
                    axe_cute *out)
{
    axe_cute *leaf, *gap;
    int       n = filtered(cx, l, &leaf);
    int64_t   done = 1; /* no coordinate of what was looked at is so large */

    AXE_TRY(integers_only(cx, "complement", n, leaf));
    qsort(leaf, (size_t)n, sizeof *leaf, by_stride);
    gap = axe_new_array(cx, axe_cute, n + 1);
    for (int i = 0; i < n; i++) {
        if (leaf[i].stride < done)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "complement: %s is not injective and ascending: "
                            "stride %" PRId64 " is below %" PRId64
                            ", where the modes before it end",
                            axe_cute_text(cx, l), leaf[i].stride, done);
        gap[i] = axe_cute_leaf(leaf[i].stride / done, done);
        done = leaf[i].stride * leaf[i].shape;
    }
    gap[n] = axe_cute_leaf(shrink(total, done), done);
    AXE_TRY(axe_cute_check(cx, "complement",
                           &(axe_cute){.n_mode = n + 1, .mode = gap}));
    *out = flat(cx, merge(n + 1, gap, false, gap), gap);
    return AXE_OK;
}

/* ---------------------------------------------------------------- inverses */

axe_status
axe_cute_right_inverse(axe_ctx *cx, const axe_cute *l, axe_cute *out)
{
    axe_cute *leaf, *inv;
    int       n = axe_cute_leaves(cx, l, &leaf), m = 0;
    int64_t   next = 1, weight;
    bool      found = true;

    AXE_TRY(integers_only(cx, "right_inverse", n, leaf));
    n = merge(n, leaf, false, leaf);
    inv = axe_new_array(cx, axe_cute, n + 1);
    while (found) {
        found = false;
        weight = 1;
        for (int i = 0; i < n && !found; weight *= leaf[i++].shape)
            if (leaf[i].stride == next) {
                inv[m++] = axe_cute_leaf(leaf[i].shape, weight);
                next *= leaf[i].shape;
                found = true;
            }
    }
    *out = flat(cx, merge(m, inv, false, inv), inv);
    return AXE_OK;
}

/* The leaves of stride > 0, each with its weight in the index as its shape's
 * partner: stride stays, `weight` is beside it.  Sorted by stride. */
typedef struct weighted {
    int64_t shape, stride, weight;
} weighted;

static int
by_step(const void *a, const void *b)
{
    const weighted *x = a, *y = b;

    return (x->stride > y->stride) - (x->stride < y->stride);
}

static axe_status
weigh(axe_ctx *cx, const axe_cute *l, weighted **out, int *n_out)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf), m = 0;
    int64_t   weight = 1;
    weighted *w;

    AXE_TRY(integers_only(cx, "left_inverse", n, leaf));
    n = merge(n, leaf, false, leaf);
    w = axe_new_array(cx, weighted, n + 1);
    for (int i = 0; i < n; weight *= leaf[i++].shape) {
        if (leaf[i].stride < 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "left_inverse: %s steps back; only strides from 0 "
                            "on are inverted",
                            axe_cute_text(cx, l));
        if (leaf[i].stride > 0)
            w[m++] = (weighted){leaf[i].shape, leaf[i].stride, weight};
    }
    qsort(w, (size_t)m, sizeof *w, by_step);
    *out = w;
    *n_out = m;
    return AXE_OK;
}

axe_status
axe_cute_left_inverse(axe_ctx *cx, const axe_cute *l, axe_cute *out)
{
    weighted *w;
    axe_cute *inv;
    int       n, m = 0;

    AXE_TRY(weigh(cx, l, &w, &n));
    if (n == 0) {
        *out = axe_cute_leaf(axe_cute_size(l), 0);
        return AXE_OK;
    }
    inv = axe_new_array(cx, axe_cute, n + 1);
    if (w[0].stride > 1)
        inv[m++] = axe_cute_leaf(w[0].stride, 0);
    for (int i = 0; i < n; i++) {
        bool    last = i == n - 1;
        int64_t done = w[i].shape * w[i].stride;

        if (!last &&
            (w[i + 1].stride < done || w[i + 1].stride % w[i].stride != 0))
            return axe_fail(
                cx, AXE_NOWHERE, AXE_ESHAPE,
                "left_inverse: of %s, stride %" PRId64
                " is no multiple of %" PRId64 " from %" PRId64 " on",
                axe_cute_text(cx, l), w[i + 1].stride, w[i].stride, done);
        inv[m++] = axe_cute_leaf(
            last ? w[i].shape : w[i + 1].stride / w[i].stride, w[i].weight);
    }
    *out = flat(cx, merge(m, inv, false, inv), inv);
    return axe_cute_check(cx, "left_inverse", out);
}

axe_status
axe_cute_max_common_vector(axe_ctx *cx, const axe_cute *a, const axe_cute *b,
                           int64_t *out)
{
    axe_cute inv, both, *leaf;

    AXE_TRY(axe_cute_right_inverse(cx, b, &inv));
    AXE_TRY(axe_cute_compose(cx, a, &inv, &both));
    AXE_TRY(axe_cute_coalesce(cx, &both, &both));
    axe_cute_leaves(cx, &both, &leaf);
    *out = leaf[0].stride == 1 ? leaf[0].shape : 1;
    return AXE_OK;
}

/* ------------------------------------------------------------ small things */

axe_status
axe_cute_nullspace(axe_ctx *cx, const axe_cute *l, axe_cute *out)
{
    axe_cute *leaf, *k;
    int       n = axe_cute_leaves(cx, l, &leaf), m = 0;
    int64_t   weight = 1;

    k = axe_new_array(cx, axe_cute, n + 1);
    for (int i = 0; i < n; weight *= leaf[i++].shape)
        if (leaf[i].stride == 0)
            k[m++] = axe_cute_leaf(leaf[i].shape, weight);
    *out = flat(cx, m, k);
    return AXE_OK;
}

axe_status
axe_cute_distribute(axe_ctx *cx, const axe_cute *shape, int64_t n,
                    axe_cute *out)
{
    axe_cute *leaf, *d;
    int       n_leaf = axe_cute_leaves(cx, shape, &leaf);
    int64_t   weight = 1;

    if (n < 1)
        return axe_fail(
            cx, AXE_NOWHERE, AXE_EARG,
            "domain_distribute: %" PRId64 " points; at least 1 is needed", n);
    d = axe_new_array(cx, axe_cute, n_leaf + 1);
    for (int i = 0; i < n_leaf; weight *= leaf[i++].shape) {
        int64_t g = axe_gcd(leaf[i].shape, n);

        d[i] = axe_cute_leaf(g, weight);
        n /= g;
    }
    *out = flat(cx, merge(n_leaf, d, false, d), d);
    return AXE_OK;
}

axe_status
axe_cute_cosize(axe_ctx *cx, const axe_cute *l, int64_t *out)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf);
    int64_t   sum = 1;

    AXE_TRY(integers_only(cx, "cosize", n, leaf));
    for (int i = 0; i < n; i++)
        sum += (leaf[i].shape - 1) * llabs(leaf[i].stride);
    *out = sum;
    return AXE_OK;
}
