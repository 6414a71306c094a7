/* hoist.c - divisions leave the loops that they do not depend on.
 *
 * First every quotient and remainder by a constant is taken apart: multiples of
 * the divisor come out, and what is left vanishes where the loops around bound
 * it, so that (4*q + r)/4 with r < 4 is q.  Then, innermost loops first, every
 * `let` of a loop whose value is the same in all its iterations moves before
 * it, and so do divisions inside other integer expressions.  They have no
 * effects, so that what a branch guards may be computed before it.  Tasks and
 * blocks, which have names of their own, keep what they hold. */
#include "ir/list.h"
#include "lower/code/build.h"
#include "lower/lower_int.h"
#include "lower/pass/pass.h"

/* A loop around, with constant bounds. */
typedef struct iteration {
    const axe_var          *var;
    int64_t                 first, last;
    const struct iteration *up;
} iteration;

typedef struct hoister {
    axe_lowering    *lw;
    const iteration *iterations;
    axe_list         defined; /* variables of the loop at hand and all in it */
    axe_lblock      *before;  /* what leaves it */
} hoister;

static bool
divides(const axe_node *n)
{
    if (n->op == AXE_OP_div || n->op == AXE_OP_mod || n->op == AXE_OP_cdiv)
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (divides(n->arg[i]))
            return true;
    return false;
}

/* --------------------------------------------------------- taking apart */

/* The values of coef * v, added to [lo, hi]; false where they are not known. */
static bool
add_range(const hoister *h, const axe_var *v, int64_t coef, int64_t *lo,
          int64_t *hi)
{
    int64_t x, y;

    for (const iteration *t = h->iterations; t; t = t->up)
        if (t->var == v)
            return axe_mul(coef, t->first, &x) && axe_mul(coef, t->last, &y) &&
                   axe_add(*lo, x < y ? x : y, lo) &&
                   axe_add(*hi, x < y ? y : x, hi);
    return false;
}

static const axe_node *
add_term(hoister *h, const axe_node *sum, const axe_var *v, int64_t coef)
{
    const axe_node *n =
        v->kind == AXE_VAR_PART ? v->extent : axe_ivar(h->lw, v);

    n = axe_scaled(h->lw, n, (axe_stride){coef, AXE_UNIT_ONE});
    return axe_sum(h->lw, sum, n);
}

/* a = c * quotient + rest with 0 <= rest < c; false where that is not known. */
static bool
take_apart(hoister *h, const axe_node *a, int64_t c, const axe_node **quotient,
           const axe_node **rest)
{
    axe_affine f;
    int64_t    lo, hi, q;

    if (c < 1 || !axe_affine_of(h->lw->cx, a, &f))
        return false;
    q = f.constant / c - (f.constant % c < 0);
    lo = hi = f.constant - q * c;
    *rest = axe_int(h->lw, lo);
    *quotient = axe_int(h->lw, q);
    for (int i = 0; i < f.n; i++)
        if (f.coef[i] % c == 0) {
            *quotient = add_term(h, *quotient, f.var[i], f.coef[i] / c);
        } else {
            *rest = add_term(h, *rest, f.var[i], f.coef[i]);
            if (!add_range(h, f.var[i], f.coef[i], &lo, &hi))
                return false;
        }
    return lo >= 0 && hi < c;
}

/* A quotient or remainder without division, or NULL. */
static const axe_node *
undivided(hoister *h, axe_op op, const axe_node *a, const axe_node *b)
{
    const axe_node *quotient, *rest;
    int64_t         c, zero;

    if (!axe_is_iconst(b, &c) || !take_apart(h, a, c, &quotient, &rest))
        return NULL;
    if (op == AXE_OP_mod)
        return rest;
    if (op == AXE_OP_div || (axe_is_iconst(rest, &zero) && zero == 0))
        return quotient;
    return NULL;
}

/* ---------------------------------------------------------- expressions */

/* Is the value the same in all iterations of the loop at hand? */
static bool
invariant(const hoister *h, const axe_node *n)
{
    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce)
        return false;
    for (int i = 0; n->op == AXE_OP_var && i < h->defined.n; i++)
        if (h->defined.item[i] == n->u.var)
            return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!invariant(h, n->arg[i]))
            return false;
    return true;
}

/* Only of what never changes while a grid runs? */
static bool
is_fixed(const axe_node *n)
{
    if (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE &&
        n->u.var->kind != AXE_VAR_SCOPE)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_fixed(n->arg[i]))
            return false;
    return true;
}

/* The variable that has left with this value already, or NULL. */
static const axe_var *
find_moved(const hoister *h, const axe_node *n)
{
    for (int i = h->before->n - 1; i >= 0 && is_fixed(n); i--) {
        const axe_lir *l = h->before->item[i];
        if (l->kind == AXE_LIR_LET &&
            l->var->id >= h->lw->plan->kernel->n_var &&
            axe_node_same(l->value, n))
            return l->var;
    }
    return NULL;
}

static const axe_node *
move_out(hoister *h, const axe_node *n)
{
    const axe_var *moved = find_moved(h, n);
    axe_lir       *l;

    if (moved)
        return axe_ivar(h->lw, moved);
    l = axe_emit(h->lw, h->before, AXE_LIR_LET);

    l->var = axe_loop_var(h->lw, "part");
    l->value = n;
    return axe_ivar(h->lw, l->var);
}

static bool
is_division(const axe_node *n)
{
    return n->op == AXE_OP_div || n->op == AXE_OP_mod || n->op == AXE_OP_cdiv;
}

/* The expression with its divisions taken apart, and those that may leave the
 * loop, if there is one, in `lets` before it. */
static const axe_node *
rewrite(hoister *h, const axe_node *n)
{
    const axe_node *arg[3], *out = NULL;

    if (!n || !divides(n) || n->n_arg > AXE_LEN(arg) || n->op == AXE_OP_load ||
        n->op == AXE_OP_reduce)
        return n;
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = rewrite(h, n->arg[i]);
    if (is_division(n))
        out = undivided(h, n->op, arg[0], arg[1]);
    if (!out)
        out = axe_node_new(h->lw->cx, n->op, n->type, n->at, n->n_arg, arg);
    if (h->before && is_division(out) && invariant(h, out))
        out = move_out(h, out);
    return out;
}

/* ---------------------------------------------------------------- blocks */

static void
define_all(hoister *h, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        if (b->item[i]->var)
            axe_list_push(&h->defined, b->item[i]->var);
        define_all(h, &b->item[i]->body);
        define_all(h, &b->item[i]->other);
    }
}

static void
undefine(hoister *h, const axe_var *v)
{
    for (int i = 0; i < h->defined.n; i++)
        if (h->defined.item[i] == v)
            h->defined.item[i] = h->defined.item[--h->defined.n];
}

/* A `let` of lowering, whose name is found nowhere else. */
static bool
may_move(const hoister *h, const axe_lir *l)
{
    return h->before && l->kind == AXE_LIR_LET &&
           l->var->id >= h->lw->plan->kernel->n_var && invariant(h, l->value);
}

/* What the item computes here; not what its body does. */
static void
rewrite_item(hoister *h, axe_lir *l)
{
    l->begin = rewrite(h, l->begin);
    l->end = rewrite(h, l->end);
    l->value = rewrite(h, l->value);
    l->mem.at = rewrite(h, l->mem.at);
    l->pred = rewrite(h, l->pred);
    for (int i = 0; i < l->n_arg; i++) {
        axe_arg *a = &l->arg[i];
        a->at = rewrite(h, a->at);
        a->cta = rewrite(h, a->cta);
        for (int k = 0; k < a->n_at; k++)
            a->coord[k] = rewrite(h, a->coord[k]);
    }
}

static void
empty_loop(hoister *h, axe_lblock *b)
{
    int kept = 0;

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        if (may_move(h, l)) {
            *axe_emit(h->lw, h->before, AXE_LIR_LET) = *l;
            undefine(h, l->var);
            continue;
        }
        rewrite_item(h, l);
        if (l->kind == AXE_LIR_IF) {
            empty_loop(h, &l->body);
            empty_loop(h, &l->other);
        }
        b->item[kept++] = l;
    }
    b->n = kept;
}

static void hoist_block(hoister *h, axe_lblock *b);

static void
hoist_loop(hoister *h, axe_lir *l, axe_lblock *out)
{
    iteration t = {.var = l->var, .up = h->iterations};
    int64_t   end;

    if (axe_is_iconst(l->begin, &t.first) && axe_is_iconst(l->end, &end)) {
        t.last = end - 1;
        h->iterations = &t;
    }
    hoist_block(h, &l->body);
    h->before = out;
    h->defined.n = 0;
    axe_list_push(&h->defined, l->var);
    define_all(h, &l->body);
    empty_loop(h, &l->body);
    h->before = NULL;
    h->iterations = t.up;
}

static void
hoist_block(hoister *h, axe_lblock *b)
{
    axe_lblock out = {0};

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        rewrite_item(h, l);
        if (l->kind == AXE_LIR_LOOP) {
            hoist_loop(h, l, &out);
        } else {
            hoist_block(h, &l->body);
            hoist_block(h, &l->other);
        }
        *axe_emit(h->lw, &out, l->kind) = *l;
    }
    *b = out;
}

void
axe_hoist(axe_lowering *lw, axe_lblock *b)
{
    hoister h = {.lw = lw, .defined = {.cx = lw->cx}};

    hoist_block(&h, b);
}
