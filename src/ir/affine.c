/* affine.c - reading integer expressions as affine functions, and walking.
 *
 * Terms are kept in order of first appearance.  A term that cancels is taken
 * out at the end, so that n counts what the value depends on.  What is not
 * affine but has no index in it is a term of its own; so is, in a subscript,
 * what reads an element or computes with indices otherwise. */
#include <string.h>

#include "ir/range.h"

typedef struct sum {
    axe_ctx        *cx;
    bool            computed; /* such terms too */
    int             n, cap;
    const axe_var **var;
    int64_t        *coef;
    int64_t         constant;
} sum;

static int64_t *
term_of(sum *s, const axe_var *v)
{
    for (int i = 0; i < s->n; i++)
        if (axe_var_same(s->var[i], v))
            return &s->coef[i];
    if (s->n == s->cap) {
        int             cap = s->cap ? 2 * s->cap : 4;
        const axe_var **var = axe_new_array(s->cx, const axe_var *, cap);
        int64_t        *coef = axe_new_array(s->cx, int64_t, cap);
        if (s->n > 0) {
            memcpy(var, s->var, (size_t)s->n * sizeof var[0]);
            memcpy(coef, s->coef, (size_t)s->n * sizeof coef[0]);
        }
        s->var = var;
        s->coef = coef;
        s->cap = cap;
    }
    s->var[s->n] = v;
    s->coef[s->n] = 0;
    return &s->coef[s->n++];
}

/* *place += scale * by, checked. */
static bool
add_scaled(int64_t *place, int64_t scale, int64_t by)
{
    int64_t v;

    return axe_mul(scale, by, &v) && axe_add(*place, v, place);
}

/* No index and no element in it: one value for a whole statement. */
static bool
is_uniform(const axe_node *n)
{
    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce ||
        n->type != AXE_TYPE_INDEX ||
        (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_uniform(n->arg[i]))
            return false;
    return true;
}

static bool
folds(const axe_node *n)
{
    bool any = n->op == AXE_OP_reduce;

    for (int i = 0; i < n->n_arg; i++)
        any = any || folds(n->arg[i]);
    return any;
}

/* s += scale * n, where n is one term. */
static bool
collect_part(sum *s, const axe_node *n, int64_t scale)
{
    axe_var *v;

    if (s->computed ? folds(n) : !is_uniform(n))
        return false;
    v = axe_new(s->cx, axe_var);
    *v = (axe_var){
        .kind = AXE_VAR_PART, .name = "", .at = n->at, .id = -1, .extent = n};
    return add_scaled(term_of(s, v), scale, 1);
}

/* s += scale * n. */
static bool
collect(sum *s, const axe_node *n, int64_t scale)
{
    int64_t c, minus;

    switch (n->op) {
    case AXE_OP_iconst:
        return add_scaled(&s->constant, scale, n->u.i);
    case AXE_OP_var:
        return add_scaled(term_of(s, n->u.var), scale, 1);
    case AXE_OP_add:
        return collect(s, n->arg[0], scale) && collect(s, n->arg[1], scale);
    case AXE_OP_sub:
        return axe_mul(scale, -1, &minus) && collect(s, n->arg[0], scale) &&
               collect(s, n->arg[1], minus);
    case AXE_OP_neg:
        return axe_mul(scale, -1, &minus) && collect(s, n->arg[0], minus);
    case AXE_OP_mul:
        if (axe_is_iconst(n->arg[1], &c))
            return axe_mul(scale, c, &c) && collect(s, n->arg[0], c);
        if (axe_is_iconst(n->arg[0], &c))
            return axe_mul(scale, c, &c) && collect(s, n->arg[1], c);
        return collect_part(s, n, scale);
    default:
        return collect_part(s, n, scale);
    }
}

bool
axe_var_same(const axe_var *a, const axe_var *b)
{
    return a == b || (a->kind == AXE_VAR_PART && b->kind == AXE_VAR_PART &&
                      axe_node_same(a->extent, b->extent));
}

bool
axe_is_computed(const axe_var *v)
{
    return v->kind == AXE_VAR_PART && !is_uniform(v->extent);
}

bool
axe_is_steady(const axe_var *v)
{
    const axe_node *n = v->kind == AXE_VAR_PART ? v->extent : NULL;

    while (n && n->op == AXE_OP_cast)
        n = n->arg[0];
    return n && n->op == AXE_OP_load && n->n_arg == 0 &&
           axe_type_widens(n->type, AXE_TYPE_i32);
}

static bool
read_terms(sum s, const axe_node *n, axe_affine *out)
{
    int kept = 0;

    if (n->type != AXE_TYPE_INDEX || !collect(&s, n, 1))
        return false;
    for (int i = 0; i < s.n; i++)
        if (s.coef[i] != 0) {
            s.var[kept] = s.var[i];
            s.coef[kept++] = s.coef[i];
        }
    *out = (axe_affine){kept, s.var, s.coef, s.constant};
    return true;
}

bool
axe_affine_of(axe_ctx *cx, const axe_node *n, axe_affine *out)
{
    return read_terms((sum){.cx = cx}, n, out);
}

bool
axe_subscript_of(axe_ctx *cx, const axe_node *n, axe_affine *out)
{
    return read_terms((sum){.cx = cx, .computed = true}, n, out);
}

int64_t
axe_affine_coef(const axe_affine *a, const axe_var *v)
{
    for (int i = 0; i < a->n; i++)
        if (axe_var_same(a->var[i], v))
            return a->coef[i];
    return 0;
}

bool
axe_mentions(const axe_node *n, const axe_var *v)
{
    if (n->op == AXE_OP_var)
        return n->u.var == v;
    for (int i = 0; i < n->n_arg; i++)
        if (axe_mentions(n->arg[i], v))
            return true;
    return false;
}

void
axe_node_walk(const axe_node *n, axe_visit *fn, void *user)
{
    for (int i = 0; i < n->n_arg; i++)
        axe_node_walk(n->arg[i], fn, user);
    fn(user, n);
}

bool
axe_is_affine_size(axe_ctx *cx, const axe_node *n)
{
    axe_affine a;

    if (!axe_affine_of(cx, n, &a) || a.constant < 0)
        return false;
    for (int i = 0; i < a.n; i++)
        if (a.var[i]->kind != AXE_VAR_SIZE || a.coef[i] < 0 ||
            strcmp(a.var[i]->name, AXE_CORES) == 0)
            return false;
    return a.n > 0;
}
