/* nibbles.c - elements of 4 bits, which go two in a byte.
 *
 * No register of a lane and no place in memory is less than a byte that an
 * instruction reaches; so a move of such elements is one of bytes, where both
 * layouts keep the same two elements in one.  Which two is a digit of the
 * index: of extent 2, with a step of 1 in registers or memory, before which and
 * behind which all else is even there. */
#include <inttypes.h>

#include "move/mover.h"

/* One side: its normal form, what counts its elements, and how far apart in the
 * index the two of a byte are. */
typedef struct side {
    axe_ctx          *cx;
    const char       *name;
    const axe_layout *l;
    axe_axis          store;
    int               digit;
    int64_t           apart;
} side;

static axe_status
refuse(const side *s, const char *why)
{
    axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "move: elements of 4 bits go two in a byte, and %s %s", s->name,
             why);
    axe_help(s->cx, "move them as elements of 8 bits, one in a byte, or choose "
                    "layouts that keep the same two together");
    return AXE_EUNSUPPORTED;
}

/* Registers, if the layout is over them, else memory. */
static axe_axis
store_of(const axe_ctx *cx, const axe_layout *l)
{
    for (int i = 0; i < l->n_shard; i++)
        if (axe_axis_kind_of(cx, l->shard[i].axis) == AXE_KIND_REG)
            return l->shard[i].axis;
    for (int i = 0; i < l->n_replica; i++)
        if (axe_axis_kind_of(cx, l->replica[i].axis) == AXE_KIND_REG)
            return l->replica[i].axis;
    return AXE_AXIS_M;
}

static axe_status
find_digit(side *s)
{
    int64_t apart = 1;

    for (int i = s->l->n_shard - 1; i >= 0; i--) {
        axe_iter it = s->l->shard[i];

        if (it.axis == s->store && it.unit == AXE_UNIT_ONE && it.stride == 1 &&
            it.extent % 2 == 0) {
            s->digit = i;
            s->apart = apart;
            return AXE_OK;
        }
        apart *= it.extent;
    }
    return refuse(s, "has no two side by side for all of the index");
}

/* Half of a step on the axis; false: it is odd. */
static bool
halve(const side *s, axe_axis axis, int64_t *step)
{
    if (axis != s->store)
        return true;
    if (*step % 2 != 0)
        return false;
    *step /= 2;
    return true;
}

static bool
halve_swizzle(const side *s, axe_swizzle *out)
{
    *out = s->l->swizzle;
    if (out->bits == 0)
        return true;
    if (out->unit_bits > 0)
        return axe_swizzle_recast(s->cx, *out, 8, out) == AXE_OK;
    return --out->base >= 0;
}

/* The layout of the bytes. */
static axe_status
bytes_of(const side *s, const axe_layout **out)
{
    const axe_layout *l = s->l;
    axe_iter   *it = axe_new_array(s->cx, axe_iter, l->n_shard + l->n_replica);
    axe_offset *off = axe_new_array(s->cx, axe_offset, l->n_offset);
    axe_layout  spec = *l;
    bool        even = true;

    spec.shard = it;
    spec.replica = it + l->n_shard;
    spec.offset = off;
    for (int i = 0; i < l->n_shard + l->n_replica; i++) {
        it[i] = i < l->n_shard ? l->shard[i] : l->replica[i - l->n_shard];
        if (i == s->digit)
            it[i].extent /= 2;
        else
            even = even && halve(s, it[i].axis, &it[i].stride);
    }
    for (int i = 0; i < l->n_offset; i++) {
        off[i] = l->offset[i];
        even = even && halve(s, off[i].axis, &off[i].value);
    }
    if (!even || !halve_swizzle(s, &spec.swizzle))
        return refuse(s, "has some of them begin in the middle of a byte");
    return axe_layout_make(s->cx, &spec, out);
}

axe_status
axe_move_bytes_of(axe_ctx *cx, const axe_layout **src, const axe_layout **dst)
{
    side s[2] = {{.cx = cx, .name = "SRC"}, {.cx = cx, .name = "DST"}};

    for (int i = 0; i < 2; i++) {
        AXE_TRY(axe_layout_canon(cx, axe_layout_flat(cx, i ? *dst : *src),
                                 &s[i].l));
        s[i].store = store_of(cx, s[i].l);
        AXE_TRY(find_digit(&s[i]));
    }
    if (s[0].apart != s[1].apart)
        return refuse(&s[1],
                      axe_textf(cx,
                                "has elements 0 and %" PRId64 " in one, SRC 0 "
                                "and %" PRId64,
                                s[1].apart, s[0].apart));
    AXE_TRY(bytes_of(&s[0], src));
    return bytes_of(&s[1], dst);
}
