/* target_core.c - planning for one core that runs a CTA alone. */
#include "plan/cost/core.h"
#include "plan/cost/slow.h"
#include "plan/cpu/cpu.h"
#include "plan/report/facts_core.h"
#include "plan/target.h"

static void
keep(const axe_planner *p, axe_plan *out)
{
    out->core = p->core;
}

static int64_t
scratch(const axe_plan *p)
{
    return p->core->scratch_bytes;
}

static void
warn(axe_ctx *cx, const axe_plan *p)
{
    axe_check_caches(cx, p);
    axe_core_check_slow(cx, p);
}

const axe_plan_target axe_core_plan_target = {
    .keep = keep,
    .storage = axe_core_storage,
    .places = axe_core_places,
    .why_no_hint = axe_core_why_no_hint,
    .warn = warn,
    .cost_each = axe_core_cost_each,
    .cost = axe_core_cost,
    .put_cost = axe_core_put_cost,
    .put_order = axe_core_put_order,
    .put_order_json = axe_core_put_order_json,
    .scratch = scratch,
    .facts = axe_core_facts,
    .alone = true,
};
