/* barrier.c - SYNC: barriers of threads, named barriers, mbarriers.
 *
 * Whoever arrives leaves what he knows; whoever is let through takes what all
 * have left.  A wait for an mbarrier's parity means the first phase of that
 * parity that the waiter does not know to be over. */
#include <string.h>

#include "sim/sim_int.h"

static const char *
who(sim *s, const sim_warp *w)
{
    return axe_sim_agent_text(s, w->agent);
}

/* -------------------------------------------------------------- sync points */

static void
wake_named(sim *s, sim_cta *cta, int id)
{
    for (int i = 0; i < s->n_warp; i++) {
        sim_warp *w = &cta->warp[i];
        if (w->wait != SIM_WAIT_NAMED || w->named != id)
            continue;
        axe_sim_clock_join(s, &w->clock, cta->named[id].over);
        w->wait = SIM_RUN;
    }
}

/* All threads of the CTA have come: its barriers may be of other warps. */
static void
forget_warps(sim *s, sim_cta *cta)
{
    for (int i = 0; i < MAX_NAMED; i++)
        cta->named[i].n_warp = 0;
    for (int i = 0; i < s->n_warp; i++)
        cta->warp[i].uses = 0;
}

static bool
check_named(sim *s, sim_warp *w, const sim_call *c, int64_t id, int64_t n)
{
    int64_t      most = s->mc->simt->named_barriers;
    const char  *what = NULL;
    sim_named   *b;
    axe_sim_kind kind = AXE_SIM_NAMED;

    if (id < 0 || id >= most || id >= MAX_NAMED) {
        axe_sim_find(s, kind, c->in, -1, "%s: barrier %lld of %lld", who(s, w),
                     (long long)id, (long long)most);
        return false;
    }
    b = &w->cta->named[id];
    if (!(w->uses >> id & 1))
        b->n_warp++;
    w->uses |= 1u << id;
    if (n <= 0 || n % s->lanes != 0 || n > s->g->n_thread)
        what = "which is no number of whole warps of the CTA";
    else if (b->came > 0 && b->count != n)
        what = "but others have come there for another number";
    else if (b->n_warp > n / s->lanes)
        what = "but more warps than these use it: two thread groups share it";
    if (what && !axe_sim_known(s, kind, c->in, b->site))
        axe_sim_find(s, kind, c->in, b->site,
                     "%s comes to barrier %lld for %lld threads, %s", who(s, w),
                     (long long)id, (long long)n, what);
    return true;
}

static void
come(sim *s, sim_warp *w, const sim_call *c, int id, int64_t n, bool stays)
{
    sim_named *b = &w->cta->named[id];

    if (!b->cur.vc) {
        b->cur = axe_sim_clock_new(s);
        b->over = axe_sim_clock_new(s);
    }
    axe_sim_clock_join(s, &b->cur, w->clock);
    axe_sim_release(s, w);
    if (s->trace)
        axe_sim_trace_barrier(s, w, b, stays);
    b->count = n;
    b->came += s->lanes;
    b->site = axe_sim_site(s, c->in);
    if (stays) {
        axe_sim_met(s, w);
        w->wait = SIM_WAIT_NAMED;
        w->named = id;
        w->at = c->in;
    }
    if (b->came < n)
        return;
    axe_sim_clock_copy(s, &b->over, b->cur);
    axe_sim_clock_zero(s, &b->cur, w->cta->cluster->range);
    b->came = b->gate = 0;
    wake_named(s, w->cta, id);
    if (n == s->g->n_thread)
        forget_warps(s, w->cta);
}

static void
come_all(sim *s, sim_warp *w, const sim_call *c)
{
    sim_named *b = &w->cta->cluster->all;

    if (c->in->shape->atom->sync == AXE_SYNC_BARRIER)
        axe_sim_clock_join(s, &b->cur, w->clock);
    else if (b->cur.vc[w->agent] < w->shown)
        b->cur.vc[w->agent] = w->shown;
    axe_sim_met(s, w);
    if (s->trace)
        axe_sim_trace_barrier(s, w, b, true);
    w->wait = SIM_WAIT_CLUSTER;
    w->at = c->in;
    b->came += s->lanes;
    if (b->came < (int64_t)s->g->cluster * s->n_warp * s->lanes)
        return;
    for (int i = 0; i < s->g->cluster; i++)
        for (int k = 0; k < s->n_warp; k++) {
            sim_warp *v = &w->cta->cluster->cta[i].warp[k];
            if (v->wait == SIM_WAIT_CLUSTER) {
                axe_sim_clock_join(s, &v->clock, b->cur);
                v->wait = SIM_RUN;
            }
        }
    axe_sim_clock_zero(s, &b->cur, w->cta->cluster->range);
    b->came = b->gate = 0;
}

static void
sync_threads(sim *s, sim_warp *w, const sim_call *c)
{
    const axe_atom *atom = c->in->shape->atom;
    bool            stays = atom->sync == AXE_SYNC_BARRIER;

    if (c->in->n_arg >= 2) {
        if (check_named(s, w, c, c->at[0][0], c->at[1][0]))
            come(s, w, c, (int)c->at[0][0], c->at[1][0], stays);
    } else if (atom->by == AXE_SCOPE_WARP) {
        axe_sim_met(s, w);
    } else if (atom->by == AXE_SCOPE_CLUSTER) {
        come_all(s, w, c);
    } else if (check_named(s, w, c, 0, (int64_t)s->n_warp * s->lanes)) {
        come(s, w, c, 0, (int64_t)s->n_warp * s->lanes, stays);
    }
}

/* ------------------------------------------------------------- mbarriers */

const char *
axe_sim_mbar_text(sim *s, const sim_cta *cta, int bar)
{
    for (int i = s->g->n_buffer - 1; i >= 0; i--)
        if (s->code->bar0[i] >= 0 && bar >= s->code->bar0[i] &&
            bar < s->code->bar0[i] + s->g->buffer[i].bytes / 8)
            return axe_textf(s->cx, "%s[%d] of block %lld, phase %u",
                             s->g->buffer[i].tensor->name,
                             bar - s->code->bar0[i], (long long)cta->block,
                             cta->bar[bar].phase);
    return "an mbarrier";
}

static int
bar_number(sim *s, const sim_call *c, int arg, int lane)
{
    const sim_arg    *a = &c->in->arg[arg];
    const axe_buffer *b = &s->g->buffer[a->tensor];
    int64_t           at = c->at[arg][lane];

    if (at >= 0 && at < b->bytes / 8)
        return s->code->bar0[a->tensor] + (int)at;
    axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1, "%s means %s[%lld] of %lld",
                 who(s, c->warp), b->tensor->name, (long long)at,
                 (long long)(b->bytes / 8));
    return -1;
}

sim_mbar *
axe_sim_mbar_of(sim *s, const sim_call *c, int arg, int lane, sim_cta *cta,
                bool far)
{
    int         number = bar_number(s, c, arg, lane);
    sim_mbar   *b;
    const char *why = NULL;

    if (number < 0)
        return NULL;
    b = &cta->bar[number];
    if (!b->is_init)
        why = "is not initialised";
    else if (b->epoch > c->warp->clock.vc[b->by])
        why = "is initialised, but nothing orders that before";
    else if (far && !b->is_seen)
        why = "is initialised, but no fence lets copies and other blocks see "
              "that";
    if (why && s->checks && !axe_sim_known(s, AXE_SIM_UNINITED, c->in, b->site))
        axe_sim_find(s, AXE_SIM_UNINITED, c->in, b->site, "%s: %s %s",
                     who(s, c->warp), axe_sim_mbar_text(s, cta, number), why);
    return b->is_init ? b : NULL;
}

static bool
is_over(const sim_mbar *b, int parity)
{
    return (int)(b->phase & 1) != parity;
}

/* Lanes that still wait, of a warp that does. */
static void
try_wake(sim *s, sim_warp *w)
{
    for (int l = 0; l < s->lanes; l++)
        if (axe_sim_has(w->lanes, l) &&
            !is_over(&w->cta->bar[w->bar[l]], w->parity[l]))
            return;
    for (int l = 0; l < s->lanes; l++)
        if (axe_sim_has(w->lanes, l))
            axe_sim_clock_join(s, &w->clock, w->cta->bar[w->bar[l]].over);
    for (int l = 0; l < s->lanes && w->deaf; l++)
        if (axe_sim_has(w->lanes, l))
            axe_sim_clock_join(s, &w->before, w->cta->bar[w->bar[l]].over);
    w->wait = SIM_RUN;
}

static void
end_phase(sim *s, sim_cta *cta, sim_mbar *b)
{
    b->phase++;
    b->before = b->gate;
    b->gate = 0;
    b->pending = b->count;
    b->cur.vc[b->agent] = b->phase;
    axe_sim_clock_join(s, &b->over, b->cur);
    axe_sim_clock_zero(s, &b->cur, cta->cluster->range);
    for (int i = 0; i < s->n_warp; i++)
        if (cta->warp[i].wait == SIM_WAIT_MBAR)
            try_wake(s, &cta->warp[i]);
}

void
axe_sim_mbar_arrive(sim *s, const sim_call *c, sim_cta *cta, sim_mbar *b,
                    int64_t n, sim_clock with)
{
    int number = (int)(b - cta->bar);

    if (n > b->pending) {
        if (!axe_sim_known(s, AXE_SIM_ARRIVALS, c->in, b->site))
            axe_sim_find(s, AXE_SIM_ARRIVALS, c->in, b->site,
                         "%s arrives %lld times at %s, which waits for %lld of "
                         "%lld more",
                         who(s, c->warp), (long long)n,
                         axe_sim_mbar_text(s, cta, number),
                         (long long)b->pending, (long long)b->count);
        n = b->pending;
    }
    axe_sim_clock_join(s, &b->cur, with);
    b->pending -= n;
    if (b->pending == 0 && b->tx < 0) {
        axe_sim_find(s, AXE_SIM_BYTES, c->in, b->site,
                     "%s ends with %lld bytes more than were expected",
                     axe_sim_mbar_text(s, cta, number), (long long)-b->tx);
        b->tx = 0;
    }
    if (b->pending == 0 && b->tx == 0)
        end_phase(s, cta, b);
}

void
axe_sim_mbar_bytes(sim *s, const sim_async *o)
{
    sim_mbar   *b = o->bar;
    int         number = (int)(b - o->bar_of->bar);
    const char *why = NULL;

    b->tx -= o->bytes;
    axe_sim_clock_join(s, &b->cur, o->call.clock);
    if (o->call.epoch != b->phase + 1)
        why = "come in a later phase than they were sent for: too few were "
              "expected";
    else if (b->pending == 0 && b->tx < 0)
        why = "come, more than were expected";
    if (why && !axe_sim_known(s, AXE_SIM_BYTES, o->call.in, b->site))
        axe_sim_find(s, AXE_SIM_BYTES, o->call.in, b->site,
                     "%lld bytes of a copy for %s %s", (long long)o->bytes,
                     axe_sim_mbar_text(s, o->bar_of, number), why);
    if (why)
        b->tx = b->tx < 0 ? 0 : b->tx;
    if (b->pending == 0 && b->tx == 0)
        end_phase(s, o->bar_of, b);
}

static void
init(sim *s, sim_warp *w, const sim_call *c, int lane)
{
    int       number = bar_number(s, c, 0, lane);
    sim_mbar *b;

    if (number < 0)
        return;
    b = &w->cta->bar[number];
    if (c->at[1][lane] < 1)
        axe_sim_find(s, AXE_SIM_ARRIVALS, c->in, -1,
                     "%s: an mbarrier that waits for %lld arrivals", who(s, w),
                     (long long)c->at[1][lane]);
    b->is_init = true;
    b->is_seen = false;
    b->count = b->pending = c->at[1][lane] > 0 ? c->at[1][lane] : 1;
    b->tx = 0;
    b->by = w->agent;
    b->epoch = w->clock.vc[w->agent];
    b->site = axe_sim_site(s, c->in);
}

static void
inited(sim *s, sim_warp *w)
{
    for (int i = 0; i < s->code->n_bar; i++)
        if (w->cta->bar[i].is_init && w->cta->bar[i].by == w->agent)
            w->cta->bar[i].is_seen = true;
    w->shown = w->clock.vc[w->agent];
}

/* Which CTA's mbarrier an arrival means. */
static sim_cta *
arrival_at(sim *s, sim_warp *w, const sim_call *c, int lane)
{
    int64_t rank;

    if (c->in->n_arg < 2)
        return axe_sim_cta_of(s, c, 0, lane);
    rank = c->at[1][lane];
    if (rank >= 0 && rank < s->g->cluster)
        return &w->cta->cluster->cta[rank];
    axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                 "%s arrives at CTA %lld of a cluster of %d", who(s, w),
                 (long long)rank, s->g->cluster);
    return NULL;
}

static void
arrive(sim *s, sim_warp *w, const sim_call *c, int lane, bool expect)
{
    sim_cta  *cta = expect ? w->cta : arrival_at(s, w, c, lane);
    uint32_t  now = w->clock.vc[w->agent];
    sim_mbar *b;

    if (!cta)
        return;
    b = axe_sim_mbar_of(s, c, 0, lane, cta, cta != w->cta);
    if (cta != w->cta) {
        axe_sim_check_begun(s, c, cta);
        axe_sim_used_by(s, c, cta);
    }
    if (!b)
        return;
    if (expect)
        b->tx += c->at[1][lane];
    w->clock.vc[w->agent] = axe_sim_told(w, c->pred);
    if (s->trace)
        axe_sim_trace_arrive(s, w, b);
    axe_sim_mbar_arrive(s, c, cta, b, 1, w->clock);
    w->clock.vc[w->agent] = now;
}

static void
check_lapped(sim *s, sim_warp *w, const sim_call *c, const sim_mbar *b,
             int parity)
{
    uint32_t known = w->clock.vc[b->agent];

    if (b->phase < known + 2 || (int)(known & 1) != parity ||
        axe_sim_known(s, AXE_SIM_LAPPED, c->in, b->site))
        return;
    axe_sim_find(s, AXE_SIM_LAPPED, c->in, b->site,
                 "%s waits for phase %u of %s: that one ended, and so did the "
                 "next, before it came",
                 who(s, w), known,
                 axe_sim_mbar_text(s, w->cta, (int)(b - w->cta->bar)));
}

static void
wait(sim *s, sim_warp *w, const sim_call *c)
{
    w->lanes = 0;
    for (int l = 0; l < s->lanes; l++) {
        sim_mbar *b;
        if (!axe_sim_has(c->pred, l))
            continue;
        b = axe_sim_mbar_of(s, c, 0, l, w->cta, false);
        if (!b)
            continue;
        w->lanes |= AXE_ONE_LANE(l);
        w->bar[l] = (int)(b - w->cta->bar);
        w->parity[l] = (int)(c->at[1][l] & 1);
        if (s->checks)
            check_lapped(s, w, c, b, w->parity[l]);
        if (s->trace)
            axe_sim_trace_await(s, w, b, w->parity[l]);
    }
    w->wait = SIM_WAIT_MBAR;
    w->at = c->in;
    try_wake(s, w);
}

void
axe_sim_barrier(sim *s, sim_warp *w, sim_call *c)
{
    axe_sync_kind kind = c->in->shape->atom->sync;
    uint32_t      epoch = w->clock.vc[w->agent];

    if (kind == AXE_SYNC_BARRIER || kind == AXE_SYNC_BEGIN ||
        kind == AXE_SYNC_HALF) {
        sync_threads(s, w, c);
        return;
    }
    if (kind == AXE_SYNC_WAIT) {
        wait(s, w, c);
        return;
    }
    if (kind == AXE_SYNC_INITED)
        inited(s, w);
    for (int l = 0; l < s->lanes; l++) {
        if (!axe_sim_has(c->pred, l))
            continue;
        if (kind == AXE_SYNC_INIT)
            init(s, w, c, l);
        else if (kind == AXE_SYNC_EXPECT || kind == AXE_SYNC_ARRIVE)
            arrive(s, w, c, l, kind == AXE_SYNC_EXPECT);
    }
    if (w->clock.vc[w->agent] == epoch)
        axe_sim_release(s, w);
}
