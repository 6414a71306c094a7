/* expr_int.h - between the reader of expressions and their functions. */
#ifndef AXE_EXPR_INT_H
#define AXE_EXPR_INT_H

#include "axe/layout.h"

enum { AXE_FN_ARGS = 3 };

/* A function of expr.def: v[] has the kinds of its row. */
typedef axe_status axe_expr_fn(axe_ctx *cx, const axe_value *v, axe_value *out);

typedef struct axe_expr_op {
    const char  *name, *types;
    axe_expr_fn *run;
} axe_expr_op;

const axe_expr_op *axe_expr_find(const char *name);
/* The function with the nearest name, or NULL. */
const char *axe_expr_nearest(const char *name);

/* What operators stand for. */
AXE_CHECK axe_status axe_expr_call(axe_ctx *cx, const char *fn,
                                   const axe_value *a, const axe_value *b,
                                   axe_value *out);

/* "a layout", "an integer", ... */
const char *axe_value_kind_text(axe_value_kind k);

#endif
