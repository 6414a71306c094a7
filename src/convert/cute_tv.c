/* cute_tv.c - thread-value layouts.
 *
 * Axe sends an element of a tile to the thread and the register that hold it,
 * CuTe a (thread, value) pair to the element, by its colexicographic index. One
 * is the other's inverse: a digit of the tile with weight w in that index and
 * stride s on a thread axis is there a mode, s-th in order, of stride w.  What
 * is replicated is a mode of stride 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/cute.h"
#include "convert/text.h"

enum { WARP = 32 };

/* Axes of threads by name, fast to slow, as far as no kind tells. */
static const char *const thread_axis[] = {
    "lane",     "laneid", "wid", "warp", "warpid", "thread", "tid",
    "threadid", "tx",     "wg",  "wgid", "cta",    "block",  "gpuid"};

/* One mode to be: `extent` steps of `stride` on a hardware axis, each `weight`
 * on in the tile; 0: a replica. */
typedef struct place {
    int64_t extent, stride, weight;
} place;

static int
by_stride(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->stride != y->stride)
        return x->stride < y->stride ? -1 : 1;
    return (x->extent > y->extent) - (x->extent < y->extent);
}

static int
by_weight(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return (x->extent > y->extent) - (x->extent < y->extent);
}

/* ---------------------------------------------------- which axes are which */

/* The two groups of names in "lane,warp;reg". */
typedef struct groups {
    int          n[2];
    const char **name[2];
} groups;

static axe_status
read_groups(axe_ctx *cx, const char *axes, groups *g)
{
    const char *cut = strchr(axes, ';');
    int         n = cut ? (int)(cut - axes) : (int)strlen(axes);

    AXE_TRY(axe_cv_names(cx, "axes", axe_textf(cx, "%.*s", n, axes), &g->n[0],
                         &g->name[0]));
    return axe_cv_names(cx, "axes", cut ? cut + 1 : "", &g->n[1], &g->name[1]);
}

static bool
is_thread(const axe_ctx *cx, axe_axis a)
{
    axe_axis_kind kind = axe_axis_kind_of(cx, a);

    for (int i = 0; i < AXE_LEN(thread_axis); i++)
        if (strcmp(thread_axis[i], axe_axis_name(cx, a)) == 0)
            return true;
    return kind == AXE_KIND_THREAD || kind == AXE_KIND_DEVICE;
}

static bool
uses(const axe_layout *l, axe_axis a)
{
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].axis == a && l->shard[i].extent > 1)
            return true;
    for (int i = 0; i < l->n_replica; i++)
        if (l->replica[i].axis == a && l->replica[i].extent > 1)
            return true;
    return false;
}

/* The axes that l uses, of threads and of values, fast to slow. */
static axe_status
own_groups(axe_ctx *cx, const axe_layout *l, groups *g)
{
    int n = axe_n_axis(cx);

    for (int k = 0; k < 2; k++) {
        g->n[k] = 0;
        g->name[k] = axe_new_array(cx, const char *, n + AXE_LEN(thread_axis));
    }
    for (int i = 0; i < AXE_LEN(thread_axis); i++)
        for (axe_axis a = 0; a < n; a++)
            if (strcmp(axe_axis_name(cx, a), thread_axis[i]) == 0 && uses(l, a))
                g->name[0][g->n[0]++] = thread_axis[i];
    for (axe_axis a = 0; a < n; a++) {
        bool        known = false;
        const char *name = axe_axis_name(cx, a);

        for (int i = 0; i < AXE_LEN(thread_axis); i++)
            known = known || strcmp(name, thread_axis[i]) == 0;
        if (uses(l, a) && !known)
            g->name[!is_thread(cx, a)][g->n[!is_thread(cx, a)]++] = name;
    }
    return AXE_OK;
}

/* --------------------------------------------------------------- from Axe */

/* How far one step of iter i is in the colexicographic index of the tile. */
static int64_t
weight_of(axe_ctx *cx, const axe_layout *l, int i)
{
    axe_shape s = axe_layout_shape(cx, l);
    int64_t   w = 1;
    int       k = 0;

    while (l->dim_end[k] <= i)
        w *= s.extent[k++];
    for (int j = i + 1; j < l->dim_end[k]; j++)
        w *= l->shard[j].extent;
    return w;
}

/* What l has on one axis, by stride; ESHAPE if threads would be told twice. */
static axe_status
places_on(axe_ctx *cx, const axe_layout *l, const char *name, place **out,
          int *n_out)
{
    place  *p = axe_new_array(cx, place, l->n_shard + l->n_replica + 1);
    int     n = 0;
    int64_t done = 1;

    for (int i = 0; i < l->n_shard + l->n_replica; i++) {
        bool     own = i < l->n_shard;
        axe_iter it = own ? l->shard[i] : l->replica[i - l->n_shard];

        if (it.extent > 1 && strcmp(axe_axis_name(cx, it.axis), name) == 0)
            p[n++] =
                (place){it.extent, it.stride, own ? weight_of(cx, l, i) : 0};
    }
    qsort(p, (size_t)n, sizeof *p, by_stride);
    for (int i = 0; i < n; i++) {
        if (p[i].stride < done)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "tv: on axis %s of %s a step of %" PRId64
                            " is inside the %" PRId64
                            " places of the steps below it",
                            name, axe_layout_text(cx, l), p[i].stride, done);
        done = p[i].extent * p[i].stride;
    }
    *out = p;
    *n_out = n;
    return AXE_OK;
}

/* The mode of one group of axes, and the numbers its hardware has, both as flat
 * trees. */
static axe_status
group_mode(axe_ctx *cx, const axe_layout *l, int n_name, const char **name,
           axe_cute *mode, axe_cute *number)
{
    int       most = l->n_shard + l->n_replica + 1, m = 0, n;
    axe_cute *a = axe_new_array(cx, axe_cute, most);
    axe_cute *b = axe_new_array(cx, axe_cute, most);
    int64_t   base = 1, done;
    place    *p;

    for (int k = 0; k < n_name; k++) {
        AXE_TRY(places_on(cx, l, name[k], &p, &n));
        done = 1;
        for (int i = 0; i < n; i++) {
            a[m] = axe_cute_leaf(p[i].extent, p[i].weight);
            b[m++] = axe_cute_leaf(p[i].extent, base * p[i].stride);
            done = p[i].extent * p[i].stride;
        }
        if (k == 0 && done < WARP &&
            (strcmp(name[k], "lane") == 0 || strcmp(name[k], "laneid") == 0))
            done = WARP;
        base *= done;
    }
    *mode = axe_cute_tuple(cx, m, a);
    *number = axe_cute_tuple(cx, m, b);
    AXE_TRY(axe_cute_check(cx, "tv", mode));
    AXE_TRY(axe_cute_check(cx, "tv", number));
    AXE_TRY(axe_cute_coalesce(cx, mode, mode));
    return axe_cute_coalesce(cx, number, number);
}

static axe_status
check_export(axe_ctx *cx, const axe_layout *l)
{
    const char *why = l->swizzle.bits > 0 ? "a swizzle"
                      : l->n_offset > 0   ? "an offset"
                                          : NULL;

    for (int i = 0; i < l->n_shard + l->n_replica && !why; i++) {
        axe_iter it = i < l->n_shard ? l->shard[i] : l->replica[i - l->n_shard];

        if (it.unit != AXE_UNIT_ONE)
            why = "a size known only at run time";
        else if (it.extent > 1 && it.stride == 0)
            why = "elements that share a place";
    }
    if (!why)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "tv: %s has %s, which a thread-value layout cannot say",
                    axe_layout_text(cx, l), why);
}

static bool
is_identity(const axe_cute *number)
{
    return axe_cute_is_leaf(number) &&
           (number->shape == 1 || number->stride == 1);
}

axe_status
axe_cute_tv_from_axe(axe_ctx *cx, const axe_layout *l, const char *axes,
                     axe_cute_tv *out)
{
    groups   g;
    axe_cute mode[2], number[2];

    AXE_TRY(check_export(cx, l));
    AXE_TRY(axes ? read_groups(cx, axes, &g) : own_groups(cx, l, &g));
    for (int i = 0; i < l->n_shard; i++) {
        const char *name = axe_axis_name(cx, l->shard[i].axis);
        bool        known = l->shard[i].extent == 1;

        for (int k = 0; k < 2; k++)
            for (int j = 0; j < g.n[k]; j++)
                known = known || strcmp(g.name[k][j], name) == 0;
        if (!known)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "tv: axis %s of the layout is not among the axes "
                            "given",
                            name);
    }
    if (l->n_dim == 0)
        l = axe_layout_flat(cx, l);
    for (int k = 0; k < 2; k++)
        AXE_TRY(group_mode(cx, l, g.n[k], g.name[k], &mode[k], &number[k]));
    if (!is_identity(&number[1]))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "tv: the values of a thread are numbered %s; they must "
                        "be 0, 1, 2, ..",
                        axe_cute_text(cx, &number[1]));
    out->layout = axe_cute_tuple(cx, 2, mode);
    out->threads = axe_cute_size(&mode[0]);
    out->values = axe_cute_size(&mode[1]);
    out->thr_id = is_identity(&number[0]) ? (axe_cute){.n_mode = 0} : number[0];
    return AXE_OK;
}

/* ----------------------------------------------------------------- to Axe */

/* The places of a group's modes: mode by mode, with the hardware's numbers. */
static axe_status
places_of(axe_ctx *cx, const axe_cute *mode, const axe_cute *number,
          place **out, int *n_out)
{
    axe_cute *leaf, own, at, *part;
    int       n = axe_cute_leaves(cx, mode, &leaf), m = 0, k;
    int64_t   before = 1, weight;
    place    *p = axe_new_array(cx, place, n * AXE_CUTE_LEAVES + 1);

    for (int i = 0; i < n; before *= leaf[i++].shape) {
        if (leaf[i].stride < 0 || leaf[i].basis.n > 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "tv: stride of %s: the index of an element is an "
                            "integer from 0 on",
                            axe_cute_text(cx, &leaf[i]));
        own = axe_cute_leaf(leaf[i].shape, before);
        AXE_TRY(axe_cute_compose(cx, number, &own, &at));
        k = axe_cute_leaves(cx, &at, &part);
        weight = leaf[i].stride;
        for (int j = 0; j < k && part[j].shape > 1; j++) {
            p[m++] = (place){part[j].shape, part[j].stride, weight};
            weight *= part[j].shape;
        }
    }
    *out = p;
    *n_out = m;
    return AXE_OK;
}

/* Iters of a place: `fast` has the first `size` numbers, `slow` the rest; size
 * 0: fast has them all. */
static axe_status
iters_of(axe_ctx *cx, place p, axe_axis fast, axe_axis slow, int64_t size,
         axe_iter out[2], int64_t weight[2], int *n)
{
    int64_t low = p.extent;

    *n = 0;
    if (size > 0 && p.stride >= size)
        low = 1;
    else if (size > 0 && p.extent * p.stride > size)
        low = size / p.stride;
    if (size > 0 &&
        (low > 1 && low < p.extent ? size % p.stride || p.extent % low
                                   : low == 1 && p.stride % size))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "tv: %" PRId64 " threads %" PRId64
                        " apart cannot be cut into warps of %" PRId64,
                        p.extent, p.stride, size);
    if (low > 1) {
        out[*n] = (axe_iter){low, p.stride, fast, AXE_UNIT_ONE};
        weight[(*n)++] = p.weight;
    }
    if (low < p.extent) {
        int64_t step = p.stride * low / size;

        out[*n] = (axe_iter){p.extent / low, step, slow, AXE_UNIT_ONE};
        weight[(*n)++] = p.weight * low;
    }
    return AXE_OK;
}

/* All iters, those of D with their weights. */
typedef struct parts {
    int       n, n_replica;
    axe_iter *iter, *replica;
    place    *order; /* of iter, weight and index in `stride` */
} parts;

static axe_status
add_group(axe_ctx *cx, int n, const place *p, int n_name, const char **name,
          axe_axis_kind kind, parts *out)
{
    axe_axis axis[2] = {0, 0};
    axe_iter it[2];
    int64_t  weight[2];
    int      k;

    if (n_name < 1 || n_name > 2)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "tv: threads are on one axis or on lanes and warps, "
                        "not on %d",
                        n_name);
    for (int i = 0; i < n_name; i++)
        AXE_TRY(axe_cv_axis(cx, name[i], kind, &axis[i]));
    for (int i = 0; i < n; i++) {
        AXE_TRY(iters_of(cx, p[i], axis[0], axis[1], n_name == 2 ? WARP : 0, it,
                         weight, &k));
        for (int j = 0; j < k; j++)
            if (p[i].weight == 0) {
                out->replica[out->n_replica++] = it[j];
            } else {
                out->order[out->n] = (place){it[j].extent, out->n, weight[j]};
                out->iter[out->n++] = it[j];
            }
    }
    return AXE_OK;
}

/* D of a tile: each element once, by weight. */
static axe_status
check_cover(axe_ctx *cx, const parts *p, int64_t size)
{
    int64_t done = 1;

    for (int i = 0; i < p->n; i++) {
        int64_t w = p->order[i].weight;

        if (w < done)
            return axe_fail(
                cx, AXE_NOWHERE, AXE_ESHAPE,
                "tv: element %" PRId64 " is held twice, and not as a copy", w);
        if (w > done)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "tv: no thread holds element %" PRId64, done);
        if (!axe_mul(done, p->order[i].extent, &done))
            done = INT64_MAX;
    }
    if (done != size)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "tv: %" PRId64 " elements are held, the tile has "
                        "%" PRId64,
                        done, size);
    return AXE_OK;
}

/* The flat layout over the colexicographic index as one with the tile's dims.
 */
static axe_status
with_dims(axe_ctx *cx, const axe_layout *l, axe_shape tile,
          const axe_layout **out)
{
    int64_t *turned = axe_new_array(cx, int64_t, tile.n + 1);
    int     *perm = axe_new_array(cx, int, tile.n + 1);

    for (int i = 0; i < tile.n; i++) {
        turned[i] = tile.extent[tile.n - 1 - i];
        perm[i] = tile.n - 1 - i;
    }
    AXE_TRY(axe_layout_group(cx, l, (axe_shape){tile.n, turned}, &l));
    return axe_layout_permute(cx, l, tile.n, perm, out);
}

axe_status
axe_cute_tv_to_axe(axe_ctx *cx, const axe_cute_tv *tv, axe_shape tile,
                   const char *axes, const axe_layout **out)
{
    static const char *const own[] = {"lane,warp;reg", "lane;reg"};
    axe_cute                 number[2], all;
    groups                   g;
    parts                    p = {0};
    place                   *at[2];
    axe_iter                *shard;
    const axe_layout        *l;
    int                      n[2];
    int64_t                  size = 1;

    if (axe_cute_rank(&tv->layout) != 2)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "tv: a thread-value layout has two modes, not %d",
                        axe_cute_rank(&tv->layout));
    for (int i = 0; i < tile.n; i++)
        size *= tile.extent[i];
    number[1] = axe_cute_leaf(axe_cute_size(axe_cute_mode(&tv->layout, 1)), 1);
    all = axe_cute_leaf(axe_cute_size(axe_cute_mode(&tv->layout, 0)), 1);
    number[0] = tv->thr_id.n_mode == 0 ? all : tv->thr_id;
    AXE_TRY(read_groups(cx, axes ? axes : own[all.shape <= WARP], &g));
    for (int k = 0; k < 2; k++)
        AXE_TRY(places_of(cx, axe_cute_mode(&tv->layout, k), &number[k], &at[k],
                          &n[k]));
    p.iter = axe_new_array(cx, axe_iter, 2 * (n[0] + n[1]) + 1);
    p.replica = axe_new_array(cx, axe_iter, 2 * (n[0] + n[1]) + 1);
    p.order = axe_new_array(cx, place, 2 * (n[0] + n[1]) + 1);
    for (int k = 0; k < 2; k++)
        AXE_TRY(add_group(cx, n[k], at[k], g.n[k], g.name[k],
                          k == 0 ? AXE_KIND_THREAD : AXE_KIND_REG, &p));
    qsort(p.order, (size_t)p.n, sizeof *p.order, by_weight);
    AXE_TRY(check_cover(cx, &p, size));
    shard = axe_new_array(cx, axe_iter, p.n + 1);
    for (int i = 0; i < p.n; i++)
        shard[p.n - 1 - i] = p.iter[p.order[i].stride];
    AXE_TRY(axe_layout_make(cx,
                            &(axe_layout){.n_shard = p.n,
                                          .shard = shard,
                                          .n_replica = p.n_replica,
                                          .replica = p.replica},
                            &l));
    return with_dims(cx, l, tile, out);
}
