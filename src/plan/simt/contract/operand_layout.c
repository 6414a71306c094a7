/* operand_layout.c - layouts for shared tiles of contractions.
 *
 * One dimension is fast, that along which the tile is filled.  It is cut into
 * rows of 128, 64 or 32 bytes, each with the swizzle of that width, so that 16
 * bytes of 8 neighbouring rows lie in different banks, while neighbours of a
 * row still come in vectors of 16 bytes or in boxes of a tensor map:
 *
 *     swizzle(W) o (rows, (panels, W)) : (W, (rows * W, 1))
 *
 * Then rows with 16 bytes of padding, and blocks of 8 rows of 16 bytes.  Where
 * shared memory is a core's cache, it has no banks, and rows lie as they are.
 */
#include "plan/simt/contract/operand_path.h"

enum { CHUNK_BYTES = AXE_DESC_UNIT };

/* The fast dimension in panels of `row` elements, rows `step` apart. */
static bool
panels(axe_planner *p, const axe_tensor *t, int fast, int64_t row, int64_t step,
       const axe_layout **out)
{
    axe_iter *it = axe_new_array(p->cx, axe_iter, t->rank + 1);
    int      *end = axe_new_array(p->cx, int, t->rank);
    int64_t   at = step, e;
    int       n = 0;
    int64_t  *stride = axe_new_array(p->cx, int64_t, t->rank);

    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = at;
        if (!axe_is_iconst(t->shape[d], &e) ||
            (d != fast && !axe_mul(at, e, &at)))
            return false;
    }
    for (int d = 0; d < t->rank; d++) {
        (void)axe_is_iconst(t->shape[d], &e);
        if (d == fast)
            it[n++] = (axe_iter){e / row, at, AXE_AXIS_M, AXE_UNIT_ONE};
        it[n++] = (axe_iter){d == fast ? row : e, d == fast ? 1 : stride[d],
                             AXE_AXIS_M, AXE_UNIT_ONE};
        end[d] = n;
    }
    axe_layout spec = {
        .n_shard = n, .shard = it, .n_dim = t->rank, .dim_end = end};
    return axe_layout_make(p->cx, &spec, out) == AXE_OK;
}

int
axe_shared_layouts(axe_planner *p, const axe_tensor *t, int fast,
                   const axe_layout *out[AXE_MAX_SHARED])
{
    static const int width[] = {128, 64, 32};
    int64_t          bits = axe_type_table[t->type].bits, e, row;
    int              n = 0;
    axe_swizzle      s;

    if (!axe_is_iconst(t->shape[fast], &e))
        return 0;
    if (p->mc->simt->on_core)
        return panels(p, t, fast, e, e, &out[0]);
    for (int i = 0; i < AXE_LEN(width); i++) {
        row = width[i] * 8 / bits;
        if (e % row == 0 && panels(p, t, fast, row, row, &out[n]) &&
            axe_swizzle_of_bytes(p->cx, width[i], &s) == AXE_OK &&
            axe_layout_swizzled(p->cx, out[n], s, &out[n]) == AXE_OK)
            n++;
    }
    row = CHUNK_BYTES * 8 / bits;
    if (panels(p, t, fast, e, e + row, &out[n]))
        n++;
    if (e % row == 0 && panels(p, t, fast, row, row, &out[n]))
        n++;
    return n;
}
