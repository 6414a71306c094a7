/* address.c - where an operand's element is at the open loops, and whether it
 * is inside of its tensor. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/lower_int.h"

const axe_node *
axe_address(axe_lowering *lw, const axe_operand *op)
{
    const axe_node *at = axe_with_reads(lw, op->base);

    for (const axe_open_digit *b = lw->bound; b; b = b->next)
        at = axe_moved(lw, at, op, &b->of, axe_digit_node(lw, b));
    return at;
}

const axe_node *
axe_check_node(axe_lowering *lw, const axe_check *c)
{
    const axe_node *at = axe_with_reads(lw, c->outer);

    for (int k = 0; k < c->index.n; k++)
        at = axe_sum(lw, at,
                     axe_scaled(lw, axe_index_so_far(lw, c->index.var[k]),
                                (axe_stride){c->index.coef[k], AXE_UNIT_ONE}));
    return axe_node2(lw->cx, AXE_OP_and,
                     axe_node2(lw->cx, AXE_OP_le, axe_int(lw, 0), at),
                     axe_node2(lw->cx, AXE_OP_lt, at, c->size));
}

bool
axe_check_is_boxed(const axe_lowering *lw, const axe_check *c)
{
    int64_t e;

    if (axe_is_computed_now(c->outer))
        return false;
    for (int i = 0; i < c->index.n; i++)
        if (!axe_is_iconst(axe_extent_of(lw->s, c->index.var[i]), &e))
            return false;
    return true;
}

bool
axe_check_holds(const axe_lowering *lw, const axe_check *c)
{
    return (lw->full && axe_check_is_boxed(lw, c)) ||
           (lw->sure && axe_affine_coef(&c->index, lw->sure) != 0);
}

const axe_node *
axe_inside(axe_lowering *lw, const axe_operand *op)
{
    const axe_node *all = NULL, *in;

    for (int i = 0; i < op->n_check; i++) {
        if (axe_check_holds(lw, &op->check[i]))
            continue;
        in = axe_check_node(lw, &op->check[i]);
        all = all ? axe_node2(lw->cx, AXE_OP_and, all, in) : in;
    }
    return all;
}
