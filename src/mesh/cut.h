/* cut.h - two spreads before they have common digits. */
#ifndef AXE_MESH_CUT_H
#define AXE_MESH_CUT_H

#include "mesh/problem.h"

/* Of a dimension's index u, u / step % extent is what devices `stride` apart
 * differ in. */
typedef struct mesh_digit {
    int64_t   extent, step, stride;
    mesh_turn turn; /* what it is on these devices; none of copies, addends */
} mesh_digit;

/* One dimension of a spread; what lies between is in a device's memory. */
typedef struct mesh_digits {
    int        n;
    mesh_digit digit[MESH_DIGITS];
} mesh_digits;

typedef struct mesh_side {
    const char *name; /* "SRC" */
    int         n_dim;
    mesh_digits dim[MESH_DIMS];
    int         n_copy, n_zero, n_partial;
    mesh_digit  copy[MESH_DIGITS];
    mesh_digit  zero[MESH_DIGITS]; /* digits whose extent leaves only 0 */
    mesh_digit  partial[MESH_DIGITS];
    int64_t     base; /* of its first device */
} mesh_side;

/* Places where numbers are cut, ascending. */
typedef struct mesh_cuts {
    int     n;
    int64_t at[MESH_CUTS];
} mesh_cuts;

/* ELIMIT: the list, which has room for MESH_DIGITS, is full. */
AXE_CHECK axe_status mesh_digit_add(axe_ctx *cx, mesh_digit g, int *n,
                                    mesh_digit *list);

/* false: there are too many. */
bool mesh_cuts_add(mesh_cuts *c, int64_t v);

/* The digits of a spread over the devices of m; `flat`: as one dimension. */
AXE_CHECK axe_status mesh_side_of(axe_ctx *cx, const char *name,
                                  const axe_mesh *m, const axe_spread *s,
                                  bool flat, mesh_side *out);

/* Cut all digits of both sides where devices or dimensions of the other are, as
 * far as they divide.  n: the dimensions' extents.  *device: where a device's
 * number is cut then; cuts[d]: where dimension d is. */
AXE_CHECK axe_status mesh_cut(axe_ctx *cx, const axe_mesh *m, const int64_t *n,
                              mesh_side side[2], mesh_cuts *device,
                              mesh_cuts *cuts);

#endif
