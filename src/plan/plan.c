/* plan.c - a kernel's plan: passes over the kernel, then what its machine's
 * kind does with every statement and tile. */
#include <string.h>

#include "ir/check.h"
#include "plan/access/access.h"
#include "plan/passes.h"
#include "plan/rewrite/rewrite.h"
#include "plan/target.h"

/* Is the kernel for this machine, or its family? */
static axe_status
check_target(planner *p)
{
    const char *target = p->kernel->target;
    axe_status  st;

    if (!target || strcmp(target, p->mc->name) == 0 ||
        strcmp(target, p->mc->family) == 0)
        return AXE_OK;
    st = axe_fail(p->cx, p->kernel->at, AXE_EUNSUPPORTED,
                  "kernel %s is for %s, not for %s", p->kernel->name, target,
                  p->mc->name);
    axe_help(p->cx, "name %s as the target, or take `target %s` away", target,
             target);
    return st;
}

/* What is to be staged is, until nothing is. */
enum { MAX_STAGED = 64 };

static axe_status
plan_once(planner *p, axe_plan *out)
{
    const axe_kernel *k = p->kernel;

    p->place = axe_new_array(p->cx, axe_place, k->n_tensor + 1);
    p->schedule = axe_new_array(p->cx, axe_schedule *, k->n_index_stmt + 1);
    p->pack = axe_new_array(p->cx, axe_packing, k->n_tensor + 1);
    p->asked = axe_new_array(p->cx, axe_asked *, k->n_index_stmt + 1);
    p->meets = axe_kernel_meets(p->cx, k);
    AXE_TRY(check_target(p));
    AXE_TRY(axe_check_top(p));
    return p->target->plan(p, out);
}

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
}

axe_status
axe_plan_kernel(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
                const axe_plan **out)
{
    const axe_kernel *written;
    turned            list[MAX_STAGED];
    int               n_turned = 0;
    planner           p;
    axe_plan          made;
    axe_status        st;

    written = k;
    AXE_TRY(axe_plan_passes(cx, mc, k, NULL, &k));
    for (int i = 0;; i++) {
        axe_mark m = axe_ctx_mark(cx);
        p = (planner){.cx = cx,
                      .mc = mc,
                      .target = axe_plan_target_of(mc),
                      .kernel = k,
                      .written = written,
                      .n_turned = n_turned,
                      .turned = list};
        made = (axe_plan){.machine = mc, .target = p.target};
        st = plan_once(&p, &made);
        if (st == AXE_OK || !p.trip || i == MAX_STAGED)
            break;
        axe_ctx_release(cx, m);
        k = axe_simt_trip(cx, k, p.trip_at, p.trip);
        if (p.direct > 0)
            list[n_turned++] = (turned){k->n_tensor - 1, p.direct, p.staged};
    }
    AXE_TRY(st);

    axe_plan *plan = axe_new(cx, axe_plan);
    *plan = made;
    keep(&p, plan);
    plan->target->warn(cx, plan);
    *out = plan;
    return AXE_OK;
}
