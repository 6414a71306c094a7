/* pack.c - the same bytes as smaller or larger elements.
 *
 * A place on axis m is an element.  Unpacking makes n of each: what was at
 * place p is now at n p .. n p + n - 1, the last digit of the index says which.
 * Places on other axes (lanes, partitions, columns) stay where they are.
 * Packing is the way back, where nothing is cut.
 */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

static axe_status
check_count(axe_ctx *cx, const char *what, int n)
{
    if (n >= 1)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s: %d elements in one; at least 1 is needed", what, n);
}

/* The swizzle on elements `n` times smaller (grow) or larger.  One that counts
 * bits or bytes does not care. */
static axe_status
rescale(axe_ctx *cx, const char *what, int n, bool grow, axe_swizzle *s)
{
    int k = 0;

    if (s->bits == 0 || s->unit_bits != 0)
        return AXE_OK;
    while (n > 1 && n % 2 == 0) {
        n /= 2;
        k++;
    }
    if (n != 1 || (!grow && s->base < k))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: swizzle<%d, %d, %d> moves 2^%d elements, which is "
                        "%s",
                        what, s->bits, s->base, s->shift, s->base,
                        n != 1 ? "no power of two of the others"
                               : "less than one of the others");
    s->base += grow ? k : -k;
    return AXE_OK;
}

static axe_status
overflows(axe_ctx *cx, int n)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                    "unpack: a stride times %d leaves int64", n);
}

axe_status
axe_layout_unpack(axe_ctx *cx, const axe_layout *l, int n,
                  const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_draft d;

    AXE_TRY(check_count(cx, "unpack", n));
    d = axe_draft_copy(cx, l, 1);
    AXE_TRY(rescale(cx, "unpack", n, true, &d.layout->swizzle));
    for (int k = 0; k < l->n_shard; k++)
        if (d.shard[k].axis == AXE_AXIS_M &&
            !axe_mul(d.shard[k].stride, n, &d.shard[k].stride))
            return overflows(cx, n);
    for (int k = 0; k < l->n_replica; k++)
        if (d.replica[k].axis == AXE_AXIS_M &&
            !axe_mul(d.replica[k].stride, n, &d.replica[k].stride))
            return overflows(cx, n);
    for (int k = 0; k < l->n_offset; k++)
        if (d.offset[k].axis == AXE_AXIS_M &&
            !axe_mul(d.offset[k].value, n, &d.offset[k].value))
            return overflows(cx, n);
    if (n > 1) {
        d.shard[d.layout->n_shard++] =
            (axe_iter){n, 1, AXE_AXIS_M, AXE_UNIT_ONE};
        d.dim_end[l->n_dim - 1]++;
    }
    return axe_draft_finish(cx, d, "unpack", out);
}

/* value /= n where it is exact. */
static axe_status
divide(axe_ctx *cx, const char *what, axe_axis axis, int n, int64_t *value)
{
    if (axis != AXE_AXIS_M)
        return AXE_OK;
    if (*value % n != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "pack: %s %" PRId64 " on m is no multiple of %d, so an "
                        "element would be cut",
                        what, *value, n);
    *value /= n;
    return AXE_OK;
}

axe_status
axe_layout_pack(axe_ctx *cx, const axe_layout *l, int n, const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_draft d;
    axe_iter  last = {.extent = 1};

    AXE_TRY(check_count(cx, "pack", n));
    AXE_TRY(axe_layout_canon(cx, l, &l));
    d = axe_draft_copy(cx, l, 0);
    AXE_TRY(rescale(cx, "pack", n, false, &d.layout->swizzle));
    if (l->n_shard > 0)
        last = l->shard[l->n_shard - 1];
    if (n > 1 && (last.axis != AXE_AXIS_M || last.stride != 1 ||
                  last.unit != AXE_UNIT_ONE || last.extent % n != 0))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "pack: the last iter of %s is not a multiple of %d "
                        "steps of 1 on m",
                        axe_layout_text(cx, l), n);
    for (int k = 0; n > 1 && k < l->n_shard - 1; k++)
        AXE_TRY(divide(cx, "stride", d.shard[k].axis, n, &d.shard[k].stride));
    for (int k = 0; k < l->n_replica; k++)
        AXE_TRY(
            divide(cx, "stride", d.replica[k].axis, n, &d.replica[k].stride));
    for (int k = 0; k < l->n_offset; k++)
        AXE_TRY(divide(cx, "offset", d.offset[k].axis, n, &d.offset[k].value));
    if (n > 1)
        d.shard[l->n_shard - 1].extent /= n;
    return axe_draft_finish(cx, d, "pack", out);
}
