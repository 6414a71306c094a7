/* index.c - index variables as values, and the masks they make.
 *
 * In the lanes an affine index expression is start + coef * lane.  A comparison
 * of two such expressions is one of their difference with zero, so that 64-bit
 * indices are compared in lanes as narrow as the values that the mask chooses
 * from: the start, known before the vector, is clamped to just beyond what the
 * lanes can reach.  A mask that is the same all over a statement's domain is
 * known from the corners of the domain, before the statement runs. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/lower_int.h"

/* A variable that is no index. */
static const axe_node *
outer_value(axe_lowering *lw, const axe_var *v)
{
    return v->kind == AXE_VAR_PART ? v->extent : axe_ivar(lw, v);
}

/* The expression at the bound digits, where the lanes' variable begins. */
static const axe_node *
start_of(axe_lowering *lw, const axe_affine *a)
{
    const axe_node *sum = axe_int(lw, a->constant);

    for (int i = 0; i < a->n; i++) {
        const axe_var  *v = a->var[i];
        const axe_node *at = v->kind == AXE_VAR_INDEX ? axe_index_so_far(lw, v)
                                                      : outer_value(lw, v);
        sum =
            axe_sum(lw, sum,
                    axe_scaled(lw, at, (axe_stride){a->coef[i], AXE_UNIT_ONE}));
    }
    return sum;
}

/* A scalar index in every lane, as type t. */
static axe_reg
spread(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_type t,
       int lanes)
{
    axe_reg r = axe_emit_op(lw, b, AXE_LOP_index, AXE_TYPE_i64, 1, 0, NULL);

    b->item[b->n - 1]->value = n;
    if (t != AXE_TYPE_i64)
        r = axe_emit_op(lw, b, AXE_LOP_convert, t, 1, 1, &r);
    return lanes == 1 ? r : axe_emit_op(lw, b, AXE_LOP_splat, t, lanes, 1, &r);
}

static axe_reg
ramp(axe_lowering *lw, axe_lblock *b, int64_t step, axe_type t, int lanes)
{
    axe_reg r = axe_emit_op(lw, b, AXE_LOP_lanes, t, lanes, 0, NULL);

    b->item[b->n - 1]->i = step;
    return r;
}

/* step * lane fits i32 for all lanes. */
static bool
small_step(int64_t step, int lanes)
{
    return step > INT32_MIN / lanes && step < INT32_MAX / lanes;
}

bool
axe_lower_index(axe_lowering *lw, axe_lblock *b, const axe_node *n, axe_type t,
                int lanes, axe_reg *out)
{
    axe_affine a;
    int64_t    step;

    if (!axe_affine_of(lw->cx, n, &a))
        return false;
    step = axe_affine_coef(&a, lw->vector);
    if (t != AXE_TYPE_i64 && !small_step(step, lanes))
        return false;
    *out = spread(lw, b, start_of(lw, &a), t, lanes);
    *out = axe_emit_op(lw, b, AXE_LOP_add, t, lanes, 2,
                       (axe_reg[]){*out, ramp(lw, b, step, t, lanes)});
    return true;
}

static const struct {
    axe_op  op;
    axe_lop lop;
} compare[] = {
    {AXE_OP_eq, AXE_LOP_eq},
    {AXE_OP_ne, AXE_LOP_ne},
    {AXE_OP_lt, AXE_LOP_lt},
    {AXE_OP_le, AXE_LOP_le},
};

bool
axe_lower_index_mask(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                     int lanes, axe_reg *out)
{
    bool     wide = lanes * 64 <= lw->plan->machine->vector_bits;
    axe_type t = wide ? AXE_TYPE_i64 : AXE_TYPE_i32;
    int64_t  step, far;
    int      i = 0;

    while (i < AXE_LEN(compare) && compare[i].op != n->op)
        i++;
    if (i == AXE_LEN(compare) || n->arg[0]->type != AXE_TYPE_INDEX)
        return false;
    axe_affine      a;
    const axe_node *d = axe_node2(lw->cx, AXE_OP_sub, n->arg[0], n->arg[1]);
    if (!axe_affine_of(lw->cx, d, &a))
        return false;
    step = axe_affine_coef(&a, lw->vector);
    if (!small_step(step, lanes))
        return false;
    far = step == 0 ? 1 : (step < 0 ? -step : step) * lanes;
    const axe_node *s = axe_node1(lw->cx, AXE_OP_neg, start_of(lw, &a));
    s = axe_node2(lw->cx, AXE_OP_max, s, axe_int(lw, -far));
    s = axe_node2(lw->cx, AXE_OP_min, s, axe_int(lw, far));
    axe_reg edge = spread(lw, b, s, t, lanes);
    *out = axe_emit_op(lw, b, compare[i].lop, t, lanes, 2,
                       (axe_reg[]){ramp(lw, b, step, t, lanes), edge});
    return true;
}

/* ------------------------------------------------- decided by the corners */

const axe_node *
axe_corner(axe_lowering *lw, const axe_node *outer, const axe_affine *a,
           bool high)
{
    const axe_node *sum = axe_sum(lw, outer, axe_int(lw, a->constant));

    for (int i = 0; i < a->n; i++) {
        const axe_var  *v = a->var[i];
        const axe_node *at = outer_value(lw, v);
        if (v->kind == AXE_VAR_INDEX) {
            at = axe_extent_of(lw->s, v);
            if (!at)
                return NULL;
            if ((a->coef[i] > 0) != high)
                continue;
            at = axe_node2(lw->cx, AXE_OP_sub, at, axe_int(lw, 1));
        }
        sum =
            axe_sum(lw, sum,
                    axe_scaled(lw, at, (axe_stride){a->coef[i], AXE_UNIT_ONE}));
    }
    return sum;
}

bool
axe_index_is_small(axe_lowering *lw, const axe_node *n)
{
    const axe_node *end[2];
    axe_affine      a;
    int64_t         v;
    bool            ok = axe_affine_of(lw->cx, n, &a);

    for (int high = 0; ok && high < 2; high++) {
        end[high] = axe_corner(lw, axe_int(lw, 0), &a, high);
        ok = end[high] && axe_is_iconst(end[high], &v) && v >= INT32_MIN &&
             v <= INT32_MAX;
    }
    return ok;
}

bool
axe_mask_corners(axe_lowering *lw, const axe_node *n, const axe_node **all,
                 const axe_node **none)
{
    axe_affine      a;
    const axe_node *lo, *hi, *zero = axe_int(lw, 0);
    axe_op          no = n->op == AXE_OP_le ? AXE_OP_lt : AXE_OP_le;

    if ((n->op != AXE_OP_lt && n->op != AXE_OP_le) ||
        n->arg[0]->type != AXE_TYPE_INDEX)
        return false;
    if (!axe_affine_of(lw->cx,
                       axe_node2(lw->cx, AXE_OP_sub, n->arg[1], n->arg[0]), &a))
        return false;
    lo = axe_corner(lw, axe_int(lw, 0), &a, false);
    hi = axe_corner(lw, axe_int(lw, 0), &a, true);
    if (!lo || !hi)
        return false;
    *all = axe_node2(lw->cx, n->op, zero, lo);
    *none = axe_node2(lw->cx, no, hi, zero);
    axe_interval r = axe_interval_of(hi);
    if (r.has_lo && r.lo >= (n->op == AXE_OP_lt))
        *none = axe_iconst(lw->cx, n->at, AXE_TYPE_bool, 0);
    return true;
}

/* Are all index variables of `a` but v at open loops, with all their digits? */
static bool
all_bound(const axe_lowering *lw, const axe_affine *a, const axe_var *v)
{
    for (int i = 0; i < a->n; i++) {
        const axe_open_digit *b = lw->bound;
        if (a->var[i] == v || a->var[i]->kind != AXE_VAR_INDEX)
            continue;
        while (b && b->of.var != a->var[i])
            b = b->next;
        if (!b)
            return false;
    }
    return true;
}

const axe_node *
axe_mask_flip(axe_lowering *lw, const axe_node *n, const axe_var *v,
              bool *first)
{
    axe_affine      a;
    const axe_node *d, *edge;
    bool            lt = n->op == AXE_OP_lt;
    int64_t         c;

    if ((n->op != AXE_OP_lt && n->op != AXE_OP_le) ||
        n->arg[0]->type != AXE_TYPE_INDEX)
        return NULL;
    d = axe_node2(lw->cx, AXE_OP_sub, n->arg[1], n->arg[0]);
    if (!axe_affine_of(lw->cx, d, &a) || !all_bound(lw, &a, v))
        return NULL;
    c = axe_affine_coef(&a, v);
    if (c != 1 && c != -1)
        return NULL;
    *first = c == -1;
    edge = start_of(lw, &a);
    edge = axe_node2(
        lw->cx, AXE_OP_sub, edge,
        axe_scaled(lw, axe_index_so_far(lw, v), (axe_stride){c, AXE_UNIT_ONE}));
    if (c == 1)
        edge = axe_node1(lw->cx, AXE_OP_neg, edge);
    return axe_sum(lw, edge, axe_int(lw, lt == *first ? 0 : 1));
}

const axe_node *
axe_find_mask(axe_lowering *lw, const axe_node *n, mask_fits *fits,
              const void *user)
{
    const axe_node *found = NULL;

    if (n->op == AXE_OP_load)
        return NULL;
    if (n->op == AXE_OP_select && fits(lw, n->arg[0], user))
        return n->arg[0];
    for (int i = 0; !found && i < n->n_arg; i++)
        found = axe_find_mask(lw, n->arg[i], fits, user);
    return found;
}

const axe_node *
axe_decided(const axe_lowering *lw, const axe_node *n)
{
    while (n->op == AXE_OP_select && lw->mask &&
           axe_node_same(n->arg[0], lw->mask))
        n = n->arg[lw->holds ? 1 : 2];
    return n;
}
