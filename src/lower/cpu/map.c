/* map.c - element-wise statements and reductions: loops around one store. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/lower_int.h"

axe_status
axe_store_value(axe_lowering *lw, void *user)
{
    const axe_operand *dst = &lw->s->operand[0];
    const axe_node    *v = lw->s->value;
    axe_lblock        *b;
    axe_reg            r;
    int                want = lw->lanes;

    (void)user;
    AXE_TRY(axe_take_reads(lw, dst));
    axe_mem mem = axe_mem_of(lw, dst, axe_address(lw, dst));
    while (v->op == AXE_OP_cast && v->type == mem.type && !lw->s->raw &&
           axe_compute_of(lw, v->type) == axe_compute_of(lw, v->arg[0]->type))
        v = v->arg[0];
    AXE_TRY(axe_lower_value(lw, v, &r));
    b = lw->level[lw->top].block;
    if (r.type != axe_held_as(lw, mem.type))
        r = axe_emit_op(lw, b, AXE_LOP_convert, axe_held_as(lw, mem.type),
                        r.lanes, 1, &r);
    if (r.lanes != want)
        r = axe_emit_op(lw, b, AXE_LOP_splat, r.type, want, 1, &r);
    const axe_node *inside = axe_inside(lw, dst);
    if (inside) {
        axe_lir *in = axe_emit(lw, b, AXE_LIR_IF);
        in->value = inside;
        b = &in->body;
    }
    r = axe_as_kept(lw, b, dst, r);
    axe_emit_store(lw, b, dst, r, mem);
    return AXE_OK;
}

const axe_node *
axe_over_caches(axe_lowering *lw, axe_lblock *b)
{
    const axe_tensor *t = lw->s->operand[0].tensor;
    const axe_node   *n = axe_int(lw, axe_type_table[t->type].bits / 8);
    axe_lir          *l;

    if (!lw->s->core->stream)
        return NULL;
    if (lw->s->core->always)
        return axe_int(lw, 1);
    for (int i = 0; i < t->rank; i++)
        n = axe_node2(lw->cx, AXE_OP_mul, t->shape[i], n);
    l = axe_emit(lw, b, AXE_LIR_LET);
    l->var = axe_loop_var(lw, "large");
    l->value = axe_node2(lw->cx, AXE_OP_lt,
                         axe_int(lw, lw->plan->machine->stream_bytes), n);
    return axe_ivar(lw, l->var);
}

axe_status
axe_lower_map(axe_lowering *lw, axe_lblock *b)
{
    lw->stream = axe_over_caches(lw, b);
    lw->level[0] = (axe_open_level){.block = b};
    lw->top = 0;
    return axe_nest_open(lw, &lw->s->nest[0], axe_store_value, NULL);
}
