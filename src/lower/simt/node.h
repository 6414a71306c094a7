/* node.h - the commonest nodes of a grid, by short names: for .c files
 * here, not for headers. */
#ifndef AXE_LOWER_SIMT_NODE_H
#define AXE_LOWER_SIMT_NODE_H

#include "lower/code/build.h"
#include "lower/simt/simt_int.h"

static inline const axe_node *
op2(axe_simt_lowering *sl, axe_op op, const axe_node *a, const axe_node *b)
{
    return axe_node2(sl->lw.cx, op, a, b);
}

static inline const axe_node *
number(axe_simt_lowering *sl, int64_t v)
{
    return axe_int(&sl->lw, v);
}

#endif
