/* map.c - moves, elementwise statements and reductions of many threads.
 *
 * Thread digits of the work are parts of who the thread is; `m` digits are
 * loops, `reg` digits are written out.  In the loops: operands in memory are
 * loaded into arrays, with as many elements as there are iterations; then
 * reductions are done; then every iteration's value is computed; then it is
 * stored.  Iterations that are `apart` are written out around all that. */
#include <string.h>

#include "lower/code/build.h"
#include "lower/simt/map.h"

static void
name_threads(axe_map_lowering *x, axe_lblock *b)
{
    const axe_work      *w = &x->simt->work;
    const axe_simt_plan *sp = x->sl->sp;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        axe_iter it = {d->of.extent, d->stride, d->axis, AXE_UNIT_ONE};
        if (d->axis != sp->reg && d->axis != AXE_AXIS_M)
            x->value[i] =
                axe_simt_let(x->sl, b, d->of.var->name,
                             axe_simt_digit(x->sl, x->simt->threads, it));
    }
}

/* ------------------------------------------------------------------ storing */

static axe_status
compute(axe_map_lowering *x, axe_lblock *b)
{
    const axe_node   *v = x->s->value;
    const axe_tensor *array = axe_map_result(x);
    axe_lblock       *in = axe_map_iterations(x, b, &x->s->nest[0]);

    v = axe_map_value(x, x->s->stmt->prefix ? v->arg[1] : v);
    axe_simt_calc(x->sl, in, array, axe_map_result_at(x), v, NULL);
    axe_map_forget_iterations(x, &x->s->nest[0]);
    return x->s->stmt->prefix ? axe_map_prefix(x, b) : AXE_OK;
}

/* What is loaded is stored as it is: the operand whose array has the iterations
 * of the destination's; or 0. */
static int
is_moved(const axe_map_lowering *x)
{
    const axe_node *v = x->s->value;
    int             k = v->op == AXE_OP_load ? axe_map_operand(x, v) : 0;

    if (k <= 0 || !x->array[k] ||
        x->array[k]->type != x->s->operand[0].tensor->type)
        return 0;
    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (axe_map_is_kept(x, 0, i) != axe_map_is_kept(x, k, i) ||
            (axe_map_is_kept(x, 0, i) &&
             axe_map_stride(x, 0, i) != axe_map_stride(x, k, i)))
            return 0;
    return k;
}

static axe_status
store(axe_map_lowering *x, axe_lblock *b)
{
    const axe_tensor *dst = x->s->operand[0].tensor;
    int               k = is_moved(x);

    if (dst->space != AXE_SPACE_REG && k > 0) {
        x->array[0] = x->array[k];
        axe_map_move(x, b, 0, true);
        return AXE_OK;
    }

    if (dst->space != AXE_SPACE_REG)
        x->out = axe_map_values(x, 0);
    AXE_TRY(compute(x, b));
    if (dst->space == AXE_SPACE_REG)
        return AXE_OK;
    x->array[0] = x->out;
    axe_map_move(x, b, 0, true);
    return AXE_OK;
}

/* ---------------------------------------------------------------- statement */

/* What follows is done part by part, with the same arrays. */
static axe_lblock *
open_parts(axe_map_lowering *x, axe_lblock *b)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].apart) {
            x->value[i] = axe_simt_unrolled(x->sl, &b, w->digit[i].of.var->name,
                                            w->digit[i].of.extent);
            b = axe_map_within(x, b, i);
        }
    x->in_part = true;
    return b;
}

/* What the loops of nest 0 leave. */
static axe_status
lower_turn(axe_map_lowering *x, axe_lblock *b)
{
    axe_map_load(x, b, 0);
    b = open_parts(x, b);
    axe_map_load(x, b, 0);
    for (int k = x->s->n_nest - 1; k >= 1; k--)
        AXE_TRY(axe_map_reduce(x, b, k));
    return store(x, b);
}

/* The same, apart where no edge is reached; reductions do so themselves. */
static axe_status
lower_turns(axe_map_lowering *x, axe_lblock *b)
{
    const axe_node *whole = x->s->n_nest == 1 ? axe_map_whole(x, 0) : NULL;
    axe_lir        *l;

    if (!whole)
        return lower_turn(x, b);
    l = axe_emit(&x->sl->lw, b, AXE_LIR_IF);
    l->value = whole;
    x->whole = true;
    AXE_TRY(lower_turn(x, &l->body));
    x->whole = x->in_part = false;
    memset(x->array, 0, (size_t)x->s->n_operand * sizeof *x->array);
    return lower_turn(x, &l->other);
}

axe_status
axe_simt_lower_map(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    axe_map_lowering x = {
        .sl = sl,
        .s = s,
        .simt = s->simt,
        .value =
            axe_new_array(sl->lw.cx, const axe_node *, s->simt->work.n_digit),
        .array = axe_new_array(sl->lw.cx, const axe_tensor *, s->n_operand),
        .same = axe_new_array(sl->lw.cx, int, s->n_operand),
        .sum = axe_new_array(sl->lw.cx, const axe_tensor *, s->n_nest),
    };

    sl->lw.s = s;
    for (int i = 0; i < s->n_operand; i++)
        x.same[i] = axe_simt_first_load(s, i);
    name_threads(&x, b);
    return lower_turns(&x, axe_map_loops(&x, b, 0));
}
