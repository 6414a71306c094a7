/* word.c - elements shorter than a word that one loop moves, word by word.
 *
 * A loop over neighbours whose values are elements of arrays of the same type,
 * or choices among such by conditions that do not turn with it, moves whole
 * words. */
#include "print/cuda/cuda_int.h"

/* Is the index a multiple of n plus the loop's variable? */
static bool
is_aligned(cuda_printer *p, const axe_node *at, const axe_var *v, int n)
{
    axe_affine a;

    if (!axe_affine_of(p->cx, at, &a) || a.constant % n != 0 ||
        axe_affine_coef(&a, v) != 1)
        return false;
    for (int i = 0; i < a.n; i++)
        if (a.var[i] != v && a.coef[i] % n != 0)
            return false;
    return true;
}

static bool
moves(cuda_printer *p, const axe_node *n, axe_type t, const axe_var *v)
{
    if (n->op == AXE_OP_select)
        return !axe_mentions(n->arg[0], v) && moves(p, n->arg[1], t, v) &&
               moves(p, n->arg[2], t, v);
    return n->op == AXE_OP_load && n->n_arg == 1 &&
           n->u.tensor->space == AXE_SPACE_REG && n->u.tensor->type == t &&
           is_aligned(p, n->arg[0], v, axe_cuda_per_word(t));
}

int
axe_cuda_words(cuda_printer *p, const axe_lir *loop)
{
    int64_t begin, end;
    int     by = 0;

    if (!loop->unroll || loop->step != 1 || loop->body.n == 0 ||
        !axe_is_iconst(loop->begin, &begin) || !axe_is_iconst(loop->end, &end))
        return 1;
    for (int i = 0; i < loop->body.n; i++) {
        const axe_lir    *l = loop->body.item[i];
        const axe_tensor *d = l->kind == AXE_LIR_CALC ? l->arg[0].tensor : NULL;
        int               n = d ? axe_cuda_per_word(d->type) : 1;
        if (n == 1 || l->pred || (by > 0 && n != by) || begin % n != 0 ||
            end % n != 0 || !is_aligned(p, l->arg[0].at, loop->var, n) ||
            !moves(p, l->value, d->type, loop->var))
            return 1;
        for (int k = 0; k < loop->body.n; k++)
            if (axe_node_reads(l->value, loop->body.item[k]->arg[0].tensor))
                return 1;
        by = n;
    }
    return by;
}

static axe_status
put_word(cuda_printer *p, const axe_tensor *t, const axe_node *at)
{
    axe_putf(p->out, "%s[", axe_cuda_tensor(p, t));
    AXE_TRY(axe_cuda_word(p, p->out, t->type, at, true));
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
