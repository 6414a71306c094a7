/* contract.h - between the files that plan contractions. */
#ifndef AXE_CONTRACT_H
#define AXE_CONTRACT_H

#include "plan/plan_int.h"

/* c[m, n] += a[m, k] * b[n, k], batched: which variable is which. */
typedef struct roles {
    const axe_dim *m, *n, *k;
    int            n_batch;
    const axe_dim *batch[8];
    int            a, b; /* operands */
} roles;

/* infer.c: lay the open tiles among c, x (the left factor) and y out for a
 * register tile of t.mr rows and t.nv vectors. */
void axe_contract_layouts(planner *p, const axe_stmt *s, const roles *ro,
                          const axe_node *x, const axe_node *y,
                          axe_tile_shape t, int lanes, axe_type compute);

#endif
