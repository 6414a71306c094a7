/* word.c - words of registers that are moved, or chosen among: what lower/pass
 * joins as AXE_JOIN_MOVE. */
#include "print/spell/spell.h"

static axe_status
put_word(axe_speller *p, const axe_tensor *t, const axe_node *at)
{
    axe_putf(p->out, "%s[", axe_spell_tensor(p, t));
    AXE_TRY(axe_spell_expr(p, p->out, axe_word_at(p->cx, t->type, at),
                           AXE_SPELL_INDEX));
    axe_putc(p->out, ']');
    return AXE_OK;
}

static axe_status
put_choice(axe_speller *p, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        return put_word(p, n->u.tensor, n->arg[0]);
    axe_putc(p->out, '(');
    AXE_TRY(axe_spell_expr(p, p->out, n->arg[0], AXE_SPELL_INDEX));
    axe_puts(p->out, " ? ");
    AXE_TRY(put_choice(p, n->arg[1]));
    axe_puts(p->out, " : ");
    AXE_TRY(put_choice(p, n->arg[2]));
    axe_putc(p->out, ')');
    return AXE_OK;
}

axe_status
axe_spell_word(axe_speller *p, const axe_lir *l)
{
    AXE_TRY(put_word(p, l->arg[0].tensor, l->arg[0].at));
    axe_puts(p->out, " = ");
    AXE_TRY(put_choice(p, l->value));
    axe_puts(p->out, ";\n");
    return AXE_OK;
}
