/* reflect.c - an absolute value in a subscript, away from where it turns.
 *
 *     Y[i*T + n] = X[abs(i*T + n - 3)];
 *
 * reads backwards in the first tile alone.  What follows abs has no lanes, so
 * the statement is
 *
 *     if (i*T - 3 >= 0) Y[i*T + n] = X[i*T + n - 3];
 *     else Y[i*T + n] = X[abs(i*T + n - 3)];
 *
 * and so is X[N - 1 - abs(N - 1 - x)], which turns at the other end. */
#include "ir/list.h"
#include "ir/rewrite.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

typedef struct reflect {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *s;
    const axe_var  *of; /* whose extent is looked for, found */
    const axe_node *extent;
    const axe_node *when; /* no argument is below 0; NULL: there is none */
    bool            no;   /* or that is not known before the statement */
} reflect;

static void
find_extent(void *user, const axe_node *n)
{
    reflect *x = user;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == x->of)
            x->extent = n->u.reduce.extent[i];
}

/* How many values an index of the statement has, or NULL. */
static const axe_node *
extent_of(reflect *x, const axe_var *v)
{
    x->of = v;
    x->extent = NULL;
    for (int i = 0; i < x->s->n_dim; i++)
        if (x->s->dim[i].var == v)
            x->extent = x->s->dim[i].extent;
    if (!x->extent)
        axe_node_walk(x->s->value, find_extent, x);
    return x->extent;
}

/* The least that an affine e is for any of the statement's indices, or NULL. */
static const axe_node *
least(reflect *x, const axe_node *e, const axe_affine *a)
{
    const axe_node *one = axe_iconst(x->cx, e->at, AXE_TYPE_INDEX, 1);

    for (int i = 0; i < a->n; i++) {
        const axe_var  *v = a->var[i];
        const axe_node *at = axe_iconst(x->cx, e->at, AXE_TYPE_INDEX, 0), *all;
        if (v->kind == AXE_VAR_PART)
            return NULL;
        if (v->kind != AXE_VAR_INDEX)
            continue;
        if (a->coef[i] < 0) {
            if (!(all = extent_of(x, v)))
                return NULL;
            at = axe_node2(x->cx, AXE_OP_sub, all, one);
        }
        e = axe_node_with(x->cx, e, v, at);
    }
    return e;
}

/* Collects the condition; what it is asked of stays. */
static const axe_node *
ask(void *user, const axe_node *n)
{
    reflect        *x = user;
    axe_affine      a;
    const axe_node *low;

    if (n->op != AXE_OP_abs || n->type != AXE_TYPE_INDEX)
        return NULL;
    if (!axe_affine_of(x->cx, n->arg[0], &a) ||
        !(low = least(x, n->arg[0], &a))) {
        x->no = true;
        return NULL;
    }
    low = axe_node2(x->cx, AXE_OP_le,
                    axe_iconst(x->cx, n->at, AXE_TYPE_INDEX, 0), low);
    x->when = x->when ? axe_node2(x->cx, AXE_OP_and, x->when, low) : low;
    return n;
}

static const axe_node *
take_off(void *user, const axe_node *n)
{
    (void)user;
    return n->op == AXE_OP_abs && n->type == AXE_TYPE_INDEX ? n->arg[0] : NULL;
}

/* Changes the subscripts of the value's loads. */
typedef struct below {
    reflect         *x;
    axe_node_change *change;
} below;

static const axe_node *
in_loads(void *user, const axe_node *n)
{
    below    *b = user;
    axe_node *copy;

    if (n->op != AXE_OP_load)
        return NULL;
    copy = axe_new_flex(b->x->cx, axe_node, arg, n->n_arg);
    *copy = *n;
    for (int i = 0; i < n->n_arg; i++)
        copy->arg[i] = axe_node_map(b->x->cx, n->arg[i], b->change, b->x);
    return copy;
}

static bool
split(void *user, axe_stmt *s, axe_list *out)
{
    reflect     *x = user;
    axe_stmt    *both, *near, **body;
    axe_rewriter w;
    int64_t      known;

    if (s->kind != AXE_STMT_INDEX || s->atom || s->prefix)
        return false;
    x->s = s;
    x->when = NULL;
    x->no = false;
    axe_node_map(x->cx, s->value, in_loads, &(below){x, ask});
    if (!x->when || x->no || (axe_is_iconst(x->when, &known) && !known))
        return false;
    w = axe_rewriter_of(x->cx, x->k);
    near = axe_rewrite_stmt(&w, s);
    near->value =
        axe_node_map(x->cx, near->value, in_loads, &(below){x, take_off});
    if (axe_is_iconst(x->when, &known)) {
        axe_list_push(out, near);
        return true;
    }
    both = axe_new(x->cx, axe_stmt);
    body = axe_new_array(x->cx, axe_stmt *, 2);
    body[0] = near;
    body[1] = s;
    *both = (axe_stmt){.kind = AXE_STMT_IF,
                       .at = s->at,
                       .cond = x->when,
                       .n_body = 1,
                       .body = body,
                       .n_other = 1,
                       .other = body + 1};
    axe_list_push(out, both);
    return true;
}

const axe_kernel *
axe_reflect(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel     *out = axe_new(cx, axe_kernel);
    reflect         x = {.cx = cx, .k = out};
    axe_body_change c = {.cx = cx, .before = split, .user = &x};

    *out = *k;
    return axe_kernel_map(&c, k, out);
}
