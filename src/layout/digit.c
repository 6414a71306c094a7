/* digit.c - collecting the digits of an axis, and the axes of a layout. */
#include <inttypes.h>
#include <stdlib.h>

#include "layout/digit.h"

static int
by_step(const void *pa, const void *pb)
{
    const axe_digit *a = pa, *b = pb;

    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return (a->extent > b->extent) - (a->extent < b->extent);
}

static axe_status
overflows(axe_ctx *cx, const char *what, axe_axis axis)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                    "%s: the coordinates on %s do not fit int64", what,
                    axe_axis_name(cx, axis));
}

/* Append the digit of `it`, moving the ends of the range. */
static bool
add_digit(axe_digits *g, axe_iter it, int64_t weight)
{
    int64_t far;

    if (it.extent == 1 || it.stride == 0)
        return true;
    if (it.stride == INT64_MIN || !axe_mul(it.extent - 1, it.stride, &far))
        return false;
    g->digit[g->n++] =
        (axe_digit){it.extent, llabs(it.stride), weight, it.stride < 0};
    return it.stride < 0 ? axe_add(g->lowest, far, &g->lowest)
                         : axe_add(g->highest, far, &g->highest);
}

static axe_status
has_unit(axe_ctx *cx, const char *what, int64_t value, axe_unit unit)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s: %" PRId64 "*%s is known only at run time", what, value,
                    axe_unit_text(cx, unit));
}

axe_status
axe_digits_of(axe_ctx *cx, const char *what, const axe_layout *l, axe_axis axis,
              axe_digits *out)
{
    axe_digits g = {0};
    int64_t    weight = 1, width;
    bool       fits = true;

    g.digit = axe_new_array(cx, axe_digit, l->n_shard + l->n_replica);
    for (int k = 0; k < l->n_offset; k++) {
        const axe_offset *o = &l->offset[k];
        if (o->axis == axis && o->unit != AXE_UNIT_ONE)
            return has_unit(cx, what, o->value, o->unit);
        if (o->axis == axis)
            g.lowest = g.highest = o->value;
    }
    for (int k = l->n_shard + l->n_replica - 1; k >= 0; k--) {
        bool     replica = k >= l->n_shard;
        axe_iter it = replica ? l->replica[k - l->n_shard] : l->shard[k];
        if (it.axis == axis && it.unit != AXE_UNIT_ONE)
            return has_unit(cx, what, it.stride, it.unit);
        if (it.axis == axis)
            fits = fits && add_digit(&g, it, replica ? 0 : weight);
        if (!replica)
            weight *= it.extent;
    }
    if (!fits || !axe_mul(g.lowest, -1, &width) ||
        !axe_add(g.highest, width, &width) || width == INT64_MAX)
        return overflows(cx, what, axis);
    qsort(g.digit, (size_t)g.n, sizeof *g.digit, by_step);
    *out = g;
    return AXE_OK;
}

static int
by_axis(const void *pa, const void *pb)
{
    const axe_axis *a = pa, *b = pb;

    return (*a > *b) - (*a < *b);
}

int
axe_axes_used(axe_ctx *cx, const axe_layout *l, axe_axis **out)
{
    int       n = 0, m = 0;
    axe_axis *used =
        axe_new_array(cx, axe_axis, l->n_shard + l->n_replica + l->n_offset);

    for (int k = 0; k < l->n_shard; k++)
        if (l->shard[k].stride != 0)
            used[n++] = l->shard[k].axis;
    for (int k = 0; k < l->n_replica; k++)
        if (l->replica[k].stride != 0)
            used[n++] = l->replica[k].axis;
    for (int k = 0; k < l->n_offset; k++)
        used[n++] = l->offset[k].axis;
    if (n > 0)
        qsort(used, (size_t)n, sizeof *used, by_axis);
    for (int k = 0; k < n; k++)
        if (m == 0 || used[m - 1] != used[k])
            used[m++] = used[k];
    *out = used;
    return m;
}

axe_status
axe_axis_only(axe_ctx *cx, const char *what, const axe_layout *l, axe_axis *out)
{
    axe_axis *used;
    int       n = axe_axes_used(cx, l, &used);

    if (n > 1) {
        axe_status s = axe_fail(
            cx, AXE_NOWHERE, AXE_ESHAPE,
            "%s: %s lives on %d axes, %s and %s among them; one is needed",
            what, axe_layout_text(cx, l), n, axe_axis_name(cx, used[0]),
            axe_axis_name(cx, used[1]));
        axe_help(cx, "fuse the axes that nest, or keep its storage alone");
        return s;
    }
    *out = n ? used[0] : AXE_AXIS_M;
    return AXE_OK;
}

axe_status
axe_no_swizzle(axe_ctx *cx, const char *what, const axe_layout *l)
{
    axe_status s;

    if (l->swizzle.bits == 0)
        return AXE_OK;
    s = axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "%s: %s carries a swizzle, which no iter list follows", what,
                 axe_layout_text(cx, l));
    axe_help(cx, "a swizzle is its own inverse: drop it, and swizzle the "
                 "coordinates");
    return s;
}
