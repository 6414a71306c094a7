/* cluster.c - a cluster of CTAs: how it begins, and what must be over when its
 * CTAs end. */
#include <string.h>

#include "sim/sim_int.h"

/* ---------------------------------------------------------------- beginning */

static void
begin_arrays(sim *s, sim_warp *w)
{
    for (int i = 0; i < s->g->n_array; i++) {
        sim_array *x = &w->array[i];
        size_t     n = (size_t)x->n;
        memset(x->bits, POISON, n * (size_t)s->lanes * (size_t)x->size);
        memset(x->init, 0, n * sizeof x->init[0]);
        memset(x->writes, 0, n * sizeof x->writes[0]);
        memset(x->reads, 0, n * sizeof x->reads[0]);
        memset(x->factor, 0, n * sizeof x->factor[0]);
        x->pinned = 0;
        x->gate = 0;
        for (size_t k = 0; k < n; k++)
            x->fence[k] = 1;
        if (x->held)
            axe_sim_unhold(s, x->held);
    }
}

static void
begin_slots(sim *s, sim_warp *w)
{
    const sim_code *c = s->code;
    int64_t         id[AXE_N_ID] = {[AXE_ID_BLOCK] = w->cta->block,
                                    [AXE_ID_N_BLOCK] = s->n_block,
                                    [AXE_ID_RANK] = w->cta->rank,
                                    [AXE_ID_WARP] = w->id};

    for (int i = 0; i < c->n_slot; i++)
        for (int l = 0; l < s->lanes; l++)
            w->slot[i][l] = c->init[i];
    for (int i = 0; i < AXE_N_ID; i++)
        for (int l = 0; l < s->lanes && c->id[i] >= 0; l++)
            w->slot[c->id[i]][l] = i == AXE_ID_LANE ? l : id[i];
}

static void
begin_warp(sim *s, sim_warp *w)
{
    begin_arrays(s, w);
    begin_slots(s, w);
    axe_sim_clock_zero(s, &w->clock, w->cta->cluster->range);
    w->agent = axe_sim_agent_new(s, SIM_AGENT_WARP, w->cta, w->id, -1);
    w->clock.vc[w->agent] = w->met = 2;
    w->shown = 1; /* it runs */
    w->touched = w->deaf = 0;
    w->pc = w->n_frame = 0;
    w->loop = w->tensor = w->writer = w->reader = -1;
    w->mask = s->all_lanes;
    w->prior = s->behind && s->g->waits ? 0 : s->all_lanes;
    w->wait = SIM_RUN;
    w->n_fence = w->n_warpgroup = 0;
    w->uses = 0;
    w->warpgroup_at = NULL;
    w->n_budget = 0;
    memset(w->group, 0, sizeof w->group);
}

static void
begin_cta(sim *s, sim_cta *cta, int64_t block)
{
    cta->block = block;
    cta->n_left = 0;
    cta->refused = false;
    memset(cta->memory, POISON, (size_t)axe_sim_shared_bytes(s));
    axe_sim_shadow_reset(s, &cta->shadow);
    axe_sim_tmem_begin(s, cta);
    if (s->trace)
        axe_sim_trace_cta(s, cta);
    for (int i = 0; i < s->n_warp; i++)
        begin_warp(s, &cta->warp[i]);
    for (int i = 0; i < s->n_warpgroup; i++) {
        cta->tensor[i] = -1;
        cta->warpgroup[i] = NULL;
    }
    for (int i = 0; i <= MAX_NAMED; i++) {
        cta->named[i].came = cta->named[i].n_warp = 0;
        cta->named[i].gate = 0;
        cta->named[i].site = -1;
        if (cta->named[i].cur.vc)
            axe_sim_clock_zero(s, &cta->named[i].cur, cta->cluster->range);
    }
    for (int i = 0; i < s->code->n_bar; i++) {
        sim_mbar *b = &cta->bar[i];
        *b = (sim_mbar){.cur = b->cur, .over = b->over, .site = -1};
        b->agent = axe_sim_agent_new(s, SIM_AGENT_BAR, cta, i, -1);
        axe_sim_clock_zero(s, &b->cur, cta->cluster->range);
        axe_sim_clock_zero(s, &b->over, cta->cluster->range);
    }
    memset(cta->remote, 0, (size_t)s->per_range * sizeof cta->remote[0]);
}

/* What one that runs alone has found out is nobody else's. */
static void
begin_alone(sim *s)
{
    s->cluster++;
    s->n_agent[0] = 0;
    s->n_step = 0;
    s->spare_more = 0;
    s->n_more = 0;
    for (int i = 0; i < s->n_global; i++)
        axe_sim_shadow_reset(s, &s->global[i].shadow);
}

void
axe_sim_cluster_begin(sim *s, sim_cluster *r, int64_t number)
{
    if (!s->together)
        begin_alone(s);
    r->number = number;
    r->range = s->together ? (int)number : 0;
    r->runs = true;
    r->n_given = 0;
    r->all.came = r->all.gate = 0;
    axe_sim_clock_zero(s, &r->all.cur, r->range);
    for (int i = 0; i < s->g->cluster; i++)
        begin_cta(s, &r->cta[i], number * s->g->cluster + i);
}

/* ------------------------------------------------------------------- ending */

/* A CTA of a cluster may begin late: that it runs a warp knows by what it has
 * learnt from one of its warps. */
void
axe_sim_check_begun(sim *s, const sim_call *c, const sim_cta *cta)
{
    const uint32_t *know = c->warp->clock.vc;

    for (int i = 0; i < s->n_warp; i++)
        if (know[cta->warp[i].agent] > 0)
            return;
    if (!axe_sim_known(s, AXE_SIM_LATE, c->in, -1))
        axe_sim_find(s, AXE_SIM_LATE, c->in, -1,
                     "%s does not know that block %lld, which it needs, has "
                     "begun",
                     axe_sim_agent_text(s, c->agent), (long long)cta->block);
}

void
axe_sim_used_by(const sim *s, const sim_call *c, sim_cta *cta)
{
    int by = c->warp->agent - cta->cluster->range * s->per_range;

    cta->remote[by] = c->warp->clock.vc[c->warp->agent];
    cta->remote_site[by] = (uint16_t)axe_sim_site(s, c->in);
}

/* A CTA lasts until its last warp ends: what some warp of it knows to be over
 * is over before. */
static void
check_exit(sim *s, sim_cta *cta)
{
    sim_clock *know = &cta->cluster->all.over;
    int        range = cta->cluster->range, first = range * s->per_range;

    axe_sim_clock_zero(s, know, range);
    for (int i = 0; i < s->n_warp; i++)
        axe_sim_clock_join(s, know, cta->warp[i].clock);
    for (int i = 0; i < s->n_agent[range]; i++)
        if (cta->remote[i] > know->vc[first + i])
            axe_sim_find(
                s, AXE_SIM_LEFT, &s->code->inst[cta->remote_site[i]], -1,
                "block %lld may have ended when %s uses its shared "
                "memory",
                (long long)cta->block, axe_sim_agent_text(s, first + i));
    for (int i = 0; i < s->code->n_bar; i++) {
        const sim_mbar *b = &cta->bar[i];
        uint32_t        over = know->vc[b->agent];
        if (b->last > over || b->told > over)
            axe_sim_find(s, AXE_SIM_LEFT, NULL, b->site,
                         "block %lld ends while %s %s may be under way",
                         (long long)cta->block,
                         b->last > over ? "copies for" : "an arrival at",
                         axe_sim_mbar_text(s, cta, i));
    }
}

/* What a warpgroup does together, all its warps must have done. */
static void
check_warpgroups(sim *s, const sim_cta *cta)
{
    for (int i = 1; i < s->n_warp; i++) {
        const sim_warp *w = &cta->warp[i];
        const sim_warp *first = &cta->warp[i / s->group_warps * s->group_warps];
        const sim_inst *in =
            w->warpgroup_at ? w->warpgroup_at : first->warpgroup_at;
        if (w->n_warpgroup != first->n_warpgroup)
            axe_sim_find(s, AXE_SIM_PARTIAL, in, -1,
                         "%s has done %u things of its whole warpgroup, and %s "
                         "%u",
                         axe_sim_agent_text(s, w->agent), w->n_warpgroup,
                         axe_sim_agent_text(s, first->agent),
                         first->n_warpgroup);
    }
}

void
axe_sim_cluster_end(sim *s, sim_cluster *r)
{
    while (axe_sim_engine_step(s, r))
        ;
    for (int i = 0; i < s->g->cluster && s->checks && !s->stop; i++) {
        check_exit(s, &r->cta[i]);
        axe_sim_tmem_end(s, &r->cta[i]);
        check_warpgroups(s, &r->cta[i]);
    }
    s->report->n_block += s->g->cluster;
    r->runs = false;
}
