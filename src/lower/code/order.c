/* order.c - see order.h. */
#include "lower/code/order.h"

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
    return axe_node2(cx, AXE_OP_cdiv, s->var[0]->extent,
                     axe_index_const(cx, c));
}

/* Tiles of all variables from `first` on. */
static const axe_node *
n_from(axe_ctx *cx, const axe_stmt *s, int first)
{
    const axe_node *n = axe_index_const(cx, 1);

    for (int i = first; i < s->n_var; i++)
        n = axe_node2(cx, AXE_OP_mul, n, n_along(cx, s, i));
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
        value[i] = axe_node2(cx, AXE_OP_mod, at, n);
        at = sink->let(sink->user, "rest", axe_node2(cx, AXE_OP_div, at, n), 0,
                       NULL);
    }
    if (first < s->n_var)
        value[first] = at;
}

/* Where a number is in bands of `height` clusters of the first variable, of
 * which the last may be narrower. */
typedef struct band {
    const axe_node *begin, *width; /* clusters of the first variable */
    const axe_node *in;            /* the number in the band */
} band;

static band
split_bands(axe_ctx *cx, const axe_stmt *s, int height, const axe_node *number,
            const axe_order_sink *sink)
{
    const axe_node *most = axe_index_const(cx, height);
    const axe_node *size = axe_node2(cx, AXE_OP_mul, most, n_from(cx, s, 1));
    const axe_node *at =
        sink->let(sink->user, "band", axe_node2(cx, AXE_OP_div, number, size),
                  0, axe_node2(cx, AXE_OP_cdiv, n_along(cx, s, 0), most));
    const axe_node *in =
        sink->let(sink->user, "in_band",
                  axe_node2(cx, AXE_OP_mod, number, size), 0, NULL);
    const axe_node *begin = axe_node2(cx, AXE_OP_mul, at, most);
    const axe_node *left = axe_node2(cx, AXE_OP_sub, n_along(cx, s, 0), begin);

    return (band){begin,
                  sink->let(sink->user, "width",
                            axe_node2(cx, AXE_OP_min, most, left), 1,
                            axe_index_const(cx, height + 1)),
                  in};
}

/* In a band the first variable is the fastest. */
static void
split_group(axe_ctx *cx, const axe_stmt *s, const axe_node *number,
            const axe_order_sink *sink, const axe_node **value)
{
    int  height = s->keys.group / axe_order_cluster(s);
    band b = split_bands(cx, s, height > 1 ? height : 1, number, sink);

    value[0] = axe_node2(cx, AXE_OP_add, b.begin,
                         axe_node2(cx, AXE_OP_mod, b.in, b.width));
    split_rest(cx, s, 1, axe_node2(cx, AXE_OP_div, b.in, b.width), sink, value);
}

/* ------------------------------------------------------------------ a curve */

enum { SIDE_LOG = 3, SIDE = 1 << SIDE_LOG };

static const axe_node *
choose(axe_ctx *cx, const axe_node *bit, const axe_node *one,
       const axe_node *zero)
{
    const axe_node *arg[3] = {
        axe_node2(cx, AXE_OP_eq, bit, axe_index_const(cx, 1)), one, zero};

    return axe_node_new(cx, AXE_OP_select, AXE_TYPE_INDEX, one->at, 3, arg);
}

/* One level more of the curve: a square of side `s` is one of four, turned so
 * that their ends meet.  along and across: the place in the smaller square and
 * then in the greater; two bits of `at` say which of the four. */
static void
turn(axe_ctx *cx, int64_t s, const axe_node *at, const axe_order_sink *sink,
     const axe_node **along, const axe_node **across)
{
    const axe_node *two = axe_index_const(cx, 2),
                   *last = axe_index_const(cx, s - 1);
    const axe_node *a = *along, *b = *across, *x, *y;
    const axe_node *far = sink->let(
        sink->user, "far",
        axe_node2(cx, AXE_OP_mod, axe_node2(cx, AXE_OP_div, at, two), two), 0,
        NULL);
    const axe_node *side = sink->let(
        sink->user, "side",
        axe_node2(cx, AXE_OP_mod, axe_node2(cx, AXE_OP_add, at, far), two), 0,
        NULL);

    x = choose(cx, far, axe_node2(cx, AXE_OP_sub, last, b), b);
    y = choose(cx, far, axe_node2(cx, AXE_OP_sub, last, a), a);
    x = choose(cx, side, a, x);
    y = choose(cx, side, b, y);
    *along = sink->let(
        sink->user, "along",
        axe_node2(cx, AXE_OP_add, x,
                  axe_node2(cx, AXE_OP_mul, far, axe_index_const(cx, s))),
        0, NULL);
    *across = sink->let(
        sink->user, "across",
        axe_node2(cx, AXE_OP_add, y,
                  axe_node2(cx, AXE_OP_mul, side, axe_index_const(cx, s))),
        0, NULL);
}

/* Hilbert's curve in squares of SIDE, which follow each other along the second
 * variable in bands of the first: it enters and leaves each at the first of
 * the band.  In what is left at the ends the first variable is the fastest. */
static void
split_curve(axe_ctx *cx, const axe_stmt *s, const axe_node *number,
            const axe_order_sink *sink, const axe_node **value)
{
    const axe_node *side = axe_index_const(cx, SIDE),
                   *zero = axe_index_const(cx, 0);
    band            b = split_bands(cx, s, SIDE, number, sink);
    const axe_node *size = axe_node2(cx, AXE_OP_mul, b.width, side);
    const axe_node *square = axe_node2(cx, AXE_OP_div, b.in, size);
    const axe_node *in =
        sink->let(sink->user, "in_square",
                  axe_node2(cx, AXE_OP_mod, b.in, size), 0, NULL);
    const axe_node *begin = sink->let(
        sink->user, "square", axe_node2(cx, AXE_OP_mul, square, side), 0, NULL);
    const axe_node *left = axe_node2(cx, AXE_OP_sub, n_along(cx, s, 1), begin);
    const axe_node *along = zero, *across = zero, *whole, *x, *y;

    for (int k = 0; k < SIDE_LOG; k++)
        turn(cx, INT64_C(1) << k,
             axe_node2(cx, AXE_OP_div, in,
                       axe_index_const(cx, INT64_C(1) << 2 * k)),
             sink, &along, &across);
    whole = axe_node2(cx, AXE_OP_min, b.width,
                      axe_node2(cx, AXE_OP_min, left, side));
    whole = sink->let(sink->user, "whole",
                      axe_node2(cx, AXE_OP_div, whole, side), 0, NULL);
    x = choose(cx, whole, across, axe_node2(cx, AXE_OP_mod, in, b.width));
    y = choose(cx, whole, along, axe_node2(cx, AXE_OP_div, in, b.width));
    value[0] = sink->let(sink->user, "first",
                         axe_node2(cx, AXE_OP_add, b.begin, x), 0, NULL);
    value[1] = sink->let(sink->user, "second",
                         axe_node2(cx, AXE_OP_add, begin, y), 0, NULL);
}

void
axe_order_tile(axe_ctx *cx, const axe_stmt *scope, const axe_node *number,
               const axe_node *rank, const axe_order_sink *sink,
               const axe_node **value)
{
    int c = axe_order_cluster(scope);

    if (scope->keys.hilbert && scope->n_var == 2)
        split_curve(cx, scope, number, sink, value);
    else if (scope->keys.group > 1 && scope->n_var > 1)
        split_group(cx, scope, number, sink, value);
    else
        split_rest(cx, scope, 0, number, sink, value);
    if (c > 1)
        value[0] = axe_node2(
            cx, AXE_OP_add,
            axe_node2(cx, AXE_OP_mul, value[0], axe_index_const(cx, c)), rank);
}
