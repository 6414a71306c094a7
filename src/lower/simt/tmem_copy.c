/* tmem_copy.c - copies from shared to tensor memory, one thread's. */
#include "plan/simt/tmem/copy.h"

#include "lower/code/build.h"
#include "lower/simt/simt_int.h"

axe_status
axe_simt_lower_tcopy(axe_simt_lowering *sl, axe_lblock *b,
                     const axe_schedule *s)
{
    const axe_simt_tcopy *c = s->simt->tcopy;
    const axe_tensor     *tile = axe_simt_tensor(sl, s->operand[0].tensor);
    const axe_tensor     *mem = axe_simt_tensor(sl, s->operand[1].tensor);

    b = axe_simt_open_issuer(sl, b, s->simt->threads);
    for (int i = 0; i < c->n; i++) {
        axe_arg arg[2] = {
            axe_simt_sums(tile, axe_int(&sl->lw, c->to[i])),
            axe_simt_shared(mem, axe_sum(&sl->lw, s->operand[1].base,
                                         axe_int(&sl->lw, c->from[i]))),
        };
        arg[1].desc = c->desc;
        axe_simt_atom(sl, b, c->atom, c->param, 2, arg, NULL);
    }
    return AXE_OK;
}
