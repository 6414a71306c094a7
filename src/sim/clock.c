/* clock.c - agents and what they know of one another. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/sim_int.h"

int
axe_sim_agent_new(sim *s, sim_agent_kind kind, const sim_cta *cta, int index,
                  int group)
{
    int range = cta->cluster->range;
    int number = range * s->per_range + s->n_agent[range]++;

    assert(s->n_agent[range] <= s->per_range);
    s->agent[number] = (sim_agent){kind, cta, cta->block, index, group};
    return number;
}

static int
n_words(const sim *s)
{
    return (s->n_range + 63) / 64;
}

/* Zeros, where nothing can become known. */
static uint32_t *
new_part(sim *s, bool needed)
{
    return needed ? axe_new_array(s->own, uint32_t, s->max_agent) : s->no_clock;
}

sim_clock
axe_sim_clock_new(sim *s)
{
    return (sim_clock){new_part(s, true), new_part(s, true),
                       new_part(s, s->code->fences),
                       new_part(s, s->g->n_tmem > 0),
                       axe_new_array(s->own, uint64_t, n_words(s))};
}

int
axe_sim_clock_range(const sim *s, const sim_clock *c, int k)
{
    while (k < s->n_range) {
        uint64_t left = c->of[k / 64] >> k % 64;
        if (left)
            return k + __builtin_ctzll(left);
        k = (k / 64 + 1) * 64;
    }
    return s->n_range;
}

void
axe_sim_clock_raise(const sim *s, const sim_clock *c, uint32_t *to,
                    const uint32_t *from)
{
    for (int k = axe_sim_clock_range(s, c, 0); k < s->n_range;
         k = axe_sim_clock_range(s, c, k + 1)) {
        int first = k * s->per_range;
        for (int i = first; i < first + s->n_agent[k]; i++)
            to[i] = to[i] > from[i] ? to[i] : from[i];
    }
}

void
axe_sim_clock_join(const sim *s, sim_clock *to, sim_clock from)
{
    axe_sim_clock_raise(s, &from, to->vc, from.vc);
    axe_sim_clock_raise(s, &from, to->pvc, from.pvc);
    if (to->gvc != s->no_clock)
        axe_sim_clock_raise(s, &from, to->gvc, from.gvc);
    for (int i = 0; i < n_words(s); i++)
        to->of[i] |= from.of[i];
}

static void
forget_range(const sim *s, sim_clock *c, int k)
{
    int    first = k * s->per_range;
    size_t n = (size_t)s->per_range * sizeof c->vc[0];

    memset(c->vc + first, 0, n);
    memset(c->pvc + first, 0, n);
    if (c->gvc != s->no_clock)
        memset(c->gvc + first, 0, n);
    if (c->tvc != s->no_clock)
        memset(c->tvc + first, 0, n);
}

void
axe_sim_clock_zero(const sim *s, sim_clock *c, int range)
{
    for (int k = axe_sim_clock_range(s, c, 0); k < s->n_range;
         k = axe_sim_clock_range(s, c, k + 1))
        forget_range(s, c, k);
    memset(c->of, 0, (size_t)n_words(s) * sizeof c->of[0]);
    c->of[range / 64] |= UINT64_C(1) << range % 64;
}

static void
copy_range(const sim *s, sim_clock *to, sim_clock from, int k)
{
    int    first = k * s->per_range;
    size_t n = (size_t)s->per_range * sizeof to->vc[0];

    memcpy(to->vc + first, from.vc + first, n);
    memcpy(to->pvc + first, from.pvc + first, n);
    if (to->gvc != s->no_clock)
        memcpy(to->gvc + first, from.gvc + first, n);
    if (to->tvc != s->no_clock)
        memcpy(to->tvc + first, from.tvc + first, n);
}

void
axe_sim_clock_copy(const sim *s, sim_clock *to, sim_clock from)
{
    for (int k = axe_sim_clock_range(s, to, 0); k < s->n_range;
         k = axe_sim_clock_range(s, to, k + 1))
        if (!(from.of[k / 64] >> k % 64 & 1))
            forget_range(s, to, k);
    for (int k = axe_sim_clock_range(s, &from, 0); k < s->n_range;
         k = axe_sim_clock_range(s, &from, k + 1))
        copy_range(s, to, from, k);
    memcpy(to->of, from.of, (size_t)n_words(s) * sizeof to->of[0]);
}

void
axe_sim_clock_take(const sim *s, sim_clock *to, sim_clock from, int but)
{
    for (int k = axe_sim_clock_range(s, to, 0); k < s->n_range;
         k = axe_sim_clock_range(s, to, k + 1))
        if (k != but)
            copy_range(s, to, from, k);
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
    w->touched = w->deaf = 0;
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
    long long        block = (long long)a->block;

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
