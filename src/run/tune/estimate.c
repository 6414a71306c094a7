/* estimate.c - what a program should take at given sizes, by the model. */
#include "base/ctx.h"
#include "plan/cost/cost.h"
#include "run/dist/dist.h"
#include "run/program.h"

/* All sizes, each given or following from one that is. */
static axe_status
take_sizes(axe_ctx *cx, const axe_program *p, int n_size, const axe_size *size,
           const int64_t **out)
{
    axe_shape *shape = axe_new_array(cx, axe_shape, p->kernel->n_param + 1);
    axe_bound  b;

    AXE_TRY(axe_program_shapes(cx, p, 0, NULL, n_size, size, shape));
    AXE_TRY(axe_bind(cx, p->kernel, 0, NULL, n_size, size, false, &b));
    *out = b.size;
    return AXE_OK;
}

static axe_status
too_early(axe_ctx *cx, const axe_program *p)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "kernel %s was not compiled so far as its plan",
                    p->kernel->name);
}

axe_status
axe_program_explain(axe_ctx *cx, const axe_program *p, bool json, int n_size,
                    const axe_size *size, axe_buf *out)
{
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, out);
    const int64_t *at = NULL;

    AXE_TRY(axe_kernel_own(cx, p->kernel));
    if (p->meshed && json)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the plan of kernel %s, over devices, is no JSON yet",
                        p->kernel->name);
    if (p->meshed)
        return axe_dist_explain(cx, p, n_size, size, out);
    if (!p->plan)
        return too_early(cx, p);
    if (n_size > 0)
        AXE_TRY(take_sizes(cx, p, n_size, size, &at));
    if (!json && p->tuned)
        axe_putf(out, "values: %s\n", p->tuned);
    if (json)
        axe_plan_json(cx, out, p->plan, at);
    else
        axe_plan_print(cx, out, p->plan, at);
    return AXE_OK;
}

axe_status
axe_program_estimate(axe_ctx *cx, const axe_program *p, int n_worker,
                     int n_size, const axe_size *size, axe_estimate *out)
{
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, out);
    const axe_machine *mc;
    const int64_t     *at;
    axe_cost           c;

    AXE_TRY(axe_kernel_own(cx, p->kernel));
    if (!p->plan)
        return too_early(cx, p);
    AXE_TRY(take_sizes(cx, p, n_size, size, &at));
    mc = p->plan->machine;
    axe_cost_plan(cx, p->plan,
                  &(axe_cost_at){at, n_worker, axe_host_levels(mc)}, &c);
    *out = (axe_estimate){.seconds =
                              c.cycles < 0 ? -1 : c.cycles / (mc->ghz * 1e9),
                          .least = axe_cost_least(cx, p->plan, at)};
    return AXE_OK;
}
