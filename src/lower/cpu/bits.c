/* bits.c - operations on bits of elements that registers hold widened. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/lower_int.h"

static axe_reg
number(axe_lowering *lw, axe_lblock *b, axe_reg like, int64_t v)
{
    axe_reg r =
        axe_emit_op(lw, b, AXE_LOP_iconst, like.type, like.lanes, 0, NULL);

    b->item[b->n - 1]->i = v;
    return r;
}

static axe_reg
op2(axe_lowering *lw, axe_lblock *b, axe_lop op, axe_reg x, axe_reg y)
{
    return axe_emit_op(lw, b, op, x.type, x.lanes, 2, (axe_reg[]){x, y});
}

/* The high half of a product of narrow numbers lies within the register, and
 * bits above the type do not count. */
bool
axe_lower_narrow_bits(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                      const axe_reg *src, axe_reg *out)
{
    int     bits = axe_type_table[n->type].bits;
    int     held = axe_type_table[src[0].type].bits;
    axe_reg r = src[0];
    axe_lop op = n->op == AXE_OP_clz ? AXE_LOP_clz : AXE_LOP_popcount;

    if (bits >= held || (n->op != AXE_OP_mulhi && n->op != AXE_OP_popcount &&
                         n->op != AXE_OP_clz))
        return false;
    if (n->op == AXE_OP_mulhi) {
        r = op2(lw, b, AXE_LOP_mul, r, src[1]);
        r = op2(lw, b, AXE_LOP_shr, r, number(lw, b, r, bits));
        r = axe_emit_op(lw, b, AXE_LOP_round, r.type, r.lanes, 1, &r);
        b->item[b->n - 1]->as = n->type;
        *out = r;
        return true;
    }
    r = op2(lw, b, AXE_LOP_and, r, number(lw, b, r, (INT64_C(1) << bits) - 1));
    r = axe_emit_op(lw, b, op, r.type, r.lanes, 1, &r);
    if (n->op == AXE_OP_clz)
        r = op2(lw, b, AXE_LOP_sub, r, number(lw, b, r, held - bits));
    *out = r;
    return true;
}

axe_reg
axe_lower_bitcast(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_reg x)
{
    axe_reg r = axe_emit_op(lw, b, AXE_LOP_bits, axe_compute_of(lw, n->type),
                            x.lanes, 1, &x);

    b->item[b->n - 1]->as = n->arg[0]->type;
    b->item[b->n - 1]->i = n->type;
    return r;
}
