/* passes.h - what becomes of a kernel before its statements are planned. */
#ifndef AXE_PLAN_PASSES_H
#define AXE_PLAN_PASSES_H

#include "machine/machine.h"

typedef struct axe_pass {
    const char *name, *text;
} axe_pass;

/* The rows of passes.def, in order; NULL beyond the last. */
const axe_pass *axe_pass_at(int i);

/* The kernel after all passes for the machine, or as far as the one of this
 * name, that with it.
 * until   NULL: all
 * Errors  EARG: no pass has the name, or none for the machine; those of the
 *         passes */
AXE_CHECK axe_status axe_plan_passes(axe_ctx *cx, const axe_machine *mc,
                                     const axe_kernel *k, const char *until,
                                     const axe_kernel **out);

#endif
