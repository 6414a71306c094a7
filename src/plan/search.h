/* search.h - plans of one kernel, until nothing is to be staged. */
#ifndef AXE_PLAN_SEARCH_H
#define AXE_PLAN_SEARCH_H

#include "plan/plan_int.h"

/* Plan the kernel that all passes have left; where a schedule asks for a shared
 * tile, begin again with it.
 * written  the kernel as the text has it
 * last     out: the attempt that made a plan, and its kernel
 * made     out: what the machine's kind keeps beside what is in the planner
 * Errors   ELIMIT: more tiles than are looked for; those of planning */
AXE_CHECK axe_status axe_plan_search(axe_ctx *cx, const axe_machine *mc,
                                     const axe_kernel *written,
                                     const axe_kernel *k, planner *last,
                                     axe_plan *made);

#endif
