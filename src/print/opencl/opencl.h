/* opencl.h - grids as self-contained OpenCL C. */
#ifndef AXE_PRINT_OPENCL_OPENCL_H
#define AXE_PRINT_OPENCL_OPENCL_H

#include "lower/lower.h"

/* Append a program with one kernel for each grid, by its name.  A kernel takes,
 * in this order: each parameter and each of the kernel's own tensors, and its
 * sizes as `long`, the numbers of the host's loops, and how many compute units
 * there are.  It is launched with grid->n_thread items a
 * group; local memory is its own.
 *
 * Atoms are their rows' texts.  Registers are arrays of elements, of 32 or 64
 * bits; indices have 64.  Items are numbered by their sub-group, where the
 * machine has sub-groups, and asks for their width.
 * Errors  EUNSUPPORTED: a type or an operation without a spelling */
AXE_CHECK axe_status axe_print_opencl(axe_ctx *cx, const axe_lowered *l,
                                      axe_buf *out);
/* Options of the driver's compiler that the text needs. */
const char *axe_opencl_options(const axe_lowered *l);

#endif
