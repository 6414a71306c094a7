/* facts_core.h - what is told of plans for one core. */
#ifndef AXE_PLAN_REPORT_FACTS_CORE_H
#define AXE_PLAN_REPORT_FACTS_CORE_H

#include "plan/cpu/schedule.h"
#include "plan/report/facts.h"

/* The row of plan/target.h: estimates, and all of one statement. */
void axe_core_put_cost(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                       const axe_cost_at *at, bool given);
void axe_core_facts(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                    const axe_cost *cost, axe_facts *out);

/* Where workers wait, and the stages of pipelines; of JSON's "sync" the items.
 */
void axe_core_put_order(axe_ctx *cx, axe_buf *out, const axe_plan *p);
void axe_core_put_order_json(axe_buf *out, const axe_plan *p);

/* why_core.c: alternatives that were not taken, beyond those that the planner
 * tried: other schedules, wider vectors, streaming. */
void axe_core_facts_rejected(axe_ctx *cx, const axe_plan *p,
                             const axe_schedule *s, axe_list *out);

#endif
