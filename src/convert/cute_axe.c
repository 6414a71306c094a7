/* cute_axe.c - CuTe's layouts to Axe's and back.
 *
 * CuTe counts fast to slow, Axe slow to fast, and a tensor of several modes has
 * its first mode fastest there and its last here.  So either the linear index
 * stays what it was or the coordinates do; a caller says which. */
#include <inttypes.h>
#include <string.h>

#include "convert/cute.h"
#include "convert/text.h"

/* --------------------------------------------------------------- to Axe */

/* The axis of a leaf's basis. */
static axe_status
axis_of(axe_ctx *cx, const axe_cute *leaf, int n_axis, const char *const *axes,
        axe_axis *out)
{
    int at = leaf->basis.n > 0 ? leaf->basis.at[0] : 0;

    *out = AXE_AXIS_M;
    if (leaf->basis.n == 0 || leaf->stride == 0)
        return AXE_OK;
    if (leaf->basis.n > 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "cute: %s steps inside a coordinate; axes have no "
                        "parts",
                        axe_cute_text(cx, leaf));
    if (n_axis > 0 && at >= n_axis)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "cute: %s names coordinate %d, and %d axes are given",
                        axe_cute_text(cx, leaf), at, n_axis);
    return axe_cv_axis(cx, n_axis > 0 ? axes[at] : axe_textf(cx, "c%d", at),
                       AXE_KIND_MEMORY, out);
}

/* The leaves of l, turned round, behind it[0..*n); none of size 1. */
static axe_status
append(axe_ctx *cx, const axe_cute *l, int n_axis, const char *const *axes,
       axe_iter *it, int *n)
{
    axe_cute *leaf;
    axe_axis  axis;

    for (int i = axe_cute_leaves(cx, l, &leaf) - 1; i >= 0; i--) {
        AXE_TRY(axis_of(cx, &leaf[i], n_axis, axes, &axis));
        if (leaf[i].shape > 1)
            it[(*n)++] =
                (axe_iter){leaf[i].shape, leaf[i].stride, axis, AXE_UNIT_ONE};
    }
    return AXE_OK;
}

/* Integers and coordinates do not add up. */
static axe_status
check_mixed(axe_ctx *cx, const axe_cute *l)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf), plain = 0, based = 0;

    for (int i = 0; i < n; i++)
        if (leaf[i].shape > 1 && leaf[i].stride != 0)
            ++*(leaf[i].basis.n > 0 ? &based : &plain);
    if (plain == 0 || based == 0)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "cute: some strides of %s are integers and some are "
                    "coordinates, which do not add up",
                    axe_cute_text(cx, l));
}

axe_status
axe_cute_to_axe(axe_ctx *cx, const axe_cute_composed *c, bool coordinates,
                int n_axis, const char *const *axes, const axe_layout **out)
{
    const axe_cute *l = c->layout;
    axe_cute       *leaf;
    int             n_leaf = axe_cute_leaves(cx, l, &leaf), n = 0, dim = 0;
    int             rank = axe_cute_rank(l);
    axe_iter       *it = axe_new_array(cx, axe_iter, n_leaf + 1);
    int            *end = axe_new_array(cx, int, rank + 1);
    axe_offset      o = {c->offset, AXE_AXIS_M, AXE_UNIT_ONE};
    axe_layout      spec = {.swizzle = c->swizzle};

    AXE_TRY(check_mixed(cx, l));
    if (coordinates)
        for (int i = 0; i < rank; i++) {
            AXE_TRY(append(cx, axe_cute_mode(l, i), n_axis, axes, it, &n));
            end[dim++] = n;
        }
    else
        AXE_TRY(append(cx, l, n_axis, axes, it, &n));
    if (c->element_bits > 0 && spec.swizzle.bits > 0) {
        spec.swizzle.unit_bits = 8;
        AXE_TRY(axe_swizzle_recast(cx, spec.swizzle, c->element_bits,
                                   &spec.swizzle));
    }
    if (!coordinates)
        end[dim++] = n;
    spec.n_shard = n;
    spec.shard = it;
    spec.n_dim = dim;
    spec.dim_end = end;
    spec.n_offset = c->offset != 0;
    spec.offset = &o;
    return axe_layout_make(cx, &spec, out);
}

/* ------------------------------------------------------------- from Axe */

/* What no CuTe layout has. */
static axe_status
refuse(axe_ctx *cx, const axe_layout *l)
{
    if (l->n_replica > 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "cute: %s has replicas; a CuTe layout has one place "
                        "for an index, but for thread-value layouts",
                        axe_layout_text(cx, l));
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].unit != AXE_UNIT_ONE)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "cute: a stride of %s has a size in it that is "
                            "known only at run time",
                            axe_layout_text(cx, l));
    for (int i = 0; i < l->n_offset; i++)
        if (l->offset[i].axis != AXE_AXIS_M || l->offset[i].unit)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "cute: %s has an offset on axis %s; only integers "
                            "on m are added in a composed layout",
                            axe_layout_text(cx, l),
                            axe_axis_name(cx, l->offset[i].axis));
    return AXE_OK;
}

/* Is m the only axis? */
static bool
integers(const axe_layout *l)
{
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].axis != AXE_AXIS_M && l->shard[i].stride != 0)
            return false;
    return true;
}

/* 3 of "c3", as the reader names coordinates; else -1. */
static int
own_number(const char *name)
{
    int n = name[0] == 'c' && axe_is_digit(name[1]) ? name[1] - '0' : -1;

    if (n > 0 && axe_is_digit(name[2]) && name[3] == '\0')
        return 10 * n + name[2] - '0' < AXE_CV_RANK ? 10 * n + name[2] - '0'
                                                    : -1;
    return n >= 0 && name[2] == '\0' ? n : -1;
}

/* The number of an axis in `axes`, or as it first appears in l; -1: none. */
static int
number_of(axe_ctx *cx, const axe_layout *l, axe_axis axis, int n_axis,
          const char *const *axes)
{
    axe_axis seen[AXE_CV_RANK];
    int      n = 0, k;

    for (int i = 0; i < n_axis; i++)
        if (strcmp(axes[i], axe_axis_name(cx, axis)) == 0)
            return i;
    if (n_axis == 0 && own_number(axe_axis_name(cx, axis)) >= 0)
        return own_number(axe_axis_name(cx, axis));
    for (int i = 0; n_axis == 0 && i < l->n_shard; i++) {
        for (k = 0; k < n && seen[k] != l->shard[i].axis; k++)
            ;
        if (own_number(axe_axis_name(cx, l->shard[i].axis)) >= 0)
            return -1;
        if (l->shard[i].axis == axis)
            return k;
        if (k == n && n < AXE_CV_RANK)
            seen[n++] = l->shard[i].axis;
    }
    return -1;
}

static axe_status
leaf_of(axe_ctx *cx, const axe_layout *l, axe_iter it, int n_axis,
        const char *const *axes, axe_cute *out)
{
    int at;

    *out = axe_cute_leaf(it.extent, it.stride);
    if (integers(l) || it.stride == 0)
        return AXE_OK;
    at = number_of(cx, l, it.axis, n_axis, axes);
    if (at < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "cute: axis %s of the layout is not among the axes "
                        "given",
                        axe_axis_name(cx, it.axis));
    out->basis = (axe_cute_basis){1, {at}};
    return AXE_OK;
}

/* Iters [from, to), turned round, as a mode. */
static axe_status
mode_of(axe_ctx *cx, const axe_layout *l, int from, int to, int n_axis,
        const char *const *axes, axe_cute *out)
{
    axe_cute *leaf = axe_new_array(cx, axe_cute, to - from + 1);

    for (int i = from; i < to; i++)
        AXE_TRY(leaf_of(cx, l, l->shard[i], n_axis, axes, &leaf[to - 1 - i]));
    *out = to - from == 0   ? axe_cute_leaf(1, 0)
           : to - from == 1 ? leaf[0]
                            : axe_cute_tuple(cx, to - from, leaf);
    return AXE_OK;
}

axe_status
axe_cute_from_axe(axe_ctx *cx, const axe_layout *l, bool coordinates,
                  int n_axis, const char *const *axes, int element_bits,
                  axe_cute_composed *out)
{
    int               n = coordinates && l->n_dim > 0 ? l->n_dim : 1;
    axe_cute         *mode = axe_new_array(cx, axe_cute, n);
    axe_cute          tree;
    axe_cute_composed c = {.swizzle = l->swizzle};
    bool              wrap; /* modes in parentheses: a mode of its own */

    AXE_TRY(refuse(cx, l));
    for (int k = 0, from = 0; k < n; k++) {
        int to = n == 1 ? l->n_shard : l->dim_end[k];

        AXE_TRY(mode_of(cx, l, from, to, n_axis, axes, &mode[k]));
        from = to;
    }
    if (c.swizzle.bits > 0 && c.swizzle.unit_bits > 0) {
        if (element_bits == 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "cute: the swizzle of %s moves units of %d bits; "
                            "say how many bits an element has",
                            axe_layout_text(cx, l), c.swizzle.unit_bits);
        AXE_TRY(axe_swizzle_recast(cx, c.swizzle, element_bits, &c.swizzle));
    }
    if (l->n_offset > 0)
        c.offset = l->offset[0].value;
    wrap = n > 1 || (coordinates && mode[0].n_mode > 1);
    tree = wrap ? axe_cute_tuple(cx, n, mode) : mode[0];
    AXE_TRY(axe_cute_check(cx, "cute", &tree));
    c.layout = axe_cute_put(cx, tree);
    *out = c;
    return AXE_OK;
}
