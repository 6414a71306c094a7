/* bitlinear.c - which layouts are linear over bits.
 *
 * Split every extent into twos.  With an offset of 0 the map is linear iff all
 * extents are powers of two and on each axis the strides of the twos have no
 * bit in common: then their sums are their xors, and no sum carries.  If two
 * strides of an axis share a bit, the indices of those two twos are a witness.
 * (A swizzle is linear, so it changes no answer.) */
#include "convert/bitlinear.h"

#include <inttypes.h>

static bool
power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* D(x) on an axis, and O. */
static int64_t
value(const axe_layout *l, int64_t x, axe_axis a)
{
    return axe_layout_at(l, x, a);
}

static bool
holds(const axe_ctx *cx, const axe_layout *l, int64_t x, int64_t y)
{
    for (axe_axis a = 0; a < axe_n_axis(cx); a++)
        if (value(l, x ^ y, a) != (value(l, x, a) ^ value(l, y, a)))
            return false;
    return true;
}

/* Of a layout whose size is no power of two: a pair for which the law does not
 * hold among the first indices, else one whose xor is no index. */
static void
search(const axe_ctx *cx, const axe_layout *l, int64_t witness[2])
{
    enum { MOST = 64 };
    int64_t n = l->size < MOST ? l->size : MOST;
    int64_t top = 1;

    for (int64_t y = 1; y < n; y++)
        for (int64_t x = 1; x < y; x++)
            if ((x ^ y) < l->size && !holds(cx, l, x, y)) {
                witness[0] = x;
                witness[1] = y;
                return;
            }
    while (top <= (l->size - 1) / 2)
        top *= 2;
    for (int64_t x = 1; x < top; x *= 2)
        if ((top | x) >= l->size) {
            witness[0] = x;
            witness[1] = top;
            return;
        }
    witness[0] = (l->size - 1) ^ (top - 1) ^ top;
    witness[1] = l->size - 1;
    while ((witness[0] ^ witness[1]) < l->size)
        witness[0]++;
}

/* The bits of D, of the fastest two first. */
static int
split(axe_ctx *cx, const axe_layout *l, axe_bit **out)
{
    axe_bit *b = axe_new_array(cx, axe_bit, 64);
    int      n = 0;

    for (int i = l->n_shard - 1; i >= 0; i--)
        for (int64_t k = 1; k < l->shard[i].extent; k *= 2)
            b[n++] = (axe_bit){l->shard[i].axis, l->shard[i].stride * k};
    *out = b;
    return n;
}

axe_status
axe_bit_linear(axe_ctx *cx, const axe_layout *l, bool *yes, int *n,
               axe_bit **bit, int64_t witness[2])
{
    axe_bit *b;
    bool     pure = power_of_two(l->size);

    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].unit != AXE_UNIT_ONE)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "is_bit_linear: a stride of %s has a size in it "
                            "that is known only at run time",
                            axe_layout_text(cx, l));
    *yes = false;
    witness[0] = witness[1] = 0;
    if (l->n_offset > 0)
        return AXE_OK;
    if (!pure) {
        search(cx, l, witness);
        return AXE_OK;
    }
    *n = split(cx, l, &b);
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < j; i++)
            if (b[i].axis == b[j].axis && (b[i].stride & b[j].stride)) {
                witness[0] = (int64_t)1 << i;
                witness[1] = (int64_t)1 << j;
                return AXE_OK;
            }
    *yes = true;
    *bit = b;
    return AXE_OK;
}
