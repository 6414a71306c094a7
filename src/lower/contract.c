/* contract.c - the register tile: accumulators stay in registers over k.
 *
 *     for each tile of mr rows and nv vectors:
 *         acc[i][j] = 0          mr * nv registers
 *         for k: b[j] = nv loads; a[i] = one element, splat; acc += a * b
 *         c += acc
 *
 * The old sums are added at the end, when they have long arrived, and not
 * loaded at the start, where every multiply-add would wait for them.
 *
 * Where an atom takes a group of neighbours of k in a lane, a step of k is a
 * group: both factors are words of it, one element of a is one word, and `+=`
 * is the atom's.  Where a's signs are kept flipped, which adds 2^(bits-1) to
 * each element, that many times the sums of b are too much; they are found once
 * for each block of columns, before its rows. */
#include "lower/lower_int.h"

/* The operand's address at the bound digits, `row` steps of one variable and
 * `col` of another further on. */
static const axe_node *
offset(lowering *lw, const axe_operand *op, const axe_node *at,
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

typedef struct tile {
    int      lanes;
    axe_reg *acc;    /* [mr][nv] */
    axe_reg *excess; /* [nv] what flipped signs add; NULL: nothing is flipped */
    axe_type word;   /* of a group */
    axe_reg  flip;   /* the signs of a word, in every lane */
    int      row_from; /* first digit behind the columns, first of k */
    int      k_from;
} tile;

static axe_mem
c_at(lowering *lw, int i, int j, int lanes)
{
    const axe_operand    *c = &lw->s->operand[0];
    const axe_tile_shape *t = &lw->s->tile;
    const axe_node       *at = axe_address(lw, c);

    at = offset(lw, c, at, t->m, i);
    at = offset(lw, c, at, t->n, (int64_t)j * lanes);
    return axe_mem_of(lw, c, at);
}

/* What the atom adds to. */
static void
multiply_add(lowering *lw, axe_lblock *b, axe_reg acc, axe_reg x, axe_reg y)
{
    bool     words = lw->s->tile.group > 1;
    axe_lir *l;

    axe_emit_op(lw, b, words ? AXE_LOP_dot : AXE_LOP_fma, acc.type, acc.lanes,
                2, (axe_reg[]){x, y});
    l = b->item[b->n - 1];
    l->dst = acc;
    l->atom = words ? lw->s->atom[0] : NULL;
}

/* A factor's elements, or groups of them, as the atom takes them. */
static axe_reg
factor(lowering *lw, axe_lblock *b, axe_mem m, axe_type type, int lanes,
       const tile *tl)
{
    bool     words = lw->s->tile.group > 1;
    axe_type from = words ? tl->word : axe_compute_of(lw, m.type);
    axe_reg  r = axe_emit_op(lw, b, AXE_LOP_load, from, lanes, 0, NULL);

    if (words)
        m.type = from;
    b->item[b->n - 1]->mem = m;
    if (!words && from != type)
        r = axe_emit_op(lw, b, AXE_LOP_convert, type, lanes, 1, &r);
    return r;
}

/* The vectors of b in this step of k. */
static axe_reg *
columns(lowering *lw, axe_lblock *blk, axe_type type, const tile *tl)
{
    const axe_tile_shape *t = &lw->s->tile;
    const axe_operand    *b = &lw->s->operand[t->b];
    axe_reg              *col = axe_new_array(lw->cx, axe_reg, t->nv);

    for (int j = 0; j < t->nv; j++)
        col[j] = factor(lw, blk,
                        axe_mem_of(lw, b,
                                   offset(lw, b, axe_address(lw, b), t->n,
                                          (int64_t)j * tl->lanes)),
                        type, tl->lanes, tl);
    return col;
}

/* One step of k. */
static axe_status
k_body(lowering *lw, void *user)
{
    const axe_tile_shape *t = &lw->s->tile;
    const axe_operand    *a = &lw->s->operand[t->a];
    tile                 *tl = user;
    axe_lblock           *blk = lw->level[lw->top].block;
    axe_type              type = tl->acc[0].type;
    axe_reg              *col = columns(lw, blk, type, tl);

    for (int i = 0; i < t->mr; i++) {
        axe_mem m =
            axe_mem_of(lw, a, offset(lw, a, axe_address(lw, a), t->m, i));
        axe_reg r = factor(lw, blk, m, type, 1, tl);
        r = axe_emit_op(lw, blk, AXE_LOP_splat, r.type, tl->lanes, 1, &r);
        for (int j = 0; j < t->nv; j++)
            multiply_add(lw, blk, tl->acc[i * t->nv + j], r, col[j]);
    }
    return AXE_OK;
}

/* The same of the excess: a row of 2^(bits-1). */
static axe_status
excess_body(lowering *lw, void *user)
{
    tile       *tl = user;
    axe_lblock *blk = lw->level[lw->top].block;
    axe_reg    *col = columns(lw, blk, tl->excess[0].type, tl);

    for (int j = 0; j < lw->s->tile.nv; j++)
        multiply_add(lw, blk, tl->excess[j], tl->flip, col[j]);
    return AXE_OK;
}

/* The sums are needed only after the last step of k; ask for their lines. */
static void
ask_for_c(lowering *lw, axe_lblock *b, const tile *tl)
{
    for (int i = 0; i < lw->s->tile.mr; i++)
        for (int j = 0; j < lw->s->tile.nv; j++) {
            axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
            l->op = AXE_LOP_prefetch;
            l->mem = c_at(lw, i, j, tl->lanes);
        }
}

/* c += acc - excess */
static void
add_to_c(lowering *lw, axe_lblock *b, axe_mem m, axe_reg acc,
         const axe_reg *excess)
{
    axe_reg old =
        axe_emit_op(lw, b, AXE_LOP_load, acc.type, acc.lanes, 0, NULL);
    axe_reg *sum = axe_new(lw->cx, axe_reg);

    b->item[b->n - 1]->mem = m;
    if (excess)
        acc = axe_emit_op(lw, b, AXE_LOP_sub, acc.type, acc.lanes, 2,
                          (axe_reg[]){acc, *excess});
    *sum = axe_emit_op(lw, b, AXE_LOP_add, acc.type, acc.lanes, 2,
                       (axe_reg[]){old, acc});
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    l->op = AXE_LOP_store;
    l->n_src = 1;
    l->src = sum;
    l->mem = m;
}

/* The type of the sums in registers. */
static axe_type
sum_type(lowering *lw, const tile *tl)
{
    return axe_compute_of(lw, c_at(lw, 0, 0, tl->lanes).type);
}

/* n registers of zeros. */
static void
clear(lowering *lw, axe_lblock *b, const tile *tl, int n, axe_reg *out)
{
    axe_type type = sum_type(lw, tl);
    axe_lop  zero = axe_type_table[type].cls == AXE_CLASS_FLOAT ? AXE_LOP_fconst
                                                                : AXE_LOP_iconst;

    for (int i = 0; i < n; i++)
        out[i] = axe_emit_op(lw, b, zero, type, tl->lanes, 0, NULL);
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

static axe_status
tile_body(lowering *lw, void *user)
{
    const axe_tile_shape *t = &lw->s->tile;
    tile                 *tl = user;
    axe_lblock           *b = lw->level[lw->top].block;
    const axe_nest       *all = &lw->s->nest[0];
    axe_nest              k = part_of(all, tl->k_from, all->n_digit);

    ask_for_c(lw, b, tl);
    clear(lw, b, tl, t->mr * t->nv, tl->acc);
    AXE_TRY(axe_nest_open(lw, &k, k_body, tl));
    for (int i = 0; i < t->mr; i++)
        for (int j = 0; j < t->nv; j++)
            add_to_c(lw, b, c_at(lw, i, j, tl->lanes), tl->acc[i * t->nv + j],
                     tl->excess ? &tl->excess[j] : NULL);
    return AXE_OK;
}

/* A block of columns: all its rows. */
static axe_status
columns_body(lowering *lw, void *user)
{
    const axe_tile_shape *t = &lw->s->tile;
    const axe_nest       *all = &lw->s->nest[0];
    tile                 *tl = user;
    axe_nest              m = part_of(all, tl->row_from, tl->k_from);
    axe_nest              k = part_of(all, tl->k_from, all->n_digit);
    axe_lblock           *b = lw->level[lw->top].block;

    if (lw->s->atom[0]->flip) {
        tl->flip =
            axe_signs(lw, b, lw->s->atom[0]->type[1], tl->word, tl->lanes);
        tl->excess = axe_new_array(lw->cx, axe_reg, t->nv);
        clear(lw, b, tl, t->nv, tl->excess);
        AXE_TRY(axe_nest_open(lw, &k, excess_body, tl));
    }
    return axe_nest_open(lw, &m, tile_body, tl);
}

axe_status
axe_lower_contract(lowering *lw, axe_lblock *b)
{
    const axe_tile_shape *t = &lw->s->tile;
    const axe_nest       *all = &lw->s->nest[0];
    tile                  tl = {.lanes = all->lanes};

    while (tl.k_from < all->n_digit && all->digit[tl.k_from].var != t->k)
        tl.k_from++;
    for (int i = 0; i < tl.k_from; i++)
        if (all->digit[i].var == t->n)
            tl.row_from = i + 1;
    tl.acc = axe_new_array(lw->cx, axe_reg, t->mr * t->nv);
    if (t->group > 1)
        tl.word = axe_word_of(lw->s->atom[0]->type[1], t->group);
    lw->level[0] = (level){.block = b};
    lw->top = 0;
    axe_nest outer = part_of(all, 0, tl.row_from);
    return axe_nest_open(lw, &outer, columns_body, &tl);
}
