/* word.c - which register an operand begins with.
 *
 * Lowering counts elements.  Registers are words of 32 bits, and so are columns
 * of a lane of tensor memory; elements may be shorter, and an atom begins with
 * a whole word, or, where a thread moves less than one, with the 8 or 16 bits
 * that it moves.  Which of them that is is said here, and no later: an operand
 * that begins within one would be another than lowering means, which the
 * simulator reports. */
#include "lower/pass/word.h"

#include "machine/machine.h"

int
axe_per_word(axe_type t)
{
    int bits = axe_type_table[t].bits;

    return bits < AXE_WORD_BITS ? AXE_WORD_BITS / bits : 1;
}

/* Is every term of the sum a multiple of n? */
static bool
is_multiple(const axe_node *x, int64_t n)
{
    if (x->op == AXE_OP_iconst)
        return x->u.i % n == 0;
    if (x->op == AXE_OP_add)
        return is_multiple(x->arg[0], n) && is_multiple(x->arg[1], n);
    return x->op == AXE_OP_mul &&
           (is_multiple(x->arg[0], n) || is_multiple(x->arg[1], n));
}

/* What n times it is x, where is_multiple. */
static const axe_node *
divided(axe_ctx *cx, const axe_node *x, int64_t n)
{
    const axe_node *a = x->n_arg > 0 ? x->arg[0] : NULL;

    if (x->op == AXE_OP_iconst)
        return axe_iconst(cx, x->at, x->type, x->u.i / n);
    if (x->op == AXE_OP_add)
        return axe_node2(cx, AXE_OP_add, divided(cx, a, n),
                         divided(cx, x->arg[1], n));
    if (is_multiple(a, n))
        return axe_node2(cx, AXE_OP_mul, divided(cx, a, n), x->arg[1]);
    return axe_node2(cx, AXE_OP_mul, a, divided(cx, x->arg[1], n));
}

static const axe_node *
by(axe_ctx *cx, axe_op op, const axe_node *at, int64_t n)
{
    return axe_node2(cx, op, at, axe_index_const(cx, n));
}

const axe_node *
axe_word_at(axe_ctx *cx, axe_type t, const axe_node *at)
{
    int64_t n = axe_per_word(t);

    if (n == 1)
        return at;
    return is_multiple(at, n) ? divided(cx, at, n) : by(cx, AXE_OP_div, at, n);
}

/* Bits of an operand in registers that is less than a word, or 0. */
static int
part_bits(const axe_lir *l, int i)
{
    int bits = 8 * l->atom->align;

    return l->arg[i].space == AXE_ARG_REG && l->atom->by == AXE_SCOPE_THREAD &&
                   (l->atom->kind == AXE_ATOM_LOAD ||
                    l->atom->kind == AXE_ATOM_STORE) &&
                   bits < AXE_WORD_BITS
               ? bits
               : 0;
}

static void
number_operand(axe_ctx *cx, const axe_lir *l, int i, axe_arg *a)
{
    axe_type t = a->tensor->type;

    a->part = a->space == AXE_ARG_REG ? part_bits(l, i) : 0;
    a->per = a->part ? a->part / axe_type_table[t].bits : axe_per_word(t);
    if (a->per == 1)
        a->unit = a->at;
    else
        a->unit = a->part ? by(cx, AXE_OP_div, a->at, a->per)
                          : axe_word_at(cx, t, a->at);
    a->rest = axe_atom_names(l->atom, i, 'b')
                  ? by(cx, AXE_OP_mod, a->at, a->per)
                  : NULL;
}

void
axe_number_operands(axe_ctx *cx, axe_lir *l)
{
    for (int i = 0; i < l->n_arg; i++)
        if (l->arg[i].space == AXE_ARG_REG || l->arg[i].space == AXE_ARG_TMEM)
            number_operand(cx, l, i, &l->arg[i]);
}

void
axe_number_words(axe_ctx *cx, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        if (b->item[i]->kind == AXE_LIR_ATOM)
            axe_number_operands(cx, b->item[i]);
        axe_number_words(cx, &b->item[i]->body);
        axe_number_words(cx, &b->item[i]->other);
    }
}
