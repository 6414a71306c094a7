/* simt_int.h - between the planners for machines with threads. */
#ifndef AXE_PLAN_SIMT_SIMT_INT_H
#define AXE_PLAN_SIMT_SIMT_INT_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ------------------------------------------------------------------ infer.c */

/* Layouts of register tiles that no contraction gave one.
 * Errors  EUNSUPPORTED: a tile that no statement fills by indices alone */
AXE_CHECK axe_status axe_simt_infer(planner *p);

/* ------------------------------------------------------------------- plan.c */

/* The whole of axe_plan_kernel for such machines, with what is known of the
 * kernel's shape.
 * Errors  EUNSUPPORTED, ESHAPE, ELIMIT: shared memory, registers */
AXE_CHECK axe_status axe_simt_plan_kernel(planner *p);

/* ------------------------------------------------------------------ rates.c */

/* Warn of contractions on rows far slower than others of their types,
 * but for those that say `slow`. */
void axe_check_rates(axe_ctx *cx, const axe_plan *p);

#endif
