/* explain.h - what is told of plans for one core. */
#ifndef AXE_PLAN_REPORT_EXPLAIN_H
#define AXE_PLAN_REPORT_EXPLAIN_H

#include "plan/report/facts.h"

/* The row of plan/target.h: estimates, and all of one statement (facts.c). */
void axe_core_put_cost(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                       const axe_cost_at *at, bool given);
void axe_core_facts(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                    const axe_cost *cost, axe_facts *out);

#endif
