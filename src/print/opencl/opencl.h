/* opencl.h - grids as self-contained OpenCL C. */
#ifndef AXE_PRINT_OPENCL_OPENCL_H
#define AXE_PRINT_OPENCL_OPENCL_H

#include "lower/lower.h"

/* Append a program with one kernel for each grid, by its name.  A kernel takes,
 * in this order: each parameter, a pointer or a number, and each of the
 * kernel's own tensors; its sizes, which must be at most AXE_SIZE_MOST unless
 * indices are `wide`, the numbers of the host's loops, and how many compute
 * units there are, as `long`.  It is launched with grid->n_thread items a
 * group; local memory is its own.
 *
 * Atoms are their rows' texts.  Registers are arrays with constant indices,
 * elements of 8 and 16 bits packed in words of 32.  Items are numbered by their
 * sub-group, where the machine has sub-groups, and asks for their width.
 * Errors  EUNSUPPORTED: a type or an operation without a spelling */
AXE_CHECK axe_status axe_print_opencl(axe_ctx *cx, const axe_lowered *l,
                                      bool wide, axe_buf *out);

/* Options of the driver's compiler that the text needs; and one more for a
 * device that says it rounds quotients and roots of f32 correctly, which it
 * does if it is asked. */
const char *axe_opencl_options(const axe_lowered *l);
#define AXE_OPENCL_EXACT "-cl-fp32-correctly-rounded-divide-sqrt"

#endif
