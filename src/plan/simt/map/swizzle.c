/* swizzle.c - swizzles of shared tiles, as the machine has them.
 *
 * A layout's swizzle counts elements, or steps of its own unit; addresses are
 * bytes.  What moves is a piece of 2^base steps: an access is one piece at
 * most, and a piece must be whole elements and whole bytes. */
#include <inttypes.h>
#include <stdlib.h>

#include "plan/plan_int.h"
#include "plan/simt/map/map.h"

enum { ADDRESS_BITS = 31 };

/* [bits] of one step. */
static int64_t
unit_of(const axe_place *pl)
{
    int unit = pl->layout->swizzle.unit_bits;

    return unit ? unit : axe_type_table[pl->type].bits;
}

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

axe_swizzle
axe_simt_swizzle(const axe_place *pl)
{
    axe_swizzle s = pl->layout->swizzle;

    if (s.bits > 0 && s.unit_bits != 8)
        s = (axe_swizzle){s.bits, s.base + log2_of(unit_of(pl)) - 3, s.shift,
                          8};
    return s;
}

int64_t
axe_simt_swizzled_end(const axe_place *pl, int64_t bytes)
{
    axe_swizzle s = axe_simt_swizzle(pl);
    int64_t     block = INT64_C(1)
                    << (s.base + (s.shift < 0 ? -s.shift : 0) + s.bits);

    if (s.bits == 0 || bytes <= INT64_C(1)
                                    << (s.base + (s.shift > 0 ? s.shift : 0)))
        return bytes;
    return (bytes + block - 1) / block * block;
}

int64_t
axe_simt_align(const axe_place *pl)
{
    axe_swizzle s = axe_simt_swizzle(pl);
    int64_t     n = 128;

    if (s.bits > 0 && s.base + abs(s.shift) + s.bits > 7)
        n = INT64_C(1) << (s.base + abs(s.shift) + s.bits);
    return n < 1024 && s.bits > 0 ? 1024 : n;
}

int64_t
axe_simt_kept(const axe_planner *p, const axe_tensor *t)
{
    const axe_place *pl = &p->place[t->id];

    if (t->space == AXE_SPACE_GLOBAL || pl->layout->swizzle.bits == 0)
        return INT64_MAX;
    return axe_swizzle_kept(axe_simt_swizzle(pl)) * 8 /
           axe_type_table[pl->type].bits;
}

axe_status
axe_simt_check_swizzle(axe_planner *p, const axe_place *pl)
{
    const axe_swizzle *s = &pl->layout->swizzle;
    int64_t            bits = axe_type_table[pl->type].bits, piece;

    if (s->bits == 0)
        return AXE_OK;
    if (log2_of(unit_of(pl)) - 3 + s->base + abs(s->shift) + s->bits >
        ADDRESS_BITS)
        return axe_fail(p->cx, pl->tensor->at, AXE_EUNSUPPORTED,
                        "the swizzle of tile %s moves bits of addresses that "
                        "no shared memory has",
                        pl->tensor->name);
    piece = unit_of(pl) << s->base;
    if (piece >= bits && piece >= 8)
        return AXE_OK;
    return axe_fail(p->cx, pl->tensor->at, AXE_EUNSUPPORTED,
                    "the swizzle of tile %s moves pieces of %" PRId64
                    " bits: %s would be cut",
                    pl->tensor->name, piece,
                    piece < bits ? axe_textf(p->cx, "its elements, %s,",
                                             axe_type_table[pl->type].name)
                                 : "bytes");
}
