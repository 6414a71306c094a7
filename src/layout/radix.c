/* radix.c - replacing the iters of an axis by the digits of a radix.
 *
 * The digit-budget rule.  Every coordinate is lowest + sum d_k |s_k|, a sum of
 * nonnegative steps.  Each iter (e : s) is laid over the digits: it must lie
 * within one digit, or fill the rest of it exactly and go on in the next, in
 * which case it falls apart there.  Each digit of radix a has room for a sum of
 * a - 1; what all iters and `lowest` put into it must stay within.  Then no sum
 * of digits ever carries, and reading the coordinate is adding up its parts.
 *
 * CuTe checks iters one at a time, without the room, and returns wrong maps:
 * (6, 2) : (1, 100) after (4, 2) : (1, 4), fast to slow.
 */
#include <inttypes.h>

#include "layout/layout_int.h"
#include "layout/radix.h"

/* The layout being made. */
typedef struct follower {
    axe_ctx    *cx;
    const char *what;
    axe_axis    axis;
    axe_radix   radix;
    int64_t    *room; /* [n] left in each digit but the last */
    axe_iter   *part; /* [n] of the iter at hand, fast to slow */
    axe_iter   *iter; /* the result's D, then its R */
    int         n_iter, cap_iter;
    axe_offset *offset;
    int         n_offset, cap_offset;
} follower;

static void
put_iter(follower *f, axe_iter it)
{
    if (f->n_iter == f->cap_iter) {
        axe_iter *old = f->iter;
        f->cap_iter *= 2;
        f->iter = axe_new_array(f->cx, axe_iter, f->cap_iter);
        axe_iters_copy(f->iter, f->n_iter, old);
    }
    f->iter[f->n_iter++] = it;
}

static void
put_offset(follower *f, axe_offset o)
{
    if (f->n_offset == f->cap_offset) {
        axe_offset *old = f->offset;
        f->cap_offset = 2 * f->cap_offset + 16;
        f->offset = axe_new_array(f->cx, axe_offset, f->cap_offset);
        for (int k = 0; k < f->n_offset; k++)
            f->offset[k] = old[k];
    }
    f->offset[f->n_offset++] = o;
}

static axe_status
overflows(const follower *f)
{
    return axe_fail(f->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                    "%s: a coordinate leaves int64", f->what);
}

/* `n` steps of `step` within digit j: take the room and make the part. */
static axe_status
put_part(follower *f, int j, int64_t n, int64_t step, axe_iter *part)
{
    const axe_iter *d = &f->radix.digit[j];

    if (j + 1 < f->radix.n) {
        f->room[j] -= (n - 1) * step;
        if (f->room[j] < 0)
            return axe_fail(f->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: %" PRId64 " steps of %" PRId64
                            " carry out of the digit (%" PRId64
                            ") that others use too",
                            f->what, n, step, d->extent);
    }
    *part = (axe_iter){n, 0, d->axis, d->unit};
    return axe_mul(step, d->stride, &part->stride) ? AXE_OK : overflows(f);
}

static axe_status
straddles(const follower *f, int64_t extent, int64_t step, int64_t radix)
{
    return axe_fail(f->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: %" PRId64 " steps of %" PRId64
                    " straddle a digit of %" PRId64 " values",
                    f->what, extent, step, radix);
}

/* Lay `rest` steps of `step` > 0 over the digits; the parts, fast to slow. */
static axe_status
lay(follower *f, int64_t rest, int64_t step, int *n_part)
{
    int n = 0, last = f->radix.n - 1;

    for (int j = 0; j < last && rest > 1; j++) {
        int64_t a = f->radix.digit[j].extent, fit;
        if (step >= a) {
            if (step % a != 0)
                return straddles(f, rest, step, a);
            step /= a;
            continue;
        }
        fit = (a - 1) / step + 1 >= rest ? rest : a / step;
        if (fit < rest && (a % step != 0 || rest % fit != 0))
            return straddles(f, rest, step, a);
        if (fit > 1)
            AXE_TRY(put_part(f, j, fit, step, &f->part[n++]));
        if (fit == rest)
            rest = 1;
        else {
            rest /= fit;
            step = 1;
        }
    }
    if (rest > 1)
        AXE_TRY(put_part(f, last, rest, step, &f->part[n++]));
    *n_part = n;
    return AXE_OK;
}

/* Replace one iter on the axis. */
static axe_status
follow_iter(follower *f, axe_iter it)
{
    int n;

    if (it.extent == 1)
        return AXE_OK;
    if (it.stride == 0) {
        put_iter(f, (axe_iter){it.extent, 0, AXE_AXIS_M, AXE_UNIT_ONE});
        return AXE_OK;
    }
    AXE_TRY(lay(f, it.extent, it.stride < 0 ? -it.stride : it.stride, &n));
    for (int k = n - 1; k >= 0; k--) {
        axe_iter p = f->part[k];
        if (it.stride < 0) {
            axe_offset o = {0, p.axis, p.unit};
            if (!axe_mul(p.extent - 1, p.stride, &o.value) ||
                !axe_mul(p.stride, -1, &p.stride))
                return overflows(f);
            put_offset(f, o);
        }
        put_iter(f, p);
    }
    return AXE_OK;
}

static axe_status
has_unit(const follower *f, int64_t value, axe_unit unit)
{
    return axe_fail(f->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s: %" PRId64 "*%s on %s is known only at run time",
                    f->what, value, axe_unit_text(f->cx, unit),
                    axe_axis_name(f->cx, f->axis));
}

/* The lowest coordinate on the axis, and no units there. */
static axe_status
lowest_of(const follower *f, const axe_layout *l, int64_t *out)
{
    int64_t lowest = 0;

    for (int k = 0; k < l->n_offset; k++) {
        if (l->offset[k].axis == f->axis && l->offset[k].unit != AXE_UNIT_ONE)
            return has_unit(f, l->offset[k].value, l->offset[k].unit);
        if (l->offset[k].axis == f->axis)
            lowest = l->offset[k].value;
    }
    for (int k = 0; k < l->n_shard + l->n_replica; k++) {
        axe_iter it = k < l->n_shard ? l->shard[k] : l->replica[k - l->n_shard];
        if (it.axis != f->axis)
            continue;
        if (it.unit != AXE_UNIT_ONE)
            return has_unit(f, it.stride, it.unit);
        if (it.stride < 0)
            lowest += (it.extent - 1) * it.stride;
    }
    if (lowest < 0)
        return axe_fail(f->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: the coordinates on %s begin at %" PRId64
                        ", below 0",
                        f->what, axe_axis_name(f->cx, f->axis), lowest);
    *out = lowest;
    return AXE_OK;
}

/* Read `lowest` in the radix: offsets, and the room it takes. */
static axe_status
follow_lowest(follower *f, int64_t lowest)
{
    for (int j = 0; j < f->radix.n; j++) {
        const axe_iter *d = &f->radix.digit[j];
        bool            top = j + 1 == f->radix.n;
        int64_t         c = top ? lowest : lowest % d->extent;
        axe_offset      o = {0, d->axis, d->unit};
        if (!axe_mul(c, d->stride, &o.value))
            return overflows(f);
        put_offset(f, o);
        f->room[j] = d->extent - 1 - c;
        lowest /= d->extent;
    }
    return AXE_OK;
}

static axe_status
follow_each(follower *f, int n, const axe_iter *it)
{
    for (int k = 0; k < n; k++)
        if (it[k].axis == f->axis)
            AXE_TRY(follow_iter(f, it[k]));
        else
            put_iter(f, it[k]);
    return AXE_OK;
}

axe_status
axe_radix_follow(axe_ctx *cx, const char *what, const axe_layout *l,
                 axe_axis axis, axe_radix r, const axe_layout **out)
{
    follower   f = {.cx = cx, .what = what, .axis = axis, .radix = r};
    axe_layout spec = {.n_dim = l->n_dim, .swizzle = l->swizzle};
    int64_t    lowest;
    int       *dim_end = axe_new_array(cx, int, l->n_dim);

    f.cap_iter = l->n_shard + l->n_replica + r.n;
    f.iter = axe_new_array(cx, axe_iter, f.cap_iter);
    f.room = axe_new_array(cx, int64_t, r.n);
    f.part = axe_new_array(cx, axe_iter, r.n);
    AXE_TRY(lowest_of(&f, l, &lowest));
    AXE_TRY(follow_lowest(&f, lowest));
    for (int k = 0; k < l->n_dim; k++) {
        int begin = axe_dim_begin(l, k);
        AXE_TRY(follow_each(&f, l->dim_end[k] - begin, l->shard + begin));
        dim_end[k] = f.n_iter;
    }
    spec.n_shard = f.n_iter;
    AXE_TRY(follow_each(&f, l->n_replica, l->replica));
    for (int k = 0; k < l->n_offset; k++)
        if (l->offset[k].axis != axis)
            put_offset(&f, l->offset[k]);
    spec.shard = f.iter;
    spec.dim_end = dim_end;
    spec.n_replica = f.n_iter - spec.n_shard;
    spec.replica = f.iter + spec.n_shard;
    spec.n_offset = f.n_offset;
    spec.offset = f.offset;
    return axe_layout_make(cx, &spec, out);
}
