/* contract.c - the register tile: accumulators stay in registers over k.
 *
 *     for each tile of mr rows and nv vectors:
 *         acc[i][j] = 0          mr * nv registers
 *         for k: b[j] = nv loads; a[i] = one element, splat; acc += a * b
 *         c += acc
 *
 * The old sums are added at the end, when they have long arrived, and not
 * loaded at the start, where every multiply-add would wait for them. */
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
    int      k_from; /* first k digit of the nest */
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

/* One step of k. */
static axe_status
k_body(lowering *lw, void *user)
{
    const axe_tile_shape *t = &lw->s->tile;
    const axe_operand    *a = &lw->s->operand[t->a], *b = &lw->s->operand[t->b];
    tile                 *tl = user;
    axe_lblock           *blk = lw->level[lw->top].block;
    axe_reg              *col = axe_new_array(lw->cx, axe_reg, t->nv);
    axe_type              type = tl->acc[0].type;

    for (int j = 0; j < t->nv; j++) {
        axe_mem m = axe_mem_of(
            lw, b,
            offset(lw, b, axe_address(lw, b), t->n, (int64_t)j * tl->lanes));
        axe_type from = axe_compute_of(lw, m.type);
        col[j] = axe_emit_op(lw, blk, AXE_LOP_load, from, tl->lanes, 0, NULL);
        blk->item[blk->n - 1]->mem = m;
        if (from != type)
            col[j] = axe_emit_op(lw, blk, AXE_LOP_convert, type, tl->lanes, 1,
                                 &col[j]);
    }
    for (int i = 0; i < t->mr; i++) {
        axe_mem m =
            axe_mem_of(lw, a, offset(lw, a, axe_address(lw, a), t->m, i));
        axe_type from = axe_compute_of(lw, m.type);
        axe_reg  r = axe_emit_op(lw, blk, AXE_LOP_load, from, 1, 0, NULL);
        blk->item[blk->n - 1]->mem = m;
        if (from != type)
            r = axe_emit_op(lw, blk, AXE_LOP_convert, type, 1, 1, &r);
        r = axe_emit_op(lw, blk, AXE_LOP_splat, type, tl->lanes, 1, &r);
        for (int j = 0; j < t->nv; j++) {
            axe_reg acc = tl->acc[i * t->nv + j];
            axe_emit_op(lw, blk, AXE_LOP_fma, type, tl->lanes, 2,
                        (axe_reg[]){r, col[j]});
            blk->item[blk->n - 1]->dst = acc;
        }
    }
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

static void
add_to_c(lowering *lw, axe_lblock *b, axe_mem m, axe_reg acc)
{
    axe_reg old =
        axe_emit_op(lw, b, AXE_LOP_load, acc.type, acc.lanes, 0, NULL);
    axe_reg *sum = axe_new(lw->cx, axe_reg);

    b->item[b->n - 1]->mem = m;
    *sum = axe_emit_op(lw, b, AXE_LOP_add, acc.type, acc.lanes, 2,
                       (axe_reg[]){old, acc});
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    l->op = AXE_LOP_store;
    l->n_src = 1;
    l->src = sum;
    l->mem = m;
}

static axe_status
tile_body(lowering *lw, void *user)
{
    const axe_tile_shape *t = &lw->s->tile;
    tile                 *tl = user;
    axe_lblock           *b = lw->level[lw->top].block;
    axe_nest              k = lw->s->nest[0];
    axe_type type = axe_compute_of(lw, c_at(lw, 0, 0, tl->lanes).type);
    axe_lop  zero = axe_type_table[type].cls == AXE_CLASS_FLOAT ? AXE_LOP_fconst
                                                                : AXE_LOP_iconst;

    ask_for_c(lw, b, tl);
    for (int i = 0; i < t->mr * t->nv; i++)
        tl->acc[i] = axe_emit_op(lw, b, zero, type, tl->lanes, 0, NULL);
    k.digit += tl->k_from;
    k.n_digit -= tl->k_from;
    k.lanes = 1;
    AXE_TRY(axe_nest_open(lw, &k, k_body, tl));
    for (int i = 0; i < t->mr; i++)
        for (int j = 0; j < t->nv; j++)
            add_to_c(lw, b, c_at(lw, i, j, tl->lanes), tl->acc[i * t->nv + j]);
    return AXE_OK;
}

axe_status
axe_lower_contract(lowering *lw, axe_lblock *b)
{
    axe_nest outer = lw->s->nest[0];
    tile     tl = {.lanes = outer.lanes};

    while (tl.k_from < outer.n_digit &&
           outer.digit[tl.k_from].var != lw->s->tile.k)
        tl.k_from++;
    tl.acc = axe_new_array(lw->cx, axe_reg, lw->s->tile.mr * lw->s->tile.nv);
    outer.n_digit = tl.k_from;
    outer.lanes = 1;
    lw->level[0] = (level){b, NULL, NULL};
    lw->top = 0;
    return axe_nest_open(lw, &outer, tile_body, &tl);
}
