/* contract.c - the register tile: accumulators stay in registers over k.
 *
 *     for each tile of mr rows and up to nv vectors:
 *         acc[i][j] = 0          mr * nv registers
 *         for k: b[j] = nv loads; a[i] = one element, splat; acc += a * b
 *         c += acc, or in iteration 0 c = acc, or in the last iteration what
 * follows
 *
 * The old sums are added at the end, when they have long arrived, and not
 * loaded at the start, where every multiply-add would wait for them.  They are
 * asked for only NEAR steps before the end: earlier they would be driven out
 * again.
 *
 * Where an atom takes a group of neighbours of k in a lane, a step of k is a
 * group: both factors are words of it, one element of a is one word, and `+=`
 * is the atom's.  Where a's signs are kept flipped, which adds 2^(bits-1) to
 * each element, that many times the sums of b are too much; they are found once
 * for each block of columns, before its rows, so columns are then outside. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/tile.h"

enum { NEAR = 64 };

/* ------------------------------------------------------------------- loops */

/* A loop over a digit, from begin to end by step. */
static axe_status
loop_over(axe_lowering *lw, axe_digit d, const axe_node *begin,
          const axe_node *end, int64_t step, body_fn *body, void *user)
{
    axe_lblock hold = {0};
    int64_t    b, e;
    axe_lir   *l;

    if (axe_is_iconst(begin, &b) && axe_is_iconst(end, &e) && b >= e)
        return AXE_OK;
    if (lw->top + 1 == MAX_LEVEL)
        return axe_fail(lw->cx, lw->s->stmt->at, AXE_ELIMIT,
                        "a statement needs over %d nested loops", MAX_LEVEL);
    l = axe_emit(lw, &hold, AXE_LIR_LOOP);
    l->var = axe_loop_var(lw, d.var->name);
    l->begin = begin;
    l->end = end;
    l->step = step;
    axe_open_digit bd = {d, l->var, 0, lw->bound};
    lw->bound = &bd;
    lw->level[++lw->top] = (axe_open_level){.block = &l->body, .index = d.var};
    AXE_TRY(body(lw, user));
    lw->bound = bd.next;
    lw->top--;
    *axe_emit(lw, lw->level[lw->top].block, AXE_LIR_LOOP) = *l;
    return AXE_OK;
}

/* ---------------------------------------------------------------- the tile */

/* Where one atom is the whole statement it adds to the old sums at once. */
static axe_reg *
take_old(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl)
{
    axe_reg *acc = axe_new(lw->cx, axe_reg);

    *acc = axe_emit_op(lw, b, AXE_LOP_load, tl->type, tl->lanes, 0, NULL);
    b->item[b->n - 1]->mem = axe_sum_at(lw, 0, 0, tl->lanes);
    return acc;
}

/* n registers of zeros. */
static axe_reg *
clear(axe_lowering *lw, axe_lblock *b, const axe_cpu_tile *tl, int n)
{
    bool     fl = axe_type_table[tl->type].cls == AXE_CLASS_FLOAT;
    axe_reg *out = axe_new_array(lw->cx, axe_reg, n);

    for (int i = 0; i < n; i++)
        out[i] = axe_emit_op(lw, b, fl ? AXE_LOP_fconst : AXE_LOP_iconst,
                             tl->type, tl->lanes, 0, NULL);
    return out;
}

static axe_nest
part_of(const axe_nest *all, int from, int end)
{
    axe_nest n = *all;

    n.digit += from;
    n.n_digit = end - from;
    n.lanes = 1;
    return n;
}

/* All of k. */
static axe_status
sum_up(axe_lowering *lw, axe_cpu_tile *tl, const axe_node *begin,
       const axe_node *end, body_fn *body)
{
    const axe_nest *all = &lw->s->nest[0];
    axe_nest        k = part_of(all, tl->k_from, all->n_digit);

    if (tl->depth)
        return loop_over(lw, k.digit[0], begin, end, 1, body, tl);
    return axe_nest_open(lw, &k, body, tl);
}

static void
look_at(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl, bool left)
{
    const axe_tile_shape *t = &lw->s->core->tile;
    int64_t               n = left ? t->mr : (int64_t)tl->width * tl->lanes;
    const axe_node       *end =
        axe_sum(lw, axe_index_so_far(lw, left ? t->m : t->n), axe_int(lw, n));
    axe_tile_source s =
        axe_tile_look(lw, b, &lw->s->operand[left ? t->a : t->b],
                      &lw->s->core->view[left ? 0 : 1], end);

    *(left ? &tl->a : &tl->b) = s;
}

/* Tile after tile of a block of rows asks for two rows of the next block, which
 * lie far apart where a is read from an argument; where they would drive out
 * this block's, for two of its own, which costs little. */
static void
find_next(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl)
{
    const axe_view       *v = &lw->s->core->view[0];
    const axe_tile_shape *t = &lw->s->core->tile;
    const axe_node       *n = axe_index_so_far(lw, t->n);

    tl->next = NULL;
    if (!tl->a.view || tl->width < 2 || v->sum[1].coef != 1 ||
        v->sum[1].unit != AXE_UNIT_ONE)
        return;
    n = axe_op2(lw, AXE_OP_div, n, axe_int(lw, (int64_t)tl->width * tl->lanes));
    n = axe_op2(lw, AXE_OP_mul, n, axe_int(lw, ROWS_ASKED));
    n = axe_op2(lw, AXE_OP_mod, n, axe_int(lw, t->mr));
    n = axe_sum(
        lw, n,
        v->room ? axe_choose(lw, v->room, axe_int(lw, t->mr), axe_int(lw, 0))
                : axe_int(lw, t->mr));
    tl->next = axe_named(lw, b, "next", axe_op2(lw, AXE_OP_mul, n, tl->a.step));
}

/* All of k in two parts, with c asked for between them; one loop over both, as
 * the code of a step is long and a compiler's time goes into it. */
static axe_status
sum_in_parts(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl)
{
    const axe_node *zero = axe_int(lw, 0), *part, *first;
    axe_lblock      hold = {0}, *other;
    int64_t         near;
    axe_lir        *l;

    if (axe_is_iconst(tl->near, &near) && near == 0) {
        AXE_TRY(axe_tile_ask(lw, b, tl));
        return sum_up(lw, tl, zero, tl->depth, axe_tile_step);
    }
    l = axe_emit(lw, &hold, AXE_LIR_LOOP);
    l->var = axe_loop_var(lw, "part");
    l->begin = zero;
    l->end = axe_int(lw, 2);
    part = axe_ivar(lw, l->var);
    first = axe_op2(lw, AXE_OP_eq, part, zero);
    lw->level[++lw->top] = (axe_open_level){.block = &l->body};
    AXE_TRY(sum_up(
        lw, tl,
        axe_named(lw, &l->body, "from", axe_choose(lw, first, zero, tl->near)),
        axe_named(lw, &l->body, "to",
                  axe_choose(lw, first, tl->near, tl->depth)),
        axe_tile_step));
    AXE_TRY(axe_tile_ask(lw, axe_where(lw, &l->body, first, &other), tl));
    lw->top--;
    *axe_emit(lw, b, AXE_LIR_LOOP) = *l;
    return AXE_OK;
}

/* The sum of the first rows alone, where the others are zeros: of none, of so
 * many eighths, of all.  Of more shares the text is longer than it is worth. */
static const int eighths[] = {1, 2, 4, 6};

static axe_status
sum_rows(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl)
{
    int mr = lw->s->core->tile.mr;

    if (tl->live) {
        axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
        l->value = axe_op2(lw, AXE_OP_lt, axe_int(lw, 0), tl->live);
        b = &l->body;
    }
    for (size_t i = 0; tl->live && i < sizeof eighths / sizeof *eighths; i++) {
        if (mr * eighths[i] % 8 != 0)
            continue;
        axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
        tl->rows = mr * eighths[i] / 8;
        l->value = axe_op2(lw, AXE_OP_le, tl->live, axe_int(lw, tl->rows));
        lw->level[++lw->top] = (axe_open_level){.block = &l->body};
        AXE_TRY(sum_in_parts(lw, &l->body, tl));
        lw->top--;
        b = &l->other;
    }
    tl->rows = mr;
    lw->level[++lw->top] = (axe_open_level){.block = b};
    AXE_TRY(sum_in_parts(lw, b, tl));
    lw->top--;
    return AXE_OK;
}

/* Is this row there?  Then so many are. */
static axe_status
live_body(axe_lowering *lw, void *user)
{
    const axe_node *there = lw->s->core->tile.there;
    const axe_reg  *live = user;
    axe_lblock     *b = lw->level[lw->top].block, *yes, *no;
    const axe_node *row = axe_ivar(lw, lw->bound->loop);

    AXE_TRY(axe_take_reads_of(lw, there));
    yes = axe_where(lw, b, axe_with_reads(lw, there), &no);
    if (!yes)
        return AXE_OK;
    axe_emit_op(lw, yes, AXE_LOP_index, AXE_TYPE_i64, 1, 0, NULL);
    yes->item[yes->n - 1]->value = axe_sum(lw, row, axe_int(lw, 1));
    yes->item[yes->n - 1]->dst = *live;
    return AXE_OK;
}

/* One more than the last row of this register tile that is there. */
static axe_status
find_live(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl)
{
    const axe_tile_shape *t = &lw->s->core->tile;
    axe_reg              *live = axe_new(lw->cx, axe_reg);
    axe_lir              *l;

    tl->live = NULL;
    if (!t->there || !tl->depth)
        return AXE_OK;
    *live = axe_emit_op(lw, b, AXE_LOP_iconst, AXE_TYPE_i64, 1, 0, NULL);
    AXE_TRY(loop_over(lw, (axe_digit){t->m, 1, t->mr}, axe_int(lw, 0),
                      axe_int(lw, t->mr), 1, live_body, live));
    l = axe_emit(lw, b, AXE_LIR_TAKE);
    l->var = axe_loop_var(lw, "live");
    l->n_src = 1;
    l->src = live;
    tl->live = axe_ivar(lw, l->var);
    return AXE_OK;
}

/* How many columns the tile's last vector has, where that is asked for and may
 * be less than all. */
static void
find_left(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl)
{
    const axe_split *sp = &lw->s->core->split;
    const axe_node  *lanes = axe_int(lw, tl->lanes), *n;
    int64_t          all;

    tl->left = NULL;
    if ((!lw->s->core->parts && !lw->s->core->view[1].part) ||
        (axe_is_iconst(sp->columns, &all) && all % tl->lanes == 0))
        return;
    n = axe_sum(lw, axe_index_so_far(lw, lw->s->core->tile.n),
                axe_int(lw, (int64_t)(tl->width - 1) * tl->lanes));
    n = axe_op2(lw, AXE_OP_sub, sp->columns, n);
    tl->left = axe_named(lw, b, "left", axe_op2(lw, AXE_OP_min, n, lanes));
}

static axe_status
tile_body(axe_lowering *lw, void *user)
{
    axe_cpu_tile *tl = user;
    axe_lblock   *b = lw->level[lw->top].block;

    look_at(lw, b, tl, false);
    find_left(lw, b, tl);
    tl->acc = lw->s->stmt->atom
                  ? take_old(lw, b, tl)
                  : clear(lw, b, tl, lw->s->core->tile.mr * tl->width);
    if (tl->depth) {
        find_next(lw, b, tl);
        AXE_TRY(sum_rows(lw, b, tl));
    } else {
        AXE_TRY(sum_up(lw, tl, NULL, NULL, axe_tile_step));
    }
    return axe_tile_end(lw, b, tl);
}

/* body for all columns: `wide` tiles of width + 1 vectors, then those of
 * width. */
static axe_status
each_column(axe_lowering *lw, axe_cpu_tile *tl, body_fn *body)
{
    const axe_split *sp = &lw->s->core->split;
    const axe_nest  *all = &lw->s->nest[0];
    axe_nest         n = part_of(all, tl->n_from, tl->n_end);
    const axe_node  *zero = axe_int(lw, 0), *begin, *end;

    tl->width = lw->s->core->tile.nv;
    if (!lw->s->core->tile.narrow)
        return axe_nest_open(lw, &n, body, tl);
    for (int w = tl->width; w >= 1; w--) {
        const axe_node *is = axe_op2(lw, AXE_OP_eq, sp->width, axe_int(lw, w));
        const axe_node *less =
            axe_op2(lw, AXE_OP_eq, sp->width, axe_int(lw, w - 1));
        begin = axe_op2(lw, AXE_OP_mul, sp->wide, axe_int(lw, w + 1));
        end = axe_op2(lw, AXE_OP_mul, sp->wide, axe_int(lw, w));
        tl->width = w;
        AXE_TRY(loop_over(
            lw, n.digit[0], axe_choose(lw, is, begin, zero),
            axe_choose(lw, is, sp->vectors, axe_choose(lw, less, end, zero)), w,
            body, tl));
    }
    return AXE_OK;
}

/* A block of rows: all its columns. */
static axe_status
row_body(axe_lowering *lw, void *user)
{
    axe_cpu_tile *tl = user;

    look_at(lw, lw->level[lw->top].block, tl, true);
    AXE_TRY(find_live(lw, lw->level[lw->top].block, tl));
    return each_column(lw, tl, tile_body);
}

static axe_status
row_of_columns(axe_lowering *lw, void *user)
{
    look_at(lw, lw->level[lw->top].block, user, true);
    AXE_TRY(find_live(lw, lw->level[lw->top].block, user));
    return tile_body(lw, user);
}

/* A block of columns: all its rows.  Where signs are flipped, a is in its
 * tile. */
static axe_status
column_body(axe_lowering *lw, void *user)
{
    axe_cpu_tile *tl = user;
    axe_nest      m = part_of(&lw->s->nest[0], tl->n_end, tl->k_from);
    axe_lblock   *b = lw->level[lw->top].block;

    if (!lw->s->atom[0]->flip)
        return axe_nest_open(lw, &m, row_of_columns, tl);
    look_at(lw, b, tl, false);
    tl->flip = axe_signs(lw, b, lw->s->atom[0]->type[1], tl->word, tl->lanes);
    tl->excess = clear(lw, b, tl, tl->width);
    AXE_TRY(sum_up(lw, tl, axe_int(lw, 0), tl->depth, axe_tile_excess));
    return axe_nest_open(lw, &m, tile_body, tl);
}

static axe_status
columns_body(axe_lowering *lw, void *user)
{
    return each_column(lw, user, column_body);
}

/* A constant that the compiler of the text takes for any number.  Where it
 * knows how often the loop over k runs, gcc 12 keeps half of the accumulators
 * of an atom that is a line of assembly in memory, which takes twice the time.
 */
static const axe_node *
any_number(axe_lowering *lw, const axe_node *n)
{
    return axe_choose(
        lw, axe_op2(lw, AXE_OP_le, axe_int(lw, 1), axe_worker_count(lw)), n,
        axe_int(lw, 0));
}

/* How far the sum goes, if it is one digit: nowhere, if b is a matrix that
 * there is not, which reads as zeros. */
static void
measure_depth(axe_lowering *lw, axe_lblock *b, axe_cpu_tile *tl)
{
    const axe_nest  *nest = &lw->s->nest[0];
    const axe_digit *k = &nest->digit[nest->n_digit - 1];
    const axe_node  *end;
    int64_t          known;

    if (nest->n_digit - tl->k_from != 1 || k->extent == 0)
        return;
    end = axe_int(lw, k->extent * k->weight);
    for (int i = 0; i < lw->s->n_bound; i++)
        if (lw->s->bound[i].var == k->var)
            end = axe_op2(lw, AXE_OP_min, end, lw->s->bound[i].limit);
    end = axe_op2(lw, AXE_OP_max, end, axe_int(lw, 0));
    end = axe_op2(lw, AXE_OP_cdiv, end, axe_int(lw, k->weight));
    const axe_node *inside =
        axe_inside(lw, &lw->s->operand[lw->s->core->tile.b]);
    if (inside)
        end = axe_choose(lw, inside, end, axe_int(lw, 0));
    if (lw->s->core->tile.group > 1 && axe_is_iconst(end, &known)) {
        tl->near = axe_int(lw, known > NEAR ? known - NEAR : 0);
        tl->depth = axe_named(lw, b, "depth", any_number(lw, end));
        return;
    }
    tl->depth = axe_named(lw, b, "depth", end);
    end = axe_op2(lw, AXE_OP_sub, tl->depth, axe_int(lw, NEAR));
    tl->near =
        axe_named(lw, b, "near", axe_op2(lw, AXE_OP_max, end, axe_int(lw, 0)));
}

static bool
is_sum(const axe_tile_shape *t, const axe_var *v)
{
    bool is = v == t->k;

    for (int i = 0; i < t->n_more; i++)
        is = is || v == t->more[i];
    return is;
}

axe_status
axe_lower_contract(axe_lowering *lw, axe_lblock *b)
{
    const axe_tile_shape *t = &lw->s->core->tile;
    const axe_nest       *all = &lw->s->nest[0];
    axe_cpu_tile          tl = {.lanes = all->lanes, .rows = t->mr};

    while (tl.k_from < all->n_digit && !is_sum(t, all->digit[tl.k_from].var))
        tl.k_from++;
    while (tl.n_from < tl.k_from && all->digit[tl.n_from].var != t->n)
        tl.n_from++;
    tl.n_end = tl.n_from;
    while (tl.n_end < tl.k_from && all->digit[tl.n_end].var == t->n)
        tl.n_end++;
    if (t->group > 1)
        tl.word = axe_word_of(lw->s->atom[0]->type[1], t->group);
    lw->level[0] = (axe_open_level){.block = b};
    lw->top = 0;
    tl.type = axe_compute_of(lw, axe_sum_at(lw, 0, 0, tl.lanes).type);
    const axe_operand *right = &lw->s->operand[t->b];
    AXE_TRY(axe_take_reads(lw, right));
    if (right->next) {
        AXE_TRY(axe_take_reads_of(lw, right->next));
        tl.far = axe_named(lw, b, "far", axe_with_reads(lw, right->next));
    }
    measure_depth(lw, b, &tl);
    axe_nest outer = part_of(all, 0, tl.n_from);
    return axe_nest_open(lw, &outer, t->by_column ? columns_body : row_body,
                         &tl);
}
