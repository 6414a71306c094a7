/* bits.c - what is known of integers at a point of a grid's code.
 *
 * A loop that is written out has a largest number; a LET has the bits of its
 * value, which are known where it is declared and looked up where it is used. A
 * sum of numbers that share no bits has those of all. */
#include <string.h>

#include "lower/pass/bits.h"

/* ------------------------------------------------------------------ scopes */

void
axe_facts_enter(axe_facts *f, axe_fact known)
{
    if (f->n == f->cap) {
        int       cap = f->cap ? 2 * f->cap : 32;
        axe_fact *more = axe_new_array(f->cx, axe_fact, cap);
        if (f->n > 0)
            memcpy(more, f->fact, (size_t)f->n * sizeof *more);
        f->fact = more;
        f->cap = cap;
    }
    f->fact[f->n++] = known;
}

void
axe_facts_declare(axe_facts *f, const axe_lir *l)
{
    axe_fact known = {.var = l->var};

    if (l->kind == AXE_LIR_LOOP && l->unroll) {
        known.unrolled = true;
        if (axe_is_iconst(l->end, &known.most))
            known.most--;
    } else if (l->kind == AXE_LIR_LET) {
        known.bits = axe_facts_bits(f, l->value);
    }
    if (known.unrolled || (known.bits != 0 && known.bits != UINT64_MAX))
        axe_facts_enter(f, known);
}

static const axe_fact *
find(const axe_facts *f, const axe_var *v)
{
    for (int i = f->n - 1; i >= 0; i--)
        if (f->fact[i].var == v)
            return &f->fact[i];
    return NULL;
}

/* ------------------------------------------------------------ what is known */

bool
axe_facts_is_fixed(const axe_facts *f, const axe_node *n)
{
    const axe_fact *known;

    if (n->op == AXE_OP_iconst)
        return true;
    if (n->op == AXE_OP_var) {
        known = find(f, n->u.var);
        return known && known->unrolled;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!axe_facts_is_fixed(f, n->arg[i]))
            return false;
    return n->n_arg > 0;
}

static int64_t
largest_of(const axe_facts *f, const axe_var *v)
{
    const axe_fact *known;

    if (v == f->g->id[AXE_ID_LANE])
        return f->g->lanes - 1;
    if (v == f->g->id[AXE_ID_WARP])
        return f->g->n_thread / f->g->lanes - 1;
    if (v == f->g->id[AXE_ID_RANK])
        return f->g->cluster - 1;
    known = find(f, v);
    return known && known->unrolled ? known->most : -1;
}

int64_t
axe_facts_largest(const axe_facts *f, const axe_node *n)
{
    int64_t a, b;

    if (n->op == AXE_OP_iconst)
        return n->u.i;
    if (n->op == AXE_OP_var)
        return largest_of(f, n->u.var);
    if (n->op == AXE_OP_mod && n->arg[1]->op == AXE_OP_iconst)
        return n->arg[1]->u.i - 1;
    if (n->n_arg != 2)
        return -1;
    a = axe_facts_largest(f, n->arg[0]);
    b = axe_facts_largest(f, n->arg[1]);
    if (n->op == AXE_OP_div && a >= 0 && n->arg[1]->op == AXE_OP_iconst &&
        b > 0)
        return a / b;
    if (a < 0 || b < 0)
        return -1;
    if ((n->op == AXE_OP_add && axe_add(a, b, &a)) ||
        (n->op == AXE_OP_mul && axe_mul(a, b, &a)))
        return a;
    return -1;
}

/* From the lowest of the bits on. */
static uint64_t
from_lowest(uint64_t bits)
{
    return ~((bits & -bits) - 1);
}

static uint64_t
bits_of_var(const axe_facts *f, const axe_var *v)
{
    int64_t         most = largest_of(f, v);
    uint64_t        all = 0;
    const axe_fact *known;

    if (most < 0) {
        known = find(f, v);
        return known && known->bits ? known->bits : UINT64_MAX;
    }
    while (all < (uint64_t)most)
        all = 2 * all + 1;
    return all;
}

/* A product with a constant, of whose other factor the bits are known: those
 * of a shift, or from the lowest on. */
static uint64_t
bits_of_product(uint64_t a, uint64_t b)
{
    uint64_t low = b & -b;

    if (a == 0 || b == 0)
        return 0;
    return b == low ? a * b : from_lowest((a & -a) * low);
}

/* The quotient by a power of two; one of what may be negative is, too. */
static uint64_t
shifted_down(uint64_t bits, uint64_t by)
{
    return bits >> 63 ? bits / by | ~(UINT64_MAX / by) : bits / by;
}

static uint64_t
bits_of_op(const axe_facts *f, const axe_node *n)
{
    uint64_t a = axe_facts_bits(f, n->arg[0]);
    uint64_t b = axe_facts_bits(f, n->arg[1]);
    int64_t  by;
    bool     power =
        axe_is_iconst(n->arg[1], &by) && by > 0 && (by & (by - 1)) == 0;

    if (n->op == AXE_OP_add) /* carries begin at the lowest bit of both */
        return a & b ? a | b | from_lowest(a & b) : a | b;
    if (n->op == AXE_OP_mul && axe_is_iconst(n->arg[1], &by))
        return by < 0 ? UINT64_MAX : bits_of_product(a, (uint64_t)by);
    if (n->op == AXE_OP_mul && axe_is_iconst(n->arg[0], &by))
        return by < 0 ? UINT64_MAX : bits_of_product(b, (uint64_t)by);
    if (n->op == AXE_OP_div && power)
        return shifted_down(a, (uint64_t)by);
    if (n->op == AXE_OP_mod && power)
        return a & ((uint64_t)by - 1);
    return UINT64_MAX;
}

uint64_t
axe_facts_bits(const axe_facts *f, const axe_node *n)
{
    int64_t  most = axe_facts_largest(f, n);
    uint64_t all = UINT64_MAX;

    if (n->op == AXE_OP_iconst)
        return (uint64_t)n->u.i;
    if (n->op == AXE_OP_var)
        return bits_of_var(f, n->u.var);
    while (most >= 0 && all > (uint64_t)most && all >> 1 >= (uint64_t)most)
        all >>= 1;
    return n->n_arg == 2 ? all & bits_of_op(f, n) : all;
}

/* ------------------------------------------------------------------- terms */

static int
cut(const axe_node *n, const axe_node **out, int count)
{
    if (n->op == AXE_OP_add) {
        count = cut(n->arg[0], out, count);
        return count > AXE_MAX_TERM ? count : cut(n->arg[1], out, count);
    }
    if (count < AXE_MAX_TERM)
        out[count] = n;
    return count + 1;
}

int
axe_terms_of(const axe_node *n, const axe_node **out)
{
    int count = cut(n, out, 0);

    return count > AXE_MAX_TERM ? 0 : count;
}

const axe_node *
axe_terms_sum(axe_ctx *cx, int n, const axe_node *const *term)
{
    const axe_node *s = NULL;

    for (int i = 0; i < n; i++)
        if (term[i])
            s = s ? axe_node2(cx, AXE_OP_add, s, term[i]) : term[i];
    return s;
}

const axe_node *
axe_terms_times(axe_ctx *cx, const axe_node *x, int64_t n)
{
    int64_t v;

    if (n == 1)
        return x;
    if (x->op == AXE_OP_add)
        return axe_node2(cx, AXE_OP_add, axe_terms_times(cx, x->arg[0], n),
                         axe_terms_times(cx, x->arg[1], n));
    for (int i = 0; x->op == AXE_OP_mul && i < 2; i++)
        if (axe_is_iconst(x->arg[i], &v) && axe_mul(v, n, &v))
            return axe_node2(cx, AXE_OP_mul, x->arg[1 - i],
                             axe_iconst(cx, x->at, AXE_TYPE_INDEX, v));
    return axe_node2(cx, AXE_OP_mul, x,
                     axe_iconst(cx, x->at, AXE_TYPE_INDEX, n));
}

const axe_node *
axe_terms_divided(axe_ctx *cx, const axe_node *x, int64_t by)
{
    int64_t v;

    if (axe_is_iconst(x, &v) && v % by == 0)
        return axe_iconst(cx, x->at, AXE_TYPE_INDEX, v / by);
    if (x->op == AXE_OP_add || x->op == AXE_OP_sub)
        return axe_node2(cx, x->op, axe_terms_divided(cx, x->arg[0], by),
                         axe_terms_divided(cx, x->arg[1], by));
    if (x->op == AXE_OP_mul && axe_is_iconst(x->arg[1], &v) && v % by == 0)
        return axe_terms_times(cx, x->arg[0], v / by);
    if (x->op == AXE_OP_mul && axe_is_iconst(x->arg[0], &v) && v % by == 0)
        return axe_terms_times(cx, x->arg[1], v / by);
    return axe_node2(cx, AXE_OP_div, x,
                     axe_iconst(cx, x->at, AXE_TYPE_INDEX, by));
}

/* The factor of a product that terms are to have in common, or NULL. */
static const axe_node *
factor_of(const axe_node *n, axe_is_factor *is_factor, const void *user,
          const axe_node **other)
{
    for (int i = 1; n->op == AXE_OP_mul && i >= 0; i--)
        if (is_factor(user, n->arg[i])) {
            *other = n->arg[1 - i];
            return n->arg[i];
        }
    return NULL;
}

const axe_node *
axe_terms_gather(axe_ctx *cx, const axe_node *at, axe_is_factor *is_factor,
                 const void *user)
{
    const axe_node *t[AXE_MAX_TERM], *a, *b;
    int             n = axe_terms_of(at, t);

    for (int i = 0; i < n; i++) {
        const axe_node *f = t[i] ? factor_of(t[i], is_factor, user, &a) : NULL;
        const axe_node *g;
        bool            more = false;
        for (int k = i + 1; f && k < n; k++) {
            g = t[k] ? factor_of(t[k], is_factor, user, &b) : NULL;
            if (!g || !axe_node_same(f, g))
                continue;
            a = axe_node2(cx, AXE_OP_add, a, b);
            t[k] = NULL;
            more = true;
        }
        if (more)
            t[i] = axe_node2(cx, AXE_OP_mul, a, f);
    }
    return n > 0 ? axe_terms_sum(cx, n, t) : at;
}
