/* value.c - expressions as register operations, each at the outermost level
 * where it is known.
 *
 * A node belongs to the deepest open loop whose index it mentions; it is
 * computed once there and remembered, so what does not move with an inner loop
 * is outside it.  A node is a vector iff it mentions the variable in the lanes;
 * one-lane values are splatted where vectors need them. */
#include <assert.h>
#include <string.h>

#include "lower/lower_int.h"

int
axe_level_of(const lowering *lw, const axe_node *n)
{
    int l = lw->top;

    while (l > 0 &&
           !(lw->level[l].index && axe_mentions(n, lw->level[l].index)))
        l--;
    return l;
}

static memo *
recall(const lowering *lw, int at, const axe_node *n, bool splat)
{
    for (memo *m = lw->level[at].known; m; m = m->next)
        if (m->node == n && m->splat == splat)
            return m;
    return NULL;
}

static void
remember(lowering *lw, int at, const axe_node *n, bool splat, axe_reg r)
{
    memo *m = axe_new(lw->cx, memo);

    *m = (memo){n, splat, r, lw->level[at].known};
    lw->level[at].known = m;
}

void
axe_remember(lowering *lw, int at, const axe_node *n, axe_reg r)
{
    remember(lw, at, n, false, r);
}

static bool
is_vector(const lowering *lw, const axe_node *n)
{
    return lw->vector && axe_mentions(n, lw->vector);
}

axe_status
axe_value_in(lowering *lw, const axe_node *want, int lanes, axe_reg *out)
{
    const axe_node *n = axe_decided(lw, want);
    axe_reg         r;
    int             l = axe_level_of(lw, n);
    memo           *m;

    AXE_TRY(axe_lower_value(lw, n, &r));
    if (r.lanes != lanes) {
        m = recall(lw, l, n, true);
        if (m && m->reg.lanes == lanes)
            r = m->reg;
        else {
            r = axe_emit_op(lw, lw->level[l].block, AXE_LOP_splat, r.type,
                            lanes, 1, &r);
            remember(lw, l, n, true, r);
        }
    }
    *out = r;
    return AXE_OK;
}

axe_reg
axe_constant(lowering *lw, axe_lblock *b, const axe_node *n, int lanes)
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
ask_for_next_row(lowering *lw, axe_lblock *b, const axe_operand *op,
                 axe_mem mem)
{
    const axe_nest *nest = &lw->s->nest[0];

    if (lw->s->kind != AXE_SCHED_MAP || lw->s->ahead == 0 || nest->n_digit < 2)
        return;
    const axe_digit *row = &nest->digit[nest->n_digit - 2];
    const axe_node  *at =
        axe_moved(lw, mem.at, op, row, axe_int(lw, lw->s->ahead));
    if (at == mem.at)
        return;
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    l->op = AXE_LOP_prefetch;
    l->i = lw->s->evict;
    l->mem = mem;
    l->mem.at = at;
}

/* Does the variable in the lanes move the operand? */
static bool
in_lanes(lowering *lw, const axe_operand *op)
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
asked(lowering *lw, axe_lblock *b, const axe_operand *op, axe_reg zero)
{
    axe_mem  mem = axe_mem_of(lw, op, axe_address(lw, op));
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

static axe_status
load(lowering *lw, axe_lblock *b, const axe_node *n, int lanes, axe_reg *out)
{
    int i = 0;

    while (lw->s->operand[i].load != n)
        i++;
    const axe_operand *op = &lw->s->operand[i];
    AXE_TRY(axe_take_reads(lw, op));
    axe_mem  mem = axe_mem_of(lw, op, axe_address(lw, op));
    axe_type t = axe_held_as(lw, mem.type);

    bool none = axe_reads_zero(lw, op);

    if (none || axe_inside(lw, op)) {
        const axe_node *zero = axe_type_table[t].cls == AXE_CLASS_FLOAT
                                   ? axe_fconst(lw->cx, AXE_NOWHERE, t, 0.0)
                                   : axe_iconst(lw->cx, AXE_NOWHERE, t, 0);
        axe_reg         r = axe_constant(lw, b, zero, lanes);
        *out = none ? r : asked(lw, b, op, r);
        return AXE_OK;
    }
    bool    moves = in_lanes(lw, op);
    axe_reg r = axe_emit_load(lw, b, op, mem, t, moves ? lanes : 1);
    if (moves && lanes > 1 && !lw->part &&
        op->tensor->space == AXE_SPACE_GLOBAL)
        ask_for_next_row(lw, b, op, mem);
    if (r.lanes != lanes)
        r = axe_emit_op(lw, b, AXE_LOP_splat, t, lanes, 1, &r);
    *out = r;
    return AXE_OK;
}

static const struct {
    axe_op  op;
    axe_lop lop;
} plain[] = {
#define PLAIN(op, lop) {AXE_OP_##op, AXE_LOP_##lop},
#include "lower/plain.def"
};

/* Integers as wide as t, for masks. */
static axe_type
mask_type(axe_type t)
{
    return axe_type_table[t].bits == 64 ? AXE_TYPE_i64 : AXE_TYPE_i32;
}

/* Masks as wide as the values they choose from, or as one another. */
static void
fit_masks(lowering *lw, axe_lblock *b, const axe_node *n, axe_reg *src)
{
    axe_type t = n->op == AXE_OP_select ? mask_type(src[1].type) : src[0].type;

    for (int i = 0; i < n->n_arg; i++)
        if (n->arg[i]->type == AXE_TYPE_bool && src[i].type != t)
            src[i] = axe_emit_op(lw, b, AXE_LOP_convert, t, src[i].lanes, 1,
                                 &src[i]);
}

axe_reg
axe_wrap(lowering *lw, axe_lblock *b, const axe_node *n, axe_reg r)
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
quotient_up(lowering *lw, axe_lblock *b, int lanes, axe_reg *src)
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
by_bits(lowering *lw, axe_lblock *b, const axe_node *n, axe_reg a, axe_reg *out)
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
by_scalar(lowering *lw, axe_lblock *b, const axe_node *n, const axe_reg *src,
          axe_reg *out)
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

static axe_status
plain_op(lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
         axe_reg *out)
{
    axe_reg  src[3];
    axe_type t = axe_compute_of(lw, n->type);

    if (lanes > 1 && axe_lower_index_mask(lw, b, n, lanes, out))
        return AXE_OK;
    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(axe_value_in(lw, n->arg[i], lanes, &src[i]));
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
        t = mask_type(src[0].type);
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

static axe_reg
real_constant(lowering *lw, axe_lblock *b, axe_reg like, double v)
{
    return axe_constant(lw, b, axe_fconst(lw->cx, AXE_NOWHERE, like.type, v),
                        like.lanes);
}

static axe_reg
emit(lowering *lw, axe_lblock *b, axe_lop op, axe_type t, int n_src,
     const axe_reg *src)
{
    return axe_emit_op(lw, b, op, t, src[0].lanes, n_src, src);
}

/* Floating x as integers of type `to`: nearest, ties to even; what lies beyond
 * an end of the type becomes that end, and NaN 0. */
static axe_reg
whole(lowering *lw, axe_lblock *b, axe_reg x, axe_type to)
{
    const axe_type_info *info = &axe_type_table[to];
    bool                 sign = info->cls == AXE_CLASS_INT;
    int                  w = info->bits - sign;
    axe_reg              in, y, top;

    if (info->bits == 64 && x.type == AXE_TYPE_f32)
        x = emit(lw, b, AXE_LOP_convert, AXE_TYPE_f64, 1, &x);
    int    p = x.type == AXE_TYPE_f64 ? 53 : 24;
    double end = (double)(UINT64_C(1) << (w - 1)) * 2;
    double hi = w <= p ? end - 1 : end - (double)(UINT64_C(1) << (w - p));
    in = emit(lw, b, AXE_LOP_eq, mask_type(x.type), 2, (axe_reg[]){x, x});
    y = real_constant(lw, b, x, 0);
    y = emit(lw, b, AXE_LOP_select, x.type, 3, (axe_reg[]){in, x, y});
    top = real_constant(lw, b, x, sign ? -end : 0);
    y = emit(lw, b, AXE_LOP_max, x.type, 2, (axe_reg[]){y, top});
    top = real_constant(lw, b, x, hi);
    y = emit(lw, b, AXE_LOP_min, x.type, 2, (axe_reg[]){y, top});
    y = emit(lw, b, AXE_LOP_nearest, x.type, 1, &y);
    y = emit(lw, b, AXE_LOP_convert, axe_compute_of(lw, to), 1, &y);
    if (w <= p)
        return y;
    top = real_constant(lw, b, x, end);
    in = emit(lw, b, AXE_LOP_le, mask_type(x.type), 2, (axe_reg[]){top, x});
    top = axe_constant(lw, b,
                       axe_iconst(lw->cx, AXE_NOWHERE, y.type,
                                  w == 64   ? -1
                                  : w == 32 ? UINT32_MAX
                                            : INT64_MAX >> (63 - w)),
                       x.lanes);
    return emit(lw, b, AXE_LOP_select, y.type, 3, (axe_reg[]){in, top, y});
}

/* To f32 on the way to a narrower type, so that only the last step rounds. */
static axe_reg
chop(lowering *lw, axe_lblock *b, axe_reg r, int lanes)
{
    if (r.type != AXE_TYPE_f64)
        r = axe_emit_op(lw, b, AXE_LOP_convert, AXE_TYPE_f64, lanes, 1, &r);
    return axe_emit_op(lw, b, AXE_LOP_odd, AXE_TYPE_f32, lanes, 1, &r);
}

/* An index in the lanes as i32, where the cast cannot tell. */
static bool
small_index(lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
            axe_reg *out)
{
    const axe_node *x = n->arg[0];
    bool low = !axe_type_is_float(n->type) && n->type != AXE_TYPE_u32 &&
               axe_type_table[n->type].bits <= 32;

    return lanes > 1 && x->type == AXE_TYPE_INDEX &&
           (low || axe_index_is_small(lw, x)) &&
           axe_lower_index(lw, b, x, AXE_TYPE_i32, lanes, out);
}

static axe_status
cast(lowering *lw, axe_lblock *b, const axe_node *n, int lanes, axe_reg *out)
{
    axe_type t = axe_compute_of(lw, n->type);
    axe_reg  r;
    bool     narrow = axe_type_table[n->type].bits < axe_type_table[t].bits;
    bool     halves = narrow && axe_type_is_float(n->type);

    if (!small_index(lw, b, n, lanes, &r))
        AXE_TRY(axe_value_in(lw, n->arg[0], lanes, &r));
    if (axe_type_table[r.type].cls == AXE_CLASS_FLOAT &&
        axe_type_table[n->type].cls != AXE_CLASS_FLOAT) {
        *out = whole(lw, b, r, n->type);
        return AXE_OK;
    }
    if (halves && axe_type_table[n->arg[0]->type].bits > 16 &&
        r.type != AXE_TYPE_f32)
        r = chop(lw, b, r, lanes);
    if (r.type != t)
        r = axe_emit_op(lw, b, AXE_LOP_convert, t, lanes, 1, &r);
    if (narrow && n->arg[0]->type != n->type) {
        r = axe_emit_op(lw, b, AXE_LOP_round, t, lanes, 1, &r);
        b->item[b->n - 1]->as = n->type;
    }
    *out = r;
    return AXE_OK;
}

axe_status
axe_lower_value(lowering *lw, const axe_node *want, axe_reg *out)
{
    const axe_node *n = axe_decided(lw, want);
    int l = axe_level_of(lw, n), lanes = is_vector(lw, n) ? lw->lanes : 1;
    axe_lblock *b = lw->level[l].block;
    memo       *m = recall(lw, l, n, false);
    axe_reg     r;

    if (m && m->reg.lanes == lanes) {
        *out = m->reg;
        return AXE_OK;
    }
    if (lanes > 1 && n->type == AXE_TYPE_INDEX &&
        axe_lower_index(lw, b, n, AXE_TYPE_i64, lanes, out)) {
        remember(lw, l, n, false, *out);
        return AXE_OK;
    }
    switch (n->op) {
    case AXE_OP_fconst:
    case AXE_OP_iconst:
        r = axe_constant(lw, b, n, lanes);
        break;
    case AXE_OP_load:
        AXE_TRY(load(lw, b, n, lanes, &r));
        break;
    case AXE_OP_var:
        r = axe_emit_op(lw, b, AXE_LOP_index, AXE_TYPE_i64, 1, 0, NULL);
        b->item[b->n - 1]->value = n->u.var->kind == AXE_VAR_INDEX
                                       ? axe_index_so_far(lw, n->u.var)
                                       : axe_ivar(lw, n->u.var);
        break;
    case AXE_OP_cast:
        AXE_TRY(cast(lw, b, n, lanes, &r));
        break;
    case AXE_OP_bitcast:
        AXE_TRY(axe_value_in(lw, n->arg[0], lanes, &r));
        r = axe_lower_bitcast(lw, b, n, r);
        break;
    case AXE_OP_reduce:
        AXE_TRY(axe_lower_fold(lw, l, n, lanes, &r));
        break;
    default:
        AXE_TRY(plain_op(lw, b, n, lanes, &r));
    }
    remember(lw, l, n, false, r);
    *out = r;
    return AXE_OK;
}
