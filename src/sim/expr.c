/* expr.c - expressions of lowered code, for all lanes of a warp at once.
 *
 * An expression becomes a list in postfix order, so that evaluation has no
 * recursion and one stack serves all warps.  What is the same in all lanes is
 * computed once.  Floating-point values are kept as doubles and rounded to
 * their type after every operation, which for f32 and smaller is the correctly
 * rounded result of + - * / and sqrt. */
#include <string.h>

#include "sim/bits.h"
#include "sim/sim_int.h"

/* ---------------------------------------------------------------- making */

/* Conditions in one another; what is under more is checked in all lanes. */
enum { MOST_UNDER = 32 };

typedef struct maker {
    sim          *s;
    sim_code     *code;
    sim_term     *term;
    int           n, cap, depth, most, n_under;
    sim_under     under[MOST_UNDER];
    bool          text; /* its width is that of its text, of this use: */
    axe_index_use use;
} maker;

static sim_term *
add_term(maker *m, const axe_node *n, bool lanes, int n_arg)
{
    if (m->n == m->cap) {
        int       cap = m->cap ? 2 * m->cap : 8;
        sim_term *term = axe_new_array(m->s->own, sim_term, cap);
        if (m->n > 0)
            memcpy(term, m->term, (size_t)m->n * sizeof term[0]);
        m->term = term;
        m->cap = cap;
    }
    m->depth += 1 - n_arg;
    if (m->depth > m->most)
        m->most = m->depth;
    sim_term *t = &m->term[m->n++];
    *t = (sim_term){.op = n->op,
                    .type = n->type,
                    .from = n_arg > 0 ? n->arg[0]->type : n->type,
                    .lanes = lanes};
    return t;
}

static axe_status
array_of(maker *m, const axe_node *n, int *out)
{
    const axe_grid *g = m->s->g;

    for (int i = 0; i < g->n_array; i++)
        if (g->array[i] == n->u.tensor) {
            *out = i;
            return AXE_OK;
        }
    return axe_fail(m->s->cx, n->at, AXE_EUNSUPPORTED,
                    "the simulator: an expression reads %s, which is no array "
                    "of registers",
                    n->u.tensor->name);
}

static axe_status make(maker *m, const axe_node *n, bool *lanes);

static axe_status
make_leaf(maker *m, const axe_node *n, bool *lanes)
{
    sim_term *t;
    int       slot;

    if (n->op == AXE_OP_var) {
        slot = axe_sim_slot(m->s, m->code, n->u.var);
        *lanes = m->code->lanes[slot];
    } else if (n->op == AXE_OP_load) {
        AXE_TRY(array_of(m, n, &slot));
        AXE_TRY(make(m, n->arg[0], lanes));
        *lanes = true;
    } else {
        *lanes = false;
        slot = 0;
    }
    t = add_term(m, n, *lanes, n->op == AXE_OP_load);
    t->slot = slot;
    if (n->op == AXE_OP_load && m->n_under > 0 && m->n_under <= MOST_UNDER) {
        sim_under *u = axe_new_array(m->s->own, sim_under, m->n_under);
        memcpy(u, m->under, (size_t)m->n_under * sizeof *u);
        t->n_under = m->n_under;
        t->under = u;
    }
    if (n->op == AXE_OP_iconst)
        t->i = n->u.i;
    if (n->op == AXE_OP_fconst)
        t->f = axe_sim_round(n->type, n->u.f);
    return AXE_OK;
}

static void
note_text(const maker *m, const axe_node *n, sim_term *t)
{
    bool divides =
        n->op == AXE_OP_div || n->op == AXE_OP_mod || n->op == AXE_OP_cdiv;
    int k;

    if (!m->text || n->type != AXE_TYPE_INDEX)
        return;
    t->narrow = !axe_index_text_is_wide(m->code->index, n, m->use);
    t->whole = divides && axe_index_quotient(n, &k) == AXE_QUOTIENT_WHOLE;
    t->rounds = n->op == AXE_OP_cdiv && t->narrow &&
                axe_index_quotient(n, &k) != AXE_QUOTIENT_FLOOR;
}

/* Does the text evaluate further operands only as the first one says? */
static bool
is_lazy(axe_op op)
{
    return op == AXE_OP_select || op == AXE_OP_and || op == AXE_OP_or;
}

/* Operand i comes next: the first one is i values down the stack. */
static void
begin_under(maker *m, int i, bool unless)
{
    if (m->n_under < MOST_UNDER)
        m->under[m->n_under] = (sim_under){m->depth - i, !unless};
    m->n_under++;
}

static axe_status
make(maker *m, const axe_node *n, bool *lanes)
{
    bool any = false, one;

    if (axe_op_table[n->op].traits & AXE_TRAIT_LEAF)
        return make_leaf(m, n, lanes);
    if (n->op == AXE_OP_reduce)
        return axe_fail(m->s->cx, n->at, AXE_EUNSUPPORTED,
                        "the simulator: a reduction in lowered code");
    for (int i = 0; i < n->n_arg; i++) {
        bool lazy = is_lazy(n->op) && i > 0;
        if (lazy)
            begin_under(m, i, n->op == AXE_OP_or || i == 2);
        AXE_TRY(make(m, n->arg[i], &one));
        m->n_under -= lazy;
        any = any || one;
    }
    *lanes = any;
    note_text(m, n, add_term(m, n, any, n->n_arg));
    return AXE_OK;
}

static axe_status
made(maker *m, const axe_node *n, sim_expr *e)
{
    AXE_TRY(make(m, n, &e->lanes));
    e->n = m->n;
    e->term = m->term;
    e->depth = m->most;
    if (m->most > m->code->max_depth)
        m->code->max_depth = m->most;
    return AXE_OK;
}

axe_status
axe_sim_expr_make(sim *s, sim_code *code, const axe_node *n,
                  const sim_expr **out)
{
    sim_expr *e = axe_new(s->own, sim_expr);
    maker     m = {.s = s, .code = code};

    AXE_TRY(made(&m, n, e));
    *out = e;
    return AXE_OK;
}

axe_status
axe_sim_index_make(sim *s, sim_code *code, const axe_node *n, axe_index_use use,
                   const axe_var *v, int64_t by, const sim_expr **out)
{
    sim_expr *e = axe_new(s->own, sim_expr);
    maker     m = {.s = s, .code = code, .text = s->checks, .use = use};

    AXE_TRY(made(&m, n, e));
    e->bounded = s->checks && v && n->type == AXE_TYPE_INDEX &&
                 !axe_index_var_is_wide(code->index, v);
    e->most = INT32_MAX - by;
    *out = e;
    return AXE_OK;
}

/* ------------------------------------------------------------ arithmetic */

static double
float_op(axe_op op, double a, double b, double c)
{
    double v = 0;

    return axe_real_op(op, (double[]){a, b, c}, &v) ? v : 0;
}

static bool
float_compare(axe_op op, double a, double b)
{
    switch (op) {
    case AXE_OP_isnan:
        return isnan(a);
    case AXE_OP_isinf:
        return isinf(a);
    case AXE_OP_isfinite:
        return isfinite(a);
    case AXE_OP_eq:
        return a == b;
    case AXE_OP_ne:
        return a != b;
    case AXE_OP_lt:
        return a < b;
    default:
        return a <= b;
    }
}

static int64_t
int_of_float(axe_type t, double v)
{
    const axe_type_info *info = &axe_type_table[t];
    int                  sign = info->cls == AXE_CLASS_INT;
    double               hi = ldexp(1, info->bits - sign);

    v = rint(v);
    if (isnan(v))
        return 0;
    if (v >= hi)
        return info->bits < 64 ? (int64_t)(hi - 1) : sign ? INT64_MAX : -1;
    if (v < (sign ? -hi : 0))
        return sign ? (int64_t)-hi : 0;
    return sign ? (int64_t)v : (int64_t)(uint64_t)v;
}

/* ------------------------------------------------------------ evaluating */

static void
spread(sim_val *v, int lanes)
{
    for (int l = 1; l < lanes; l++)
        v->i[l] = v->i[0];
}

static void
eval_float(const sim_term *t, int n, const sim_val *a, const sim_val *b,
           const sim_val *c, sim_val *out)
{
    if (t->op == AXE_OP_add && t->type == AXE_TYPE_f32) {
        for (int l = 0; l < n; l++)
            out->f[l] = (double)(float)(a->f[l] + b->f[l]);
    } else if (t->op == AXE_OP_mul && t->type == AXE_TYPE_f32) {
        for (int l = 0; l < n; l++)
            out->f[l] = (double)(float)(a->f[l] * b->f[l]);
    } else {
        for (int l = 0; l < n; l++)
            out->f[l] = axe_sim_round(
                t->type, float_op(t->op, a->f[l], b->f[l], c->f[l]));
    }
}

static void
eval_int(const sim_term *t, int n, const sim_val *a, const sim_val *b,
         sim_val *out)
{
    if (t->op == AXE_OP_add && t->type == AXE_TYPE_i64) {
        for (int l = 0; l < n; l++)
            out->i[l] = (int64_t)((uint64_t)a->i[l] + (uint64_t)b->i[l]);
    } else if (t->op == AXE_OP_mul && t->type == AXE_TYPE_i64) {
        for (int l = 0; l < n; l++)
            out->i[l] = (int64_t)((uint64_t)a->i[l] * (uint64_t)b->i[l]);
    } else {
        for (int l = 0; l < n; l++)
            if (!axe_whole_op(t->op, t->from, (int64_t[]){a->i[l], b->i[l]},
                              &out->i[l]))
                out->i[l] = 0;
    }
}

static void
eval_cast(const sim_term *t, int n, const sim_val *a, sim_val *out)
{
    bool to = axe_type_is_float(t->type), from = axe_type_is_float(t->from);
    bool u64 = t->from == AXE_TYPE_u64;

    for (int l = 0; l < n; l++)
        if (to)
            out->f[l] = axe_sim_round(t->type, from  ? a->f[l]
                                               : u64 ? (double)(uint64_t)a->i[l]
                                                     : (double)a->i[l]);
        else
            out->i[l] = from ? int_of_float(t->type, a->f[l])
                             : axe_whole_wrap(t->type, a->i[l]);
}

static void
eval_bits(const sim_term *t, int n, const sim_val *a, sim_val *out)
{
    uint8_t at[8];

    for (int l = 0; l < n; l++) {
        if (axe_type_is_float(t->from))
            axe_number_put(t->from, at, a->f[l]);
        else
            axe_number_put_int(t->from, at, a->i[l]);
        if (axe_type_is_float(t->type))
            out->f[l] = axe_number_get(t->type, at);
        else
            out->i[l] = axe_number_get_int(t->type, at);
    }
}

/* The lanes of the mask in which the text evaluates the load. */
static axe_lane_set
evaluated(const sim *s, const sim_term *t, axe_lane_set mask)
{
    for (int k = 0; k < t->n_under; k++) {
        const sim_val *c = s->stack + t->under[k].at;
        bool           each = s->stack_lanes[t->under[k].at];
        for (int l = 0; l < s->lanes; l++)
            if ((c->i[each ? l : 0] != 0) != t->under[k].holds)
                mask &= ~AXE_ONE_LANE(l);
    }
    return mask;
}

/* Elements of registers: number a of the array, in every lane its own. */
static void
eval_load(sim_warp *w, const sim_term *t, axe_lane_set mask, const sim_inst *in,
          bool uniform, sim_val *a)
{
    sim_array   *x = &w->array[t->slot];
    sim         *s = w->cta->s;
    bool         is_float = axe_type_is_float(x->type);
    axe_lane_set here = mask = evaluated(s, t, mask);

    if (uniform && mask &&
        !axe_sim_reg_check(s, w, in, t->slot, a->i[0], mask, false))
        here = 0;
    if (uniform)
        spread(a, s->lanes);
    for (int l = 0; l < s->lanes; l++) {
        const uint8_t *at = x->bits + (a->i[l] * s->lanes + l) * x->size;
        if (!axe_sim_has(here, l) ||
            (!uniform && !axe_sim_reg_check(s, w, in, t->slot, a->i[l],
                                            AXE_ONE_LANE(l), false)))
            a->i[l] = 0;
        else if (is_float)
            a->f[l] = axe_sim_get(x->type, at);
        else
            a->i[l] = axe_number_get_int(x->type, at);
    }
}

static void
eval_leaf(sim_warp *w, const sim_term *t, sim_val *out)
{
    size_t size = (size_t)w->cta->s->lanes * sizeof out->i[0];

    if (t->op == AXE_OP_iconst)
        out->i[0] = t->i;
    else if (t->op == AXE_OP_fconst)
        out->f[0] = t->f;
    else if (t->lanes)
        memcpy(out->i, w->slot[t->slot], size);
    else
        out->i[0] = w->slot[t->slot][0];
}

/* The operation of t on the values at `a`. */
static void
eval_op(const sim_term *t, int lanes, sim_val *a)
{
    int            n = t->lanes ? lanes : 1;
    int            n_arg = axe_op_table[t->op].n_arg;
    const sim_val *b = n_arg > 1 ? a + 1 : a;

    if (t->op == AXE_OP_select) {
        for (int l = 0; l < n; l++)
            a->i[l] = a->i[l] ? a[1].i[l] : a[2].i[l];
    } else if (t->op == AXE_OP_cast) {
        eval_cast(t, n, a, a);
    } else if (t->op == AXE_OP_bitcast) {
        eval_bits(t, n, a, a);
    } else if (axe_type_is_float(t->type)) {
        eval_float(t, n, a, b, n_arg > 2 ? a + 2 : a, a);
    } else if (axe_type_is_float(t->from)) {
        for (int l = 0; l < n; l++)
            a->i[l] = float_compare(t->op, a->f[l], b->f[l]);
    } else {
        eval_int(t, n, a, b, a);
    }
}

const sim_val *
axe_sim_eval(sim_warp *w, const sim_expr *e, axe_lane_set mask,
             const sim_inst *in)
{
    sim_val *top = w->cta->s->stack;
    bool    *lanes = w->cta->s->stack_lanes;
    int      all = w->cta->s->lanes;

    for (int i = 0; i < e->n; i++) {
        const sim_term *t = &e->term[i];
        int             n_arg = axe_op_table[t->op].n_arg;
        if (t->op == AXE_OP_load) {
            eval_load(w, t, mask, in, !lanes[-1], top - 1);
            lanes[-1] = true;
        } else if (axe_op_table[t->op].traits & AXE_TRAIT_LEAF) {
            eval_leaf(w, t, top++);
            *lanes++ = t->lanes;
        } else {
            top -= n_arg;
            lanes -= n_arg;
            for (int k = 0; k < n_arg && t->lanes; k++)
                if (!lanes[k])
                    spread(top + k, all);
            if (t->whole || t->rounds)
                axe_sim_check_operands(w, t, top, mask, in);
            eval_op(t, all, top++);
            if (t->narrow)
                axe_sim_check_value(w, t, top - 1, mask, in);
            *lanes++ = t->lanes;
        }
    }
    if (e->bounded)
        axe_sim_check_bound(w, e, top - 1, mask, in);
    return top - 1;
}

void
axe_sim_eval_all(sim_warp *w, const sim_expr *e, axe_lane_set mask,
                 const sim_inst *in, int64_t *out)
{
    const sim_val *v = axe_sim_eval(w, e, mask, in);

    for (int l = 0; l < w->cta->s->lanes; l++)
        out[l] = v->i[e->lanes ? l : 0];
}
