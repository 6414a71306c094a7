/* nest.c - the same places by other axes: fusing and splitting by the nesting
 * known in the ctx, and storage alone.
 *
 * A nesting whole = factor * outer + inner says that (outer, inner), inner
 * below factor, and whole name the same place.  Fusing is then a substitution:
 * strides on outer times factor, all on whole; D, R and O alike.  Splitting is
 * reading whole in the radix (factor, unbounded).
 */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/layout_int.h"
#include "layout/radix.h"

/* ------------------------------------------------------------------ fusing */

static bool
uses(const axe_layout *l, axe_axis a)
{
    for (int k = 0; k < l->n_shard; k++)
        if (l->shard[k].axis == a)
            return true;
    for (int k = 0; k < l->n_replica; k++)
        if (l->replica[k].axis == a)
            return true;
    for (int k = 0; k < l->n_offset; k++)
        if (l->offset[k].axis == a)
            return true;
    return false;
}

/* Lowest and highest coordinate of l on the axis; false if one has a unit. */
static bool
range(const axe_layout *l, axe_axis a, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int k = 0; k < l->n_offset; k++) {
        if (l->offset[k].axis == a && l->offset[k].unit != AXE_UNIT_ONE)
            return false;
        if (l->offset[k].axis == a)
            *lo = *hi = l->offset[k].value;
    }
    for (int k = 0; k < l->n_shard + l->n_replica; k++) {
        axe_iter it = k < l->n_shard ? l->shard[k] : l->replica[k - l->n_shard];
        if (it.axis != a || it.extent == 1)
            continue;
        if (it.unit != AXE_UNIT_ONE)
            return false;
        *(it.stride < 0 ? lo : hi) += (it.extent - 1) * it.stride;
    }
    return true;
}

/* inner's coordinates stay in [0, factor). */
static axe_status
check_inner(axe_ctx *cx, const axe_layout *l, const axe_nest *f)
{
    int64_t lo, hi;

    if (!range(l, f->inner, &lo, &hi))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "fuse: a stride on %s is known only at run time, so "
                        "whether it stays below %" PRId64 " is not",
                        axe_axis_name(cx, f->inner), f->factor);
    if (lo < 0 || hi >= f->factor)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "fuse: %s reaches from %" PRId64 " to %" PRId64
                        ", and %s = %" PRId64 " %s + %s needs it in [0, "
                        "%" PRId64 ")",
                        axe_axis_name(cx, f->inner), lo, hi,
                        axe_axis_name(cx, f->whole), f->factor,
                        axe_axis_name(cx, f->outer),
                        axe_axis_name(cx, f->inner), f->factor);
    return AXE_OK;
}

/* Put a coordinate on outer or inner on whole; false on overflow. */
static bool
rename_axis(const axe_nest *f, axe_axis *axis, int64_t *value)
{
    if (*axis == f->outer && !axe_mul(*value, f->factor, value))
        return false;
    if (*axis == f->outer || *axis == f->inner)
        *axis = f->whole;
    return true;
}

static axe_status
substitute(axe_ctx *cx, const axe_layout *l, const axe_nest *f,
           const axe_layout **out)
{
    axe_draft d = axe_draft_copy(cx, l, 0);
    bool      fits = true;

    AXE_TRY(check_inner(cx, l, f));
    for (int k = 0; k < l->n_shard; k++)
        fits &= rename_axis(f, &d.shard[k].axis, &d.shard[k].stride);
    for (int k = 0; k < l->n_replica; k++)
        fits &= rename_axis(f, &d.replica[k].axis, &d.replica[k].stride);
    for (int k = 0; k < l->n_offset; k++)
        fits &= rename_axis(f, &d.offset[k].axis, &d.offset[k].value);
    if (!fits)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "fuse: a stride on %s times %" PRId64 " leaves int64",
                        axe_axis_name(cx, f->outer), f->factor);
    return axe_draft_finish(cx, d, "fuse", out);
}

enum { MAX_NEST = 4 }; /* levels; nestings may be declared in a circle */

/* Does l use the axis, or parts that make it up? */
static bool
has(const axe_ctx *cx, const axe_layout *l, axe_axis a, int depth)
{
    int             n;
    const axe_nest *f = axe_nests(cx, &n);

    if (uses(l, a))
        return true;
    for (int k = 0; k < n && depth < MAX_NEST; k++)
        if (f[k].whole == a && has(cx, l, f[k].outer, depth + 1) &&
            has(cx, l, f[k].inner, depth + 1))
            return true;
    return false;
}

/* The first nesting of `whole` of which l has both parts, or NULL. */
static const axe_nest *
nest_of(const axe_ctx *cx, const axe_layout *l, axe_axis whole)
{
    int             n;
    const axe_nest *f = axe_nests(cx, &n);

    for (int k = 0; k < n; k++)
        if (f[k].whole == whole && has(cx, l, f[k].outer, 1) &&
            has(cx, l, f[k].inner, 1))
            return &f[k];
    return NULL;
}

/* Parts of `whole` that nothing completes: what is there, and what is needed.
 */
static axe_status
check_parts(axe_ctx *cx, const axe_layout *l, axe_axis whole)
{
    int             n;
    const axe_nest *f = axe_nests(cx, &n);

    for (int k = 0; k < n; k++) {
        bool        outer = uses(l, f[k].outer);
        const char *name[] = {axe_axis_name(cx, f[k].outer),
                              axe_axis_name(cx, f[k].inner)};
        if (f[k].whole != whole || (!outer && !uses(l, f[k].inner)))
            continue;
        axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                 "fuse: the layout uses %s but not %s, and %s = %" PRId64
                 " %s + %s needs both",
                 name[!outer], name[outer], axe_axis_name(cx, whole),
                 f[k].factor, name[0], name[1]);
        axe_help(cx, "if it is meant to be at 0, say so: an iter (1 : 1@%s)",
                 name[outer]);
        return AXE_ESHAPE;
    }
    return AXE_OK;
}

static axe_status
mixes(axe_ctx *cx, const char *what, const axe_nest *f)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: the layout uses %s and also its parts, %s or %s", what,
                    axe_axis_name(cx, f->whole), axe_axis_name(cx, f->outer),
                    axe_axis_name(cx, f->inner));
}

static axe_status
fuse(axe_ctx *cx, const axe_layout *l, axe_axis whole, int depth,
     const axe_layout **out)
{
    const axe_nest *f = nest_of(cx, l, whole);

    if (!f || depth > MAX_NEST) {
        AXE_TRY(check_parts(cx, l, whole));
        *out = l;
        return AXE_OK;
    }
    if (uses(l, whole))
        return mixes(cx, "fuse", f);
    if (!uses(l, f->outer))
        AXE_TRY(fuse(cx, l, f->outer, depth + 1, &l));
    if (!uses(l, f->inner))
        AXE_TRY(fuse(cx, l, f->inner, depth + 1, &l));
    return substitute(cx, l, f, out);
}

axe_status
axe_layout_fuse_axis(axe_ctx *cx, const axe_layout *l, axe_axis whole,
                     const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    return fuse(cx, l, whole, 1, out);
}

static axe_status
split_by(axe_ctx *cx, const axe_layout *l, const axe_nest *f,
         const axe_layout **out)
{
    axe_iter digit[] = {{f->factor, 1, f->inner, AXE_UNIT_ONE},
                        {INT64_MAX, 1, f->outer, AXE_UNIT_ONE}};

    if (uses(l, f->outer) || uses(l, f->inner))
        return mixes(cx, "split", f);
    return axe_radix_follow(cx, "split", l, f->whole, (axe_radix){2, digit},
                            out);
}

axe_status
axe_layout_split_axis(axe_ctx *cx, const axe_layout *l, axe_axis whole,
                      const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    int             n;
    const axe_nest *f = axe_nests(cx, &n);

    for (; n > 0 && f->whole != whole; n--)
        f++;
    if (n == 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "split: no nesting of %s is known",
                        axe_axis_known(cx, whole) ? axe_axis_name(cx, whole)
                                                  : "an unknown axis");
    if (!uses(l, whole)) {
        *out = l;
        return AXE_OK;
    }
    return split_by(cx, l, f, out);
}

/* Does l use a part of f's whole, or a part of a part? */
static bool
uses_part(const axe_ctx *cx, const axe_layout *l, const axe_nest *f, int depth)
{
    int             n;
    const axe_nest *g = axe_nests(cx, &n);

    if (uses(l, f->outer) || uses(l, f->inner))
        return true;
    for (int k = 0; k < n && depth < MAX_NEST; k++)
        if ((g[k].whole == f->outer || g[k].whole == f->inner) &&
            uses_part(cx, l, &g[k], depth + 1))
            return true;
    return false;
}

/* The nesting by which `l` must be split to name what `other` names: one whose
 * parts `other` has itself before one whose parts' parts it has. */
static const axe_nest *
split_for(const axe_ctx *cx, const axe_layout *l, const axe_layout *other)
{
    int             n;
    const axe_nest *f = axe_nests(cx, &n);

    for (int depth = MAX_NEST; depth > 0; depth--)
        for (int k = 0; k < n; k++)
            if (uses(l, f[k].whole) && !uses(other, f[k].whole) &&
                uses_part(cx, other, &f[k], depth))
                return &f[k];
    return NULL;
}

axe_status
axe_axes_level(axe_ctx *cx, const axe_layout **a, const axe_layout **b)
{
    const axe_nest *f;

    for (int step = 0; step < 2 * MAX_NEST; step++)
        if ((f = split_for(cx, *a, *b)))
            AXE_TRY(split_by(cx, *a, f, a));
        else if ((f = split_for(cx, *b, *a)))
            AXE_TRY(split_by(cx, *b, f, b));
        else
            break;
    return AXE_OK;
}

/* ----------------------------------------------------------------- storage */

static bool
stores(const axe_ctx *cx, axe_axis a)
{
    axe_axis_kind kind = axe_axis_kind_of(cx, a);

    return kind == AXE_KIND_MEMORY || kind == AXE_KIND_REG;
}

/* Keep the iters of storage axes; returns how many. */
static int
keep(const axe_ctx *cx, axe_iter *dst, int n, const axe_iter *src)
{
    int left = 0;

    for (int k = 0; k < n; k++)
        if (stores(cx, src[k].axis))
            dst[left++] = src[k];
    return left;
}

axe_status
axe_layout_storage(axe_ctx *cx, const axe_layout *l, const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_draft   d = axe_draft_copy(cx, l, 0);
    axe_layout *s = d.layout;

    s->n_shard = s->n_offset = 0;
    for (int k = 0; k < l->n_dim; k++) {
        int begin = axe_dim_begin(l, k);
        s->n_shard += keep(cx, d.shard + s->n_shard, l->dim_end[k] - begin,
                           l->shard + begin);
        d.dim_end[k] = s->n_shard;
    }
    s->n_replica = keep(cx, d.replica, l->n_replica, l->replica);
    for (int k = 0; k < l->n_offset; k++)
        if (stores(cx, l->offset[k].axis))
            d.offset[s->n_offset++] = l->offset[k];
    return axe_draft_finish(cx, d, "storage", out);
}
