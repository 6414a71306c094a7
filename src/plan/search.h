/* search.h - plans of one kernel, until nothing is to be staged. */
#ifndef AXE_PLAN_SEARCH_H
#define AXE_PLAN_SEARCH_H

#include "plan/passes.h"

/* Plan the kernel that all passes have left; where a schedule asks for a shared
 * tile, begin again with it.
 * written  the kernel as the text has it
 * until    so far, that with it; NULL, or of another kind: all
 * last     out: the attempt that made a plan, and its kernel
 * Errors   ELIMIT: more tiles than are looked for; those of planning */
AXE_CHECK axe_status axe_plan_search(axe_ctx *cx, const axe_machine *mc,
                                     const axe_kernel *written,
                                     const axe_kernel *k, const axe_pass *until,
                                     axe_planner *last);

#endif
