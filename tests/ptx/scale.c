/* scale.c - scales of products: how they come to tensor memory, and where a
 * product looks for them.
 *
 * The scale of row r is in lane r % 32, word r / 32 from the address on, and
 * again in each of the four groups of 32 lanes.  A word has a byte for each
 * block along k; which of them one product begins with is in its instruction
 * descriptor. */
#include "mma.h"

enum { GROUPS = 4, GROUP_LANES = 32, WORD_BYTES = 4 };

bool
ptx_scales_of(const ptx_insn *i, uint64_t bits, int k, ptx_scales *out)
{
    bool power = bits >> 23 & 1;
    int  n =
        ptx_has(i, W_VEC1) + 2 * ptx_has(i, W_VEC2) + 4 * ptx_has(i, W_VEC4);

    if (ptx_has(i, W_KIND_MX8) ? n != 1 || !power
        : ptx_has(i, W_KIND_MX4)
            ? n != 2 || !power
            : !ptx_has(i, W_KIND_NV4) || (n != 4 && (n != 2 || !power)))
        return false;
    *out = (ptx_scales){.type = ptx_type_of(power ? "ue8m0" : "e4m3"),
                        .block = k / n,
                        .byte = {(int)(bits >> 29 & 3), (int)(bits >> 4 & 3)}};
    return out->byte[0] % n == 0 && out->byte[1] % n == 0;
}

/* The word of row r, which all groups of lanes must have. */
static ptx_result
word_of(ptx_job *j, ptx_cta *c, uint32_t at, int r, uint32_t *out)
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t *p = ptx_word_at(
            j->warp, j->insn, c,
            (at >> 16) + g * GROUP_LANES + (uint32_t)(r % GROUP_LANES),
            (at & 0xffff) + (uint32_t)(r / GROUP_LANES), A_READ);
        if (!p)
            return PTX_WRONG;
        if (g > 0 && *p != *out)
            return ptx_wrong(j->warp, j->insn,
                             "the scales of row %d differ between lanes", r);
        *out = *p;
    }
    return PTX_DONE;
}

ptx_result
ptx_scale(ptx_job *j, ptx_cta *c, const ptx_scales *s, int side, int rows,
          int k, double *x)
{
    uint32_t word = 0;

    for (int r = 0; r < rows; r++) {
        if (word_of(j, c, (uint32_t)j->a[5 + side], r, &word) != PTX_DONE)
            return PTX_WRONG;
        for (int e = 0; e < k; e++) {
            uint32_t bits = word >> 8 * (s->byte[side] + e / s->block) & 0xff;
            if (s->type->kind == 'e' && bits >> 7)
                return ptx_wrong(j->warp, j->insn,
                                 "the scale of row %d has a sign, which the "
                                 "unsigned e4m3 of scales has not",
                                 r);
            x[r * k + e] *= ptx_number(s->type, bits);
        }
    }
    return PTX_DONE;
}

/* a: address, descriptor.  Each CTA of a pair copies its own. */
static ptx_result
copy_now(ptx_job *j)
{
    const ptx_type *word = ptx_type_of("u32");
    ptx_desc        d = ptx_describe(j->a[1], true);
    uint32_t        at = (uint32_t)j->a[0];
    int             ctas = ptx_has(j->insn, W_TWO) ? 2 : 1;
    int             rank = j->warp->cta->rank / ctas * ctas;
    double          x[GROUP_LANES * WORD_BYTES];

    if (d.version != 1)
        return ptx_wrong(j->warp, j->insn, "a descriptor of another version");
    for (int h = 0; h < ctas; h++) {
        ptx_cta *c = &j->warp->cta->cluster->cta[rank + h];
        if (ptx_fetch(j->warp, j->insn, rank + h, &d, false, word, 0,
                      GROUP_LANES, WORD_BYTES, x) != PTX_DONE)
            return PTX_WRONG;
        for (uint32_t e = 0; e < GROUPS * GROUP_LANES * WORD_BYTES; e++) {
            uint32_t  lane = e / WORD_BYTES;
            uint32_t *p = ptx_word_at(j->warp, j->insn, c, (at >> 16) + lane,
                                      (at & 0xffff) + e % WORD_BYTES, A_WRITE);
            if (!p)
                return PTX_WRONG;
            *p = (uint32_t)x[lane % GROUP_LANES * WORD_BYTES + e % WORD_BYTES];
        }
    }
    return PTX_DONE;
}

static ptx_result
fill_copy(ptx_job *j, int l)
{
    j->a[0] = ptx_address(j->warp, &j->insn->arg[0], l);
    j->a[1] = ptx_get(j->warp, j->insn->arg[1].op, l);
    return PTX_DONE;
}

ptx_result
ptx_tc_copy(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    if (i->n_arg != 2 || !ptx_has(i, W_L32X128) || !ptx_has(i, W_WARPX4) ||
        (ptx_has(i, W_TWO) && w->cta->cluster->n_cta % 2 != 0))
        return ptx_wrong(w, i, "this form is not known");
    return ptx_issue_each(w, i, lanes, J_TC, copy_now, fill_copy);
}
