/* simulate.c - a program's launches in the simulator, on arrays. */
#include "axe/sim.h"
#include "base/ctx.h"
#include "plan/plan.h"
#include "run/dist/sim.h"
#include "run/program.h"
#include "run/target.h"

/* All devices of its mesh. */
static axe_status
simulate_devices(axe_ctx *cx, const axe_program *p, const axe_bound *b,
                 const axe_sim_options *options, axe_sim_report *out)
{
    axe_device_spec      spec = {.n_thread = 1, .cache = options->cache};
    const axe_dist_plan *plan;

    AXE_TRY(axe_dist_plan_sim(cx, p, b->size, &plan));
    return axe_dist_simulate(cx, plan, &spec, b->data, options, out);
}

axe_status
axe_program_simulate(axe_ctx *cx, const axe_program *p, int n_array,
                     const axe_array *array, int n_size, const axe_size *size,
                     const axe_sim_options *options, axe_sim_report *out)
{
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, options);
    AXE_NEED(cx, out);
    const axe_kernel *k = p->kernel;
    axe_sim_array    *param = axe_new_array(cx, axe_sim_array, k->n_param);
    axe_bound         b;
    const axe_target *target =
        p->lowered ? axe_target_of(p->plan->machine) : NULL;

    if (p->meshed) {
        AXE_TRY(axe_bind(cx, k, n_array, array, n_size, size, true, &b));
        return simulate_devices(cx, p, &b, options, out);
    }
    if (!target || !target->simulate) {
        axe_fail(cx, k->at, AXE_EUNSUPPORTED,
                 "kernel %s is not compiled for a GPU or a Trainium, which is "
                 "what the simulator runs",
                 k->name);
        axe_help(cx, "name one as its machine, sm_90a, opencl-sg16 or trn1; "
                     "on this CPU `axe run` runs it");
        return AXE_EUNSUPPORTED;
    }
    AXE_TRY(axe_bind(cx, k, n_array, array, n_size, size, true, &b));
    AXE_TRY(axe_bound_check_reach(cx, p, &b));
    for (int i = 0; i < k->n_param; i++)
        param[i] = (axe_sim_array){b.data[i], b.shape[i], b.stride[i]};
    return target->simulate(cx, p->lowered,
                            &(axe_sim_spec){param, b.size, *options}, out);
}
