/* cache_sets.c - does a tile fit the sets of a cache where it lies?
 *
 * A cache of W ways holds in each of its sets W lines whose addresses agree
 * modulo its period, bytes / W: the set is an axis, address / 64 modulo the
 * number of sets.  Pieces of a tile `stride` apart begin at period / g places,
 * g = gcd(stride, period), so that where a piece is at most g long, a set gets
 * rows * g / period lines; else the pieces cover all sets alike.  Strides that
 * are multiples of a large power of two put a whole tile into few sets. */
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* gcd(n, period) for a period that is a power of two, at least a line. */
static const axe_node *
common(axe_ctx *cx, const axe_node *n, int64_t period)
{
    const axe_node *g = axe_index_const(cx, 64);

    for (int64_t t = 128; t <= period; t *= 2) {
        const axe_node *rest =
            axe_node2(cx, AXE_OP_mod, n, axe_index_const(cx, t));
        g = axe_node_new(cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
                         (const axe_node *[]){axe_node2(cx, AXE_OP_eq, rest,
                                                        axe_index_const(cx, 0)),
                                              axe_index_const(cx, t), g});
    }
    return g;
}

const axe_node *
axe_fits_sets(axe_ctx *cx, const axe_node *rows, const axe_node *bytes,
              const axe_node *stride, int64_t period, int64_t ways)
{
    const axe_node *g = common(cx, stride, period);
    const axe_node *piece = axe_node2(cx, AXE_OP_max, bytes, g);
    int64_t         n, b;

    if (axe_is_iconst(rows, &n) && n <= ways && axe_is_iconst(bytes, &b) &&
        b <= 64)
        return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_bool, 1);
    return axe_node2(cx, AXE_OP_le, axe_node2(cx, AXE_OP_mul, rows, piece),
                     axe_index_const(cx, ways * period));
}
