/* target_simt.c - planning for threads that run a CTA together. */
#include "plan/cost/simt.h"
#include "plan/cost/slow.h"
#include "plan/report/facts_simt.h"
#include "plan/simt/simt_int.h"
#include "plan/simt/team/team.h"
#include "plan/target.h"

static void
keep(const axe_planner *p, axe_plan *out)
{
    out->simt = p->simt;
}

static void
warn(axe_ctx *cx, const axe_plan *p)
{
    axe_check_rates(cx, p);
    axe_simt_check_slow(cx, p);
}

static void
cost(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at, axe_cost *out)
{
    axe_simt_cost c;

    axe_simt_cost_plan(cx, p, at->size, &c);
    *out = (axe_cost){.runs = 1};
    out->cycles = c.seconds < 0 ? -1 : c.seconds * p->machine->ghz * 1e9;
    out->bytes[AXE_LEVEL_L2] = c.l2_bytes;
    out->bytes[AXE_LEVEL_MEMORY] = c.memory_bytes;
    out->memory_bound = c.most == AXE_BUSY_MEMORY;
}

static double
least(axe_ctx *cx, const axe_plan *p, const int64_t *size)
{
    axe_simt_cost c;

    axe_simt_cost_plan(cx, p, size, &c);
    return c.least_s;
}

static void
put_cost(axe_ctx *cx, axe_buf *out, const axe_plan *p, const axe_cost_at *at,
         bool given)
{
    if (given)
        axe_explain_launches(cx, out, p, at->size);
}

static void
put_cost_json(axe_ctx *cx, axe_buf *out, const axe_plan *p,
              const axe_cost_at *at, bool given)
{
    if (given)
        axe_explain_launches_json(cx, out, p, at->size);
}

static void
facts(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, const axe_cost *c,
      axe_facts *out)
{
    (void)c;
    axe_simt_facts_of(cx, p, s, out);
}

static const axe_plan_lines lines[] = {
    {"launches", axe_simt_launches_of}, {"overlap", axe_simt_overlaps_of},
    {"pipelines", axe_simt_rings_of},   {"order", axe_simt_sync_of},
    {"staged", axe_simt_staged_of},
};

const axe_plan_target axe_simt_plan_target = {
    .keep = keep,
    .storage = axe_simt_storage,
    .places = axe_simt_places_of,
    .entity = axe_simt_entity_of,
    .why_no_hint = axe_simt_why_no_hint,
    .warn = warn,
    .cost = cost,
    .least = least,
    .put_cost = put_cost,
    .put_cost_json = put_cost_json,
    .n_lines = AXE_LEN(lines),
    .lines = lines,
    .facts = facts,
};
