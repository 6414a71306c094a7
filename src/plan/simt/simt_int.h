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

/* Rows of passes.def.
 * Errors  EUNSUPPORTED, ESHAPE, ELIMIT: shared memory, registers */
AXE_CHECK axe_status axe_simt_find_teams(planner *p);
AXE_CHECK axe_status axe_simt_place_declared(planner *p);
AXE_CHECK axe_status axe_simt_infer_products(planner *p);
AXE_CHECK axe_status axe_simt_choose_shared(planner *p);
AXE_CHECK axe_status axe_simt_schedule_all(planner *p);
void                 axe_simt_forget_asked(planner *p);
AXE_CHECK axe_status axe_simt_place_columns(planner *p);
AXE_CHECK axe_status axe_simt_place_rooms(planner *p);

/* ------------------------------------------------------------------ rates.c */

/* Warn of contractions on rows far slower than others of their types,
 * but for those that say `slow`. */
void axe_check_rates(axe_ctx *cx, const axe_plan *p);

#endif
