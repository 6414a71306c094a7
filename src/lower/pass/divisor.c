/* divisor.c - between which numbers what is divided by lies.
 *
 * A division is short where its divisor is known to be no extreme: the hardware
 * has a reciprocal, of numbers that have a normal one.  Ranges are those of the
 * exact value, a little widened for what rounding adds; NaN is in every one. */
#include "lower/pass/divisor.h"

#include <math.h>

/* Between which numbers a floating value lies unless it is NaN; infinities
 * where that is not known. */
typedef struct range {
    double least, most;
} range;

static const range any = {-INFINITY, INFINITY};

/* The ends, rounded outwards by more than any operation is off. */
static range
widened(double least, double most)
{
    range r = {least - fabs(least) * 0x1p-18, most + fabs(most) * 0x1p-18};

    return isnan(r.least) || isnan(r.most) ? any : r;
}

static range
product(range a, range b)
{
    double p[] = {a.least * b.least, a.least * b.most, a.most * b.least,
                  a.most * b.most};
    range  r = {p[0], p[0]};

    for (int i = 0; i < AXE_LEN(p); i++) {
        if (isnan(p[i]))
            return any;
        r.least = fmin(r.least, p[i]);
        r.most = fmax(r.most, p[i]);
    }
    return widened(r.least, r.most);
}

static range
magnitude(range a)
{
    return (range){a.least > 0  ? a.least
                   : a.most < 0 ? -a.most
                                : 0,
                   fmax(fabs(a.least), fabs(a.most))};
}

/* Of an operation on one or two values, and its operands. */
static range
applied(axe_op op, range a, range b)
{
    switch (op) {
    case AXE_OP_add:
        return widened(a.least + b.least, a.most + b.most);
    case AXE_OP_sub:
        return widened(a.least - b.most, a.most - b.least);
    case AXE_OP_mul:
        return product(a, b);
    case AXE_OP_neg:
        return (range){-a.most, -a.least};
    case AXE_OP_min:
        return (range){fmin(a.least, b.least), fmin(a.most, b.most)};
    case AXE_OP_max:
        return (range){fmax(a.least, b.least), fmax(a.most, b.most)};
    case AXE_OP_abs:
        return magnitude(a);
    case AXE_OP_exp:
        return widened(exp(a.least), exp(a.most));
    case AXE_OP_exp2:
        return widened(exp2(a.least), exp2(a.most));
    case AXE_OP_sqrt:
        return (range){0, INFINITY};
    case AXE_OP_tanh:
        return (range){-1, 1};
    default:
        return any;
    }
}

static range
range_of(const axe_node *n)
{
    if (!axe_type_is_float(n->type))
        return any;
    if (n->op == AXE_OP_fconst)
        return isnan(n->u.f) ? any : (range){n->u.f, n->u.f};
    if (n->op == AXE_OP_iconst)
        return (range){(double)n->u.i, (double)n->u.i};
    if (n->op == AXE_OP_select) {
        range a = range_of(n->arg[1]), b = range_of(n->arg[2]);
        return (range){fmin(a.least, b.least), fmax(a.most, b.most)};
    }
    if (n->op == AXE_OP_load || n->n_arg < 1 || n->n_arg > 2)
        return any;
    return applied(n->op, range_of(n->arg[0]),
                   n->n_arg > 1 ? range_of(n->arg[1]) : any);
}

axe_divisor
axe_divisor_of(const axe_node *n)
{
    range by = range_of(n);

    return by.least < 0x1p-120 ? AXE_DIVISOR_ANY
           : by.most < 0x1p125 ? AXE_DIVISOR_MID
                               : AXE_DIVISOR_LARGE;
}
