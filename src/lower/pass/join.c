/* join.c - iterations that are done at once.
 *
 * Registers are words of 32 bits, and elements may be shorter.  A written-out
 * loop over neighbours that only moves them, from arrays of the same type or
 * choices among such by conditions that are the same in all iterations, moves
 * whole words.  One that computes values of narrow floating types computes two
 * at a time, as machines round two floats into one register by one instruction.
 * Neither reads what it writes. */
#include "lower/pass/pass.h"

/* Is the index a multiple of n plus the loop's variable? */
static bool
is_aligned(axe_ctx *cx, const axe_node *at, const axe_var *v, int n)
{
    axe_affine a;

    if (!axe_affine_of(cx, at, &a) || a.constant % n != 0 ||
        axe_affine_coef(&a, v) != 1)
        return false;
    for (int i = 0; i < a.n; i++)
        if (a.var[i] != v && a.coef[i] % n != 0)
            return false;
    return true;
}

static int
per_word(axe_type t)
{
    int bits = axe_type_table[t].bits;

    return bits < AXE_WORD_BITS ? AXE_WORD_BITS / bits : 1;
}

/* Is the value an element of a register, the same way within its word? */
static bool
is_moved(axe_ctx *cx, const axe_node *n, axe_type t, const axe_var *v)
{
    if (n->op == AXE_OP_select)
        return !axe_mentions(n->arg[0], v) && is_moved(cx, n->arg[1], t, v) &&
               is_moved(cx, n->arg[2], t, v);
    return n->op == AXE_OP_load && n->n_arg == 1 &&
           n->u.tensor->space == AXE_SPACE_REG && n->u.tensor->type == t &&
           is_aligned(cx, n->arg[0], v, per_word(t));
}

static bool
is_rounded(axe_type t)
{
    return axe_type_is_float(t) && axe_type_table[t].bits < AXE_WORD_BITS;
}

/* Does each statement write elements n at a time, as `how` says, and read
 * nothing that the loop writes? */
static bool
joins(axe_ctx *cx, const axe_lir *loop, axe_join how, int n)
{
    int64_t begin, end;

    if (!axe_is_iconst(loop->begin, &begin) ||
        !axe_is_iconst(loop->end, &end) || begin % n != 0 || end % n != 0)
        return false;
    for (int i = 0; i < loop->body.n; i++) {
        const axe_lir *l = loop->body.item[i];
        if (l->kind != AXE_LIR_CALC || l->pred ||
            !is_aligned(cx, l->arg[0].at, loop->var, n))
            return false;
        axe_type t = l->arg[0].tensor->type;
        if (how == AXE_JOIN_MOVE
                ? per_word(t) != n || !is_moved(cx, l->value, t, loop->var)
                : !is_rounded(t))
            return false;
        for (int k = 0; k < loop->body.n; k++)
            if (axe_node_reads(l->value, loop->body.item[k]->arg[0].tensor))
                return false;
    }
    return true;
}

static void
join_loop(axe_ctx *cx, axe_lir *loop)
{
    const axe_lir *l = loop->body.n > 0 ? loop->body.item[0] : NULL;

    if (!loop->unroll || loop->step != 1 || !l || l->kind != AXE_LIR_CALC)
        return;
    int n = per_word(l->arg[0].tensor->type);
    if (n > 1 && joins(cx, loop, AXE_JOIN_MOVE, n)) {
        loop->join = AXE_JOIN_MOVE;
        loop->step = n;
    } else if (joins(cx, loop, AXE_JOIN_ROUND, 2)) {
        loop->join = AXE_JOIN_ROUND;
        loop->step = 2;
    }
}

void
axe_join_iterations(axe_ctx *cx, axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        if (b->item[i]->kind == AXE_LIR_LOOP)
            join_loop(cx, b->item[i]);
        axe_join_iterations(cx, &b->item[i]->body);
        axe_join_iterations(cx, &b->item[i]->other);
    }
}
