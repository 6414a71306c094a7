/* operation.c - an operation on values that are in registers, or in memory:
 * what it is in lowered code. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

axe_reg
axe_constant(axe_lowering *lw, axe_lblock *b, const axe_node *n, int lanes)
{
    axe_type t = axe_held_as(lw, n->type);
    bool     fl = axe_type_table[t].cls == AXE_CLASS_FLOAT;
    axe_reg  r = axe_emit_op(lw, b, fl ? AXE_LOP_fconst : AXE_LOP_iconst, t,
                             lanes, 0, NULL);
    axe_lir *l = b->item[b->n - 1];

    l->f = n->op == AXE_OP_fconst ? n->u.f : (double)n->u.i;
    l->i = n->op != AXE_OP_iconst     ? 0
           : n->type == AXE_TYPE_bool ? -n->u.i
                                      : n->u.i;
    return r;
}

/* Rows of a tile are short, and the next one is elsewhere: ask for it. */
static void
ask_for_next_row(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                 axe_mem mem)
{
    const axe_nest *nest = &lw->s->nest[0];

    if (lw->s->kind != AXE_SCHED_MAP || lw->s->core->ahead == 0 ||
        nest->n_digit < 2)
        return;
    const axe_digit *row = &nest->digit[nest->n_digit - 2];
    const axe_node  *at =
        axe_moved(lw, mem.at, op, row, axe_int(lw, lw->s->core->ahead));
    if (at == mem.at)
        return;
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    l->op = AXE_LOP_prefetch;
    l->i = lw->s->core->evict;
    l->mem = mem;
    l->mem.at = at;
}

/* Does the variable in the lanes move the operand? */
static bool
in_lanes(axe_lowering *lw, const axe_operand *op)
{
    axe_move *m = axe_new_array(lw->cx, axe_move, axe_operand_n_iter(op));
    axe_digit d = {lw->vector, 1, lw->lanes};
    int       n = lw->vector ? axe_operand_moves(op, &d, m) : 0;
    int64_t   sum = 0;

    for (int i = 0; i < n; i++)
        sum += m[i].stride.coef;
    return sum != 0;
}

/* A zero that becomes the operand's element where it is inside. */
static axe_reg
asked(axe_lowering *lw, axe_lblock *b, const axe_operand *op, axe_mem mem,
      axe_reg zero)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
    axe_reg  r = zero;

    l->value = axe_inside(lw, op);
    b = &l->body;
    r = axe_emit_load(lw, b, op, mem, zero.type,
                      in_lanes(lw, op) ? zero.lanes : 1);
    if (r.lanes != zero.lanes)
        r = axe_emit_op(lw, b, AXE_LOP_splat, r.type, zero.lanes, 1, &r);
    axe_emit_op(lw, b, AXE_LOP_copy, r.type, r.lanes, 1, &r);
    b->item[b->n - 1]->dst = zero;
    return zero;
}

/* The element, which lies at mem. */
static axe_reg
emit_at(axe_lowering *lw, axe_lblock *b, const axe_operand *op, axe_mem mem,
        int lanes)
{
    axe_type t = axe_held_as(lw, mem.type);
    bool     none = axe_reads_zero(lw, op);

    if (none || axe_inside(lw, op)) {
        const axe_node *zero = axe_type_table[t].cls == AXE_CLASS_FLOAT
                                   ? axe_fconst(lw->cx, AXE_NOWHERE, t, 0.0)
                                   : axe_iconst(lw->cx, AXE_NOWHERE, t, 0);
        axe_reg         r = axe_constant(lw, b, zero, lanes);
        return none ? r : asked(lw, b, op, mem, r);
    }
    bool    moves = in_lanes(lw, op);
    axe_reg r = axe_emit_load(lw, b, op, mem, t, moves ? lanes : 1);
    if (moves && lanes > 1 && !lw->part &&
        op->tensor->space == AXE_SPACE_GLOBAL)
        ask_for_next_row(lw, b, op, mem);
    if (r.lanes != lanes)
        r = axe_emit_op(lw, b, AXE_LOP_splat, t, lanes, 1, &r);
    return r;
}

axe_reg
axe_emit_operand(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                 int lanes)
{
    return emit_at(lw, b, op, axe_mem_of(lw, op, axe_address(lw, op)), lanes);
}

bool
axe_emit_bits(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
              axe_type as, int lanes, axe_reg *out)
{
    axe_mem mem = axe_mem_of(lw, op, axe_address(lw, op));

    if (lanes == 1 || lw->part || !in_lanes(lw, op) ||
        axe_type_table[mem.type].bits != axe_type_table[as].bits ||
        axe_held_as(lw, mem.type) == mem.type)
        return false;
    mem.type = as;
    *out = emit_at(lw, b, op, mem, lanes);
    return true;
}

static const struct {
    axe_op  op;
    axe_lop lop;
} plain[] = {
#define PLAIN(op, lop) {AXE_OP_##op, AXE_LOP_##lop},
#include "lower/cpu/plain.def"
};

/* Integers as wide as t, for masks. */
axe_type
axe_mask_type(axe_type t)
{
    return axe_type_table[t].bits == 64 ? AXE_TYPE_i64 : AXE_TYPE_i32;
}

/* Masks as wide as the values they choose from, or as one another. */
static void
fit_masks(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_reg *src)
{
    axe_type t =
        n->op == AXE_OP_select ? axe_mask_type(src[1].type) : src[0].type;

    for (int i = 0; i < n->n_arg; i++)
        if (n->arg[i]->type == AXE_TYPE_bool && src[i].type != t)
            src[i] = axe_emit_op(lw, b, AXE_LOP_convert, t, src[i].lanes, 1,
                                 &src[i]);
}

axe_reg
axe_wrap(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_reg r)
{
    if (axe_type_is_float(n->type) || n->type == AXE_TYPE_bool ||
        axe_type_table[n->type].bits >= axe_type_table[r.type].bits)
        return r;
    r = axe_emit_op(lw, b, AXE_LOP_round, r.type, r.lanes, 1, &r);
    b->item[b->n - 1]->as = n->type;
    return r;
}

/* Rounded up: -(-a / b). */
static axe_reg
quotient_up(axe_lowering *lw, axe_lblock *b, int lanes, axe_reg *src)
{
    axe_type t = src[0].type;
    axe_reg  r;

    src[0] = axe_emit_op(lw, b, AXE_LOP_neg, t, lanes, 1, src);
    r = axe_emit_op(lw, b, AXE_LOP_div, t, lanes, 2, src);
    return axe_emit_op(lw, b, AXE_LOP_neg, t, lanes, 1, &r);
}

/* A quotient or remainder by a power of two, which bits tell; false if n is
 * none.  a is the dividend. */
static bool
by_bits(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_reg a,
        axe_reg *out)
{
    int64_t c;
    int     k = 0;

    if ((n->op != AXE_OP_div && n->op != AXE_OP_mod) ||
        axe_type_is_float(n->type) || !axe_is_iconst(n->arg[1], &c) || c < 1 ||
        (c & (c - 1)) != 0)
        return false;
    while (c >> k > 1)
        k++;
    if (n->op == AXE_OP_div) {
        *out = axe_emit_op(lw, b, AXE_LOP_quo2, a.type, a.lanes, 1, &a);
        b->item[b->n - 1]->i = k;
        return true;
    }
    axe_reg low = axe_emit_op(lw, b, AXE_LOP_iconst, a.type, a.lanes, 0, NULL);
    b->item[b->n - 1]->i = c - 1;
    *out = axe_emit_op(lw, b, AXE_LOP_and, a.type, a.lanes, 2,
                       (axe_reg[]){a, low});
    return true;
}

/* A quotient or remainder of an index that is known to be small by what is the
 * same in all lanes; false if n is none. */
static bool
by_scalar(axe_lowering *lw, axe_lblock *b, const axe_node *n,
          const axe_reg *src, axe_reg *out)
{
    axe_reg r;

    if ((n->op != AXE_OP_div && n->op != AXE_OP_mod) || src[0].lanes == 1 ||
        src[0].type != AXE_TYPE_i64 || !axe_index_is_small(lw, n->arg[0]))
        return false;
    r = axe_emit_op(lw, b, AXE_LOP_quo, src[0].type, src[0].lanes, 2, src);
    if (n->op == AXE_OP_mod) {
        r = axe_emit_op(lw, b, AXE_LOP_mul, r.type, r.lanes, 2,
                        (axe_reg[]){r, src[1]});
        r = axe_emit_op(lw, b, AXE_LOP_sub, r.type, r.lanes, 2,
                        (axe_reg[]){src[0], r});
    }
    *out = r;
    return true;
}

axe_status
axe_emit_plain(axe_lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
               axe_reg *src, axe_reg *out)
{
    axe_type t = axe_compute_of(lw, n->type);

    if (by_bits(lw, b, n, src[0], out) || by_scalar(lw, b, n, src, out))
        return AXE_OK;
    fit_masks(lw, b, n, src);
    if ((n->op == AXE_OP_lt || n->op == AXE_OP_le) &&
        n->arg[0]->type == AXE_TYPE_bool) {
        axe_reg r = src[0];
        src[0] = src[1]; /* true is all ones, which is less than none */
        src[1] = r;
    }
    if (n->type == AXE_TYPE_bool)
        t = axe_mask_type(src[0].type);
    if (n->op == AXE_OP_cdiv) {
        *out = quotient_up(lw, b, lanes, src);
        return AXE_OK;
    }
    if (axe_lower_narrow_bits(lw, b, n, src, out))
        return AXE_OK;
    for (int i = 0; i < AXE_LEN(plain); i++)
        if (plain[i].op == n->op) {
            *out = axe_emit_op(lw, b, plain[i].lop, t, lanes, n->n_arg, src);
            *out = axe_wrap(lw, b, n, *out);
            return AXE_OK;
        }
    return axe_fail(lw->cx, n->at, AXE_EUNSUPPORTED,
                    "%s has no lowering for '%s'", lw->plan->machine->name,
                    axe_op_table[n->op].name);
}
