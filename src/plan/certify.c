/* certify.c - the addresses of a plan are those of its statement.
 *
 * For every operand in a tile the two maps are shown equal by algebra
 * (prove.c).  As a second net all index values (all of them up to MAX_POINTS,
 * else a grid) are put through the tensor's own layout, by flat
 * index, and through the plan's base and digit strides.  The two never share
 * code: one is axe_layout_at, the other slicing, grouping and cutting.  A
 * difference is our own bug. */
#include <assert.h>

#include "plan/simt_int.h"

enum { MAX_POINTS = 1 << 12 };

/* What variables are: indices by value, loops of constant length all in their
 * first turn or all in their last, everything else 0. */
typedef struct point {
    int                   n;
    const axe_var *const *var;
    const int64_t        *value;
    bool                  last;
} point;

static int64_t
at_point(const point *at, const axe_node *n)
{
    int64_t arg[3] = {0}, v = 0;

    if (n->op == AXE_OP_iconst)
        return n->u.i;
    if (n->op == AXE_OP_var) {
        for (int i = 0; i < at->n; i++)
            if (at->var[i] == n->u.var)
                return at->value[i];
        if (at->last && n->u.var->kind == AXE_VAR_LOOP && n->u.var->extent &&
            axe_is_iconst(n->u.var->extent, &v))
            v--;
        return v;
    }
    if (n->op == AXE_OP_load || n->n_arg == 0 || n->n_arg > AXE_LEN(arg))
        return 0;
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = at_point(at, n->arg[i]);
    return axe_op_value(n->op, arg, &v) ? v : 0;
}

/* Address by the plan: base + sum of digit * stride. */
static int64_t
planned(const axe_operand *op, const point *p)
{
    int64_t at = at_point(p, op->base);

    for (int i = 0; i < p->n; i++) {
        int64_t rest = p->value[i];
        for (int t = 0; t < op->n_term; t++) {
            const axe_term *term = &op->term[t];
            if (term->var != p->var[i])
                continue;
            rest = p->value[i];
            for (int k = term->n_iter - 1; k >= 0; k--) {
                at += rest % term->iter[k].extent * term->iter[k].stride;
                rest /= term->iter[k].extent;
            }
        }
    }
    return at;
}

/* Where the layout puts a flat index. */
static int64_t
place_in(const planner *p, const axe_tensor *t, int64_t flat)
{
    const axe_layout *l = p->place[t->id].layout;
    int64_t           at = 0;

    if (!p->simt)
        return axe_layout_at(l, flat, AXE_AXIS_M);
    const axe_axis axis[] = {AXE_AXIS_M, p->simt->reg, p->simt->tlane,
                             p->simt->tcol};
    for (int i = 0; i < AXE_LEN(axis); i++)
        at += axe_simt_places(p, t, axis[i]) * axe_layout_at(l, flat, axis[i]);
    return at;
}

/* Address by the definition: the layout at the flat index.  False if that is
 * not inside the tile, as in turns of loops that branches exclude. */
static bool
defined(const planner *p, const axe_operand *op, const point *at, int64_t *out)
{
    int64_t flat = 0;

    for (int d = 0; d < op->tensor->rank; d++) {
        int64_t full = 0, x = at_point(at, op->load->arg[d]);
        axe_is_iconst(op->tensor->shape[d], &full);
        if (x < 0 || x >= full)
            return false;
        flat = flat * full + x;
    }
    *out = place_in(p, op->tensor, flat);
    return true;
}

static int64_t
certify_tile(planner *p, const axe_schedule *s, const axe_operand *op)
{
    const axe_var *var[16];
    int64_t        extent[16], value[16] = {0}, points = 1, proved = 0;
    int            n = 0;

    for (int k = 0; k < s->n_nest; k++)
        for (int j = 0; j < s->nest[k].n_dim && n < AXE_LEN(var); j++) {
            const axe_dim *d = &s->nest[k].dim[j];
            bool           used = false;
            for (int t = 0; t < op->n_term; t++)
                used = used || op->term[t].var == d->var;
            for (int t = 0; t < n; t++)
                used = used && var[t] != d->var;
            if (!used)
                continue;
            var[n] = d->var;
            extent[n] = axe_dim_extent(d);
            points *= extent[n] < MAX_POINTS ? extent[n] : MAX_POINTS;
            if (points > MAX_POINTS)
                points = MAX_POINTS + 1;
            n++;
        }
    for (;;) {
        for (int last = 0; last < 2; last++) {
            point   at = {n, var, value, last == 1};
            int64_t want;
            if (!defined(p, op, &at, &want))
                continue;
            assert(planned(op, &at) == want);
            proved += last == 0;
        }
        int i = n - 1;
        for (; i >= 0; i--) {
            int64_t step =
                points > MAX_POINTS && extent[i] > 16 ? extent[i] / 16 + 1 : 1;
            if ((value[i] += step) < extent[i])
                break;
            value[i] = 0;
        }
        if (i < 0)
            return proved;
    }
}

void
axe_certify(planner *p, axe_schedule *s)
{
    axe_proof proof;

    for (int i = 0; i < s->n_operand; i++) {
        if (s->operand[i].tensor->space == AXE_SPACE_GLOBAL)
            continue;
        proof = axe_prove_operand(p, s, &s->operand[i]);
        assert(proof != AXE_PROOF_WRONG);
        s->n_tile++;
        s->n_equal += proof == AXE_PROOF_EQUAL;
        s->n_proved += certify_tile(p, s, &s->operand[i]);
    }
}

/* ------------------------------------------------------------------- views */

/* Values for the variables of an address: any will do, if tiles begin where
 * they are said to. */
static int64_t
value_of(const planner *p, const axe_var *v)
{
    const axe_retile *r = axe_retile_of(p->n_retile, p->retile, v);

    if (r && v == r->origin)
        return value_of(p, r->scope) * r->tile;
    return 3 + (v->id & 7) + (v->kind == AXE_VAR_SIZE ? 1000 : 0);
}

/* The value of a sum of products. */
static int64_t
evaluate(const planner *p, const axe_node *n)
{
    if (n->op == AXE_OP_iconst)
        return n->u.i;
    if (n->op == AXE_OP_var)
        return value_of(p, n->u.var);
    assert(n->op == AXE_OP_add || n->op == AXE_OP_sub || n->op == AXE_OP_mul);
    int64_t a = evaluate(p, n->arg[0]), b = evaluate(p, n->arg[1]);
    return n->op == AXE_OP_add ? a + b : n->op == AXE_OP_sub ? a - b : a * b;
}

static int64_t
step_value(const planner *p, int64_t stride, axe_unit unit)
{
    for (int i = 0; i < axe_unit_n_factor(p->cx, unit); i++)
        for (int k = 0; k < p->kernel->n_size; k++)
            if (axe_unit_factor(p->cx, unit, i) == p->kernel->size[k]->name)
                stride *= value_of(p, p->kernel->size[k]);
    return stride;
}

/* The value of index v: that of the dimension of the tile which it walks. */
static int64_t
index_value(const axe_node *access, const axe_var *v, const int64_t *value)
{
    for (int d = 0; d < access->n_arg; d++)
        if (access->arg[d]->op == AXE_OP_var && access->arg[d]->u.var == v)
            return value[d];
    return 0;
}

int64_t
axe_certify_view(planner *p, const axe_operand *src, const axe_node *load,
                 const axe_schedule *fill)
{
    const axe_node *from = fill->operand[1].load, *dst = fill->stmt->dst;
    int64_t         value[16] = {0};

    for (int i = 0; i < 1 << load->n_arg && load->n_arg <= 4; i++) {
        int64_t at = evaluate(p, src->base), want = 0;
        for (int d = 0; d < load->n_arg; d++)
            value[d] = i >> d & 1 ? 5 + d : 0;
        for (int t = 0; t < src->n_term; t++)
            at += index_value(load, src->term[t].var, value) *
                  step_value(p, src->term[t].iter[0].stride,
                             src->term[t].iter[0].unit);
        for (int d = 0; d < from->n_arg; d++) {
            axe_affine a;
            int64_t    x = 0;
            if (!axe_affine_of(p->cx, from->arg[d], &a))
                return 0;
            x = a.constant;
            for (int k = 0; k < a.n; k++)
                x += a.coef[k] * (a.var[k]->kind == AXE_VAR_INDEX
                                      ? index_value(dst, a.var[k], value)
                                      : value_of(p, a.var[k]));
            want += x * step_value(p, src->tensor->stride[d].coef,
                                   src->tensor->stride[d].unit);
        }
        assert(at == want);
    }
    return 1 << load->n_arg;
}
