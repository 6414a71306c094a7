/* transpose.c - moves whose sides are fast in different variables.
 *
 * The nest's last two digits are u (fast in the source) and v (fast in the
 * destination).  Blocks of lanes x lanes are loaded along u, transposed in
 * registers and stored along v; what is left over at the edges, and what lies
 * outside the source, goes element by element.
 *
 * Elements may move in words, several neighbours along u or v as one: a step
 * of the digit is then a word. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/tile.h"
#include "lower/lower_int.h"

/* The address of `op` at the bound digits, with u and v bound to these. */
static const axe_node *
at_uv(axe_lowering *lw, const axe_operand *op, const axe_digit *u,
      const axe_node *nu, const axe_digit *v, const axe_node *nv)
{
    const axe_node *a = axe_address(lw, op);

    a = axe_moved(lw, a, op, u, nu);
    return axe_moved(lw, a, op, v, nv);
}

static void
put_store(axe_lowering *lw, axe_lblock *b, axe_reg r, axe_mem mem)
{
    const axe_operand *dst = &lw->s->operand[0];

    axe_emit_store(lw, b, dst, axe_as_kept(lw, b, dst, r), mem);
}

typedef struct block_at {
    const axe_digit *u, *v;
    const axe_node  *nu, *nv; /* first step of the block */
} block_at;

/* The memory operand, in words. */
static axe_mem
words_at(axe_lowering *lw, const axe_operand *op, const axe_node *at)
{
    axe_mem m = axe_mem_of(lw, op, at);

    if (lw->s->core->word > 1)
        m.type = axe_word_of(m.type, lw->s->core->word);
    return m;
}

/* lanes x lanes elements through registers. */
static void
whole_block(axe_lowering *lw, axe_lblock *b, const block_at *at, int lanes)
{
    const axe_operand *dst = &lw->s->operand[0], *src = &lw->s->operand[1];
    axe_reg           *reg = axe_new_array(lw->cx, axe_reg, lanes);
    axe_type           t;

    for (int i = 0; i < lanes; i++) {
        axe_mem m = words_at(lw, src,
                             at_uv(lw, src, at->u, at->nu, at->v,
                                   axe_sum(lw, at->nv, axe_int(lw, i))));
        t = axe_held_as(lw, m.type);
        reg[i] = axe_emit_op(lw, b, AXE_LOP_load, t, lanes, 0, NULL);
        b->item[b->n - 1]->mem = m;
    }
    for (int i = 0; i < lanes && lw->s->core->ahead > 0; i++) {
        const axe_node *later = axe_sum(
            lw, at->nu, axe_int(lw, (int64_t)lw->s->core->ahead * lanes));
        axe_lir *f = axe_emit(lw, b, AXE_LIR_OP);
        f->op = AXE_LOP_prefetch;
        f->i = lw->s->core->evict;
        f->mem = words_at(lw, src,
                          at_uv(lw, src, at->u, later, at->v,
                                axe_sum(lw, at->nv, axe_int(lw, i))));
    }
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    l->op = AXE_LOP_trans;
    l->n_src = lanes;
    l->src = reg;
    l->dst = reg[0];
    for (int i = 0; i < lanes; i++) {
        axe_mem m =
            words_at(lw, dst,
                     at_uv(lw, dst, at->u, axe_sum(lw, at->nu, axe_int(lw, i)),
                           at->v, at->nv));
        axe_reg r = reg[i];
        t = axe_held_as(lw, m.type);
        if (r.type != t)
            r = axe_emit_op(lw, b, AXE_LOP_convert, t, lanes, 1, &r);
        put_store(lw, b, r, m);
    }
}

static void
one_element(axe_lowering *lw, axe_lblock *b, const block_at *at, bool zero)
{
    const axe_operand *dst = &lw->s->operand[0], *src = &lw->s->operand[1];
    axe_mem            to =
        axe_mem_of(lw, dst, at_uv(lw, dst, at->u, at->nu, at->v, at->nv));
    axe_mem from =
        axe_mem_of(lw, src, at_uv(lw, src, at->u, at->nu, at->v, at->nv));
    axe_type t = axe_held_as(lw, to.type), f = axe_held_as(lw, from.type);
    axe_reg  r;

    if (zero) {
        bool fl = axe_type_table[t].cls == AXE_CLASS_FLOAT;
        r = axe_emit_op(lw, b, fl ? AXE_LOP_fconst : AXE_LOP_iconst, t, 1, 0,
                        NULL);
    } else {
        r = axe_emit_op(lw, b, AXE_LOP_load, f, 1, 0, NULL);
        b->item[b->n - 1]->mem = from;
        if (f != t)
            r = axe_emit_op(lw, b, AXE_LOP_convert, t, 1, 1, &r);
    }
    put_store(lw, b, r, to);
}

static axe_lblock *
open_loop(axe_lowering *lw, axe_lblock *b, const char *name,
          const axe_node *begin, const axe_node *end, int64_t step,
          const axe_node **var)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_LOOP);

    l->var = axe_loop_var(lw, name);
    l->begin = begin;
    l->end = end;
    l->step = step;
    *var = axe_ivar(lw, l->var);
    return &l->body;
}

/* All of [u0, u1) x [v0, v1), one by one. */
static void
one_by_one(axe_lowering *lw, axe_lblock *b, block_at at, const axe_node *u0,
           const axe_node *u1, const axe_node *v0, const axe_node *v1,
           bool zero)
{
    int64_t lo, hi;

    if ((axe_is_iconst(u0, &lo) && axe_is_iconst(u1, &hi) && lo >= hi) ||
        (axe_is_iconst(v0, &lo) && axe_is_iconst(v1, &hi) && lo >= hi))
        return;
    b = open_loop(lw, b, at.u->var->name, u0, u1, 1, &at.nu);
    b = open_loop(lw, b, at.v->var->name, v0, v1, 1, &at.nv);
    one_element(lw, b, &at, zero);
}

/* min(max(limit - before, 0), end) */
static const axe_node *
up_to(axe_lowering *lw, axe_lblock *b, const axe_node *limit,
      const axe_node *before, const axe_node *end)
{
    const axe_node *left = axe_node2(lw->cx, AXE_OP_sub, limit, before);

    left = axe_node2(lw->cx, AXE_OP_max, left, axe_int(lw, 0));
    return axe_named(lw, b, "inside", axe_node2(lw->cx, AXE_OP_min, left, end));
}

/* How far [0, e) of v's fastest digit is inside operand i, and in its own
 * domain; both e in full code. */
static const axe_node *
inside(axe_lowering *lw, axe_lblock *b, const axe_var *v, int i,
       const axe_node *end)
{
    const axe_operand *op = &lw->s->operand[i];
    const axe_node    *before = axe_index_so_far(lw, v);

    for (int g = 0; g < op->n_guard && !lw->full; g++)
        if (op->guard[g].var == v)
            end = up_to(lw, b, op->guard[g].limit, before, end);
    for (int g = 0; g < lw->s->n_bound && i == 0 && !lw->full; g++)
        if (lw->s->bound[g].var == v)
            end = up_to(lw, b, lw->s->bound[g].limit, before, end);
    return end;
}

static const axe_node *
whole(axe_lowering *lw, axe_lblock *b, const axe_node *n, int64_t lanes)
{
    const axe_node *q = axe_node2(lw->cx, AXE_OP_div, n, axe_int(lw, lanes));

    return axe_named(lw, b, "whole",
                     axe_node2(lw->cx, AXE_OP_mul, q, axe_int(lw, lanes)));
}

static const axe_node *
extent_of(axe_lowering *lw, const axe_digit *d)
{
    const axe_nest *nest = &lw->s->nest[0];

    for (int i = 0; i < nest->n_dim && d->extent == 0; i++)
        if (nest->dim[i].var == d->var)
            return nest->dim[i].extent;
    return axe_int(lw, d->extent);
}

/* The digit element by element: how many are in a step of it. */
static axe_digit
by_element(const axe_lowering *lw, const axe_digit *d, int64_t *step)
{
    *step = d->var == lw->s->core->word_var ? lw->s->core->word : 1;
    return (axe_digit){d->var, d->weight / *step, d->extent * *step};
}

static const axe_node *
steps(axe_lowering *lw, axe_lblock *b, const axe_node *n, int64_t step)
{
    if (step == 1)
        return n;
    return axe_named(lw, b, "steps",
                     axe_node2(lw->cx, AXE_OP_div, n, axe_int(lw, step)));
}

/* The two innermost digits; user: is the source absent: outside its tensor? */
static axe_status
block_body(axe_lowering *lw, void *user)
{
    const bool      *absent = user;
    const axe_nest  *nest = &lw->s->nest[0];
    const axe_digit *du = &nest->digit[nest->n_digit - 2],
                    *dv = &nest->digit[nest->n_digit - 1];
    axe_lblock     *b = lw->level[lw->top].block, *inner;
    block_at        in = {du, dv, axe_int(lw, 0), axe_int(lw, 0)};
    const axe_node *zero = axe_int(lw, 0);
    int64_t         su, sv;
    axe_digit       eu = by_element(lw, du, &su), ev = by_element(lw, dv, &sv);
    block_at        at = {&eu, &ev, zero, zero};

    const axe_node *end_u = inside(lw, b, du->var, 0, extent_of(lw, &eu));
    const axe_node *end_v = inside(lw, b, dv->var, 0, extent_of(lw, &ev));
    if (*absent || axe_reads_zero(lw, &lw->s->operand[1])) {
        one_by_one(lw, b, at, zero, end_u, zero, end_v, true);
        return AXE_OK;
    }
    const axe_node *in_u = inside(lw, b, du->var, 1, end_u);
    const axe_node *in_v = inside(lw, b, dv->var, 1, end_v);
    const axe_node *w_u = whole(lw, b, in_u, nest->lanes * su);
    const axe_node *w_v = whole(lw, b, in_v, nest->lanes * sv);

    inner = open_loop(lw, b, in.u->var->name, zero, steps(lw, b, w_u, su),
                      nest->lanes, &in.nu);
    inner = open_loop(lw, inner, in.v->var->name, zero,
                      steps(lw, inner, w_v, sv), nest->lanes, &in.nv);
    whole_block(lw, inner, &in, nest->lanes);
    one_by_one(lw, b, at, zero, w_u, w_v, in_v, false);
    one_by_one(lw, b, at, w_u, in_u, zero, in_v, false);
    if (in_v != end_v)
        one_by_one(lw, b, at, zero, in_u, in_v, end_v, true);
    if (in_u != end_u)
        one_by_one(lw, b, at, in_u, end_u, zero, end_v, true);
    return AXE_OK;
}

static axe_status
open_blocks(axe_lowering *lw, axe_lblock *b, bool absent)
{
    axe_nest outer = lw->s->nest[0];

    outer.n_digit -= 2;
    outer.lanes = 1;
    lw->level[0].block = b;
    lw->top = 0;
    return axe_nest_open(lw, &outer, block_body, &absent);
}

/* Checks are the same for all elements (plan/cpu/map.c), so they are here. */
axe_status
axe_lower_transpose(axe_lowering *lw, axe_lblock *b)
{
    const axe_node *in;

    lw->stream = axe_over_caches(lw, b);
    lw->level[0] = (axe_open_level){.block = b};
    lw->top = 0;
    AXE_TRY(axe_take_reads(lw, &lw->s->operand[0]));
    AXE_TRY(axe_take_reads(lw, &lw->s->operand[1]));
    in = axe_inside(lw, &lw->s->operand[0]);
    if (in) {
        axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
        l->value = in;
        b = &l->body;
    }
    in = axe_inside(lw, &lw->s->operand[1]);
    if (!in)
        return open_blocks(lw, b, false);
    axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
    l->value = in;
    AXE_TRY(open_blocks(lw, &l->body, false));
    return open_blocks(lw, &l->other, true);
}
