/* c.h - lowered kernels as self-contained C (GNU vectors, no headers). */
#ifndef AXE_PRINT_C_C_H
#define AXE_PRINT_C_C_H

#include "lower/lower.h"

/* Append a translation unit that defines
 *
 *     void axe_entry(void *const *ptr, const long long *size,
 *                    long long worker, long long n_worker, void *scratch,
 *                    void *team);
 *
 * ptr: first element of each parameter in order of kernel->param, then of each
 * of kernel->temp; size: values
 * of kernel->size; worker of n_worker runs its contiguous share of the tasks;
 * scratch: lowered->scratch_bytes for this worker alone, 64-byte aligned; team:
 * begins with a function void (*)(void *team, long long worker) that returns
 * once all workers have called it, and is not read if there is only one.
 * Needs gcc 12 or clang 10.  Printing decides nothing: the same lowered kernel
 * gives the same bytes.
 * Errors  EUNSUPPORTED: an operation without a row in ops.def. */
AXE_CHECK axe_status axe_print_c(axe_ctx *cx, const axe_lowered *l,
                                 axe_buf *out);

/* The same of one side of axe_lowered_branch: 0, where its condition holds, or
 * 1. */
AXE_CHECK axe_status axe_print_c_side(axe_ctx *cx, const axe_lowered *l,
                                      int side, axe_buf *out);

/* The same for several kernels of one machine, each by a name of its own; they
 * share types and helpers. */
typedef struct axe_c_entry {
    const axe_lowered *lowered;
    const char        *name;
    bool               local; /* static */
    const axe_lir
        *branch; /* of which `side`, 0 or 1, alone is there; or NULL */
    int  side;
} axe_c_entry;
/* Before and after a unit that is compiled without the flags of its machine:
 * which instructions it may use, for gcc and for clang. */
void axe_print_c_target(axe_buf *c, const axe_machine *mc, bool begin);
AXE_CHECK axe_status axe_print_c_unit(axe_ctx *cx, int n,
                                      const axe_c_entry *entry, axe_buf *out);

#endif
