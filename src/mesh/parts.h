/* parts.h - a tensor as its devices have it, for pictures. */
#ifndef AXE_MESH_PARTS_H
#define AXE_MESH_PARTS_H

#include "mesh/problem.h"

enum { MESH_DRAWN = 32 /* devices, and parts of a dimension */ };

/* The last two dimensions (of one: a row) cut where devices change. */
typedef struct mesh_parts {
    int      n_row, n_col;
    int64_t  row[MESH_DRAWN], col[MESH_DRAWN]; /* where parts begin */
    uint32_t owners[MESH_DRAWN][MESH_DRAWN];   /* sets of devices */
} mesh_parts;

/* ELIMIT: over MESH_DRAWN devices or parts. */
AXE_CHECK axe_status mesh_parts_of(const mesh_problem *p, const mesh_state *s,
                                   mesh_parts *out);
/* "0, 2-5" */
const char *mesh_owners_text(axe_ctx *cx, uint32_t set);

#endif
