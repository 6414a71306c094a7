/* declared.c - layouts that the text gives tiles: each element has a place of
 * its own, and places count from 0. */
#include <inttypes.h>

#include "plan/access/access.h"

/* The element of the tile with this flat index, as it is written. */
static const char *
element(axe_ctx *cx, const axe_tensor *t, int64_t flat)
{
    const char *text = "]";

    for (int d = t->rank - 1; d >= 0; d--) {
        int64_t e = 1;
        axe_is_iconst(t->shape[d], &e);
        text = axe_textf(cx, "%s%" PRId64 "%s", d > 0 ? ", " : "[", flat % e,
                         text);
        flat /= e;
    }
    return axe_textf(cx, "%s%s", t->name, text);
}

/* How far below 0 the iters go on an axis: at most 0. */
static int64_t
below(int n, const axe_iter *it, axe_axis axis)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        if (it[i].axis == axis && it[i].stride < 0)
            sum += it[i].stride * (it[i].extent - 1);
    return sum;
}

static axe_status
check_first(axe_ctx *cx, const axe_tensor *t, axe_axis axis)
{
    const axe_layout *l = t->layout;
    int64_t           lo = below(l->n_shard, l->shard, axis) +
                 below(l->n_replica, l->replica, axis);

    for (int i = 0; i < l->n_offset; i++)
        lo += l->offset[i].axis == axis ? l->offset[i].value : 0;
    if (lo >= 0)
        return AXE_OK;
    axe_fail(cx, t->at, AXE_ESHAPE,
             "the layout of %s has an element at %" PRId64
             " of axis %s; places count from 0",
             t->name, lo, axe_axis_name(cx, axis));
    axe_help(cx, "begin further up: add %" PRId64 "@%s to the layout", -lo,
             axe_axis_name(cx, axis));
    return AXE_ESHAPE;
}

axe_status
axe_declared_check(axe_ctx *cx, const axe_tensor *t)
{
    const axe_layout *l = t->layout;
    int64_t           at[2];
    bool              distinct;

    for (int i = 0; i < l->n_shard; i++)
        AXE_TRY(check_first(cx, t, l->shard[i].axis));
    for (int i = 0; i < l->n_offset; i++)
        AXE_TRY(check_first(cx, t, l->offset[i].axis));
    AXE_TRY(axe_layout_injective(cx, l, &distinct, at));
    if (distinct)
        return AXE_OK;
    axe_fail(cx, t->at, AXE_ESHAPE,
             "the layout of %s puts %s and %s in one place", t->name,
             element(cx, t, at[0]), element(cx, t, at[1]));
    axe_help(cx, "let each stride step over all that the smaller ones "
                 "reach, or leave the layout open");
    return AXE_ESHAPE;
}
