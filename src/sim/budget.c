/* budget.c - SYNC BUDGET: registers that warps of a warp group give, or get.
 *
 * Between two changes the warps meet: each has made the one before, and who
 * makes the next knows it.  Source: PTX ISA, setmaxnreg. */
#include "sim/sim_int.h"

static bool
has_met(const sim_warp *w, const sim_warp *other)
{
    int last = w->n_budget - 1;

    return other->n_budget > last &&
           other->budget[last % 2] <= w->clock.vc[other->agent];
}

void
axe_sim_budget(sim *s, sim_warp *w, const sim_call *c)
{
    int first = w->id / s->group_warps * s->group_warps;

    for (int i = first; i < first + s->group_warps && i < s->n_warp; i++) {
        const sim_warp *other = &w->cta->warp[i];
        if (other == w || w->n_budget == 0 || has_met(w, other) || !s->checks)
            continue;
        if (!axe_sim_known(s, AXE_SIM_PARTIAL, c->in, -1))
            axe_sim_find(s, AXE_SIM_PARTIAL, c->in, -1,
                         "%s changes its registers again, and %s of its warp "
                         "group may not have changed them before: no barrier "
                         "orders the two",
                         axe_sim_agent_text(s, w->agent),
                         axe_sim_agent_text(s, other->agent));
    }
    w->budget[w->n_budget++ % 2] = w->clock.vc[w->agent];
}
