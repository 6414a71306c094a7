/* sharding.c - one sharding as one layout, where there is one. */
#include "convert/sharding.h"

#include <inttypes.h>

#include "convert/text.h"

int64_t
axe_runs_size(const axe_runs *r)
{
    int64_t n = 0;

    for (int i = 0; i < r->n; i++)
        n += r->run[i].size;
    return n;
}

/* Product of the digits in memory, or of all. */
static int64_t
extent_of(const axe_shard_dim *d, bool all)
{
    int64_t n = 1;

    for (int i = 0; i < d->n; i++)
        if (all || d->digit[i].stride == 0)
            n *= d->digit[i].extent;
    return n;
}

/* Stride of one element of dim k in a local buffer. */
static int64_t
pitch(const axe_sharding *s, int k)
{
    int64_t p = 1;

    if (s->column)
        for (int i = 0; i < k; i++)
            p *= s->uniform[i];
    else
        for (int i = k + 1; i < s->rank; i++)
            p *= s->uniform[i];
    return p;
}

/* The iters of dim k behind it[0..n). */
static int
put_dim(const axe_sharding *s, int k, axe_axis gpu, axe_iter *it, int n)
{
    const axe_shard_dim *d = &s->dim[k];
    int64_t              left = extent_of(d, false);

    for (int i = 0; i < d->n; i++) {
        axe_shard_digit g = d->digit[i];
        bool            local = g.stride == 0;

        left = local ? left / g.extent : left;
        if (g.extent > 1)
            it[n++] =
                (axe_iter){g.extent, local ? left * pitch(s, k) : g.stride,
                           local ? AXE_AXIS_M : gpu, AXE_UNIT_ONE};
    }
    return n;
}

/* Index g of a dimension by its digits: *local, and is device p, of a mesh that
 * begins at 0, one of its owners? */
static bool
owner(const axe_shard_dim *d, int64_t g, int p, int64_t *local)
{
    int64_t weight = 1, at;
    bool    mine = true;

    *local = 0;
    for (int i = d->n - 1; i >= 0; i--) {
        at = g % d->digit[i].extent;
        g /= d->digit[i].extent;
        if (d->digit[i].stride == 0) {
            *local += at * weight;
            weight *= d->digit[i].extent;
        } else {
            mine = mine && p / d->digit[i].stride % d->digit[i].extent == at;
        }
    }
    return mine;
}

/* Do the digits of dim k, rounded up more than once, say what the runs say? */
static bool
holds(const axe_sharding *s, int k)
{
    enum { MOST = 1 << 16 };

    if (extent_of(&s->dim[k], true) == s->shape[k] || s->base != 0)
        return true;
    if (s->shape[k] > MOST)
        return false;
    for (int p = 0; p < s->n_device; p++) {
        const axe_runs *r = axe_shard_own(s, p, k);
        int64_t         n = axe_runs_size(r), seen = 0, at = 0, local;

        for (int64_t g = 0; g < s->shape[k]; g++)
            seen += owner(&s->dim[k], g, p, &local);
        if (seen != n)
            return false;
        for (int i = 0; i < r->n; i++)
            for (int64_t g = 0; g < r->run[i].size; g++)
                if (!owner(&s->dim[k], r->run[i].begin + g, p, &local) ||
                    local != at++)
                    return false;
    }
    return true;
}

axe_status
axe_sharding_layout(axe_ctx *cx, const axe_sharding *s, int64_t *domain,
                    const axe_layout **out, const char **why)
{
    axe_iter *it =
        axe_new_array(cx, axe_iter, s->rank * AXE_SHARD_DIGITS + s->n_copy + 1);
    int       *end = axe_new_array(cx, int, s->rank + 1), n = 0;
    axe_axis   gpu;
    axe_iter  *copy = axe_new_array(cx, axe_iter, s->n_copy + 1);
    axe_offset o;

    *out = NULL;
    for (int k = 0; k < s->rank; k++)
        if (s->dim[k].why) {
            *why = s->dim[k].why;
            return AXE_OK;
        } else if (!holds(s, k)) {
            *why = "uneven parts of parts: a device's chunk is rounded up by "
                   "its own size, which no stride follows";
            return AXE_OK;
        }
    AXE_TRY(axe_cv_axis(cx, "gpuid", AXE_KIND_DEVICE, &gpu));
    for (int k = 0; k < s->rank; k++) {
        n = put_dim(s, k, gpu, it, n);
        end[k] = n;
        domain[k] = extent_of(&s->dim[k], true);
    }
    o = (axe_offset){s->base + s->first, gpu, AXE_UNIT_ONE};
    for (int i = 0; i < s->n_copy; i++) {
        copy[i] = s->copy[i];
        copy[i].axis = gpu;
    }
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = n,
                                         .shard = it,
                                         .n_dim = s->rank,
                                         .dim_end = end,
                                         .n_replica = s->n_copy,
                                         .replica = copy,
                                         .n_offset = 1,
                                         .offset = &o},
                           out);
}
