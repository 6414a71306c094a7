/* map_move.c - what a map reads from memory into arrays, and writes back: all
 * iterations of an operand, by vectors where they are. */
#include "lower/code/build.h"
#include "lower/simt/map.h"

static axe_arg
memory(axe_map_lowering *x, const axe_operand *op)
{
    const axe_tensor *t = axe_simt_tensor(x->sl, op->tensor);
    const axe_node   *at = axe_map_address(x, op);

    return op->tensor->space == AXE_SPACE_GLOBAL ? axe_simt_global(t, at)
                                                 : axe_simt_shared(t, at);
}

/* The row that moves so many elements; a destination that is read has its own.
 */
static const axe_atom *
row_of(const axe_map_lowering *x, int k, int width, bool store)
{
    const axe_simt_access *a = &x->simt->access[k];
    const axe_operand     *op = &x->s->operand[k];
    const axe_plan        *p = x->sl->lw.plan;
    int                    param;

    if (store || k > 0)
        return width > 1 ? a->atom : a->least;
    return axe_simt_find_move(x->sl->lw.cx, p->machine, AXE_ATOM_LOAD,
                              AXE_ARG_REG, axe_space_operand(op->tensor->space),
                              op->tensor->type, width, &param);
}

/* All iterations of one operand, `width` elements at a time. */
static void
move_iterations(axe_map_lowering *x, axe_lblock *b, int k, int width,
                bool store)
{
    const axe_operand *op = &x->s->operand[k];
    const axe_work    *w = &x->simt->work;
    const axe_node    *own =
        op->tensor == x->s->operand[0].tensor ? axe_map_owner(x) : NULL;

    for (int i = 0; i < w->n_digit; i++) {
        int64_t step = axe_map_is_along(x, k, i) ? width : 1;
        if (!axe_map_is_kept(x, k, i))
            continue;
        x->value[i] =
            axe_scaled(&x->sl->lw,
                       axe_simt_unrolled(x->sl, &b, w->digit[i].of.var->name,
                                         w->digit[i].of.extent / step),
                       (axe_stride){step, AXE_UNIT_ONE});
    }
    axe_arg reg = axe_simt_reg(x->array[k], axe_map_at(x, k));
    axe_arg there = memory(x, op);
    if (store && x->simt->share > 1) {
        there.space = AXE_ARG_DSMEM;
        there.cta = axe_simt_unrolled(x->sl, &b, "cta", x->simt->share);
    }
    axe_arg arg[2] = {store ? there : reg, store ? reg : there};
    axe_simt_atom(x->sl, b, row_of(x, k, width, store), width, 2, arg,
                  axe_simt_both(x->sl, axe_map_inside(x, op), own));
    for (int i = 0; i < w->n_digit; i++)
        if (axe_map_is_kept(x, k, i))
            x->value[i] = NULL;
}

void
axe_map_move(axe_map_lowering *x, axe_lblock *b, int k, bool store)
{
    const axe_simt_access *a = &x->simt->access[k];
    axe_lir               *l;

    if (!a->wide) {
        move_iterations(x, b, k, a->width, store);
        return;
    }
    if (x->sl->never && axe_node_same(x->sl->never, a->wide)) {
        move_iterations(x, b, k, 1, store);
        return;
    }
    l = axe_emit(&x->sl->lw, b, AXE_LIR_IF);
    l->value = a->wide;
    move_iterations(x, &l->body, k, a->width, store);
    move_iterations(x, &l->other, k, 1, store);
}

/* An array for an operand's elements, as many as there are iterations. */
const axe_tensor *
axe_map_values(axe_map_lowering *x, int op)
{
    const axe_tensor *t = x->s->operand[op].tensor;

    return axe_simt_array(x->sl, axe_textf(x->sl->lw.cx, "%s_v", t->name),
                          t->type, axe_map_size(x, op));
}

static bool
is_in_parts(const axe_map_lowering *x, const axe_operand *op)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].apart && axe_operand_depends(op, w->digit[i].of.var))
            return true;
    return false;
}

/* Is operand i read, here? */
static bool
is_loaded_here(const axe_map_lowering *x, int i, int nest)
{
    const axe_operand *op = &x->s->operand[i];
    const axe_node    *to = x->s->operand[0].load;
    bool               wanted = axe_node_holds(x->s->value, op->load);
    bool               far = op->tensor->space != AXE_SPACE_REG;

    for (int d = 0; d < to->n_arg; d++)
        wanted = wanted || axe_node_holds(to->arg[d], op->load);
    return (far || x->simt->access[i].shuffle) && wanted && x->same[i] == i &&
           axe_simt_nest_of(x->s, i) == nest && !x->array[i] &&
           (x->in_part || !is_in_parts(x, op));
}

/* What the operand's address reads comes first. */
static void
load(axe_map_lowering *x, axe_lblock *b, int i, int nest)
{
    const axe_node *at = x->s->operand[i].load;

    if (!is_loaded_here(x, i, nest))
        return;
    for (int k = 0; k < x->s->n_operand; k++)
        for (int d = 0; d < at->n_arg; d++)
            if (axe_node_holds(at->arg[d], x->s->operand[k].load))
                load(x, b, x->same[k], nest);
    x->array[i] = axe_map_values(x, i);
    if (x->s->operand[i].tensor->space != AXE_SPACE_REG)
        axe_map_move(x, b, i, false);
    else
        axe_map_shuffle(x, b, i);
}

void
axe_map_load(axe_map_lowering *x, axe_lblock *b, int nest)
{
    for (int i = x->s->n_operand - 1; i >= 0; i--)
        load(x, b, i, nest);
}

/* --------------------------------------------------------------- iterations */

/* What an iteration of digit i does, of an index that stops at a limit: nothing
 * if all threads are beyond, which iterations tell where no slower digit is of
 * threads.
 */
axe_lblock *
axe_map_within(axe_map_lowering *x, axe_lblock *b, int i)
{
    const axe_work_digit *d = x->simt->work.digit;
    const axe_node       *first = axe_int(&x->sl->lw, 0);
    axe_lir              *l;

    if (!d[i].of.var->limit)
        return b;
    for (int k = 0; k <= i; k++) {
        if (d[k].of.var != d[i].of.var)
            continue;
        if (d[k].axis != x->sl->sp->reg)
            return b;
        first = axe_sum(&x->sl->lw, first,
                        axe_scaled(&x->sl->lw, x->value[k],
                                   (axe_stride){d[k].of.weight, AXE_UNIT_ONE}));
    }
    l = axe_emit(&x->sl->lw, b, AXE_LIR_IF);
    l->value = axe_node2(x->sl->lw.cx, AXE_OP_lt, first, d[i].of.var->limit);
    return &l->body;
}

axe_lblock *
axe_map_iterations(axe_map_lowering *x, axe_lblock *b, const axe_nest *nest)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (axe_map_is_iteration(x, &w->digit[i]) &&
            axe_nest_has(nest, w->digit[i].of.var)) {
            x->value[i] = axe_simt_unrolled(x->sl, &b, w->digit[i].of.var->name,
                                            w->digit[i].of.extent);
            b = axe_map_within(x, b, i);
        }
    return b;
}

void
axe_map_forget_iterations(axe_map_lowering *x, const axe_nest *nest)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (axe_map_is_iteration(x, &w->digit[i]) &&
            axe_nest_has(nest, w->digit[i].of.var))
            x->value[i] = NULL;
}
