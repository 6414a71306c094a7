/* cluster.c - the CTAs of one cluster side by side: who runs next, what it
 * means if nobody can, and what must be over when a CTA ends. */
#include <inttypes.h>
#include <string.h>

#include "sim/sim_int.h"

enum { SLICE = 4096, SHORT_SLICE = 64 };

/* Steele, Lea and Flood's SplitMix64. */
uint64_t
axe_sim_random(sim *s)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

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
    axe_sim_clock_zero(s, &w->clock);
    w->agent = axe_sim_agent_new(s, SIM_AGENT_WARP, w->cta, w->id, -1);
    w->clock.vc[w->agent] = w->met = 2;
    w->shown = 1; /* it runs */
    w->touched = 0;
    w->pc = w->n_frame = 0;
    w->loop = w->tensor = w->writer = w->reader = -1;
    w->mask = s->all_lanes;
    w->prior = s->behind && s->g->waits ? 0 : s->all_lanes;
    w->wait = SIM_RUN;
    w->n_fence = w->n_warpgroup = 0;
    w->uses = 0;
    w->warpgroup_at = NULL;
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
    for (int i = 0; i < s->n_warp; i++)
        begin_warp(s, &cta->warp[i]);
    for (int i = 0; i < s->n_warpgroup; i++) {
        cta->tensor[i] = -1;
        cta->warpgroup[i] = NULL;
    }
    for (int i = 0; i <= MAX_NAMED; i++) {
        cta->named[i].came = cta->named[i].n_warp = 0;
        cta->named[i].site = -1;
        axe_sim_clock_zero(s, &cta->named[i].cur);
    }
    for (int i = 0; i < s->code->n_bar; i++) {
        sim_mbar *b = &cta->bar[i];
        *b = (sim_mbar){.cur = b->cur, .over = b->over, .site = -1};
        b->agent = axe_sim_agent_new(s, SIM_AGENT_BAR, cta, i, -1);
        axe_sim_clock_zero(s, &b->cur);
        axe_sim_clock_zero(s, &b->over);
    }
    memset(cta->remote, 0, (size_t)s->max_agent * sizeof cta->remote[0]);
}

static void
begin(sim *s, int64_t first)
{
    s->n_agent = 0;
    s->n_step = 0;
    s->spare_more = 0;
    s->n_more = 0;
    s->all.came = 0;
    axe_sim_clock_zero(s, &s->all.cur);
    for (int i = 0; i < s->n_global; i++)
        axe_sim_shadow_reset(s, &s->global[i].shadow);
    for (int i = 0; i < s->g->cluster; i++)
        begin_cta(s, &s->cta[i], first + i);
}

/* ---------------------------------------------------------------- deadlock */

static void
put_named(sim *s, axe_buf *b, const sim_warp *w)
{
    const sim_named *n = &w->cta->named[w->named];

    axe_putf(b, "at barrier %d, where %" PRId64 " of %" PRId64 " threads are",
             w->named, n->came, n->count);
    (void)s;
}

static void
put_mbar(sim *s, axe_buf *b, const sim_warp *w)
{
    int             l = axe_sim_first(w->lanes);
    const sim_mbar *m = &w->cta->bar[w->bar[l]];

    axe_putf(b, "for parity %d of %s, which lacks %" PRId64 " arrivals",
             w->parity[l], axe_sim_mbar_text(s, w->cta, w->bar[l]), m->pending);
    if (m->tx != 0)
        axe_putf(b, " and %" PRId64 " bytes", m->tx);
}

static void
put_wait(sim *s, axe_buf *b, const sim_warp *w)
{
    axe_putf(b, "%s waits ", axe_sim_agent_text(s, w->agent));
    if (w->wait == SIM_WAIT_NAMED)
        put_named(s, b, w);
    else if (w->wait == SIM_WAIT_MBAR)
        put_mbar(s, b, w);
    else if (w->wait == SIM_WAIT_CLUSTER)
        axe_putf(
            b, "for the cluster's CTAs, of which %" PRId64 " threads have come",
            s->all.came);
    else
        axe_putf(b, "for its atoms of group %s", s->group[w->drain]);
}

/* An mbarrier that lacks bytes only, and nobody sends any. */
static const sim_warp *
find_bytes(const sim *s)
{
    for (int i = 0; i < s->g->cluster; i++)
        for (int k = 0; k < s->n_warp; k++) {
            const sim_warp *w = &s->cta[i].warp[k];
            if (w->wait != SIM_WAIT_MBAR)
                continue;
            const sim_mbar *m = &w->cta->bar[w->bar[axe_sim_first(w->lanes)]];
            if (m->pending == 0 && m->tx != 0)
                return w;
        }
    return NULL;
}

/* Warps of a warpgroup that issued what the others did not. */
static bool
find_partial(sim *s)
{
    for (int i = 0; i < s->g->cluster; i++)
        for (int k = 0; k < s->n_warpgroup; k++) {
            const sim_async *o = s->cta[i].warpgroup[k];
            if (!o)
                continue;
            axe_sim_find(
                s, AXE_SIM_PARTIAL, o->call.in, -1,
                "of warps %d to %d of block %lld only 0x%x have issued "
                "it",
                k * s->group_warps, k * s->group_warps + s->group_warps - 1,
                (long long)s->cta[i].block, o->came);
            return true;
        }
    return false;
}

static void
report_deadlock(sim *s)
{
    const sim_warp *w = find_bytes(s), *first = NULL;
    axe_buf         b = {.cx = s->cx};
    int             n = 0, most = 6;

    s->stop = true;
    if (find_partial(s))
        return;
    if (w) {
        put_wait(s, &b, w);
        axe_sim_find(s, AXE_SIM_BYTES, w->at, -1,
                     "%s: no copy that would bring them is under way", b.text);
        return;
    }
    for (int i = 0; i < s->g->cluster; i++)
        for (int k = 0; k < s->n_warp; k++) {
            w = &s->cta[i].warp[k];
            if (w->wait == SIM_DONE)
                continue;
            first = first ? first : w;
            if (n++ >= most)
                continue;
            axe_puts(&b, n > 1 ? "; " : "");
            put_wait(s, &b, w);
        }
    if (n > most)
        axe_putf(&b, "; and %d more", n - most);
    axe_sim_find(s, AXE_SIM_DEADLOCK, first->at, -1, "%s", b.text);
}

/* --------------------------------------------------------------- scheduling */

static sim_warp *
warp_number(sim *s, int i)
{
    return &s->cta[i / s->n_warp].warp[i % s->n_warp];
}

/* One round: every warp that can runs until it must wait. */
static bool
run_round(sim *s)
{
    int  n = s->g->cluster * s->n_warp;
    bool ran = false;

    for (int i = 0; i < n && !s->stop; i++) {
        sim_warp *w = warp_number(s, i);
        if (w->wait != SIM_RUN)
            continue;
        axe_sim_warp_run(s, w, SLICE);
        ran = true;
    }
    return ran || axe_sim_engine_step(s);
}

/* One warp, or one atom under way, by chance. */
static bool
run_one(sim *s)
{
    int n = s->g->cluster * s->n_warp, can = 0, pick;

    for (int i = 0; i < n; i++)
        can += warp_number(s, i)->wait == SIM_RUN;
    if (can + (s->queue != NULL) == 0)
        return false;
    pick = (int)(axe_sim_random(s) % (uint64_t)(can + (s->queue != NULL)));
    if (pick == can)
        return axe_sim_engine_step(s);
    for (int i = 0; i < n; i++) {
        sim_warp *w = warp_number(s, i);
        if (w->wait != SIM_RUN || pick-- > 0)
            continue;
        axe_sim_warp_run(s, w, 1 + (int64_t)(axe_sim_random(s) % SHORT_SLICE));
        break;
    }
    return true;
}

static bool
all_done(const sim *s)
{
    for (int i = 0; i < s->g->cluster; i++)
        if (s->cta[i].n_left < s->n_warp)
            return false;
    return true;
}

static int64_t
most_steps(const sim *s)
{
    return s->spec->with.max_step > 0 ? s->spec->with.max_step : 1000000000;
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

/* A CTA lasts until its last warp ends: what some warp of it knows to be over
 * is over before. */
static void
check_exit(sim *s, sim_cta *cta)
{
    sim_clock *know = &s->all.over;

    axe_sim_clock_zero(s, know);
    for (int i = 0; i < s->n_warp; i++)
        axe_sim_clock_join(s, know, cta->warp[i].clock);
    for (int i = 0; i < s->n_agent; i++)
        if (cta->remote[i] > know->vc[i])
            axe_sim_find(s, AXE_SIM_LEFT, &s->code->inst[cta->remote_site[i]],
                         -1,
                         "block %lld may have ended when %s uses its shared "
                         "memory",
                         (long long)cta->block, axe_sim_agent_text(s, i));
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

static void
run_cluster(sim *s, int64_t first)
{
    bool random = s->spec->with.policy == AXE_SIM_RANDOM;

    s->cluster++;
    s->n_given = 0;
    begin(s, first);
    while (!s->stop && !all_done(s)) {
        if (!(random ? run_one(s) : run_round(s)))
            report_deadlock(s);
        if (s->n_step > most_steps(s)) {
            axe_sim_find(s, AXE_SIM_DEADLOCK, NULL, -1,
                         "the blocks from %lld on do not end within %lld "
                         "instructions",
                         (long long)first, (long long)most_steps(s));
            s->stop = true;
        }
    }
    while (axe_sim_engine_step(s))
        ;
    for (int i = 0; i < s->g->cluster && s->checks && !s->stop; i++) {
        check_exit(s, &s->cta[i]);
        axe_sim_tmem_end(s, &s->cta[i]);
        check_warpgroups(s, &s->cta[i]);
    }
}

void
axe_sim_clusters(sim *s)
{
    axe_sim_launch_begin(s);
    for (int64_t i = 0; i < s->n_block / s->g->cluster && !s->stop; i++) {
        if (!axe_sim_launch_runs(s, i))
            continue;
        run_cluster(s, i * s->g->cluster);
        s->report->n_block += s->g->cluster;
        axe_sim_launch_next(s);
    }
}
