/* subscript.c - one subscript: what its parts are, and what surely holds of it.
 *
 * access.c makes operands of them; what a packed weight is read by, too. */
#include <assert.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/access/subscript.h"

const axe_retile *
axe_retile_of(int n, const axe_retile *list, const axe_var *v)
{
    for (int i = 0; i < n; i++)
        if (list[i].scope == v || list[i].origin == v || list[i].step == v)
            return &list[i];
    return NULL;
}

int64_t
axe_dim_extent(const axe_dim *d)
{
    int64_t e;

    return axe_is_iconst(d->extent, &e) ? e : 0;
}

const axe_dim *
axe_request_dim(const axe_request *r, const axe_var *v)
{
    for (int i = 0; i < r->n_nest; i++)
        for (int j = 0; j < r->nest[i].n_dim; j++)
            if (r->nest[i].dim[j].var == v)
                return &r->nest[i].dim[j];
    return NULL;
}

const axe_node *
axe_affine_node(axe_planner *p, const axe_affine *a)
{
    const axe_node *sum = NULL;

    for (int i = 0; i < a->n; i++) {
        const axe_retile *r = axe_retile_of(p->n_retile, p->retile, a->var[i]);
        const axe_node   *v =
            a->var[i]->kind == AXE_VAR_PART
                  ? a->var[i]->extent
                  : axe_var_node(p->cx, AXE_NOWHERE, r ? r->origin : a->var[i]);
        const axe_node *t = axe_node2(
            p->cx, AXE_OP_mul, v, axe_index_const(p->cx, r ? 1 : a->coef[i]));
        sum = sum ? axe_node2(p->cx, AXE_OP_add, sum, t) : t;
    }
    if (!sum)
        return axe_index_const(p->cx, a->constant);
    return axe_node2(p->cx, AXE_OP_add, sum,
                     axe_index_const(p->cx, a->constant));
}

/* The terms of `a` that are index variables, or those that are not. */
static axe_affine
terms_of(axe_planner *p, const axe_affine *a, bool index)
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

axe_status
axe_subscript_apart(axe_planner *p, const axe_node *n, axe_subscript *out)
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

const axe_node *
axe_unit_node(axe_planner *p, axe_unit u)
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
    return prod ? prod : axe_index_const(p->cx, 1);
}

/* Is `outer` >= 0 for sure? */
static bool
never_negative(const axe_subscript *s)
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
surely_inside(const axe_subscript *s, const axe_dim *d, const axe_node *size)
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
limit_in(axe_planner *p, const axe_subscript *s, const axe_node *size)
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
constant_inside(const axe_request *r, const axe_subscript *s,
                const axe_node *size)
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

void
axe_subscript_ask(const axe_subscript *s, const axe_node *size, axe_operand *op)
{
    op->check[op->n_check++] = (axe_check){s->inner, s->outer_node, size};
}

/* How the subscript of one dimension of `size` may leave it: not at all, at a
 * limit of its one index, or in a way that every element must ask for. */
void
axe_subscript_guard(axe_planner *p, const axe_request *r,
                    const axe_subscript *s, const axe_node *size,
                    axe_operand *op)
{
    const axe_dim *d = s->index ? axe_request_dim(r, s->index) : NULL;
    bool           simple = never_negative(s) && (s->index || s->inner.n == 0);

    if ((simple && surely_inside(s, d, size)) || constant_inside(r, s, size))
        return;
    if (simple && s->index && !s->computed)
        op->guard[op->n_guard++] = (axe_guard){s->index, limit_in(p, s, size)};
    else
        axe_subscript_ask(s, size, op);
}

bool
axe_operand_asks(const axe_operand *op, const axe_var *v)
{
    for (int i = 0; i < op->n_check; i++)
        if (axe_affine_coef(&op->check[i].index, v) != 0)
            return true;
    return false;
}

/* Is an element of t a part of the value, and not of a subscript alone? */
static bool
computes_of(const axe_node *n, const axe_tensor *t)
{
    bool any = n->op == AXE_OP_load && n->u.tensor == t;

    for (int i = 0; i < n->n_arg && n->op != AXE_OP_load && !any; i++)
        any = computes_of(n->arg[i], t);
    return any;
}

bool
axe_operand_places(const axe_node *value, const axe_operand *op)
{
    return op->n_term == 0 && !computes_of(value, op->tensor);
}

const axe_var *
axe_alone_in(axe_planner *p, const axe_node *at)
{
    axe_subscript s;
    axe_mark      m = axe_ctx_mark(p->cx);

    if (axe_subscript_apart(p, at, &s) != AXE_OK || !s.steady)
        s.index = NULL;
    axe_ctx_release(p->cx, m);
    return s.index;
}

axe_status
axe_global_dim(axe_planner *p, const axe_request *r, const axe_node *at, int d,
               const axe_var *as, axe_operand *op, axe_affine *outer)
{
    const axe_tensor *t = op->tensor;
    axe_subscript     s;

    AXE_TRY(axe_subscript_apart(p, at, &s));
    s.index = as;
    axe_subscript_guard(p, r, &s, t->shape[d], op);
    const axe_node *step =
        axe_node2(p->cx, AXE_OP_mul, axe_unit_node(p, t->stride[d].unit),
                  axe_index_const(p->cx, t->stride[d].coef));
    op->base = axe_node2(p->cx, AXE_OP_add, op->base,
                         axe_node2(p->cx, AXE_OP_mul, s.outer_node, step));
    *outer = s.outer;
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
