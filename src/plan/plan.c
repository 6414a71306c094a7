/* plan.c - a kernel's plan: passes over the kernel, then over its plan. */
#include "plan/passes.h"
#include "plan/search.h"
#include "plan/target.h"

/* What a planner of any kind leaves. */
static axe_plan *
kept(const axe_planner *p)
{
    axe_plan *out = axe_new(p->cx, axe_plan);

    out->machine = p->mc;
    out->target = p->target;
    out->kernel = p->kernel;
    out->written = p->written;
    out->n_schedule = p->kernel->n_index_stmt;
    out->schedule = (const axe_schedule *const *)p->schedule;
    out->n_place = p->kernel->n_tensor;
    out->place = p->place;
    out->pack = p->pack;
    out->n_retile = p->n_retile;
    out->retile = p->retile;
    out->n_ring = p->n_ring;
    out->ring = p->ring;
    out->n_request = p->n_request;
    out->n_staged = p->n_staged;
    out->staged = p->staged;
    p->target->keep(p, out);
    return out;
}

axe_status
axe_plan_kernel(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
                const axe_plan **out)
{
    const axe_kernel *written = k;
    axe_planner       p;

    AXE_TRY(axe_run_kernel_passes(cx, mc, k, NULL, &k));
    AXE_TRY(axe_plan_search(cx, mc, written, k, NULL, &p));
    *out = kept(&p);
    (*out)->target->warn(cx, *out);
    return AXE_OK;
}

axe_status
axe_plan_until(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
               const char *pass, const axe_kernel **out, const axe_plan **plan)
{
    const axe_kernel *written = k;
    const axe_pass   *row;
    axe_planner       p;

    *plan = NULL;
    AXE_TRY(axe_pass_find(cx, mc, pass, &row));
    AXE_TRY(axe_run_kernel_passes(cx, mc, k, row, out));
    if (row->kind == AXE_PASS_KERNEL)
        return AXE_OK;
    AXE_TRY(axe_plan_search(cx, mc, written, *out, row, &p));
    *out = p.kernel;
    if (row->kind == AXE_PASS_PLAN)
        *plan = kept(&p);
    return AXE_OK;
}
