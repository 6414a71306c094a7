/* cute_divide.c - CuTe's families of divides and products.
 *
 *     divide(A, B)  = A o (B, complement(B, shape of A coalesced))
 *     product(A, B) = (A, complement(A, size A * cosize B) o B)
 *
 * Divides are by one layout, or by a tiler for each mode; zipped, tiled and
 * flat are the same maps with their modes in other places. */
#include <inttypes.h>
#include <stdlib.h>

#include "convert/cute.h"

axe_status
axe_cute_divide(axe_ctx *cx, const axe_cute *a, const axe_cute *b,
                axe_cute *out)
{
    axe_cute flat, pair[2], both;

    AXE_TRY(axe_cute_coalesce(cx, a, &flat));
    pair[0] = *b;
    AXE_TRY(axe_cute_complement(cx, b, &flat, &pair[1]));
    both = axe_cute_tuple(cx, 2, pair);
    AXE_TRY(axe_cute_check(cx, "logical_divide", &both));
    return axe_cute_compose(cx, a, &both, out);
}

static axe_status
check_tilers(axe_ctx *cx, const char *what, const axe_cute *a, int n)
{
    if (n <= axe_cute_rank(a))
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: %d tilers for the %d modes of %s", what, n,
                    axe_cute_rank(a), axe_cute_text(cx, a));
}

/* n (tile, rest) pairs and the modes behind them, in the places of `form`. */
static axe_cute
arrange(axe_ctx *cx, int n, int n_all, const axe_cute *mode, axe_cute_form form)
{
    axe_cute *tile = axe_new_array(cx, axe_cute, n + 1);
    axe_cute *rest = axe_new_array(cx, axe_cute, n_all + 1);
    axe_cute *flat = axe_new_array(cx, axe_cute, n + n_all + 1);
    int       m = 0;

    if (form == AXE_CUTE_LOGICAL)
        return axe_cute_tuple(cx, n_all, mode);
    for (int i = 0; i < n_all; i++) {
        if (i < n)
            tile[i] = mode[i].mode[0];
        rest[i] = i < n ? mode[i].mode[1] : mode[i];
    }
    if (form == AXE_CUTE_FLAT)
        for (int i = 0; i < n; i++)
            flat[m++] = tile[i];
    else
        flat[m++] = axe_cute_tuple(cx, n, tile);
    if (form == AXE_CUTE_ZIPPED)
        flat[m++] = axe_cute_tuple(cx, n_all, rest);
    for (int i = 0; form != AXE_CUTE_ZIPPED && i < n_all; i++)
        flat[m++] = rest[i];
    return axe_cute_tuple(cx, m, flat);
}

axe_status
axe_cute_divide_by(axe_ctx *cx, const axe_cute *a, int n, const axe_cute *tiler,
                   axe_cute_form form, axe_cute *out)
{
    int       rank = axe_cute_rank(a);
    axe_cute *mode = axe_new_array(cx, axe_cute, rank + 1);

    AXE_TRY(check_tilers(cx, "divide", a, n));
    for (int i = 0; i < rank; i++)
        if (i < n)
            AXE_TRY(
                axe_cute_divide(cx, axe_cute_mode(a, i), &tiler[i], &mode[i]));
        else
            mode[i] = *axe_cute_mode(a, i);
    *out = arrange(cx, n, rank, mode, form);
    return AXE_OK;
}

axe_status
axe_cute_compose_by(axe_ctx *cx, const axe_cute *a, int n,
                    const axe_cute *tiler, axe_cute *out)
{
    axe_cute *mode = axe_new_array(cx, axe_cute, n + 1);

    AXE_TRY(check_tilers(cx, "composition", a, n));
    for (int i = 0; i < n; i++)
        AXE_TRY(axe_cute_compose(cx, axe_cute_mode(a, i), &tiler[i], &mode[i]));
    *out = (axe_cute){.n_mode = n, .mode = mode};
    return AXE_OK;
}

axe_status
axe_cute_product(axe_ctx *cx, const axe_cute *a, const axe_cute *b,
                 axe_cute *out)
{
    axe_cute pair[2], rest;
    int64_t  total;

    AXE_TRY(axe_cute_cosize(cx, b, &total));
    if (!axe_mul(total, axe_cute_size(a), &total))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "logical_product: the size leaves int64");
    rest = axe_cute_leaf(total, 1);
    AXE_TRY(axe_cute_complement(cx, a, &rest, &rest));
    pair[0] = *a;
    AXE_TRY(axe_cute_compose(cx, &rest, b, &pair[1]));
    *out = axe_cute_tuple(cx, 2, pair);
    return axe_cute_check(cx, "logical_product", out);
}

/* l with modes of 1 up to `rank`. */
static axe_cute
padded(axe_ctx *cx, const axe_cute *l, int rank)
{
    axe_cute *mode = axe_new_array(cx, axe_cute, rank + 1);

    for (int i = 0; i < rank; i++)
        mode[i] =
            i < axe_cute_rank(l) ? *axe_cute_mode(l, i) : axe_cute_leaf(1, 0);
    return (axe_cute){.n_mode = rank, .mode = mode};
}

axe_status
axe_cute_zip_product(axe_ctx *cx, const axe_cute *a, const axe_cute *b,
                     bool raked, axe_cute *out)
{
    int       ra = axe_cute_rank(a), rb = axe_cute_rank(b);
    int       rank = ra > rb ? ra : rb;
    axe_cute  pa = padded(cx, a, rank), pb = padded(cx, b, rank), both;
    axe_cute *mode = axe_new_array(cx, axe_cute, rank + 1);

    AXE_TRY(axe_cute_product(cx, &pa, &pb, &both));
    for (int i = 0; i < rank; i++) {
        axe_cute pair[2] = {both.mode[raked].mode[i],
                            both.mode[!raked].mode[i]};

        mode[i] = axe_cute_tuple(cx, 2, pair);
    }
    *out = (axe_cute){.n_mode = rank, .mode = mode};
    return AXE_OK;
}

/* --------------------------------------------------------- tile to a shape */

axe_status
axe_cute_ordered(axe_ctx *cx, const axe_cute *shape, const int64_t *order,
                 axe_cute *out)
{
    int       n = axe_cute_rank(shape);
    axe_cute *mode = axe_new_array(cx, axe_cute, n + 1);
    bool     *done = axe_new_array(cx, bool, n + 1);
    int64_t   step = 1;

    for (int k = 0; k < n; k++) {
        int least = -1;

        for (int i = 0; i < n; i++)
            if (!done[i] && (least < 0 || (order && order[i] < order[least])))
                least = i;
        done[least] = true;
        AXE_TRY(axe_cute_compact(cx, axe_cute_mode(shape, least), step,
                                 &mode[least]));
        if (!axe_mul(step, axe_cute_size(&mode[least]), &step))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "make_ordered_layout: the size leaves int64");
    }
    *out = axe_cute_is_leaf(shape) ? mode[0]
                                   : (axe_cute){.n_mode = n, .mode = mode};
    return AXE_OK;
}

axe_status
axe_cute_tile_to_shape(axe_ctx *cx, const axe_cute *block,
                       const axe_cute *target, const int64_t *order,
                       axe_cute *out)
{
    int       rank = axe_cute_rank(target);
    axe_cute  own = padded(cx, block, rank), times, grid;
    axe_cute *mode = axe_new_array(cx, axe_cute, rank + 1);

    if (axe_cute_rank(block) > rank)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "tile_to_shape: a block of %d modes for a shape of %d",
                        axe_cute_rank(block), rank);
    for (int i = 0; i < rank; i++) {
        int64_t b = axe_cute_size(&own.mode[i]);
        int64_t t = axe_cute_size(axe_cute_mode(target, i));

        if (t % b != 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "tile_to_shape: mode %d of the block has %" PRId64
                            " elements, which do not divide %" PRId64,
                            i, b, t);
        mode[i] = axe_cute_leaf(t / b, 0);
    }
    times = (axe_cute){.n_mode = rank, .mode = mode};
    AXE_TRY(axe_cute_ordered(cx, &times, order, &grid));
    return axe_cute_zip_product(cx, &own, &grid, false, out);
}
