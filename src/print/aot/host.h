/* host.h - the host's part of kernels ahead of time whose grids a device runs.
 *
 * The C of a driver, which stands before the functions, has: axe_memory, the
 * type of a kernel's own tensor; axe_call, whose first member is where it runs;
 * axe_begin and axe_end of a call, axe_cores, axe_new and axe_drop. */
#ifndef AXE_PRINT_AOT_HOST_H
#define AXE_PRINT_AOT_HOST_H

#include "lower/lower.h"
#include "lower/pass/width.h"
#include "print/c/c_int.h"

typedef struct axe_aot_driver {
    const char *where;  /* the last parameter of a function: "stream" */
    const char *memory; /* the type of arrays; NULL: pointers to elements */
    const char *check;  /* what checks an array */
    /* Start a grid of `blocks`, which is a variable, unless status says not
     * to; of the kernel of this number. */
    axe_status (*grid)(axe_cprinter *p, axe_buf *b, int number,
                       const axe_grid *g);
} axe_aot_driver;

void axe_aot_host_prototype(axe_ctx *cx, axe_buf *b, const axe_kernel *k,
                            const axe_aot_driver *d);
/* wide   takes sizes above AXE_SIZE_MOST */
AXE_CHECK axe_status axe_aot_host_function(axe_ctx *cx, axe_buf *b,
                                           const axe_lowered *l, int number,
                                           bool wide, const axe_aot_driver *d);

#endif
