/* swizzle.c - xor swizzles: making, applying, changing their unit, finding
 * them.
 *
 * A swizzle <bits, base, shift> reads a field Y of `bits` bits and xors it into
 * a field Z, |shift| places lower (shift > 0) or higher.  |shift| >= bits keeps
 * the fields apart, so a swizzle is its own inverse and a bijection of every
 * block of 2^top_bit(s) aligned integers onto itself.
 *
 * Source: cutlass, cute/swizzle.hpp; the units, facts on bytes against
 * elements, in docs/layout.md.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "axe/layout.h"
#include "base/ctx.h"

enum {
    TOP_BIT = 62, /* of a coordinate that a swizzle may move */
    MAX_UNIT = 1 << 20
};

static bool
power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* log2 of a power of two. */
static int
log2_of(int64_t n)
{
    int k = 0;

    while (n > 1) {
        n >>= 1;
        k++;
    }
    return k;
}

axe_status
axe_swizzle_of_bytes(axe_ctx *cx, int row_bytes, axe_swizzle *out)
{
    AXE_NEED(cx, out);
    if (row_bytes != 32 && row_bytes != 64 && row_bytes != 128)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "swizzle: the hardware has swizzles of 32, 64 and 128 "
                        "bytes, not of %d",
                        row_bytes);
    *out = (axe_swizzle){log2_of(row_bytes / 16), 4, 3, 8};
    return AXE_OK;
}

axe_status
axe_swizzle_check(axe_ctx *cx, axe_swizzle s)
{
    const char *why = NULL;

    if (s.bits < 0 || s.base < 0 || s.unit_bits < 0)
        why = "a field is negative";
    else if (s.shift <= -TOP_BIT || s.shift >= TOP_BIT || s.bits > TOP_BIT ||
             s.base > TOP_BIT || s.base + abs(s.shift) + s.bits > TOP_BIT)
        why = "base + |shift| + bits is over 62";
    else if (abs(s.shift) < s.bits)
        why = "|shift| is below bits, so the fields overlap";
    else if (s.unit_bits > MAX_UNIT ||
             (s.unit_bits > 0 && !power_of_two(s.unit_bits)))
        why = "the unit is not a power of two of bits";
    if (why)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE, "swizzle<%d, %d, %d>: %s",
                        s.bits, s.base, s.shift, why);
    return AXE_OK;
}

int64_t
axe_swizzle_apply(axe_swizzle s, int64_t x)
{
    uint64_t u = (uint64_t)x, ones = ((uint64_t)1 << s.bits) - 1;
    uint64_t y = ones << (s.base + (s.shift > 0 ? s.shift : 0));

    u ^= s.shift > 0 ? (u & y) >> s.shift : (u & y) << -s.shift;
    return (int64_t)u;
}

int64_t
axe_swizzle_kept(axe_swizzle s)
{
    return s.bits > 0 ? INT64_C(1) << s.base : INT64_MAX;
}

axe_status
axe_swizzle_recast(axe_ctx *cx, axe_swizzle s, int bits, axe_swizzle *out)
{
    AXE_NEED(cx, out);
    int drop;

    AXE_TRY(axe_swizzle_check(cx, s));
    if (!power_of_two(bits) || bits > MAX_UNIT)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "swizzle: elements of %d bits; a power of two is "
                        "needed",
                        bits);
    if (s.unit_bits == 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "swizzle<%d, %d, %d>: it counts elements already; only "
                        "one with a unit can be recast",
                        s.bits, s.base, s.shift);
    drop = log2_of(bits) - log2_of(s.unit_bits);
    if (s.bits > 0 && s.base < drop)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "swizzle<%d, %d, %d> in units of %d bits moves pieces "
                        "of %" PRId64 " bits: elements of %d bits would be cut",
                        s.bits, s.base, s.shift, s.unit_bits,
                        (int64_t)s.unit_bits << s.base, bits);
    s.base = s.bits > 0 ? s.base - drop : 0;
    s.unit_bits = 0;
    AXE_TRY(axe_swizzle_check(cx, s));
    *out = s;
    return AXE_OK;
}

static bool
same(axe_swizzle a, axe_swizzle b)
{
    return a.bits == b.bits && a.base == b.base && a.shift == b.shift &&
           a.unit_bits == b.unit_bits;
}

axe_status
axe_layout_swizzled(axe_ctx *cx, const axe_layout *l, axe_swizzle s,
                    const axe_layout **out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    axe_layout spec = *l;

    AXE_TRY(axe_swizzle_check(cx, s));
    if (s.bits > 0 && l->swizzle.bits > 0 && !same(s, l->swizzle))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "swizzle<%d, %d, %d> over swizzle<%d, %d, %d>: a "
                        "layout carries one swizzle, and two different ones do "
                        "not make one",
                        s.bits, s.base, s.shift, l->swizzle.bits,
                        l->swizzle.base, l->swizzle.shift);
    if (s.bits > 0)
        spec.swizzle = l->swizzle.bits > 0 ? (axe_swizzle){0} : s;
    return axe_layout_make(cx, &spec, out);
}

/* --------------------------------------------------------------- detection */

/* What is known of the swizzle from map[0..x). */
typedef struct guess {
    int bits, first, shift; /* Y begins at bit `first` */
} guess;

/* Bit k of the index maps to `image`; false if no swizzle that agrees with g
 * does that. */
static bool
learn(guess *g, int k, int64_t image)
{
    int64_t bit = (int64_t)1 << k, moved = image ^ bit;
    int     shift;

    if (moved == 0)
        return true;
    if (image < 0 || !power_of_two(moved) || moved == bit)
        return false;
    shift = k - log2_of(moved);
    if (g->bits == 0)
        *g = (guess){0, k, shift};
    if (shift != g->shift || k != g->first + g->bits)
        return false;
    g->bits++;
    return abs(shift) >= g->bits && g->first + g->bits + abs(shift) <= TOP_BIT;
}

axe_status
axe_swizzle_detect(axe_ctx *cx, int n, const int64_t *map, axe_swizzle *out)
{
    AXE_NEED_ALL(cx, n, map);
    AXE_NEED(cx, out);
    guess g = {0};
    int   top = 0; /* the highest bit of x */

    if (!power_of_two(n))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "swizzle: a table of %d entries; a power of two is "
                        "needed",
                        n);
    for (int x = 0; x < n; x++) {
        bool fits = map[x] == 0;
        if (power_of_two(x)) {
            top = log2_of(x);
            fits = learn(&g, top, map[x]);
        } else if (x > 0)
            fits = map[x] == (map[x - (1 << top)] ^ map[1 << top]);
        if (!fits)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "swizzle: the table is none: %d goes to %" PRId64
                            ", which no swizzle that agrees with the entries "
                            "before does",
                            x, map[x]);
    }
    *out = (axe_swizzle){g.bits, 0, 0, 0};
    if (g.bits > 0) {
        out->base = g.shift > 0 ? g.first - g.shift : g.first;
        out->shift = g.shift;
    }
    return AXE_OK;
}
