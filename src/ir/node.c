/* node.c - expression nodes, folded as they are made.
 *
 * Folding only shrinks: a rewrite gives an operand or a constant.  It is a
 * function of the operands alone, so that reading back a printed expression,
 * which goes through the same constructors, gives the same nodes.  What has
 * no value (division by zero, a result outside its type) is left as it is. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ir/ir.h"

static axe_node *
make(axe_ctx *cx, axe_op op, axe_type type, axe_span at, int n_arg,
     const axe_node *const *arg)
{
    axe_node *n = axe_new_flex(cx, axe_node, arg, n_arg);

    n->op = op;
    n->type = type;
    n->at = at;
    n->n_arg = n_arg;
    if (n_arg > 0)
        memcpy(n->arg, arg, (size_t)n_arg * sizeof arg[0]);
    return n;
}

const axe_node *
axe_iconst(axe_ctx *cx, axe_span at, axe_type type, int64_t v)
{
    axe_node *n = make(cx, AXE_OP_iconst, type, at, 0, NULL);

    n->u.i = v;
    return n;
}

const axe_node *
axe_index_const(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

const axe_node *
axe_fconst(axe_ctx *cx, axe_span at, axe_type type, double v)
{
    axe_node *n = make(cx, AXE_OP_fconst, type, at, 0, NULL);

    n->u.f = v;
    return n;
}

const axe_node *
axe_var_node(axe_ctx *cx, axe_span at, const axe_var *v)
{
    axe_node *n = make(cx, AXE_OP_var, AXE_TYPE_INDEX, at, 0, NULL);

    n->u.var = v;
    return n;
}

const axe_node *
axe_load(axe_ctx *cx, axe_span at, const axe_tensor *t,
         const axe_node *const *subscript)
{
    axe_node *n = make(cx, AXE_OP_load, t->type, at, t->rank, subscript);

    n->u.tensor = t;
    return n;
}

const axe_node *
axe_reduce(axe_ctx *cx, axe_span at, axe_fold fold, int n_over,
           const axe_dim *over, const axe_node *body)
{
    axe_node        *n = make(cx, AXE_OP_reduce, body->type, at, 1, &body);
    const axe_var  **var = axe_new_array(cx, const axe_var *, n_over);
    const axe_node **extent = axe_new_array(cx, const axe_node *, n_over);

    for (int i = 0; i < n_over; i++) {
        var[i] = over[i].var;
        extent[i] = over[i].extent;
    }
    n->u.reduce.fold = fold;
    n->u.reduce.n_over = n_over;
    n->u.reduce.over = var;
    n->u.reduce.extent = extent;
    return n;
}

bool
axe_is_in_tmem(const axe_node *n)
{
    return n->op == AXE_OP_load && n->u.tensor->space == AXE_SPACE_TMEM;
}

bool
axe_is_iconst(const axe_node *n, int64_t *value)
{
    if (n->op != AXE_OP_iconst)
        return false;
    *value = n->u.i;
    return true;
}

bool
axe_is_nonneg(const axe_node *n)
{
    switch (n->op) {
    case AXE_OP_iconst:
        return n->u.i >= 0;
    case AXE_OP_var:
        return n->u.var->kind != AXE_VAR_PART && n->u.var->least >= 0;
    case AXE_OP_max:
        return axe_is_nonneg(n->arg[0]) || axe_is_nonneg(n->arg[1]);
    case AXE_OP_add:
    case AXE_OP_mul:
    case AXE_OP_div:
    case AXE_OP_mod:
    case AXE_OP_cdiv:
    case AXE_OP_min:
        return axe_is_nonneg(n->arg[0]) && axe_is_nonneg(n->arg[1]);
    case AXE_OP_select:
        return axe_is_nonneg(n->arg[1]) && axe_is_nonneg(n->arg[2]);
    default:
        return false;
    }
}

const axe_node *
axe_count_of_entities(axe_ctx *cx, const axe_node *n)
{
    return axe_is_nonneg(n)
               ? n
               : axe_node2(cx, AXE_OP_max, n,
                           axe_iconst(cx, n->at, AXE_TYPE_INDEX, 0));
}

static bool
divide(axe_op op, int64_t a, int64_t b, int64_t *out)
{
    int64_t q, r;

    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    q = a / b;
    r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    *out = op == AXE_OP_mod ? r : op == AXE_OP_cdiv ? q + (r != 0) : q;
    return true;
}

/* op(a, b) on integers; false where it has no value in int64. */
static bool
eval2(axe_op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case AXE_OP_add:
        return axe_add(a, b, out);
    case AXE_OP_sub:
        return b == INT64_MIN ? a < 0 && axe_add(a + 1, INT64_MAX, out)
                              : axe_add(a, -b, out);
    case AXE_OP_mul:
        return axe_mul(a, b, out);
    case AXE_OP_div:
    case AXE_OP_mod:
    case AXE_OP_cdiv:
        return divide(op, a, b, out);
    case AXE_OP_min:
        return *out = a < b ? a : b, true;
    case AXE_OP_max:
        return *out = a > b ? a : b, true;
    case AXE_OP_eq:
        return *out = a == b, true;
    case AXE_OP_ne:
        return *out = a != b, true;
    case AXE_OP_lt:
        return *out = a < b, true;
    case AXE_OP_le:
        return *out = a <= b, true;
    case AXE_OP_and:
        return *out = a && b, true;
    case AXE_OP_or:
        return *out = a || b, true;
    default:
        return false;
    }
}

static bool
eval1(axe_op op, int64_t a, int64_t *out)
{
    if (op == AXE_OP_not)
        return *out = !a, true;
    if (op == AXE_OP_neg || (op == AXE_OP_abs && a < 0))
        return eval2(AXE_OP_sub, 0, a, out);
    *out = a;
    return op == AXE_OP_abs;
}

bool
axe_op_value(axe_op op, const int64_t *arg, int64_t *out)
{
    if (op == AXE_OP_select)
        return *out = arg[0] ? arg[1] : arg[2], true;
    if ((axe_op_table[op].traits & AXE_TRAIT_INTS) && op != AXE_OP_mod)
        return axe_whole_op(op, AXE_TYPE_INDEX, arg, out);
    if (axe_op_table[op].n_arg == 1)
        return eval1(op, arg[0], out);
    if (arg[1] == 0 && (op == AXE_OP_div || op == AXE_OP_cdiv))
        return *out = 0, true;
    if (arg[1] == 0 && op == AXE_OP_mod)
        return *out = arg[0], true;
    return eval2(op, arg[0], arg[1], out);
}

static const axe_node *
fold_cast(axe_ctx *cx, axe_type to, axe_span at, const axe_node *a)
{
    if (a->type == to)
        return a;
    if (a->op == AXE_OP_iconst && axe_type_is_float(to))
        return axe_fconst(cx, at, to,
                          a->type == AXE_TYPE_u64 ? (double)(uint64_t)a->u.i
                                                  : (double)a->u.i);
    if (a->op == AXE_OP_iconst && to != AXE_TYPE_bool &&
        axe_type_fits(to, a->u.i) &&
        (a->type != AXE_TYPE_u64 || a->u.i >= 0 || to == AXE_TYPE_i64))
        return axe_iconst(cx, at, to, a->u.i);
    if (a->op == AXE_OP_fconst && a->type == AXE_TYPE_f64 &&
        axe_type_is_float(to))
        return axe_fconst(cx, at, to, a->u.f);
    return NULL;
}

/* Units and zeros of index arithmetic. */
static const axe_node *
fold_unit(axe_ctx *cx, axe_op op, axe_span at, const axe_node *a,
          const axe_node *b)
{
    int64_t va = 2, vb = 2; /* 2: no constant that matters */

    if (a->type != AXE_TYPE_INDEX || b->type != AXE_TYPE_INDEX)
        return NULL;
    axe_is_iconst(a, &va);
    axe_is_iconst(b, &vb);
    if (op == AXE_OP_mul && (va == 0 || vb == 0))
        return axe_iconst(cx, at, AXE_TYPE_INDEX, 0);
    if (op == AXE_OP_mod && vb == 1)
        return axe_iconst(cx, at, AXE_TYPE_INDEX, 0);
    if (((op == AXE_OP_add || op == AXE_OP_sub) && vb == 0) ||
        ((op == AXE_OP_mul || op == AXE_OP_div || op == AXE_OP_cdiv) &&
         vb == 1))
        return a;
    if ((op == AXE_OP_add && va == 0) || (op == AXE_OP_mul && va == 1))
        return b;
    return NULL;
}

/* A constant added, or with minus taken away. */
static bool
step_of(axe_op op, const axe_node *c, int64_t *out)
{
    return (op == AXE_OP_add || op == AXE_OP_sub) &&
           c->type == AXE_TYPE_INDEX && axe_is_iconst(c, out) &&
           (op == AXE_OP_add || axe_mul(*out, -1, out));
}

/* `x + 3 - 1` is x + 2. */
static const axe_node *
fold_steps(axe_ctx *cx, axe_op op, axe_span at, const axe_node *a,
           const axe_node *b)
{
    int64_t first, second;

    if (!step_of(op, b, &second) || a->n_arg != 2 ||
        !step_of(a->op, a->arg[1], &first) || !axe_add(first, second, &first))
        return NULL;
    op = first < 0 && first > INT64_MIN ? AXE_OP_sub : AXE_OP_add;
    first = op == AXE_OP_sub ? -first : first;
    return axe_node2(cx, op, a->arg[0],
                     axe_iconst(cx, at, AXE_TYPE_INDEX, first));
}

/* `true && b` is b, `a || true` is true. */
static const axe_node *
fold_logic(axe_op op, const axe_node *a, const axe_node *b)
{
    int64_t known;
    bool    left = axe_is_iconst(a, &known);

    if (a->type != AXE_TYPE_bool || b->type != AXE_TYPE_bool ||
        (!left && !axe_is_iconst(b, &known)))
        return NULL;
    return (known != 0) == (op == AXE_OP_or) ? (left ? a : b) : (left ? b : a);
}

/* Shifts and masks of indices by constants are products, quotients and
 * remainders, which planners know. */
static const axe_node *
fold_bits(axe_ctx *cx, axe_op op, axe_span at, const axe_node *a,
          const axe_node *b)
{
    int64_t v;
    bool    mask = op == AXE_OP_band;

    if (a->type != AXE_TYPE_INDEX || !axe_is_iconst(b, &v) || v < 0 ||
        (mask ? v == INT64_MAX || (v & (v + 1)) != 0 : v > 61))
        return NULL;
    if (!mask && op != AXE_OP_shl && op != AXE_OP_shr)
        return NULL;
    b = axe_iconst(cx, b->at, AXE_TYPE_INDEX, mask ? v + 1 : INT64_C(1) << v);
    op = mask ? AXE_OP_mod : op == AXE_OP_shl ? AXE_OP_mul : AXE_OP_div;
    return axe_node_new(cx, op, AXE_TYPE_INDEX, at, 2,
                        (const axe_node *[]){a, b});
}

/* Elements of u64 and bits: what they are when the kernel runs.  A quotient by
 * zero is left for whoever reports it. */
static bool
fold_whole(axe_op op, axe_type t, int n, const axe_node *const *arg,
           int64_t *out)
{
    int64_t v[2] = {0};
    bool bits = (axe_op_table[op].traits & AXE_TRAIT_INTS) && op != AXE_OP_mod;

    for (int i = 0; i < n; i++)
        if (!axe_is_iconst(arg[i], &v[i]) || arg[i]->type != t)
            return false;
    return (bits || t == AXE_TYPE_u64) && (op != AXE_OP_div || v[1] != 0) &&
           (op != AXE_OP_mod || v[1] != 0) && axe_whole_op(op, t, v, out);
}

static const axe_node *
fold2(axe_ctx *cx, axe_op op, axe_type type, axe_span at, const axe_node *a,
      const axe_node *b)
{
    const axe_node *folded;
    int64_t         v;

    if (fold_whole(op, a->type, 2, (const axe_node *[]){a, b}, &v))
        return axe_iconst(cx, at, type, v);
    if (a->op == AXE_OP_iconst && b->op == AXE_OP_iconst &&
        a->type == b->type && a->type != AXE_TYPE_u64 &&
        eval2(op, a->u.i, b->u.i, &v) && axe_type_fits(type, v))
        return axe_iconst(cx, at, type, v);
    if (op == AXE_OP_and || op == AXE_OP_or)
        return fold_logic(op, a, b);
    folded = fold_bits(cx, op, at, a, b);
    if (!folded)
        folded = fold_steps(cx, op, at, a, b);
    return folded ? folded : fold_unit(cx, op, at, a, b);
}

static const axe_node *
fold1(axe_ctx *cx, axe_op op, axe_type type, axe_span at, const axe_node *a)
{
    int64_t v;

    if (op == AXE_OP_cast)
        return fold_cast(cx, type, at, a);
    if (op == AXE_OP_bitcast)
        return a->type == type ? a : NULL;
    if (a->op == AXE_OP_fconst && op == AXE_OP_neg)
        return axe_fconst(cx, at, type, -a->u.f);
    if (fold_whole(op, a->type, 1, &a, &v))
        return axe_iconst(cx, at, type, v);
    if (a->type != AXE_TYPE_u64 && a->op == AXE_OP_iconst &&
        eval1(op, a->u.i, &v) && axe_type_fits(type, v))
        return axe_iconst(cx, at, type, v);
    return NULL;
}

const axe_node *
axe_node_new(axe_ctx *cx, axe_op op, axe_type type, axe_span at, int n_arg,
             const axe_node *const *arg)
{
    const axe_node *folded = NULL;

    assert((unsigned)op < AXE_N_OP && axe_op_table[op].n_arg == n_arg);
    assert(!(axe_op_table[op].traits & AXE_TRAIT_LEAF) && op != AXE_OP_reduce);
    if (n_arg == 1)
        folded = fold1(cx, op, type, at, arg[0]);
    if (n_arg == 2)
        folded = fold2(cx, op, type, at, arg[0], arg[1]);
    if (n_arg == 3 && op == AXE_OP_select && arg[0]->op == AXE_OP_iconst)
        folded = arg[0]->u.i ? arg[1] : arg[2];
    return folded ? folded : make(cx, op, type, at, n_arg, arg);
}

axe_type
axe_op_type(axe_op op, const axe_node *const *arg)
{
    unsigned traits = axe_op_table[op].traits;

    if (traits & (AXE_TRAIT_CMP | AXE_TRAIT_BOOLS | AXE_TRAIT_TESTS))
        return AXE_TYPE_bool;
    return op == AXE_OP_select ? arg[1]->type : arg[0]->type;
}

axe_span
axe_span_join(axe_span a, axe_span b)
{
    if (a.source != b.source || a.line != b.line || b.col < a.col ||
        a.line == 0)
        return a;
    if (b.col + b.len > a.col + a.len)
        a.len = b.col + b.len - a.col;
    return a;
}

const axe_node *
axe_node1(axe_ctx *cx, axe_op op, const axe_node *a)
{
    const axe_node *arg[] = {a, a};

    return axe_node_new(cx, op, axe_op_type(op, arg), a->at, 1, arg);
}

const axe_node *
axe_node2(axe_ctx *cx, axe_op op, const axe_node *a, const axe_node *b)
{
    const axe_node *arg[] = {a, b};

    return axe_node_new(cx, op, axe_op_type(op, arg),
                        axe_span_join(a->at, b->at), 2, arg);
}

const axe_node *
axe_cast(axe_ctx *cx, axe_span at, axe_type to, const axe_node *a)
{
    return axe_node_new(cx, AXE_OP_cast, to, at, 1, &a);
}

/* The largest (sign > 0) or smallest value of an integer type. */
static int64_t
int_bound(axe_type type, bool largest)
{
    const axe_type_info *t = &axe_type_table[type];
    int                  n = t->bits - (t->cls == AXE_CLASS_INT);

    if (t->cls == AXE_CLASS_BOOL)
        return largest;
    if (n == 64)
        return largest ? -1 : 0; /* the bits of u64 */
    if (largest)
        return n == 63 ? INT64_MAX : (INT64_C(1) << n) - 1;
    if (t->cls == AXE_CLASS_UINT)
        return 0;
    return n == 63 ? INT64_MIN : -(INT64_C(1) << n);
}

const axe_node *
axe_fold_unit(axe_ctx *cx, axe_fold fold, axe_type type)
{
    bool   largest = fold == AXE_FOLD_MIN;
    double f = fold == AXE_FOLD_MUL ? 1 : 0;

    if (!axe_type_is_float(type)) {
        int64_t v = fold == AXE_FOLD_MUL;
        if (fold == AXE_FOLD_MAX || fold == AXE_FOLD_MIN)
            v = int_bound(type, largest);
        return axe_iconst(cx, AXE_NOWHERE, type, v);
    }
    if (fold == AXE_FOLD_MAX || fold == AXE_FOLD_MIN)
        f = largest ? (double)INFINITY : -(double)INFINITY;
    return axe_fconst(cx, AXE_NOWHERE, type, f);
}

bool
axe_node_same(const axe_node *a, const axe_node *b)
{
    bool same = a->op == b->op && a->type == b->type && a->n_arg == b->n_arg;

    for (int i = 0; same && i < a->n_arg; i++)
        same = axe_node_same(a->arg[i], b->arg[i]);
    switch (a->op) {
    case AXE_OP_iconst:
        return same && a->u.i == b->u.i;
    case AXE_OP_var:
        return same && a->u.var == b->u.var;
    case AXE_OP_load:
        return same && a->u.tensor == b->u.tensor;
    case AXE_OP_fconst:
        return same && memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0;
    case AXE_OP_reduce:
        return a == b;
    default:
        return same;
    }
}

bool
axe_node_holds(const axe_node *n, const axe_node *part)
{
    if (n == part)
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (axe_node_holds(n->arg[i], part))
            return true;
    return false;
}

bool
axe_node_reads(const axe_node *n, const axe_tensor *t)
{
    if (!n)
        return false;
    if (n->op == AXE_OP_load && n->u.tensor == t)
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (axe_node_reads(n->arg[i], t))
            return true;
    return false;
}

bool
axe_is_scalar(const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL && t->dir == AXE_DIR_IN && t->rank == 0;
}

bool
axe_node_loads(const axe_node *n)
{
    bool any = n->op == AXE_OP_load;

    for (int i = 0; i < n->n_arg && !any; i++)
        any = axe_node_loads(n->arg[i]);
    return any;
}
