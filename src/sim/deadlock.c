/* deadlock.c - nobody can go on: who waits for what. */
#include <inttypes.h>

#include "sim/sim_int.h"

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
put_counter(sim *s, axe_buf *b, const sim_warp *w)
{
    const sim_global *g = &s->global[w->at->arg[0].tensor];
    int               l = axe_sim_counter_lane(s, w);
    int64_t           value = axe_sim_counter_value(g, w->word[l]);

    axe_putf(
        b,
        "until element %" PRId64 " of %s is %" PRId64 "%s, which is %" PRId64,
        w->word[l], g->tensor->name, w->least[l],
        w->at->shape->atom->sync == AXE_SYNC_SAME ? "" : " or more", value);
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
            w->cta->cluster->all.came);
    else if (w->wait == SIM_WAIT_COUNTER)
        put_counter(s, b, w);
    else
        axe_putf(b, "for its atoms of group %s", s->group[w->drain]);
}

typedef bool by_cta(sim *s, sim_cta *cta, void *user);

/* Until one of those that run says true. */
static bool
any_cta(sim *s, by_cta *f, void *user)
{
    for (int i = 0; i < s->n_resident; i++)
        for (int k = 0; k < s->g->cluster && s->resident[i].runs; k++)
            if (f(s, &s->resident[i].cta[k], user))
                return true;
    return false;
}

/* An mbarrier that lacks bytes only, and nobody sends any. */
static bool
find_bytes(sim *s, sim_cta *cta, void *user)
{
    for (int k = 0; k < s->n_warp; k++) {
        const sim_warp *w = &cta->warp[k];
        axe_buf         b = {.cx = s->cx};
        const sim_mbar *m;
        if (w->wait != SIM_WAIT_MBAR)
            continue;
        m = &w->cta->bar[w->bar[axe_sim_first(w->lanes)]];
        if (m->pending != 0 || m->tx == 0)
            continue;
        put_wait(s, &b, w);
        axe_sim_find(s, AXE_SIM_BYTES, w->at, -1,
                     "%s: no copy that would bring them is under way", b.text);
        return true;
    }
    (void)user;
    return false;
}

/* Warps of a warpgroup that issued what the others did not. */
static bool
find_partial(sim *s, sim_cta *cta, void *user)
{
    for (int k = 0; k < s->n_warpgroup; k++) {
        const sim_async *o = cta->warpgroup[k];
        if (!o)
            continue;
        axe_sim_find(s, AXE_SIM_PARTIAL, o->call.in, -1,
                     "of warps %d to %d of block %lld only 0x%x have issued "
                     "it",
                     k * s->group_warps,
                     k * s->group_warps + s->group_warps - 1,
                     (long long)cta->block, o->came);
        return true;
    }
    (void)user;
    return false;
}

/* Those that wait, as text: first for counters, since others mostly wait for
 * these; the others after that. */
typedef struct waiting {
    bool            counters;
    int             n;
    const sim_warp *first;
    axe_buf         text;
} waiting;

enum { MOST_WAITING = 6 };

static bool
put_waiting(sim *s, sim_cta *cta, void *user)
{
    waiting *x = user;

    for (int k = 0; k < s->n_warp; k++) {
        const sim_warp *w = &cta->warp[k];
        if (w->wait == SIM_DONE || (w->wait == SIM_WAIT_COUNTER) != x->counters)
            continue;
        x->first = x->first ? x->first : w;
        if (x->n++ >= MOST_WAITING)
            continue;
        axe_puts(&x->text, x->n > 1 ? "; " : "");
        put_wait(s, &x->text, w);
    }
    return false;
}

void
axe_sim_deadlock(sim *s)
{
    waiting x = {.counters = true, .text = {.cx = s->cx}};
    int64_t next = s->next_cluster * s->g->cluster;

    s->stop = true;
    if (any_cta(s, find_partial, NULL) || any_cta(s, find_bytes, NULL))
        return;
    (void)any_cta(s, put_waiting, &x);
    x.counters = false;
    (void)any_cta(s, put_waiting, &x);
    if (x.n > MOST_WAITING)
        axe_putf(&x.text, "; and %d more", x.n - MOST_WAITING);
    if (s->together && next < s->n_block)
        axe_putf(&x.text,
                 "; blocks from %" PRId64
                 " on do not begin before others have ended",
                 next);
    axe_sim_find(s, AXE_SIM_DEADLOCK, x.first->at, -1, "%s", x.text.text);
}
