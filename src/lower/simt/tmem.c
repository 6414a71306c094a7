/* tmem.c - tensor memory: columns for the CTA, moves to and from
 * registers, and what is waited for.
 *
 * A warp asks for columns when the CTA begins and gives them back when all have
 * come to the end.  What they are it leaves in shared memory, where every
 * thread reads it behind the barrier that mbarriers need, too.
 */
#include "plan/simt/tmem/tmem.h"

#include "lower/simt/node.h"

axe_arg
axe_simt_sums(const axe_tensor *tile, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_TMEM, .tensor = tile, .at = at};
}

/* ------------------------------------------------------------------ columns */

void
axe_simt_ask_columns(axe_simt_lowering *sl, axe_lblock *b, const axe_atom *row)
{
    const axe_simt_launch *l = sl->launch;

    sl->word = axe_simt_buffer(sl, "columns_at", AXE_TYPE_u32, 1, l->tmem_word,
                               (axe_swizzle){0});
    axe_arg arg[2] = {axe_simt_shared(sl->word, number(sl, 0)),
                      axe_simt_number(number(sl, l->tmem_columns))};
    axe_simt_atom(sl, b, row, 0, 2, arg, NULL);
}

axe_status
axe_simt_read_columns(axe_simt_lowering *sl, axe_lblock *b)
{
    const axe_machine *mc = sl->lw.plan->machine;
    const axe_atom    *a;
    int                param;

    a = axe_simt_find_move(sl->lw.cx, mc, AXE_ATOM_LOAD, AXE_ARG_REG,
                           AXE_ARG_SHARED, AXE_TYPE_u32, 1, &param);
    if (!a)
        return axe_fail(sl->lw.cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s has no row that reads a word of shared memory",
                        mc->name);
    sl->grid->tmem_columns = sl->launch->tmem_columns;
    sl->grid->tmem_base = axe_simt_array(sl, "columns", AXE_TYPE_u32, 1);
    axe_arg arg[2] = {axe_simt_reg(sl->grid->tmem_base, number(sl, 0)),
                      axe_simt_shared(sl->word, number(sl, 0))};
    axe_simt_atom(sl, b, a, param, 2, arg, NULL);
    return AXE_OK;
}

/* Is it the launch's, of whichever of its parts? */
static bool
is_launchs(const axe_simt_lowering *sl, const axe_thread_group *cta)
{
    const axe_simt_overlap *o = sl->launch->overlap;

    for (int i = 0; o && i < o->n; i++)
        if (sl->sp->launch[o->first + i].threads == cta)
            return true;
    return sl->launch->threads == cta;
}

/* The last part of a launch may have no sums of its own. */
void
axe_simt_free_columns(axe_simt_lowering *sl, axe_lblock *b, const axe_atom *row)
{
    const axe_tensor *first = NULL;

    for (int i = 0; i < sl->lw.plan->n_place; i++) {
        const axe_place *pl = &sl->lw.plan->place[i];
        if (pl->tensor && pl->tensor->space == AXE_SPACE_TMEM &&
            pl->offset == 0 &&
            is_launchs(sl, axe_threads_cta(sl->sp->owner[i])))
            first = axe_simt_tensor(sl, pl->tensor);
    }
    axe_arg arg[2] = {axe_simt_sums(first, number(sl, 0)),
                      axe_simt_number(number(sl, sl->launch->tmem_columns))};
    axe_simt_atom(sl, b, row, 0, 2, arg, NULL);
}

/* -------------------------------------------------------------------- waits */

void
axe_simt_await(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item)
{
    const axe_sync_point *m = item->sync_point;
    const axe_tensor     *bar = sl->done[m - sl->sp->sync_point];
    axe_lir              *l;
    const axe_node       *entity = axe_threads_copies(m->threads) > 1
                                       ? axe_threads_number(sl->lw.cx, m->threads)
                                       : number(sl, 0);
    axe_arg               arg[2] = {axe_simt_shared(bar, entity),
                                    axe_simt_number(axe_ivar(&sl->lw, m->phase))};

    if (item->row->sync == AXE_SYNC_COMMIT) {
        b = axe_simt_open_first(sl, b, item->threads, m->threads, NULL);
        axe_simt_atom(sl, b, item->row, 0, 1, arg, NULL);
        return;
    }
    axe_simt_atom(sl, b, item->row, 0, 2, arg, NULL);
    l = axe_emit(&sl->lw, b, AXE_LIR_ADVANCE);
    l->var = m->phase;
    l->step = 2;
}

/* -------------------------------------------------------------------- moves */

typedef struct moving {
    axe_simt_lowering   *sl;
    const axe_schedule  *s;
    const axe_simt_tmem *t;
} moving;

static const axe_node *
place_at(moving *x, const axe_node *iteration)
{
    const axe_reg_move     *m = &x->t->move;
    const axe_thread_group *threads = x->s->simt->threads;
    const axe_node         *at = x->s->operand[x->t->operand].base, *v;
    axe_iter                own[2];

    axe_threads_axes(x->sl->sp, threads, own);
    for (int i = 0; i < m->n_step; i++) {
        const axe_step *s = &m->step[i];
        v = s->of == AXE_COUNT_INVOCATION
                ? iteration
                : axe_simt_coordinate(x->sl, threads, own[0].axis);
        if (s->over > 1)
            v = op2(x->sl, AXE_OP_div, v, number(x->sl, s->over));
        v = op2(x->sl, AXE_OP_mod, v, number(x->sl, s->extent));
        at = axe_sum(&x->sl->lw, at,
                     op2(x->sl, AXE_OP_mul, v, number(x->sl, s->stride)));
    }
    return at;
}

/* The constant in as many registers as one invocation takes. */
static const axe_tensor *
fill_registers(moving *x, axe_lblock *b)
{
    axe_type          t = x->s->operand[0].tensor->type;
    const axe_tensor *array =
        axe_simt_array(x->sl, "filled", t, x->t->move.regs);
    const axe_node *r = axe_simt_unrolled(x->sl, &b, "r", x->t->move.regs);

    axe_simt_calc(x->sl, b, array, r, x->t->filled, NULL);
    return array;
}

static axe_status
move_all(moving *x, axe_lblock *b)
{
    const axe_reg_move *m = &x->t->move;
    axe_lblock         *in = b;
    const axe_tensor *array = x->t->array ? axe_simt_tensor(x->sl, x->t->array)
                                          : fill_registers(x, b);
    const axe_tensor *tile =
        axe_simt_tensor(x->sl, x->s->operand[x->t->operand].tensor);
    const axe_node *iteration =
        axe_simt_unrolled(x->sl, &in, "l", m->n_invocation);
    const axe_node *at =
        x->t->array ? op2(x->sl, AXE_OP_mul, iteration, number(x->sl, m->regs))
                    : number(x->sl, 0);
    axe_arg sums = axe_simt_sums(tile, place_at(x, iteration));
    axe_arg reg = axe_simt_reg(array, at);
    axe_arg arg[2] = {x->t->in ? reg : sums, x->t->in ? sums : reg};

    axe_simt_atom(x->sl, in, m->atom, m->param, 2, arg, NULL);
    if (!*m->atom->group)
        return AXE_OK;
    return axe_simt_order_group(x->sl, b, AXE_SYNC_DRAIN, m->atom->group,
                                AXE_ARG_NONE, 0, NULL);
}

axe_status
axe_simt_lower_tmem(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s,
                    axe_lblock **inside)
{
    moving          x = {sl, s, s->simt->tmem};
    const axe_node *when = s->simt->when;
    int64_t         v;
    axe_lir        *l;

    *inside = NULL;
    if (when && axe_is_iconst(when, &v) && v == 0)
        return AXE_OK;
    if (!x.t->able && !when)
        return axe_fail(sl->lw.cx, s->stmt->at, AXE_EUNSUPPORTED,
                        "%s cannot be set here: only whole warp groups write "
                        "tensor memory, and a contraction that overwrites it",
                        s->operand[0].tensor->name);
    if (!x.t->able) {
        axe_simt_need(sl,
                      (axe_need){op2(sl, AXE_OP_lt, when->arg[1], when->arg[0]),
                                 s->stmt->at, "nobody here sets tensor memory",
                                 NULL});
        return AXE_OK;
    }
    if (!when)
        return move_all(&x, b);
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = when;
    *inside = &l->body;
    return move_all(&x, &l->body);
}
