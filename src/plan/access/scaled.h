/* scaled.h - products of factors with scales,
 *
 *     c[m, n] += sa[m, k/B] * a[m, k] * sb[n, k/B] * b[n, k]
 *
 * in any order: a scale for each row and B steps of the sum.  Machines that
 * multiply so have the scales as operands (axe_atom.scale); all others multiply
 * four numbers. */
#ifndef AXE_PLAN_ACCESS_SCALED_H
#define AXE_PLAN_ACCESS_SCALED_H

#include "plan/access/contract_roles.h"

/* The left factor, that of the rows, first. */
typedef struct axe_scaled {
    axe_roles       ro; /* a and b not numbered */
    const axe_node *factor[2], *scale[2];
    int64_t         block; /* B */
} axe_scaled;

/* Is the statement such a sum of one row, one column and one sum?  Loads are
 * without casts that change no value. */
bool axe_contract_scaled(const axe_stmt *s, axe_scaled *out);

/* Has the machine a row for it, and do the scales lie in whole
 * shared tiles, or `held` in tensor memory? */
bool axe_takes_scales(axe_ctx *cx, const axe_machine *mc, const axe_stmt *s,
                      bool held);

#endif
