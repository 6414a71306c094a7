/* access.c - a statement's accesses as base, strides and guards.
 *
 * A subscript is affine: outer variables (scopes, loops, sizes) plus index
 * variables.  In a global tensor an index moves the address by the dimension's
 * stride; in a tile it walks the dimension's block of the layout, found by
 * slicing and grouping, and outer variables move it by whole blocks.  A global
 * subscript that cannot be proven inside its dimension gives a guard `index <
 * size - outer part`, or where it has no such form a check of every element. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "plan/simt_int.h"

int64_t
axe_dim_extent(const axe_dim *d)
{
    int64_t e;

    return axe_is_iconst(d->extent, &e) ? e : 0;
}

const axe_dim *
axe_request_dim(const request *r, const axe_var *v)
{
    for (int i = 0; i < r->n_nest; i++)
        for (int j = 0; j < r->nest[i].n_dim; j++)
            if (r->nest[i].dim[j].var == v)
                return &r->nest[i].dim[j];
    return NULL;
}

/* One subscript, taken apart. */
typedef struct subscript {
    const axe_var  *index; /* if it is one index and the rest, else NULL */
    axe_affine      inner; /* of index variables */
    axe_affine      outer; /* the rest */
    const axe_node *outer_node;
    bool            computed; /* it reads an element, or divides an index */
    bool            steady;   /* but not beyond scalars */
} subscript;

static const axe_node *
int_node(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

const axe_node *
axe_affine_node(planner *p, const axe_affine *a)
{
    const axe_node *sum = NULL;

    for (int i = 0; i < a->n; i++) {
        const axe_retile *r = axe_retile_of(p->n_retile, p->retile, a->var[i]);
        const axe_node   *v =
            a->var[i]->kind == AXE_VAR_PART
                  ? a->var[i]->extent
                  : axe_var_node(p->cx, AXE_NOWHERE, r ? r->origin : a->var[i]);
        const axe_node *t = axe_node2(p->cx, AXE_OP_mul, v,
                                      int_node(p->cx, r ? 1 : a->coef[i]));
        sum = sum ? axe_node2(p->cx, AXE_OP_add, sum, t) : t;
    }
    if (!sum)
        return int_node(p->cx, a->constant);
    return axe_node2(p->cx, AXE_OP_add, sum, int_node(p->cx, a->constant));
}

/* The terms of `a` that are index variables, or those that are not. */
static axe_affine
terms_of(planner *p, const axe_affine *a, bool index)
{
    const axe_var **var = axe_new_array(p->cx, const axe_var *, a->n + 1);
    int64_t        *coef = axe_new_array(p->cx, int64_t, a->n + 1);
    int             n = 0;

    for (int i = 0; i < a->n; i++)
        if ((a->var[i]->kind == AXE_VAR_INDEX) == index) {
            var[n] = a->var[i];
            coef[n++] = a->coef[i];
        }
    return (axe_affine){n, var, coef, index ? 0 : a->constant};
}

static axe_status
take_apart(planner *p, const axe_node *n, subscript *out)
{
    axe_affine a;

    if (!axe_subscript_of(p->cx, n, &a))
        return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                        "the subscript %s folds", axe_node_text(p->cx, n));
    out->inner = terms_of(p, &a, true);
    out->outer = terms_of(p, &a, false);
    out->index =
        out->inner.n == 1 && out->inner.coef[0] == 1 ? out->inner.var[0] : NULL;
    out->outer_node = axe_affine_node(p, &out->outer);
    out->computed = false;
    out->steady = true;
    for (int i = 0; i < a.n; i++) {
        out->computed = out->computed || axe_is_computed(a.var[i]);
        out->steady = out->steady &&
                      (!axe_is_computed(a.var[i]) || axe_is_steady(a.var[i]));
    }
    return AXE_OK;
}

static const axe_node *
unit_node(planner *p, axe_unit u)
{
    const axe_node *prod = NULL;

    for (int i = 0; i < axe_unit_n_factor(p->cx, u); i++) {
        const char *name = axe_unit_factor(p->cx, u, i);
        for (int j = 0; j < p->kernel->n_size; j++)
            if (strcmp(p->kernel->size[j]->name, name) == 0) {
                const axe_node *v =
                    axe_var_node(p->cx, AXE_NOWHERE, p->kernel->size[j]);
                prod = prod ? axe_node2(p->cx, AXE_OP_mul, prod, v) : v;
            }
    }
    return prod ? prod : int_node(p->cx, 1);
}

/* Is `outer` >= 0 for sure? */
static bool
never_negative(const subscript *s)
{
    axe_interval r = axe_interval_of(s->outer_node);

    return r.has_lo && r.lo >= 0;
}

static bool
ends_by(const axe_node *n, int64_t last)
{
    axe_interval r = axe_interval_of(n);

    return r.has_hi && r.hi <= last;
}

/* Is outer + index inside a dimension of extent `size` for sure?  A scope or
 * loop variable alone is if it runs over this very size, or its tiles. */
static bool
surely_inside(const subscript *s, const axe_dim *d, const axe_node *size)
{
    int64_t e = d ? axe_dim_extent(d) : 1, n;
    bool    constant = axe_is_iconst(size, &n);

    if (d && s->outer.n == 0 && s->outer.constant == 0 &&
        axe_node_same(d->extent, size))
        return true;
    if (constant && s->outer.n == 0 && e > 0)
        return s->outer.constant + e <= n;
    if (constant && e > 0 && ends_by(s->outer_node, n - e))
        return true;
    if (d || s->outer.n != 1 || s->outer.coef[0] != 1 ||
        s->outer.constant != 0 || !s->outer.var[0]->extent ||
        s->outer.var[0]->kind == AXE_VAR_PART)
        return false;
    const axe_node *end = s->outer.var[0]->extent;
    if (end->op == AXE_OP_select && axe_is_iconst(end->arg[2], &n) && n == 0)
        end = end->arg[1];
    if (axe_node_same(end, size))
        return true;
    if (end->op == AXE_OP_cdiv && axe_is_iconst(end->arg[1], &n))
        end = end->arg[0];
    return axe_node_same(end, size);
}

/* Where the index must stop: the end of the dimension, and of the step. */
static const axe_node *
limit_in(planner *p, const subscript *s, const axe_node *size)
{
    const axe_node *l = axe_node2(p->cx, AXE_OP_sub, size, s->outer_node);

    for (int i = 0; i < s->outer.n; i++) {
        const axe_retile *r =
            axe_retile_of(p->n_retile, p->retile, s->outer.var[i]);
        if (r)
            l = axe_node2(p->cx, AXE_OP_min, l,
                          axe_var_node(p->cx, AXE_NOWHERE, r->step));
    }
    return l;
}

/* Is the subscript inside [0, size) whatever the indices are? */
static bool
constant_inside(const request *r, const subscript *s, const axe_node *size)
{
    int64_t lo = s->outer.constant, hi = lo, n;

    if (s->outer.n > 0 || !axe_is_iconst(size, &n))
        return false;
    for (int i = 0; i < s->inner.n; i++) {
        int64_t c = s->inner.coef[i];
        int64_t e = axe_dim_extent(axe_request_dim(r, s->inner.var[i]));
        if (e == 0 || !axe_mul(c, e - 1, &e) ||
            !axe_add(c < 0 ? lo : hi, e, c < 0 ? &lo : &hi))
            return false;
    }
    return lo >= 0 && hi < n;
}

static void
ask_always(const subscript *s, const axe_node *size, axe_operand *op)
{
    ((axe_check *)op->check)[op->n_check++] =
        (axe_check){s->inner, s->outer_node, size};
}

/* How the subscript of one dimension of `size` may leave it: not at all, at a
 * limit of its one index, or in a way that every element must ask for. */
static void
guard_subscript(planner *p, const request *r, const subscript *s,
                const axe_node *size, axe_operand *op)
{
    const axe_dim *d = s->index ? axe_request_dim(r, s->index) : NULL;
    bool           simple = never_negative(s) && (s->index || s->inner.n == 0);

    if ((simple && surely_inside(s, d, size)) || constant_inside(r, s, size))
        return;
    if (simple && s->index && !s->computed)
        ((axe_guard *)op->guard)[op->n_guard++] =
            (axe_guard){s->index, limit_in(p, s, size)};
    else
        ask_always(s, size, op);
}

bool
axe_operand_asks(const axe_operand *op, const axe_var *v)
{
    for (int i = 0; i < op->n_check; i++)
        if (axe_affine_coef(&op->check[i].index, v) != 0)
            return true;
    return false;
}

/* The index variables of a subscript, each moving the address by `step` times
 * its coefficient. */
static axe_status
add_terms(planner *p, const request *r, const axe_node *at, const subscript *s,
          axe_stride step, axe_operand *op)
{
    for (int i = 0; i < s->inner.n; i++) {
        axe_iter *it = axe_new(p->cx, axe_iter);
        int64_t   stride;
        if (!axe_mul(step.coef, s->inner.coef[i], &stride))
            return axe_fail(p->cx, at->at, AXE_EOVERFLOW,
                            "the subscript %s of %s moves by more than int64 "
                            "holds",
                            axe_node_text(p->cx, at), op->tensor->name);
        *it = (axe_iter){axe_dim_extent(axe_request_dim(r, s->inner.var[i])),
                         stride, AXE_AXIS_M, step.unit};
        ((axe_term *)op->term)[op->n_term++] =
            (axe_term){s->inner.var[i], 1, it};
    }
    return AXE_OK;
}

static axe_status
global_operand(planner *p, const request *r, axe_operand *op)
{
    const axe_tensor *t = op->tensor;
    const axe_node   *base = int_node(p->cx, 0);

    op->guard = axe_new_array(p->cx, axe_guard, t->rank + 1);
    op->check = axe_new_array(p->cx, axe_check, t->rank + 1);
    for (int d = 0; d < t->rank; d++) {
        subscript       s;
        const axe_node *unit = unit_node(p, t->stride[d].unit);
        AXE_TRY(take_apart(p, op->load->arg[d], &s));
        guard_subscript(p, r, &s, t->shape[d], op);
        const axe_node *step = axe_node2(p->cx, AXE_OP_mul, unit,
                                         int_node(p->cx, t->stride[d].coef));
        base = axe_node2(p->cx, AXE_OP_add, base,
                         axe_node2(p->cx, AXE_OP_mul, s.outer_node, step));
        AXE_TRY(add_terms(p, r, op->load->arg[d], &s, t->stride[d], op));
    }
    op->base = base;
    return AXE_OK;
}

/* One dimension of a tile: the subscript as its place within [begin, end),
 * which does not move, and how far outer variables move it. */
typedef struct window {
    subscript s;
    int64_t   begin, end;
    bool      whole; /* of the dimension, since it moves */
    bool      guard; /* every element asks whether it is inside */
} window;

static axe_status
open_window(planner *p, const request *r, const axe_node *at, int64_t full,
            window *out)
{
    const axe_dim *dim;

    AXE_TRY(take_apart(p, at, &out->s));
    dim = out->s.index ? axe_request_dim(r, out->s.index) : NULL;
    out->guard = axe_tile_guarded(p, r, at, full);
    out->whole = out->s.outer.n > 0 || (out->s.inner.n > 0 && !out->s.index) ||
                 out->guard;
    out->begin = out->whole ? 0 : out->s.outer.constant;
    out->end = out->whole ? full : out->begin + (dim ? axe_dim_extent(dim) : 1);
    return AXE_OK;
}

/* A window that moves: where the dimension is one iter by any steps, else as
 * window.c says. */
static axe_status
move_window(planner *p, const request *r, const axe_node *at, const window *w,
            int n, const axe_iter *it, axe_operand *op)
{
    axe_stride step = {n > 0 ? it[0].stride : 0, AXE_UNIT_ONE};

    if (n > 1)
        return axe_window_move(p, r, at, &w->s.inner, &w->s.outer, n, it, op);
    op->base =
        axe_node2(p->cx, AXE_OP_add, op->base,
                  axe_node2(p->cx, AXE_OP_mul, axe_affine_node(p, &w->s.outer),
                            int_node(p->cx, step.coef)));
    return add_terms(p, r, at, &w->s, step, op);
}

/* The block of dimension d of the tile's layout, restricted to the region that
 * the subscripts can reach. */
static axe_status
tile_operand(planner *p, const request *r, axe_operand *op)
{
    const axe_tensor *t = op->tensor;
    const axe_var    *stage = axe_stage_of(p, r->stmt, t);
    const axe_layout *l = p->place[t->id].layout, *view;
    int64_t          *begin = axe_new_array(p->cx, int64_t, t->rank + 1);
    int64_t          *end = axe_new_array(p->cx, int64_t, t->rank + 1);
    int64_t          *full = axe_new_array(p->cx, int64_t, t->rank + 1);
    window           *w = axe_new_array(p->cx, window, t->rank + 1);

    if (p->simt)
        AXE_TRY(axe_simt_storage(p, t, &l));
    op->check = axe_new_array(p->cx, axe_check, t->rank + 1);
    for (int d = 0; d < t->rank; d++) {
        axe_is_iconst(t->shape[d], &full[d]);
        AXE_TRY(open_window(p, r, op->load->arg[d], full[d], &w[d]));
        if (w[d].s.computed)
            guard_subscript(p, r, &w[d].s, t->shape[d], op);
        else if (w[d].guard)
            ask_always(&w[d].s, t->shape[d], op);
        begin[d] = w[d].begin;
        end[d] = w[d].end;
    }
    AXE_TRY(axe_layout_slice(p->cx, l, (axe_shape){t->rank, full}, begin, end,
                             &view));
    for (int d = 0; d < t->rank; d++)
        full[d] = end[d] - begin[d];
    AXE_TRY(axe_layout_group(p->cx, view, (axe_shape){t->rank, full}, &view));
    op->base = int_node(p->cx, view->n_offset ? view->offset[0].value : 0);
    if (stage)
        op->base = axe_node2(p->cx, AXE_OP_add, op->base,
                             axe_node2(p->cx, AXE_OP_mul,
                                       axe_var_node(p->cx, AXE_NOWHERE, stage),
                                       int_node(p->cx, p->place[t->id].stage)));
    if (p->place[t->id].each)
        op->base =
            axe_node2(p->cx, AXE_OP_add, op->base,
                      axe_node2(p->cx, AXE_OP_mul,
                                axe_crew_number(p->cx, p->simt->home[t->id]),
                                int_node(p->cx, p->place[t->id].each)));
    for (int d = 0; d < t->rank; d++) {
        int first = d > 0 ? view->dim_end[d - 1] : 0;
        int n = view->dim_end[d] - first;
        if (w[d].whole)
            AXE_TRY(move_window(p, r, op->load->arg[d], &w[d], n,
                                view->shard + first, op));
        else if (w[d].s.index)
            ((axe_term *)op->term)[op->n_term++] =
                (axe_term){w[d].s.index, n, view->shard + first};
    }
    return AXE_OK;
}

const axe_var *
axe_alone_in(planner *p, const axe_node *at)
{
    subscript s;
    axe_mark  m = axe_ctx_mark(p->cx);

    if (take_apart(p, at, &s) != AXE_OK || !s.steady)
        s.index = NULL;
    axe_ctx_release(p->cx, m);
    return s.index;
}

axe_status
axe_global_dim(planner *p, const request *r, const axe_node *at, int d,
               const axe_var *as, axe_operand *op, axe_affine *outer)
{
    const axe_tensor *t = op->tensor;
    subscript         s;

    AXE_TRY(take_apart(p, at, &s));
    s.index = as;
    guard_subscript(p, r, &s, t->shape[d], op);
    const axe_node *step =
        axe_node2(p->cx, AXE_OP_mul, unit_node(p, t->stride[d].unit),
                  int_node(p->cx, t->stride[d].coef));
    op->base = axe_node2(p->cx, AXE_OP_add, op->base,
                         axe_node2(p->cx, AXE_OP_mul, s.outer_node, step));
    *outer = s.outer;
    return AXE_OK;
}

static axe_status
resolve(planner *p, const request *r, const axe_node *load, axe_operand *op)
{
    int n = 1;

    for (int d = 0; d < load->n_arg; d++)
        for (int i = 0; i < r->n_nest; i++)
            n += r->nest[i].n_dim;
    *op = (axe_operand){.load = load,
                        .tensor = load->u.tensor,
                        .term = axe_new_array(p->cx, axe_term, n)};
    if (op->tensor->space == AXE_SPACE_GLOBAL)
        return global_operand(p, r, op);
    if (p->place[op->tensor->id].view && load != r->stmt->dst)
        return axe_packed_operand(p, r, op);
    return tile_operand(p, r, op);
}

static int
count(const axe_node *n, axe_op op)
{
    int k = n->op == op;

    for (int i = 0; i < n->n_arg; i++)
        k += count(n->arg[i], op);
    return k;
}

/* All loads of an expression, also in subscripts, each node once. */
static void
gather(const axe_node *n, const axe_node **load, int *n_load)
{
    for (int i = 0; i < *n_load; i++)
        if (load[i] == n)
            return;
    if (n->op == AXE_OP_load)
        load[(*n_load)++] = n;
    for (int i = 0; i < n->n_arg; i++)
        gather(n->arg[i], load, n_load);
}

static void
gather_nests(planner *p, const axe_node *n, request *r)
{
    if (n->op == AXE_OP_reduce) {
        int      k = n->u.reduce.n_over;
        axe_dim *dim = axe_new_array(p->cx, axe_dim, k);
        for (int i = 0; i < k; i++)
            dim[i] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
        r->nest[r->n_nest++] = (axe_nest){
            .reduce = n, .n_dim = k, .dim = dim, .lanes = 1, .chains = 1};
    }
    for (int i = 0; i < n->n_arg; i++)
        if (n->op != AXE_OP_load)
            gather_nests(p, n->arg[i], r);
}

static const axe_op fold_op[] = {
    [AXE_FOLD_SUM] = AXE_OP_add,
    [AXE_FOLD_MUL] = AXE_OP_mul,
    [AXE_FOLD_MAX] = AXE_OP_max,
    [AXE_FOLD_MIN] = AXE_OP_min,
};

const axe_node *
axe_spell_fold(axe_ctx *cx, const axe_stmt *s)
{
    const axe_node *v = s->value;

    if (s->fold == AXE_FOLD_NONE)
        return v;
    if (s->n_dim > s->n_free)
        v = axe_reduce(cx, s->at, s->fold, s->n_dim - s->n_free,
                       s->dim + s->n_free, v);
    return axe_node2(cx, fold_op[s->fold], s->dst, v);
}

/* Reading the destination elsewhere than where it is written needs an order
 * between elements, which an index statement does not give. */
static axe_status
check_overlap(planner *p, const request *r)
{
    for (int i = 1; i < r->n_operand && r->stmt->n_free > 0; i++) {
        const axe_operand *op = &r->operand[i];
        if (op->tensor != r->operand[0].tensor)
            continue;
        for (int d = 0; d < op->tensor->rank; d++)
            if (!axe_node_same(op->load->arg[d], r->operand[0].load->arg[d]))
                return axe_fail(p->cx, op->load->at, AXE_EUNSUPPORTED,
                                "%s is written at %s and read at %s in one "
                                "statement",
                                op->tensor->name,
                                axe_node_text(p->cx, r->operand[0].load),
                                axe_node_text(p->cx, op->load));
    }
    return AXE_OK;
}

/* Is the value one of its type, without rounding? */
static bool
is_exact(const axe_node *n)
{
    switch (n->op) {
    case AXE_OP_load:
    case AXE_OP_cast:
    case AXE_OP_fconst:
    case AXE_OP_iconst:
        return true;
    case AXE_OP_neg:
    case AXE_OP_abs:
        return is_exact(n->arg[0]);
    case AXE_OP_min:
    case AXE_OP_max:
        return is_exact(n->arg[0]) && is_exact(n->arg[1]);
    case AXE_OP_select:
        return is_exact(n->arg[1]) && is_exact(n->arg[2]);
    default:
        return false;
    }
}

/* What a tile that is kept in a wider floating type is assigned is rounded to
 * its own type, as storing it there would: f16 a[m] = x[m] * y[m]. */
static const axe_node *
rounded(planner *p, const axe_stmt *s, const axe_node *value)
{
    const axe_tensor *t = s->dst->u.tensor;
    axe_type kept = t->space == AXE_SPACE_GLOBAL || !p->place[t->id].tensor
                        ? t->type
                        : p->place[t->id].type;

    if (kept == t->type || s->fold != AXE_FOLD_NONE ||
        axe_type_table[t->type].cls != AXE_CLASS_FLOAT || is_exact(value))
        return value;
    return axe_cast(p->cx, value->at, t->type,
                    axe_cast(p->cx, value->at, kept, value));
}

axe_status
axe_request_make(planner *p, const axe_stmt *s, request *out)
{
    request r = {.stmt = s,
                 .value = rounded(p, s, axe_spell_fold(p->cx, s)),
                 .meets = axe_scatter_meets(p, s)};
    int     n_load = 1,
        n_max = count(r.value, AXE_OP_load) + count(s->dst, AXE_OP_load);
    const axe_node **load = axe_new_array(p->cx, const axe_node *, n_max + 1);

    if (r.meets)
        r.value = r.value->arg[1];
    r.nest = axe_new_array(p->cx, axe_nest, count(r.value, AXE_OP_reduce) + 1);
    r.nest[r.n_nest++] =
        (axe_nest){.n_dim = s->n_free, .dim = s->dim, .lanes = 1, .chains = 1};
    gather_nests(p, r.value, &r);
    load[0] = s->dst;
    for (int d = 0; d < s->dst->n_arg; d++)
        gather(s->dst->arg[d], load, &n_load);
    gather(r.value, load, &n_load);
    r.operand = axe_new_array(p->cx, axe_operand, n_load);
    r.n_operand = n_load;
    for (int i = 0; i < n_load; i++)
        AXE_TRY(resolve(p, &r, load[i], &r.operand[i]));
    AXE_TRY(check_overlap(p, &r));
    *out = r;
    return AXE_OK;
}

int
axe_operand_n_iter(const axe_operand *op)
{
    int n = 0;

    for (int i = 0; i < op->n_term; i++)
        n += op->term[i].n_iter;
    return n;
}

/* The part that one iter, whose steps are w of the variable, has in a digit;
 * false if none. */
static bool
part_of(const axe_iter *it, int64_t w, bool slowest, const axe_digit *d,
        axe_move *out)
{
    bool within = it->extent == 0 || d->extent == 0 ||
                  (w <= d->weight && d->weight * d->extent <= w * it->extent);

    if (it->stride == 0 || (it->extent > 0 && w * it->extent <= d->weight))
        return false;
    if (d->extent > 0 && d->weight * d->extent <= w)
        return false;
    *out = (axe_move){1, 0, {it->stride, it->unit}};
    if (within)
        out->stride.coef *= d->weight / w;
    else if (d->weight > w)
        *out = (axe_move){1,
                          slowest ? 0 : it->extent / (d->weight / w),
                          {it->stride * (d->weight / w), it->unit}};
    else
        *out = (axe_move){w / d->weight, slowest ? 0 : it->extent, out->stride};
    return true;
}

int
axe_operand_moves(const axe_operand *op, const axe_digit *d, axe_move *out)
{
    int n = 0;

    for (int i = 0; i < op->n_term; i++) {
        const axe_term *t = &op->term[i];
        int64_t         w = 1;
        for (int k = t->n_iter - 1; k >= 0 && t->var == d->var; k--) {
            n += part_of(&t->iter[k], w, k == 0, d, &out[n]);
            w *= t->iter[k].extent;
        }
    }
    return n;
}
