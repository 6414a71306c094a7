/* plan.c - a kernel's plan: passes over the kernel, then what its machine's
 * kind does with every statement and tile. */
#include "plan/passes.h"
#include "plan/search.h"
#include "plan/target.h"

/* What a planner of any kind leaves. */
static void
keep(const planner *p, axe_plan *out)
{
    out->kernel = p->kernel;
    out->n_schedule = p->kernel->n_index_stmt;
    out->schedule = (const axe_schedule *const *)p->schedule;
    out->n_place = p->kernel->n_tensor;
    out->place = p->place;
    out->pack = p->pack;
    out->n_retile = p->n_retile;
    out->retile = p->retile;
    out->n_ring = p->n_ring;
    out->ring = p->ring;
    out->n_sync = p->n_sync;
    out->sync = p->sync;
    out->shared = p->shared;
    out->n_request = p->n_request;
    out->n_staged = p->n_staged;
    out->staged = p->staged;
}

axe_status
axe_plan_kernel(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
                const axe_plan **out)
{
    const axe_kernel *written = k;
    planner           p;
    axe_plan          made, *plan;

    AXE_TRY(axe_plan_passes(cx, mc, k, NULL, &k));
    AXE_TRY(axe_plan_search(cx, mc, written, k, &p, &made));
    plan = axe_new(cx, axe_plan);
    *plan = made;
    keep(&p, plan);
    plan->target->warn(cx, plan);
    *out = plan;
    return AXE_OK;
}

axe_status
axe_plan_until(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
               const char *pass, const axe_kernel **out)
{
    const axe_kernel *written = k;
    const axe_pass   *row;
    planner           p;
    axe_plan          made;

    AXE_TRY(axe_pass_find(cx, mc, pass, &row));
    AXE_TRY(axe_plan_passes(cx, mc, k, row->again ? NULL : row, out));
    if (!row->again)
        return AXE_OK;
    AXE_TRY(axe_plan_search(cx, mc, written, *out, &p, &made));
    *out = p.kernel;
    return AXE_OK;
}
