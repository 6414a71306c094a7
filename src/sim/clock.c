/* clock.c - agents and what they know of one another. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/sim_int.h"

int
axe_sim_agent_new(sim *s, sim_agent_kind kind, const sim_cta *cta, int index,
                  int group)
{
    assert(s->n_agent < s->max_agent);
    s->agent[s->n_agent] = (sim_agent){kind, cta, index, group};
    return s->n_agent++;
}

sim_clock
axe_sim_clock_new(sim *s)
{
    return (sim_clock){axe_new_array(s->own, uint32_t, s->max_agent),
                       axe_new_array(s->own, uint32_t, s->max_agent),
                       axe_new_array(s->own, uint32_t, s->max_agent)};
}

void
axe_sim_clock_raise(const sim *s, uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < s->n_agent; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

void
axe_sim_clock_join(const sim *s, sim_clock *to, sim_clock from)
{
    axe_sim_clock_raise(s, to->vc, from.vc);
    axe_sim_clock_raise(s, to->pvc, from.pvc);
}

void
axe_sim_clock_copy(const sim *s, sim_clock *to, sim_clock from)
{
    memcpy(to->vc, from.vc, (size_t)s->max_agent * sizeof to->vc[0]);
    memcpy(to->pvc, from.pvc, (size_t)s->max_agent * sizeof to->pvc[0]);
    memcpy(to->tvc, from.tvc, (size_t)s->max_agent * sizeof to->tvc[0]);
}

void
axe_sim_clock_zero(const sim *s, sim_clock *c)
{
    memset(c->vc, 0, (size_t)s->max_agent * sizeof c->vc[0]);
    memset(c->pvc, 0, (size_t)s->max_agent * sizeof c->pvc[0]);
    memset(c->tvc, 0, (size_t)s->max_agent * sizeof c->tvc[0]);
}

void
axe_sim_release(sim *s, sim_warp *w)
{
    (void)s;
    w->clock.vc[w->agent]++;
}

void
axe_sim_met(sim *s, sim_warp *w)
{
    axe_sim_release(s, w);
    w->met = w->clock.vc[w->agent];
    w->touched = 0;
}

uint32_t
axe_sim_told(const sim_warp *w, axe_lane_set lanes)
{
    return w->touched & ~lanes ? w->met - 1 : w->clock.vc[w->agent];
}

const char *
axe_sim_agent_text(sim *s, int agent)
{
    const sim_agent *a = &s->agent[agent];
    long long        block = (long long)a->cta->block;

    switch (a->kind) {
    case SIM_AGENT_WARP:
        return axe_textf(s->cx, "warp %d of block %lld", a->index, block);
    case SIM_AGENT_TENSOR:
        return axe_textf(s->cx,
                         "the tensor core of warps %d to %d of block "
                         "%lld",
                         a->index * s->group_warps,
                         a->index * s->group_warps + s->group_warps - 1, block);
    case SIM_AGENT_BAR:
        return axe_textf(s->cx, "a copy that ends at %s",
                         axe_sim_mbar_text(s, a->cta, a->index));
    default:
        return axe_textf(s->cx,
                         "an atom of group %s that warp %d of block %lld "
                         "issued",
                         s->group[a->group], a->index, block);
    }
}
