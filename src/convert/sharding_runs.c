/* sharding_runs.c - runs of indices and digits of them: how a dimension is cut
 * in parts, exactly (runs) and as a layout (digits). */
#include <inttypes.h>

#include "convert/sharding_int.h"

axe_status
axe_shard_wrong(axe_ctx *cx, const char *system, const char *what)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: %s", system, what);
}

axe_status
axe_shard_check_dim(axe_ctx *cx, const axe_sharding *s, const char *system,
                    int64_t k)
{
    if (k >= 0 && k < s->rank)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
             "%s: there is no dimension %" PRId64 " of %d", system, k, s->rank);
    axe_help(cx, "dimensions are numbered from 0");
    return AXE_ESHAPE;
}

/* How much of run i, which begins `at` elements behind the first, is in [from,
 * to); *a: where in it. */
static int64_t
shared(const axe_runs *r, int i, int64_t at, int64_t from, int64_t to,
       int64_t *a)
{
    int64_t b = to < at + r->run[i].size ? to - at : r->run[i].size;

    *a = from > at ? from - at : 0;
    return b - *a;
}

/* Elements [from, to) of r. */
axe_runs
axe_runs_part(axe_ctx *cx, const axe_runs *r, int64_t from, int64_t to)
{
    axe_runs out = {0, NULL, 0};
    int64_t  at = 0, a;

    for (int i = 0; i < r->n; at += r->run[i++].size)
        out.room += shared(r, i, at, from, to, &a) > 0;
    out.run = axe_new_array(cx, axe_run, out.room + 1);
    at = 0;
    for (int i = 0; i < r->n; at += r->run[i++].size) {
        int64_t n = shared(r, i, at, from, to, &a);

        if (n > 0)
            out.run[out.n++] = (axe_run){r->run[i].begin + a, n};
    }
    return out;
}

void
axe_runs_append(axe_ctx *cx, axe_runs *a, const axe_runs *b)
{
    if (a->n + b->n > a->room) {
        int      room = 2 * (a->n + b->n);
        axe_run *run = axe_new_array(cx, axe_run, room);

        for (int i = 0; i < a->n; i++)
            run[i] = a->run[i];
        a->run = run;
        a->room = room;
    }
    for (int i = 0; i < b->n; i++)
        a->run[a->n++] = b->run[i];
}

/* torch.chunk: the i-th of m parts. */
axe_runs
axe_runs_chunk(axe_ctx *cx, const axe_runs *r, int64_t i, int64_t m)
{
    int64_t n = axe_runs_size(r), c = n == 0 ? 0 : (n - 1) / m + 1;

    return axe_runs_part(cx, r, axe_shard_least(i * c, n),
                         axe_shard_least((i + 1) * c, n));
}

void
axe_shard_no_layout(axe_shard_dim *d, const char *why)
{
    d->why = d->why ? d->why : why;
}

/* The leading m of what is local, behind `skip` of it, becomes devices `stride`
 * apart.  Where that does not divide, a dimension not sharded before is rounded
 * up. */
void
axe_shard_give(axe_shard_dim *d, int64_t skip, int64_t m, int64_t stride)
{
    axe_shard_dim out = {.n = 0};
    bool          whole = d->n == 1 && d->digit[0].stride == 0 && skip == 1;

    if (d->why || d->n + 4 > AXE_SHARD_DIGITS) {
        axe_shard_no_layout(d, "too many parts");
        return;
    }
    if (whole && d->digit[0].extent % m != 0)
        d->digit[0].extent += m - d->digit[0].extent % m;
    for (int i = 0; i < d->n; i++) {
        axe_shard_digit g = d->digit[i];
        int64_t        *want[2] = {&skip, &m};

        for (int k = 0; k < 2 && g.stride == 0; k++) {
            int64_t take = *want[k];

            if (take == 1 || (k == 1 && skip != 1))
                continue;
            if (g.extent % take != 0 && take % g.extent != 0) {
                axe_shard_no_layout(
                    d, "uneven parts of parts: a device's chunk is "
                       "rounded up by its own size, which no stride "
                       "follows");
                return;
            }
            take = axe_shard_least(take, g.extent);
            if (take > 1)
                out.digit[out.n++] =
                    (axe_shard_digit){take, k == 1 ? stride * (m / take) : 0};
            *want[k] /= take;
            g.extent /= take;
        }
        if (g.extent > 1 || g.stride != 0)
            out.digit[out.n++] = g;
    }
    if (m != 1 || skip != 1) {
        axe_shard_no_layout(d, "more devices than elements of a part");
        return;
    }
    *d = out;
}

int64_t
axe_shard_at(const axe_sharding *s, int device, int a)
{
    return device / s->stride[a] % s->mesh[a];
}

axe_runs *
axe_shard_runs(axe_sharding *s, int device, int k)
{
    return &s->own[device * s->rank + k];
}

/* Dimension k goes in m chunks over devices `stride` apart. */
void
axe_shard_cut(axe_ctx *cx, axe_sharding *s, int k, int64_t m, int64_t stride)
{
    for (int p = 0; p < s->n_device; p++)
        *axe_shard_runs(s, p, k) =
            axe_runs_chunk(cx, axe_shard_runs(s, p, k), p / stride % m, m);
    axe_shard_give(&s->dim[k], 1, m, stride);
}
