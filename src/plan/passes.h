/* passes.h - the rows of passes.def. */
#ifndef AXE_PLAN_PASSES_H
#define AXE_PLAN_PASSES_H

#include "plan/plan.h"

typedef struct axe_pass {
    const char *name, *text;
    bool        again; /* asked for while statements are planned */
} axe_pass;

/* The rows, in order; NULL beyond the last. */
const axe_pass *axe_pass_at(int i);

/* The row of that name.
 * Errors  EARG: there is none, or none for the machine, and which it has */
AXE_CHECK axe_status axe_pass_find(axe_ctx *cx, const axe_machine *mc,
                                   const char *name, const axe_pass **out);

/* The kernel after the passes for the machine that come before its statements
 * are planned, as far as `last`, that with it.
 * last    NULL: all
 * Errors  those of the passes */
AXE_CHECK axe_status axe_plan_passes(axe_ctx *cx, const axe_machine *mc,
                                     const axe_kernel *k, const axe_pass *last,
                                     const axe_kernel **out);

/* The kernel with what the schedule of a statement asks for. */
AXE_CHECK axe_status axe_plan_again(axe_ctx *cx, const axe_kernel *k,
                                    const axe_staged  *ask,
                                    const axe_kernel **out);

#endif
