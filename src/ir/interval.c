/* interval.c - intervals that hold the values of integer expressions.
 *
 * Sizes are at least 0, a scope's or loop's number runs from 0 to below its
 * extent; operators map intervals to intervals, each side known or not.  What
 * leaves int64 is not known.  The interval of an expression whose variables
 * occur once is exact, others may be wider than need be. */
#include <stdlib.h>

#include "ir/ir.h"

static const axe_interval anything = {0, 0, false, false};

static bool
minus(int64_t a, int64_t b, int64_t *out)
{
    return b == INT64_MIN ? a < 0 && axe_add(a + 1, INT64_MAX, out)
                          : axe_add(a, -b, out);
}

static axe_interval
negated(axe_interval a)
{
    axe_interval r = anything;

    r.has_lo = a.has_hi && minus(0, a.hi, &r.lo);
    r.has_hi = a.has_lo && minus(0, a.lo, &r.hi);
    return r;
}

static axe_interval
plus(axe_interval a, axe_interval b)
{
    axe_interval r = anything;

    r.has_lo = a.has_lo && b.has_lo && axe_add(a.lo, b.lo, &r.lo);
    r.has_hi = a.has_hi && b.has_hi && axe_add(a.hi, b.hi, &r.hi);
    return r;
}

static bool
bounded(axe_interval a)
{
    return a.has_lo && a.has_hi;
}

static bool
at_least(axe_interval a, int64_t lo)
{
    return a.has_lo && a.lo >= lo;
}

/* By the corners; of two that are at least 0 the lower one suffices. */
static axe_interval
times(axe_interval a, axe_interval b)
{
    int64_t      c[4];
    axe_interval r = anything;

    if (at_least(a, 0) && at_least(b, 0)) {
        r.has_lo = axe_mul(a.lo, b.lo, &r.lo);
        r.has_hi = a.has_hi && b.has_hi && axe_mul(a.hi, b.hi, &r.hi);
        return r;
    }
    if (!bounded(a) || !bounded(b) || !axe_mul(a.lo, b.lo, &c[0]) ||
        !axe_mul(a.lo, b.hi, &c[1]) || !axe_mul(a.hi, b.lo, &c[2]) ||
        !axe_mul(a.hi, b.hi, &c[3]))
        return anything;
    r = (axe_interval){c[0], c[0], true, true};
    for (int i = 1; i < 4; i++) {
        r.lo = c[i] < r.lo ? c[i] : r.lo;
        r.hi = c[i] > r.hi ? c[i] : r.hi;
    }
    return r;
}

static int64_t
quotient(int64_t a, int64_t b, bool up)
{
    int64_t q = a / b, r = a % b;

    return up ? q + (r > 0) : q - (r < 0);
}

/* A divisor of at least 1: the quotient grows with a, towards 0 with b.  By 0
 * it is 0. */
static axe_interval
over(axe_interval a, axe_interval b, bool up)
{
    axe_interval r = anything;

    if (at_least(a, 0) && at_least(b, 0) && !at_least(b, 1))
        return (axe_interval){0, a.hi, true, a.has_hi};
    if (!at_least(b, 1))
        return anything;
    if (at_least(a, 0) && !b.has_hi)
        r = (axe_interval){0, 0, true, false};
    else if (a.has_lo && b.has_hi)
        r = (axe_interval){quotient(a.lo, a.lo < 0 ? b.lo : b.hi, up), 0, true,
                           false};
    if (a.has_hi && (a.hi >= 0 || b.has_hi)) {
        r.hi = quotient(a.hi, a.hi < 0 ? b.hi : b.lo, up);
        r.has_hi = true;
    }
    return r;
}

/* By 0 it is what is divided. */
static axe_interval
remainder_of(axe_interval a, axe_interval b)
{
    axe_interval r = {0, 0, true, false};

    if (at_least(a, 0) && at_least(b, 0) && !at_least(b, 1))
        return (axe_interval){0, a.hi, true, a.has_hi};
    if (!at_least(b, 1))
        return anything;
    if (bounded(a) && b.has_hi && b.lo == b.hi &&
        quotient(a.lo, b.lo, false) == quotient(a.hi, b.lo, false)) {
        int64_t q = quotient(a.lo, b.lo, false) * b.lo;
        return (axe_interval){a.lo - q, a.hi - q, true, true};
    }
    if (b.has_hi)
        r = (axe_interval){0, b.hi - 1, true, true};
    if (at_least(a, 0) && a.has_hi && (!r.has_hi || a.hi < r.hi))
        r = (axe_interval){0, a.hi, true, true};
    return r;
}

/* sign -1: the lesser of the two; 1: the greater. */
static axe_interval
extreme(axe_interval a, axe_interval b, int sign)
{
    axe_interval r = {0};

    if (sign > 0)
        return negated(extreme(negated(a), negated(b), -1));
    r.has_lo = a.has_lo && b.has_lo;
    r.lo = a.lo < b.lo ? a.lo : b.lo;
    r.has_hi = a.has_hi || b.has_hi;
    r.hi = !a.has_hi || (b.has_hi && b.hi < a.hi) ? b.hi : a.hi;
    return r;
}

/* A mask that is at least 0 clears the sign and leaves no more than it has. */
static axe_interval
masked(axe_interval a, axe_interval b)
{
    axe_interval r = {0, 0, at_least(a, 0) || at_least(b, 0), false};

    if (at_least(a, 0) && a.has_hi)
        r = (axe_interval){0, a.hi, true, true};
    if (at_least(b, 0) && b.has_hi && (!r.has_hi || b.hi < r.hi))
        r = (axe_interval){0, b.hi, true, true};
    return r;
}

static axe_interval
either(axe_interval a, axe_interval b)
{
    return (axe_interval){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi,
                          a.has_lo && b.has_lo, a.has_hi && b.has_hi};
}

/* How to ask for operands: what is known of some expressions, and of each
 * variable, by its number; or NULL: what its kind tells. */
typedef struct query {
    const axe_interval *of;
    axe_interval_known *known;
    const void         *user;
} query;

static axe_interval walk(const axe_node *n, const query *q,
                         const axe_node **beyond);

static axe_interval
var_range(const axe_var *v, const query *q)
{
    axe_interval r = {0, 0, true, false}, e;

    if (v->kind == AXE_VAR_PART)
        return walk(v->extent, q, NULL);
    if (q->of)
        return q->of[v->id];
    if (!v->extent)
        return r;
    e = walk(v->extent, q, NULL);
    r.has_hi = e.has_hi;
    r.hi = e.hi > 0 ? e.hi - 1 : 0;
    return r;
}

/* Does r, of an operation on a and b, reach what no index may be? */
static bool
is_beyond(axe_interval a, axe_interval b, axe_interval r)
{
    return (r.has_lo && llabs(r.lo) > AXE_INDEX_MOST) ||
           (r.has_hi && llabs(r.hi) > AXE_INDEX_MOST) ||
           (bounded(a) && bounded(b) && !bounded(r)) ||
           (at_least(a, 0) && at_least(b, 0) && a.lo > 0 && b.lo > 0 &&
            !r.has_lo);
}

static axe_interval
apply(axe_op op, axe_interval a, axe_interval b)
{
    switch (op) {
    case AXE_OP_add:
        return plus(a, b);
    case AXE_OP_sub:
        return plus(a, negated(b));
    case AXE_OP_mul:
        return times(a, b);
    case AXE_OP_div:
    case AXE_OP_cdiv:
        return over(a, b, op == AXE_OP_cdiv);
    case AXE_OP_mod:
        return remainder_of(a, b);
    case AXE_OP_band:
        return masked(a, b);
    case AXE_OP_neg:
        return negated(a);
    case AXE_OP_min:
    case AXE_OP_max:
        return extreme(a, b, op == AXE_OP_max ? 1 : -1);
    case AXE_OP_sign:
        return (axe_interval){at_least(a, 0) ? 0 : -1, 1, true, true};
    case AXE_OP_abs:
        return extreme(a, negated(a), 1);
    default:
        return anything;
    }
}

/* The first operation that reaches what no index may be goes to *beyond, unless
 * that is NULL. */
static axe_interval
walk(const axe_node *n, const query *q, const axe_node **beyond)
{
    axe_interval a = {0, 0, true, true}, b = a, r;
    bool         computes = n->op == AXE_OP_add || n->op == AXE_OP_sub ||
                    n->op == AXE_OP_mul || n->op == AXE_OP_neg;

    if (q->known && q->known(q->user, n, &r))
        return r;
    if (n->op == AXE_OP_iconst)
        return (axe_interval){n->u.i, n->u.i, true, true};
    if (n->op == AXE_OP_var)
        return var_range(n->u.var, q);
    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce ||
        n->op == AXE_OP_cast || n->type != AXE_TYPE_INDEX)
        return anything;
    if (n->op == AXE_OP_select)
        return either(walk(n->arg[1], q, beyond), walk(n->arg[2], q, beyond));
    if (n->n_arg > 0)
        a = walk(n->arg[0], q, beyond);
    if (n->n_arg > 1)
        b = walk(n->arg[1], q, beyond);
    r = apply(n->op, a, b);
    if (beyond && !*beyond && computes && is_beyond(a, b, r))
        *beyond = n;
    return r;
}

axe_interval
axe_interval_of(const axe_node *n)
{
    return walk(n, &(query){0}, NULL);
}

axe_interval
axe_interval_in(const axe_node *n, const axe_interval *of,
                const axe_node **beyond)
{
    return walk(n, &(query){.of = of}, beyond);
}

axe_interval
axe_interval_where(const axe_node *n, axe_interval_known *known,
                   const void *user)
{
    return walk(n, &(query){.known = known, .user = user}, NULL);
}
