/* contract_roles.h - between the files that plan contractions. */
#ifndef AXE_PLAN_ACCESS_CONTRACT_ROLES_H
#define AXE_PLAN_ACCESS_CONTRACT_ROLES_H

#include "plan/plan_int.h"

enum { AXE_ROWS, AXE_COLUMNS, AXE_SUMS, AXE_N_ROLE };
enum { AXE_MAX_MORE = 3 }; /* indices of a role but its fastest */

/* c[m, n] += a[m, k] * b[n, k], batched: which variable is which.  Each may be
 * counted by several: `more` are those before m, n or k, slow to fast. */
typedef struct axe_roles {
    const axe_dim *m, *n, *k;
    int            n_more[AXE_N_ROLE];
    const axe_dim *more[AXE_N_ROLE][AXE_MAX_MORE];
    int            n_batch;
    const axe_dim *batch[8];
    int            a, b; /* operands */
} axe_roles;

/* contract_roles.c: is the statement a sum of products of one row, one column
 * and one sum or several?  x is the left factor, that of the rows; both without
 * casts that change no value. */
bool axe_contract_roles(const axe_stmt *s, const axe_node **x,
                        const axe_node **y, axe_roles *out);
/* The same with rows and columns of several indices, and one sum. */
bool axe_contract_sort(const axe_stmt *s, const axe_node **x,
                       const axe_node **y, axe_roles *out);
/* The roles of the indices with the loads *x and *y as factors, which are
 * swapped if *y is that of the rows; false: it is no such sum. */
bool axe_contract_assign(const axe_stmt *s, const axe_node **x,
                         const axe_node **y, axe_roles *out);
/* Without casts that change no value. */
const axe_node *axe_contract_strip(const axe_node *n);
/* The number of the operand that is this very node, or -1. */
int axe_find_operand(const axe_request *r, const axe_node *load);

/* source.c: the index of `load` along which the tile's only source is fast, or
 * NULL. */
const axe_var *axe_fast_source(axe_planner *p, const axe_node *load);
/* The only statement that fills the tile of `load` and its source, or NULL. */
const axe_stmt *axe_filled_from(axe_planner *p, const axe_node *load,
                                const axe_node **src);
/* The index of `load` that walks dimension d of the source, or NULL. */
const axe_var *axe_index_along(const axe_stmt *w, const axe_node *src, int d,
                               const axe_node *load);

#endif
