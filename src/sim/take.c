/* take.c - clusters of a launch that begin, and those that others take.
 *
 * As many begin as fit, and one more whenever one ends.  Who asks is given one
 * that waits, or none: hardware may refuse while some wait, so that is for the
 * policy to say.  Lazily all that wait are given to the first who ask, eagerly
 * each cluster gets one and then none, by chance some of this and of that, in
 * any order. */
#include <string.h>

#include "sim/sim_int.h"

enum { WAITS, BEGUN, TAKEN };

/* What 16 bytes say. */
typedef struct answer {
    uint32_t mark;
    int32_t  first; /* CTA of the cluster, or -1 */
    uint64_t rest;
} answer;

enum { ANSWER = 16, MARK = 0xc1c };

static int64_t
n_clusters(const sim *s)
{
    return s->n_block / s->g->cluster;
}

void
axe_sim_launch_begin(sim *s)
{
    int64_t fit = s->n_sm / s->g->cluster;

    s->launch = NULL;
    s->next_cluster = 0;
    s->n_share = INT64_MAX;
    if (!s->code->takes)
        return;
    s->launch = axe_new_array(s->own, uint8_t, n_clusters(s));
    for (int64_t i = 0; i < n_clusters(s) && i < (fit > 1 ? fit : 1); i++)
        s->launch[i] = BEGUN;
    if (s->trace) /* side by side each takes about as many */
        s->n_share = (n_clusters(s) - 1) / (fit > 1 ? fit : 1);
}

static int64_t
n_waiting(const sim *s)
{
    int64_t n = 0;

    for (int64_t i = 0; i < n_clusters(s); i++)
        n += s->launch[i] == WAITS;
    return n;
}

/* Number n of those that wait becomes `now`; -1: there is none. */
static int64_t
pick(sim *s, int64_t n, uint8_t now)
{
    for (int64_t i = 0; i < n_clusters(s); i++)
        if (s->launch[i] == WAITS && n-- == 0) {
            s->launch[i] = now;
            return i;
        }
    return -1;
}

void
axe_sim_launch_next(sim *s)
{
    if (s->launch)
        (void)pick(s, 0, BEGUN);
}

int64_t
axe_sim_launch_take(sim *s)
{
    while (s->launch && s->next_cluster < n_clusters(s) &&
           s->launch[s->next_cluster] == TAKEN)
        s->next_cluster++;
    if (s->next_cluster >= n_clusters(s) ||
        (s->launch && s->launch[s->next_cluster] != BEGUN))
        return -1;
    return s->next_cluster++;
}

/* The first CTA of the cluster that is given to who asks, or -1. */
static int64_t
give(sim *s, sim_cluster *to)
{
    axe_sim_policy policy = s->spec->with.policy;
    uint64_t       n = (uint64_t)n_waiting(s), which = 0;
    int64_t        i;

    if (n == 0 || to->n_given >= s->n_share ||
        (policy == AXE_SIM_EAGER && to->n_given > 0))
        return -1;
    if (policy == AXE_SIM_RANDOM) {
        which = axe_sim_random(s) % (n + n / 4 + 1);
        if (which >= n)
            return -1;
    }
    i = pick(s, (int64_t)which, TAKEN);
    to->n_given++;
    return i * s->g->cluster;
}

/* -------------------------------------------------------------------- atoms */

/* Bytes of the answer that operand `arg` means, in the CTA. */
static bool
access(sim *s, const sim_call *c, int arg, sim_cta *cta, bool write, answer *a)
{
    const sim_arg    *x = &c->in->arg[arg];
    const axe_buffer *b = &s->g->buffer[x->tensor];
    int               size = axe_type_table[b->tensor->type].bits / 8;
    int64_t           at = c->at[arg][c->lane];

    if ((b->offset + at * size) % ANSWER != 0) {
        axe_sim_find(s, AXE_SIM_ALIGN, c->in, -1,
                     "%s means 16 bytes at byte %lld of %s, which is no "
                     "multiple of 16",
                     axe_sim_agent_text(s, c->warp->agent),
                     (long long)(at * size), b->tensor->name);
        return false;
    }
    return axe_sim_bytes(s, c, x, cta, at, ANSWER / size, write, a);
}

void
axe_sim_bring_taken(sim *s, sim_async *o)
{
    answer a = {MARK, (int32_t)o->taken, 0};

    (void)access(s, &o->call, 0, o->to, true, &a);
}

/* One lane asks; the answer is for its CTA, or for all of the cluster. */
static void
ask(sim *s, sim_warp *w, const sim_call *c)
{
    bool    all = c->in->shape->atom->space[0] == AXE_ARG_DSMEM;
    int64_t taken;

    if (w->cta->refused)
        axe_sim_find(s, AXE_SIM_LAUNCH, c->in, -1,
                     "%s asks for more, after its block has read that there is "
                     "nothing left",
                     axe_sim_agent_text(s, w->agent));
    taken = give(s, w->cta->cluster);
    for (int i = 0; i < s->g->cluster; i++) {
        sim_cta   *to = &w->cta->cluster->cta[i];
        sim_async *o;
        if (!all && to != w->cta)
            continue;
        o = axe_sim_to_mbar(s, c, 1, c->lane, to, to, ANSWER);
        if (!o)
            continue;
        o->taken = taken;
        axe_sim_enqueue(s, o);
    }
}

static void
read_answer(sim *s, sim_warp *w, const sim_call *c)
{
    answer  a = {0};
    int32_t first;

    if (!access(s, c, 1, w->cta, false, &a))
        return;
    first = a.mark == MARK ? a.first : -1;
    w->cta->refused = w->cta->refused || (a.mark == MARK && first < 0);
    axe_sim_reg_put(s, c, &c->in->arg[0], w, c->lane, c->at[0][c->lane],
                    &first);
}

void
axe_sim_take(sim *s, sim_warp *w, sim_call *c)
{
    bool takes = c->in->shape->atom->sync == AXE_SYNC_TAKE;

    for (c->lane = 0; c->lane < s->lanes; c->lane++) {
        if (!axe_sim_has(c->pred, c->lane))
            continue;
        if (takes)
            ask(s, w, c);
        else
            read_answer(s, w, c);
    }
    if (takes)
        axe_sim_release(s, w);
}
