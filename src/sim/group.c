/* group.c - SYNC: groups of asynchronous atoms, and fences.
 *
 * What a warp issues to a group is numbered; a commit says up to which number
 * its group goes, a drain that operations up to a number are done, of which
 * only the threads that issued them and drain may be sure. */
#include <inttypes.h>
#include <string.h>

#include "sim/sim_int.h"

sim_group *
axe_sim_group_of(sim *s, sim_warp *w, int group)
{
    sim_group *g = &w->group[group];

    if (g->agent == 0) {
        g->agent =
            1 + axe_sim_agent_new(s, SIM_AGENT_GROUP, w->cta, w->id, group);
        g->ragent =
            1 + axe_sim_agent_new(s, SIM_AGENT_READ, w->cta, w->id, group);
    }
    return g;
}

static void
commit(sim *s, sim_warp *w, const sim_call *c, sim_group *g)
{
    axe_lane_set others = g->lanes & ~c->pred;

    if (g->n_commit == g->cap) {
        int         cap = g->cap ? 2 * g->cap : 16;
        sim_commit *list = axe_new_array(s->own, sim_commit, cap);
        if (g->n_commit > 0)
            memcpy(list, g->commit, (size_t)g->n_commit * sizeof list[0]);
        g->commit = list;
        g->cap = cap;
    }
    if (others && !axe_sim_known(s, AXE_SIM_PARTIAL, c->in, -1))
        axe_sim_find(s, AXE_SIM_PARTIAL, c->in, -1,
                     "%s commits without lanes 0x%" PRIx64
                     ", which have issued atoms "
                     "of group %s",
                     axe_sim_agent_text(s, w->agent), others,
                     s->group[c->in->shape->group]);
    axe_sim_trace_commit(g);
    g->commit[g->n_commit++] =
        (sim_commit){g->n_op, {g->last[0], g->last[1]}, g->lanes};
    g->lanes = 0;
}

static bool
try_group(sim *s, sim_warp *w)
{
    sim_group *g = &w->group[w->drain];
    int        agent = g->agent - 1;
    uint32_t  *know;

    if (g->agent > 0 && !axe_sim_engine_idle(s, agent, w->upto))
        return false;
    know = g->private ? w->clock.tvc : w->clock.vc;
    if (g->agent > 0 && w->known > know[g->ragent - 1])
        know[g->ragent - 1] = w->known;
    if (g->agent > 0 && !w->reads_only && w->known > know[agent])
        know[agent] = w->known;
    w->wait = SIM_RUN;
    axe_sim_pin(w, w->at);
    return true;
}

void
axe_sim_group_wake(sim *s, sim_cta *cta)
{
    for (int i = 0; i < s->n_warp; i++)
        if (cta->warp[i].wait == SIM_WAIT_GROUP)
            (void)try_group(s, &cta->warp[i]);
}

/* Up to which operation the threads that drain know that all is done: of what
 * only others have issued they do not. */
static uint32_t
known_upto(sim_group *g, int n, axe_lane_set mask, bool reads_only)
{
    int *known = &g->n_known[reads_only];

    while (*known < n && !(g->commit[*known].lanes & ~mask))
        ++*known;
    n = *known < n ? *known : n;
    return n > 0 ? g->commit[n - 1].upto : 0;
}

/* Wait until operations up to one are done, and know that. */
static void
wait_for(sim *s, sim_warp *w, const sim_call *c, uint32_t upto, uint32_t known,
         bool reads_only)
{
    w->wait = SIM_WAIT_GROUP;
    w->at = c->in;
    w->drain = c->in->shape->group;
    w->upto = upto;
    w->known = known;
    w->reads_only = reads_only;
    (void)try_group(s, w);
}

static void
drain(sim *s, sim_warp *w, const sim_call *c, sim_group *g, bool reads_only)
{
    if (c->in->n_arg == 0) {
        axe_sim_trace_commit(g);
        axe_sim_trace_drain(s, w, g->last[reads_only]);
        wait_for(s, w, c, g->n_op, g->n_op, reads_only);
        return;
    }
    int64_t left = c->at[0][axe_sim_first(c->pred)];
    int     n = left >= g->n_commit || left < 0 ? 0 : g->n_commit - (int)left;

    if (n == 0) {
        axe_sim_pin(w, c->in);
        return;
    }
    axe_sim_trace_drain(s, w, g->commit[n - 1].gate[reads_only]);
    wait_for(s, w, c, g->commit[n - 1].upto,
             known_upto(g, n, c->pred, reads_only), reads_only);
}

/* What the warp knows, asynchronous atoms may know, too: p, of one memory; of
 * what its own threads did since they met only if those that did it are here.
 */
static void
show(sim *s, sim_warp *w, uint32_t *p, axe_lane_set lanes)
{
    uint32_t own = axe_sim_told(w, lanes), before = p[w->agent];

    axe_sim_clock_raise(s, &w->clock, p, w->clock.vc);
    p[w->agent] = before > own ? before : own;
}

static void
fence(sim *s, sim_warp *w, const sim_call *c)
{
    axe_arg_space space = c->in->shape->atom->space[0];

    if (space == AXE_ARG_REG) {
        w->n_fence++;
        return;
    }
    if (space != AXE_ARG_GLOBAL)
        show(s, w, w->clock.pvc, c->pred);
    if (space == AXE_ARG_GLOBAL || space == AXE_ARG_NONE)
        show(s, w, w->clock.gvc, c->pred);
    axe_sim_release(s, w);
}

void
axe_sim_group(sim *s, sim_warp *w, sim_call *c)
{
    sim_group *g =
        c->in->shape->group < 0 ? NULL : &w->group[c->in->shape->group];

    switch (c->in->shape->atom->sync) {
    case AXE_SYNC_COMMIT:
        if (g)
            commit(s, w, c, g);
        return;
    case AXE_SYNC_DRAIN:
    case AXE_SYNC_READ:
        if (g)
            drain(s, w, c, g, c->in->shape->atom->sync == AXE_SYNC_READ);
        return;
    case AXE_SYNC_FENCE:
        fence(s, w, c);
        return;
    default:
        return;
    }
}

void
axe_sim_group_end(sim *s, sim_warp *w, const sim_inst *in)
{
    for (int i = 0; i < s->n_group; i++) {
        const sim_group *g = &w->group[i];
        if (g->agent == 0 || !g->reads || !s->checks ||
            w->clock.vc[g->ragent - 1] >= g->n_op)
            continue;
        axe_sim_find(s, AXE_SIM_LEFT, in, g->site,
                     "%s ends while its atoms of group %s may still read the "
                     "CTA's shared memory: no drain",
                     axe_sim_agent_text(s, w->agent), s->group[i]);
    }
}
