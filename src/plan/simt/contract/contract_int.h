/* contract_int.h - products, between the planners of many threads. */
#ifndef AXE_PLAN_SIMT_CONTRACT_CONTRACT_INT_H
#define AXE_PLAN_SIMT_CONTRACT_CONTRACT_INT_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* --------------------------------------------------------------- contract.c */

/* Open tiles of a contraction; false if it is none, or no row fits.  Its
 * schedule: fills out->simt->contract; false with reasons in r. */
bool axe_simt_contract_infer(axe_planner *p, const axe_stmt *s);
bool axe_simt_contract_plan(axe_planner *p, axe_request *r, axe_schedule *out);

#endif
