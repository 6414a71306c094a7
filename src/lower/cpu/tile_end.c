/* tile_end.c - where the sums of a register tile go.
 *
 * The old sums are added when the new ones are complete; in the first iteration
 * there are none.  In the last one, where a statement that only reads the sums
 * follows at once and the tile is whole, its values are computed from the
 * registers and the sums are not stored at all. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/tile.h"

const axe_node *
axe_op2(axe_lowering *lw, axe_op op, const axe_node *a, const axe_node *b)
{
    return axe_node2(lw->cx, op, a, b);
}

const axe_node *
axe_named(axe_lowering *lw, axe_lblock *b, const char *name,
          const axe_node *value)
{
    int64_t k;

    if (axe_is_iconst(value, &k) || value->op == AXE_OP_var)
        return value;
    axe_lir *l = axe_emit(lw, b, AXE_LIR_LET);
    l->var = axe_loop_var(lw, name);
    l->value = value;
    return axe_ivar(lw, l->var);
}

const axe_node *
axe_worker_count(axe_lowering *lw)
{
    axe_var *v = axe_new(lw->cx, axe_var);

    *v = (axe_var){.kind = AXE_VAR_SIZE, .name = AXE_WORKERS, .id = -1};
    return axe_ivar(lw, v);
}

const axe_node *
axe_choose(axe_lowering *lw, const axe_node *c, const axe_node *a,
           const axe_node *b)
{
    return axe_node_new(lw->cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
                        (const axe_node *[]){c, a, b});
}

axe_lblock *
axe_where(axe_lowering *lw, axe_lblock *b, const axe_node *cond,
          axe_lblock **other)
{
    int64_t  known;
    axe_lir *l;

    if (axe_is_iconst(cond, &known)) {
        *other = known ? NULL : b;
        return known ? b : NULL;
    }
    l = axe_emit(lw, b, AXE_LIR_IF);
    l->value = cond;
    *other = &l->other;
    return &l->body;
}
const axe_node *
axe_steps_on(axe_lowering *lw, const axe_operand *op, const axe_node *at,
             const axe_var *v, int64_t steps)
{
    for (int i = 0; i < op->n_term; i++) {
        const axe_term *t = &op->term[i];
        int64_t         rest = steps;
        if (t->var != v)
            continue;
        for (int k = t->n_iter - 1; k >= 0 && rest > 0; k--) {
            const axe_iter *it = &t->iter[k];
            int64_t         d = it->extent > 0 ? rest % it->extent : rest;
            rest = it->extent > 0 ? rest / it->extent : 0;
            at = axe_sum(lw, at,
                         axe_scaled(lw, axe_int(lw, d),
                                    (axe_stride){it->stride, it->unit}));
        }
    }
    return at;
}

/* ------------------------------------------------------------ c at the end */

axe_mem
axe_sum_at(axe_lowering *lw, int i, int j, int lanes)
{
    const axe_operand    *c = &lw->s->operand[0];
    const axe_tile_shape *t = &lw->s->core->tile;
    const axe_node       *at = axe_address(lw, c);

    at = axe_steps_on(lw, c, at, t->m, i);
    at = axe_steps_on(lw, c, at, t->n, (int64_t)j * lanes);
    return axe_mem_of(lw, c, at);
}

/* The same with row number `row` of the tile a variable; false where the rows'
 * steps differ. */
static bool
c_at_row(axe_lowering *lw, const axe_node *row, int j, int lanes, axe_mem *out)
{
    const axe_operand    *c = &lw->s->operand[0];
    const axe_tile_shape *t = &lw->s->core->tile;

    *out = axe_sum_at(lw, 0, j, lanes);
    for (int i = 0; i < c->n_term; i++) {
        const axe_term *m = &c->term[i];
        const axe_iter *it = m->n_iter > 0 ? &m->iter[m->n_iter - 1] : NULL;
        if (m->var != t->m || !it)
            continue;
        if (it->extent % t->mr != 0)
            return false;
        out->at =
            axe_sum(lw, out->at,
                    axe_scaled(lw, row, (axe_stride){it->stride, it->unit}));
    }
    return true;
}

static void
put_sums(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    for (int i = 0; i < lw->s->core->tile.mr; i++)
        for (int j = 0; j < tl->width; j++) {
            axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
            l->op = AXE_LOP_store;
            l->n_src = 1;
            l->src = &tl->acc[i * tl->width + j];
            l->mem = axe_sum_at(lw, i, j, tl->lanes);
        }
}

static void
add_old(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    for (int i = 0; i < lw->s->core->tile.mr; i++)
        for (int j = 0; j < tl->width; j++) {
            axe_reg acc = tl->acc[i * tl->width + j];
            axe_reg old =
                axe_emit_op(lw, b, AXE_LOP_load, acc.type, acc.lanes, 0, NULL);
            b->item[b->n - 1]->mem = axe_sum_at(lw, i, j, tl->lanes);
            axe_emit_op(lw, b, AXE_LOP_add, acc.type, acc.lanes, 2,
                        (axe_reg[]){old, acc});
            b->item[b->n - 1]->dst = acc;
        }
}

/* Is this iteration not the first? */
static const axe_node *
has_old(axe_lowering *lw)
{
    const axe_schedule *s = lw->s;
    int64_t             n;

    if (s->stmt->atom)
        return axe_int(lw, 0);
    if (!s->core->fresh)
        return axe_int(lw, 1);
    if (!s->core->iteration ||
        (axe_is_iconst(s->core->iterations, &n) && n <= 1))
        return axe_int(lw, 0);
    return axe_op2(lw, AXE_OP_lt, axe_int(lw, 0), s->core->iteration);
}

/* Is this iteration the last, and the register tile whole? */
static const axe_node *
is_done(axe_lowering *lw, const axe_cpu_tile *tl)
{
    const axe_schedule *s = lw->s;
    const axe_node *row = axe_index_so_far(lw, s->core->tile.m), *done, *end;
    const axe_node *col = axe_index_so_far(lw, s->core->tile.n);
    int64_t         n;

    if (!s->core->then)
        return axe_int(lw, 0);
    row = axe_sum(lw, row, axe_int(lw, s->core->tile.mr));
    col = axe_sum(lw, col, axe_int(lw, (int64_t)tl->width * tl->lanes));
    done = axe_op2(lw, AXE_OP_le, row, s->core->split.whole_row);
    if (!s->core->parts)
        done =
            axe_op2(lw, AXE_OP_and, done,
                    axe_op2(lw, AXE_OP_le, col, s->core->split.whole_column));
    if (!s->core->iteration ||
        (axe_is_iconst(s->core->iterations, &n) && n <= 1))
        return done;
    end =
        axe_op2(lw, AXE_OP_eq, axe_sum(lw, s->core->iteration, axe_int(lw, 1)),
                s->core->iterations);
    return axe_op2(lw, AXE_OP_and, end, done);
}

/* ------------------------------------------------- what follows, with sums */

/* Index v of the statement as a variable of its own: all of it one digit. */
static axe_open_digit
whole_index(axe_lowering *lw, axe_lblock *b, const axe_schedule *s,
            const axe_var *v, const axe_node *value)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_LET);
    int64_t  e = 0;

    l->var = axe_loop_var(lw, v->name);
    l->value = value;
    axe_is_iconst(axe_extent_of(s, v), &e);
    return (axe_open_digit){{v, 1, e}, l->var, 0, NULL};
}

typedef axe_status then_fn(axe_lowering *lw, axe_lblock *b);

/* fn for every vector of rows first .. first + n_row of the register tile, as
 * the statement that follows sees it: its own indices bound, the sums in
 * registers. */
static axe_status
each_vector(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl,
            const axe_node *first, int n_row, then_fn *fn)
{
    const axe_schedule *s = lw->s, *e = s->core->then;
    axe_lowering       *saved = axe_new(lw->cx, axe_lowering);
    axe_open_digit      bd[2] = {
             whole_index(lw, b, e, e->core->merged[0],
                         axe_sum(lw, axe_index_so_far(lw, s->core->tile.m), first)),
             whole_index(lw, b, e, e->core->merged[1],
                         axe_index_so_far(lw, s->core->tile.n))};

    bd[0].next = &bd[1];
    *saved = *lw;
    lw->s = e;
    lw->stream = axe_over_caches(lw, b);
    lw->bound = bd;
    lw->vector = e->core->merged[1];
    lw->lanes = tl->lanes;
    lw->full = true;
    lw->level[0] = (axe_open_level){.block = b};
    lw->level[1] = (axe_open_level){.block = b, .index = e->core->merged[1]};
    lw->vector_level = 1;
    lw->top = 2;
    for (int j = 0; j < tl->width; j++) {
        bd[1].step = (int64_t)j * tl->lanes;
        lw->level[1].known = NULL;
        lw->part = j + 1 == tl->width ? tl->left : NULL;
        lw->whole = lw->part != NULL;
        for (int i = 0; i < n_row; i++) {
            bd[0].step = i;
            lw->level[2] =
                (axe_open_level){.block = b, .index = e->core->merged[0]};
            for (int k = 1; k < e->n_operand; k++)
                if (e->operand[k].tensor == s->operand[0].tensor)
                    axe_remember(lw, 2, e->operand[k].load, false,
                                 tl->acc[i * tl->width + j]);
            AXE_TRY(fn(lw, b));
        }
    }
    saved->n_reg = lw->n_reg;
    saved->n_var = lw->n_var;
    *lw = *saved;
    return AXE_OK;
}

static axe_status
finish_vector(axe_lowering *lw, axe_lblock *b)
{
    (void)b;
    return axe_store_value(lw, NULL);
}

static axe_status
ask_for_vector(axe_lowering *lw, axe_lblock *b)
{
    const axe_operand *dst = &lw->s->operand[0];
    axe_lir           *l = axe_emit(lw, b, AXE_LIR_OP);

    l->op = AXE_LOP_prefetch;
    l->mem = axe_mem_of(lw, dst, axe_address(lw, dst));
    return AXE_OK;
}

/* ---------------------------------------------------------------- the tile */

/* A loop over the rows of the register tile, for what need not be straight
 * code. */
static axe_lblock *
each_row(axe_lowering *lw, axe_lblock *b, const axe_node **row)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_LOOP);

    l->var = axe_loop_var(lw, "row");
    l->begin = axe_int(lw, 0);
    l->end = axe_int(lw, lw->s->core->tile.mr);
    *row = axe_ivar(lw, l->var);
    return &l->body;
}

static void
ask_for_sums(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    const axe_node *row;
    axe_lblock     *body = each_row(lw, b, &row);
    axe_mem         m;

    for (int j = 0; j < tl->width; j++)
        if (c_at_row(lw, row, j, tl->lanes, &m)) {
            axe_lir *l = axe_emit(lw, body, AXE_LIR_OP);
            l->op = AXE_LOP_prefetch;
            l->mem = m;
        }
}

axe_status
axe_tile_ask(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    const axe_node *row;
    axe_lblock     *other;
    axe_lblock     *old = axe_where(lw, b, has_old(lw), &other);

    if (old)
        ask_for_sums(lw, old, tl);
    b = axe_where(lw, b, is_done(lw, tl), &other);
    if (!b)
        return AXE_OK;
    b = each_row(lw, b, &row);
    return each_vector(lw, b, tl, row, 1, ask_for_vector);
}

/* acc -= excess */
static void
take_off(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    for (int i = 0; tl->excess && i < lw->s->core->tile.mr * tl->width; i++) {
        axe_reg acc = tl->acc[i];
        axe_emit_op(lw, b, AXE_LOP_sub, acc.type, acc.lanes, 2,
                    (axe_reg[]){acc, tl->excess[i % tl->width]});
        b->item[b->n - 1]->dst = acc;
    }
}

axe_status
axe_tile_end(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    axe_lblock *other;
    axe_lblock *old = axe_where(lw, b, has_old(lw), &other);

    take_off(lw, b, tl);
    if (old)
        add_old(lw, old, tl);
    b = axe_where(lw, b, is_done(lw, tl), &other);
    if (other)
        put_sums(lw, other, tl);
    return b ? each_vector(lw, b, tl, axe_int(lw, 0), lw->s->core->tile.mr,
                           finish_vector)
             : AXE_OK;
}
