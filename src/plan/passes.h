/* passes.h - the rows of passes.def. */
#ifndef AXE_PLAN_PASSES_H
#define AXE_PLAN_PASSES_H

#include "plan/plan_int.h"

typedef enum axe_pass_kind {
    AXE_PASS_KERNEL, /* before statements are planned */
    AXE_PASS_AGAIN,  /* asked for while they are */
    AXE_PASS_PLAN
} axe_pass_kind;

typedef struct axe_pass {
    const char   *name, *text;
    axe_pass_kind kind;
    unsigned      machines, needs, makes; /* bits */
} axe_pass;

/* The rows, in order; NULL beyond the last. */
const axe_pass *axe_pass_at(int i);
bool            axe_pass_is_for(const axe_pass *row, const axe_machine *mc);

/* The row of that name.
 * Errors  EARG: there is none, or none for the machine, and which it has */
AXE_CHECK axe_status axe_pass_find(axe_ctx *cx, const axe_machine *mc,
                                   const char *name, const axe_pass **out);

/* The kernel after the passes over it, as far as `last`, that with it.
 * last    NULL, or of another kind: all
 * Errors  those of the passes */
AXE_CHECK axe_status axe_run_kernel_passes(axe_ctx *cx, const axe_machine *mc,
                                           const axe_kernel  *k,
                                           const axe_pass    *last,
                                           const axe_kernel **out);

/* The kernel with what the schedule of a statement asks for. */
AXE_CHECK axe_status axe_run_again(axe_ctx *cx, const axe_kernel *k,
                                   const axe_staged  *ask,
                                   const axe_kernel **out);

/* The passes over the plan, likewise; no further than one that asks for
 * staging.
 * Errors  those of the passes */
AXE_CHECK axe_status axe_run_plan_passes(axe_planner *p, const axe_pass *last);

#endif
