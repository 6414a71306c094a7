/* order.c - see order.h. */
#include "lower/order.h"

static const axe_node *
int_node(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

static const axe_node *
op2(axe_ctx *cx, axe_op op, const axe_node *a, const axe_node *b)
{
    return axe_node2(cx, op, a, b);
}

int
axe_order_cluster(const axe_stmt *scope)
{
    return scope->keys.cluster > 1 ? scope->keys.cluster : 1;
}

/* Clusters along variable i. */
static const axe_node *
n_along(axe_ctx *cx, const axe_stmt *s, int i)
{
    int c = axe_order_cluster(s);

    if (i > 0 || c == 1)
        return s->var[i]->extent;
    return op2(cx, AXE_OP_cdiv, s->var[0]->extent, int_node(cx, c));
}

/* Tiles of all variables from `first` on. */
static const axe_node *
n_from(axe_ctx *cx, const axe_stmt *s, int first)
{
    const axe_node *n = int_node(cx, 1);

    for (int i = first; i < s->n_var; i++)
        n = op2(cx, AXE_OP_mul, n, n_along(cx, s, i));
    return n;
}

const axe_node *
axe_order_count(axe_ctx *cx, const axe_stmt *scope)
{
    return n_from(cx, scope, 0);
}

/* Variables `first` and later of number `at`, the last fastest. */
static void
split_rest(axe_ctx *cx, const axe_stmt *s, int first, const axe_node *at,
           const axe_order_sink *sink, const axe_node **value)
{
    for (int i = s->n_var - 1; i > first; i--) {
        const axe_node *n = n_along(cx, s, i);
        value[i] = op2(cx, AXE_OP_mod, at, n);
        at = sink->let(sink->user, "rest", op2(cx, AXE_OP_div, at, n));
    }
    if (first < s->n_var)
        value[first] = at;
}

/* Bands of `group` clusters of the first variable, in each of which that is the
 * fastest; the last band may be narrower. */
static void
split_bands(axe_ctx *cx, const axe_stmt *s, const axe_node *number,
            const axe_order_sink *sink, const axe_node **value)
{
    const axe_node *group = int_node(cx, s->keys.group);
    const axe_node *size = op2(cx, AXE_OP_mul, group, n_from(cx, s, 1));
    const axe_node *band =
        sink->let(sink->user, "band", op2(cx, AXE_OP_div, number, size));
    const axe_node *in =
        sink->let(sink->user, "in_band", op2(cx, AXE_OP_mod, number, size));
    const axe_node *begin = op2(cx, AXE_OP_mul, band, group);
    const axe_node *left = op2(cx, AXE_OP_sub, n_along(cx, s, 0), begin);
    const axe_node *width =
        sink->let(sink->user, "width", op2(cx, AXE_OP_min, group, left));

    value[0] = op2(cx, AXE_OP_add, begin, op2(cx, AXE_OP_mod, in, width));
    split_rest(cx, s, 1, op2(cx, AXE_OP_div, in, width), sink, value);
}

axe_status
axe_order_tile(axe_ctx *cx, const axe_stmt *scope, const axe_node *number,
               const axe_node *rank, const axe_order_sink *sink,
               const axe_node **value)
{
    int c = axe_order_cluster(scope);

    if (scope->keys.hilbert) {
        axe_fail(cx, scope->at, AXE_EUNSUPPORTED,
                 "tiles along a Hilbert curve have no plan yet");
        axe_help(cx, "`group = 8` keeps neighbouring tiles together, too");
        return AXE_EUNSUPPORTED;
    }
    if (scope->keys.group > 1 && scope->n_var > 1)
        split_bands(cx, scope, number, sink, value);
    else
        split_rest(cx, scope, 0, number, sink, value);
    if (c > 1)
        value[0] = op2(cx, AXE_OP_add,
                       op2(cx, AXE_OP_mul, value[0], int_node(cx, c)), rank);
    return AXE_OK;
}
