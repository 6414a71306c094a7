/* convert.c - values from one type to another. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

static axe_reg
real_constant(axe_lowering *lw, axe_lblock *b, axe_reg like, double v)
{
    return axe_constant(lw, b, axe_fconst(lw->cx, AXE_NOWHERE, like.type, v),
                        like.lanes);
}

static axe_reg
emit(axe_lowering *lw, axe_lblock *b, axe_lop op, axe_type t, int n_src,
     const axe_reg *src)
{
    return axe_emit_op(lw, b, op, t, src[0].lanes, n_src, src);
}

/* Floating x as integers of type `to`: nearest, ties to even; what lies beyond
 * an end of the type becomes that end, and NaN 0. */
static axe_reg
whole(axe_lowering *lw, axe_lblock *b, axe_reg x, axe_type to)
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
    in = emit(lw, b, AXE_LOP_eq, axe_mask_type(x.type), 2, (axe_reg[]){x, x});
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
    in = emit(lw, b, AXE_LOP_le, axe_mask_type(x.type), 2, (axe_reg[]){top, x});
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
chop(axe_lowering *lw, axe_lblock *b, axe_reg r, int lanes)
{
    if (r.type != AXE_TYPE_f64)
        r = axe_emit_op(lw, b, AXE_LOP_convert, AXE_TYPE_f64, lanes, 1, &r);
    return axe_emit_op(lw, b, AXE_LOP_odd, AXE_TYPE_f32, lanes, 1, &r);
}

/* An index in the lanes as i32, where the cast cannot tell. */
bool
axe_emit_small_index(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                     int lanes, axe_reg *out)
{
    const axe_node *x = n->arg[0];
    bool low = !axe_type_is_float(n->type) && n->type != AXE_TYPE_u32 &&
               axe_type_table[n->type].bits <= 32;

    return lanes > 1 && x->type == AXE_TYPE_INDEX &&
           (low || axe_index_is_small(lw, x)) &&
           axe_lower_index(lw, b, x, AXE_TYPE_i32, lanes, out);
}

axe_reg
axe_emit_cast(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_reg r)
{
    axe_type t = axe_compute_of(lw, n->type);
    int      lanes = r.lanes;
    bool     narrow = axe_type_table[n->type].bits < axe_type_table[t].bits;
    bool     halves = narrow && axe_type_is_float(n->type);

    if (axe_type_table[r.type].cls == AXE_CLASS_FLOAT &&
        axe_type_table[n->type].cls != AXE_CLASS_FLOAT)
        return whole(lw, b, r, n->type);
    if (halves && axe_type_table[n->arg[0]->type].bits > 16 &&
        r.type != AXE_TYPE_f32)
        r = chop(lw, b, r, lanes);
    if (r.type != t)
        r = axe_emit_op(lw, b, AXE_LOP_convert, t, lanes, 1, &r);
    if (narrow && n->arg[0]->type != n->type) {
        r = axe_emit_op(lw, b, AXE_LOP_round, t, lanes, 1, &r);
        b->item[b->n - 1]->as = n->type;
    }
    return r;
}
