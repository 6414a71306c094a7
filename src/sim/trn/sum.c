/* sum.c - sums in PSUM.
 *
 * A word is fresh, part of an open sum, or set by something else.  nc_matmul
 * without `accumulate` begins a sum, or adds where all of its result is open;
 * with 0 it begins one; with 1 it adds, which onto what no product began is not
 * defined.  Reading a sum ends it.  Kept by quadrants of partitions, at whose
 * begin every instruction's partitions begin. */
#include <string.h>

#include "sim/trn/trn_int.h"

enum { FRESH, OPEN, ENDED, SET };

/* Which states the words of a place have, as bits; each becomes `to`, unless
 * that is below 0 or, for ENDED, it is not OPEN. */
static unsigned
visit(trn_run *r, const trn_place *p, int to)
{
    unsigned found = 0;
    int64_t  words = trn_words(AXE_TRN_PSUM), by = trn_by_words(p);

    for (int64_t q = p->part / AXE_TRN_QUADRANT;
         q <= (p->part + p->n_part - 1) / AXE_TRN_QUADRANT; q++)
        for (int64_t i = 0; i < p->n; i += by) {
            uint8_t *s =
                &r->sum[q * words +
                        (p->first + trn_step(p, i) * p->width) / TRN_WORD];
            found |= 1U << *s;
            if (to >= 0 && (to != ENDED || *s == OPEN))
                *s = (uint8_t)to;
        }
    return found;
}

static axe_status
matmul(trn_run *r, trn_instr *in)
{
    const trn_place *how = trn_arg(in, "accumulate");
    unsigned         found = visit(r, &in->p[0], OPEN);
    bool             open = found == 1U << OPEN;
    bool             ended = (found & ~(1U << OPEN | 1U << ENDED)) == 0;

    in->overwrite = how ? how->number == 0 : !open;
    if (how && how->number != 0 && !ended)
        return axe_fail(r->cx, in->step->at, AXE_ESHAPE,
                        found >> SET & 1
                            ? "it adds to what is not a product's result, "
                              "which is not defined"
                            : "it adds to a sum that no product began");
    if (!how && (found & 1U << OPEN) && !open)
        return axe_fail(r->cx, in->step->at, AXE_ESHAPE,
                        "a part of its result is an open sum, the rest is not");
    return AXE_OK;
}

axe_status
trn_sums(trn_run *r, trn_instr *in)
{
    for (int i = 0; i < in->n; i++)
        if (in->p[i].kind == AXE_TRACE_TILE &&
            in->p[i].memory == AXE_TRN_PSUM && in->arg[i].kind != AXE_TRN_OUT)
            visit(r, &in->p[i], ENDED);
    if (in->step->op == AXE_TRN_OP_nc_matmul)
        return matmul(r, in);
    for (int i = 0; i < in->n; i++)
        if (in->p[i].kind == AXE_TRACE_TILE &&
            in->p[i].memory == AXE_TRN_PSUM && in->arg[i].kind == AXE_TRN_OUT)
            visit(r, &in->p[i], SET);
    return AXE_OK;
}
