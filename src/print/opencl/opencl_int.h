/* opencl_int.h - between the files of the printer of OpenCL C. */
#ifndef AXE_PRINT_OPENCL_INT_H
#define AXE_PRINT_OPENCL_INT_H

#include "print/opencl/opencl.h"

/* How a variable of the grid is spelt. */
typedef struct cl_name {
    const axe_var *var;
    const char    *text;
} cl_name;

typedef struct cl_printer {
    axe_ctx           *cx;
    const axe_lowered *l;
    const axe_grid    *g;
    axe_buf           *out; /* of the statements */
    int                n_name, cap_name, n_declared;
    cl_name           *name;
} cl_printer;

/* "float"; NULL: a type without a spelling. */
const char *axe_cl_type(axe_type t);
/* Give a variable a name of its own. */
const char *axe_cl_declare(cl_printer *p, const char *prefix, const axe_var *v);
const char *axe_cl_name(const cl_printer *p, const axe_var *v);
/* "r3_acc", "b0_a", "t_X": an array, a buffer, a tensor in global memory. */
const char *axe_cl_tensor(const cl_printer *p, const axe_tensor *t);
/* An expression, in parentheses where it is more than a name or number. */
AXE_CHECK axe_status axe_cl_expr(cl_printer *p, axe_buf *b, const axe_node *n);
/* One invocation of an atom behind `indent` blanks. */
AXE_CHECK axe_status axe_cl_atom(cl_printer *p, const axe_lir *l, int indent);

#endif
