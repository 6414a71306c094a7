/* simt_int.h - between the planners for machines with threads. */
#ifndef AXE_PLAN_SIMT_SIMT_INT_H
#define AXE_PLAN_SIMT_SIMT_INT_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ------------------------------------------------------------------ infer.c */

/* Layouts of register tiles that no contraction gave one.
 * Errors  EUNSUPPORTED: a tile that no statement fills by indices alone */
AXE_CHECK axe_status axe_simt_infer(axe_planner *p);

/* ------------------------------------------------------------------- plan.c */

/* Rows of passes.def.
 * Errors  EUNSUPPORTED, ESHAPE, ELIMIT: shared memory, registers */
AXE_CHECK axe_status axe_simt_find_teams(axe_planner *p);
AXE_CHECK axe_status axe_simt_place_declared(axe_planner *p);
AXE_CHECK axe_status axe_simt_infer_products(axe_planner *p);
AXE_CHECK axe_status axe_simt_choose_shared(axe_planner *p);
AXE_CHECK axe_status axe_simt_schedule_all(axe_planner *p);
AXE_CHECK axe_status axe_simt_place_columns(axe_planner *p);
AXE_CHECK axe_status axe_simt_place_rooms(axe_planner *p);

/* ------------------------------------------------------------------ asked.c */

/* A row of passes.def. */
void axe_simt_forget_asked(axe_planner *p);

/* ------------------------------------------------------------------ rates.c */

/* Warn of contractions on rows far slower than others of their types,
 * but for those that say `slow`. */
void axe_check_rates(axe_ctx *cx, const axe_plan *p);

#endif
