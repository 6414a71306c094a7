/* tile_step.c - one step of the sum of a register tile: where its factors come
 * from, their loads, the multiply-adds, and what is asked for ahead. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/tile.h"

/* Element or vector number i of a factor at the bound steps of k; `from` of
 * its index v. */
static axe_mem
factor(axe_lowering *lw, const axe_operand *op, const axe_tile_source *src,
       const axe_var *v, int64_t from, int64_t i)
{
    const axe_node *at;

    if (!src->view)
        return axe_mem_of(lw, op,
                          axe_steps_on(lw, op, axe_address(lw, op), v, from));
    at = axe_op2(lw, AXE_OP_mul, axe_index_so_far(lw, lw->s->core->tile.k),
                 src->sum);
    for (int j = 0; j < lw->s->core->tile.n_more; j++)
        at = axe_sum(lw, at,
                     axe_op2(lw, AXE_OP_mul,
                             axe_index_so_far(lw, lw->s->core->tile.more[j]),
                             src->more[j]));
    at = axe_sum(lw, axe_op2(lw, AXE_OP_mul, axe_int(lw, i), src->step), at);
    return (axe_mem){src->view, axe_mem_of(lw, op, at).type, at};
}

/* A step in the tile or, where `seen`, in the source, as by[] has them. */
static const axe_node *
step_of(axe_lowering *lw, axe_lblock *b, const char *name, const axe_node *seen,
        const axe_stride by[2])
{
    const axe_node *one = axe_int(lw, 1);

    if (by[0].coef == by[1].coef && by[0].unit == by[1].unit)
        return axe_scaled(lw, one, by[1]);
    return axe_named(lw, b, name,
                     axe_choose(lw, seen, axe_scaled(lw, one, by[1]),
                                axe_scaled(lw, one, by[0])));
}

/* A pointer to the first of this register tile's rows or columns, which end at
 * `end`: in the argument where the view holds and the tile is whole. */
axe_tile_source
axe_tile_look(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
              const axe_view *v, const axe_node *end)
{
    axe_tile_source src = {0};
    axe_tensor     *t;
    axe_lir        *l;

    if (!v->source)
        return src;
    const axe_node *seen = v->when;
    if (!v->part)
        seen =
            axe_op2(lw, AXE_OP_and, seen, axe_op2(lw, AXE_OP_le, end, v->end));
    seen = axe_named(lw, b, "seen", seen);
    t = axe_new(lw->cx, axe_tensor);
    *t = *op->tensor;
    l = axe_emit(lw, b, AXE_LIR_VIEW);
    t->name = axe_textf(lw->cx, "%s.%d", op->tensor->name, lw->n_var++);
    l->value = seen;
    l->choice[0] = axe_mem_of(lw, v->source, axe_address(lw, v->source));
    l->choice[1] = axe_mem_of(lw, op, axe_address(lw, op));
    l->mem = (axe_mem){t, l->choice[1].type, axe_int(lw, 0)};
    src.view = t;
    src.step = step_of(lw, b, "step", seen, v->step);
    src.sum = step_of(lw, b, "along", seen, v->sum);
    for (int i = 0; i < lw->s->core->tile.n_more; i++)
        src.more[i] = step_of(lw, b, "along", seen, v->more[i]);
    return src;
}

/* What the atom adds to. */
static void
multiply_add(axe_lowering *lw, axe_lblock *b, axe_reg acc, axe_reg x, axe_reg y)
{
    bool     words = lw->s->core->tile.group > 1;
    axe_lir *l;

    axe_emit_op(lw, b, words ? AXE_LOP_dot : AXE_LOP_fma, acc.type, acc.lanes,
                2, (axe_reg[]){x, y});
    l = b->item[b->n - 1];
    l->dst = acc;
    l->atom = words ? lw->s->atom[0] : NULL;
}

/* A factor's elements, or groups of them, as the atom takes them; part: an atom
 * that leaves out what is no column, or NULL. */
static axe_reg
load(axe_lowering *lw, axe_mem m, int lanes, axe_type type,
     const axe_cpu_tile *tl, const axe_atom *part)
{
    axe_lblock *b = lw->level[lw->top].block;
    bool        words = lw->s->core->tile.group > 1;
    axe_type    from = words ? tl->word : axe_compute_of(lw, m.type);
    axe_reg  r = axe_emit_op(lw, b, part ? AXE_LOP_loadm : AXE_LOP_load, from,
                             lanes, 0, NULL);
    axe_lir *l = b->item[b->n - 1];

    if (words)
        m.type = from;
    l->mem = m;
    l->atom = part;
    l->value = part ? tl->left : NULL;
    if (!words && from != type)
        r = axe_emit_op(lw, b, AXE_LOP_convert, type, lanes, 1, &r);
    return r;
}

/* A packed b comes from memory and is read in order, its vectors each by itself
 * or as one panel: ask for what is some way ahead, into the second level; in
 * the first it would drive out rows of a.  Not where few rows are multiplied,
 * so that a line takes longer to come than to use: memory is then busy all the
 * time, and what the hardware asks for by itself comes sooner alone. */
enum { AHEAD_BYTES = 4096, LINE_BYTES = 64, LINE_CYCLES = 8 };

static bool
waits_for_work(axe_lowering *lw, const axe_cpu_tile *tl, int bytes)
{
    int vector = tl->lanes * (int)lw->s->core->tile.group * bytes;

    return tl->rows * lw->s->atom[0]->cost * LINE_BYTES >=
           (double)LINE_CYCLES * vector;
}

static void
ask_ahead(axe_lowering *lw, axe_lblock *blk, const axe_cpu_tile *tl, axe_mem m)
{
    int      bytes = axe_type_table[m.tensor->type].bits / 8;
    int64_t  panel = lw->plan->pack[m.tensor->id].panel;
    axe_lir *l;

    if (!m.tensor->packed || !waits_for_work(lw, tl, bytes))
        return;
    l = axe_emit(lw, blk, AXE_LIR_OP);
    l->op = AXE_LOP_prefetch;
    l->i = 2;
    l->mem = m;
    l->mem.at = axe_sum(lw, m.at, axe_int(lw, AHEAD_BYTES / bytes * panel));
}

/* A vector of what a later task reads, to the second level. */
static void
ask_for_later(axe_lowering *lw, axe_mem m, const axe_node *far)
{
    axe_lir *l = axe_emit(lw, lw->level[lw->top].block, AXE_LIR_OP);

    l->op = AXE_LOP_prefetch;
    l->i = 2;
    l->mem = m;
    l->mem.at = axe_sum(lw, m.at, far);
}

/* The vectors of b in this step of k. */
static axe_reg *
columns(axe_lowering *lw, const axe_cpu_tile *tl)
{
    const axe_tile_shape *t = &lw->s->core->tile;
    const axe_operand    *b = &lw->s->operand[t->b];
    axe_reg              *col = axe_new_array(lw->cx, axe_reg, tl->width);

    for (int j = 0; j < tl->width; j++) {
        axe_mem m = factor(lw, b, &tl->b, t->n, (int64_t)j * tl->lanes, j);
        ask_ahead(lw, lw->level[lw->top].block, tl, m);
        col[j] = load(lw, m, tl->lanes, tl->type, tl,
                      tl->left && j + 1 == tl->width ? lw->s->core->view[1].part
                                                     : NULL);
    }
    if (tl->far)
        ask_for_later(lw, factor(lw, b, &tl->b, t->n, 0, 0), tl->far);
    return col;
}

/* The element at k of the rows that this tile asks for. */
static void
ask_for_rows(axe_lowering *lw, const axe_cpu_tile *tl)
{
    const axe_node *at = tl->next;

    for (int i = 0; tl->next && i < ROWS_ASKED; i++) {
        axe_lir *l = axe_emit(lw, lw->level[lw->top].block, AXE_LIR_OP);
        l->op = AXE_LOP_prefetch;
        l->mem = factor(lw, &lw->s->operand[lw->s->core->tile.a], &tl->a,
                        lw->s->core->tile.m, 0, 0);
        l->mem.at = axe_sum(lw, l->mem.at, at);
        at = axe_sum(lw, at, tl->a.step);
    }
}

/* One step of k. */
axe_status
axe_tile_step(axe_lowering *lw, void *user)
{
    const axe_tile_shape *t = &lw->s->core->tile;
    const axe_operand    *a = &lw->s->operand[t->a];
    axe_cpu_tile         *tl = user;
    axe_lblock           *blk = lw->level[lw->top].block;
    axe_reg              *col = columns(lw, tl);

    ask_for_rows(lw, tl);
    for (int i = 0; i < tl->rows; i++) {
        axe_reg r =
            load(lw, factor(lw, a, &tl->a, t->m, i, i), 1, tl->type, tl, NULL);
        if (tl->lanes > 1)
            r = axe_emit_op(lw, blk, AXE_LOP_splat, r.type, tl->lanes, 1, &r);
        for (int j = 0; j < tl->width; j++)
            multiply_add(lw, blk, tl->acc[i * tl->width + j], r, col[j]);
    }
    return AXE_OK;
}

/* The same of the excess: a row of 2^(bits-1). */
axe_status
axe_tile_excess(axe_lowering *lw, void *user)
{
    axe_cpu_tile *tl = user;
    axe_lblock   *blk = lw->level[lw->top].block;
    axe_reg      *col = columns(lw, tl);

    for (int j = 0; j < tl->width; j++)
        multiply_add(lw, blk, tl->excess[j], tl->flip, col[j]);
    return AXE_OK;
}
