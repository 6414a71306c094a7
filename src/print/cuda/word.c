/* word.c - words of registers that are moved, or chosen among: what lower/pass
 * joins as AXE_JOIN_MOVE. */
#include "print/cuda/cuda_int.h"

static axe_status
put_word(cuda_printer *p, const axe_tensor *t, const axe_node *at)
{
    axe_putf(p->out, "%s[", axe_cuda_tensor(p, t));
    AXE_TRY(
        axe_cuda_expr(p, p->out, axe_word_at(p->cx, t->type, at), CUDA_INDEX));
    axe_putc(p->out, ']');
    return AXE_OK;
}

static axe_status
put_choice(cuda_printer *p, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        return put_word(p, n->u.tensor, n->arg[0]);
    axe_putc(p->out, '(');
    AXE_TRY(axe_cuda_expr(p, p->out, n->arg[0], CUDA_INDEX));
    axe_puts(p->out, " ? ");
    AXE_TRY(put_choice(p, n->arg[1]));
    axe_puts(p->out, " : ");
    AXE_TRY(put_choice(p, n->arg[2]));
    axe_putc(p->out, ')');
    return AXE_OK;
}

axe_status
axe_cuda_put_word(cuda_printer *p, const axe_lir *l)
{
    AXE_TRY(put_word(p, l->arg[0].tensor, l->arg[0].at));
    axe_puts(p->out, " = ");
    AXE_TRY(put_choice(p, l->value));
    axe_puts(p->out, ";\n");
    return AXE_OK;
}
