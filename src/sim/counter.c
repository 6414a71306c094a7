/* counter.c - SYNC: words of global memory that count, by which CTAs wait for
 * one another.
 *
 * Who counts leaves what he knows; who waits for n takes what those have left
 * that made it n.  They may be more by then, but the next time he may come
 * before these: so each counter keeps who told what, in order. */
#include <string.h>

#include "sim/sim_int.h"

/* Something new of an agent. */
typedef struct news {
    int      agent;
    uint32_t vc, pvc, gvc;
} news;

/* A count: the word afterwards, and how much news there is up to it. */
typedef struct told {
    int64_t value;
    int     upto;
    int     gate; /* trace.c: so many have counted */
} told;

struct sim_counter {
    int64_t   first; /* the word before any of these */
    sim_clock clock; /* all that was told */
    int       n_told, cap_told, n_news, cap_news;
    told     *told;
    news     *news;
};

/* ------------------------------------------------------------- which there are
 */

bool
axe_sim_is_awaited(const axe_atom *atom)
{
    return atom->sync == AXE_SYNC_REACH || atom->sync == AXE_SYNC_SAME;
}

bool
axe_sim_is_counter(const axe_atom *atom)
{
    return atom->sync == AXE_SYNC_COUNT || atom->sync == AXE_SYNC_PUT ||
           axe_sim_is_awaited(atom);
}

/* Does it do with the word whatever that was? */
bool
axe_sim_is_blind(const axe_atom *atom)
{
    return atom->sync == AXE_SYNC_PUT || atom->sync == AXE_SYNC_SAME;
}

axe_status
axe_sim_counter_check(sim *s, const sim_inst *in)
{
    const axe_atom   *atom = in->shape->atom;
    const axe_tensor *t;

    if (!axe_sim_is_counter(atom))
        return AXE_OK;
    t = in->n_arg > 0 && in->arg[0].space == AXE_ARG_GLOBAL
            ? s->global[in->arg[0].tensor].tensor
            : NULL;
    if (t && axe_type_table[t->type].bits == 64 && !axe_type_is_float(t->type))
        return AXE_OK;
    return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "the simulator: %s of %s is of an integer of 64 bits in "
                    "global memory, which %s is not",
                    atom->name, s->g->name, t ? t->name : "its operand");
}

/* Launches are in order: none is told by one before. */
void
axe_sim_counters_begin(sim *s, sim_global *g)
{
    g->counter =
        g->counts ? axe_new_array(s->own, sim_counter *, g->span) : NULL;
}

int64_t
axe_sim_counter_value(const sim_global *g, int64_t at)
{
    int64_t value;

    memcpy(&value, g->data + at * (int64_t)sizeof value, sizeof value);
    return value;
}

static sim_counter *
counter_at(sim *s, sim_global *g, int64_t at)
{
    if (!g->counter[at]) {
        g->counter[at] = axe_new(s->own, sim_counter);
        *g->counter[at] = (sim_counter){.first = axe_sim_counter_value(g, at),
                                        .clock = axe_sim_clock_new(s)};
    }
    return g->counter[at];
}

/* ------------------------------------------------------------------- telling
 */

static void
add_news(sim *s, sim_counter *k, news what)
{
    if (k->n_news == k->cap_news) {
        int   cap = k->cap_news ? 2 * k->cap_news : 64;
        news *list = axe_new_array(s->own, news, cap);
        if (k->n_news > 0)
            memcpy(list, k->news, (size_t)k->n_news * sizeof list[0]);
        k->news = list;
        k->cap_news = cap;
    }
    k->news[k->n_news++] = what;
}

static void
add_told(sim *s, sim_counter *k, int64_t value)
{
    if (k->n_told == k->cap_told) {
        int   cap = k->cap_told ? 2 * k->cap_told : 8;
        told *list = axe_new_array(s->own, told, cap);
        if (k->n_told > 0)
            memcpy(list, k->told, (size_t)k->n_told * sizeof list[0]);
        k->told = list;
        k->cap_told = cap;
    }
    k->told[k->n_told++] = (told){value, k->n_news, 0};
}

/* What the clock has that the counter has not been told. */
static void
tell(sim *s, sim_counter *k, const sim_clock *c, int64_t value)
{
    for (int r = axe_sim_clock_range(s, c, 0); r < s->n_range;
         r = axe_sim_clock_range(s, c, r + 1)) {
        int first = r * s->per_range;
        for (int i = first; i < first + s->n_agent[r]; i++)
            if (c->vc[i] > k->clock.vc[i] || c->pvc[i] > k->clock.pvc[i] ||
                c->gvc[i] > k->clock.gvc[i])
                add_news(s, k, (news){i, c->vc[i], c->pvc[i], c->gvc[i]});
    }
    axe_sim_clock_join(s, &k->clock, *c);
    add_told(s, k, value);
}

/* -------------------------------------------------------------------- hearing
 */

static bool
is_reached(int64_t value, int64_t least)
{
    return (uint64_t)value >= (uint64_t)least;
}

/* Has what the warp's lane waits for come? */
static bool
has_come(const sim *s, const sim_warp *w, int lane)
{
    const sim_global *g = &s->global[w->at->arg[0].tensor];
    int64_t           value = axe_sim_counter_value(g, w->word[lane]);

    return w->at->shape->atom->sync == AXE_SYNC_SAME
               ? value == w->least[lane]
               : is_reached(value, w->least[lane]);
}

/* Who made it `least`: of those that told; -1: none of them. */
static int
reached_by(const sim_counter *k, int64_t least)
{
    int i = 0;

    if (is_reached(k->first, least) || k->n_told == 0)
        return -1;
    while (i < k->n_told - 1 && !is_reached(k->told[i].value, least))
        i++;
    return i;
}

/* Who has that clock learns what those have told that made it `least`. */
static void
hear(sim *s, sim_clock *c, const sim_counter *k, int64_t least)
{
    int i = reached_by(k, least);

    if (i < 0)
        return;
    if (i == k->n_told - 1) {
        axe_sim_clock_join(s, c, k->clock);
        return;
    }
    for (const news *n = k->news; n < k->news + k->told[i].upto; n++) {
        int range = n->agent / s->per_range;
        c->of[range / 64] |= UINT64_C(1) << range % 64;
        if (c->vc[n->agent] < n->vc)
            c->vc[n->agent] = n->vc;
        if (c->pvc[n->agent] < n->pvc)
            c->pvc[n->agent] = n->pvc;
        if (c->gvc[n->agent] < n->gvc)
            c->gvc[n->agent] = n->gvc;
    }
}

/* Only the lanes that wait will learn anything. */
static void
leave_out(sim *s, sim_warp *w)
{
    if (w->lanes == s->all_lanes)
        return;
    if (!w->deaf) {
        if (!w->before.vc)
            w->before = axe_sim_clock_new(s);
        axe_sim_clock_copy(s, &w->before, w->clock);
        w->deaf = s->all_lanes;
    }
    w->deaf &= ~w->lanes;
}

static bool
is_again(const sim_warp *w, int lane)
{
    int before = lane - 1;

    return before >= 0 && axe_sim_has(w->lanes, before) &&
           w->word[before] == w->word[lane] &&
           w->least[before] == w->least[lane];
}

int
axe_sim_counter_lane(const sim *s, const sim_warp *w)
{
    for (int l = 0; l < s->lanes; l++)
        if (axe_sim_has(w->lanes, l) && !has_come(s, w, l))
            return l;
    return -1;
}

/* It goes on if all that its lanes wait for has come. */
static void
try_reach(sim *s, sim_warp *w)
{
    sim_global *g = &s->global[w->at->arg[0].tensor];

    if (axe_sim_counter_lane(s, w) >= 0)
        return;
    leave_out(s, w);
    for (int l = 0; l < s->lanes; l++) {
        const sim_counter *k;
        int                by;
        if (!axe_sim_has(w->lanes, l) || is_again(w, l))
            continue;
        k = counter_at(s, g, w->word[l]);
        by = reached_by(k, w->least[l]);
        if (s->trace && by >= 0)
            axe_sim_trace_reach(s, w, k->told[by].gate);
        hear(s, &w->clock, k, w->least[l]);
        if (w->lanes == s->all_lanes && w->deaf)
            hear(s, &w->before, k, w->least[l]);
    }
    w->wait = SIM_RUN;
    s->n_await--;
}

static void
try_cta(sim *s, sim_cta *cta, const sim_global *g)
{
    for (int i = 0; i < s->n_warp; i++) {
        sim_warp *w = &cta->warp[i];
        if (w->wait == SIM_WAIT_COUNTER &&
            &s->global[w->at->arg[0].tensor] == g)
            try_reach(s, w);
    }
}

static void
wake(sim *s, const sim_global *g)
{
    for (int i = 0; i < s->n_resident && s->n_await > 0; i++)
        for (int k = 0; k < s->g->cluster && s->resident[i].runs; k++)
            try_cta(s, &s->resident[i].cta[k], g);
}

/* --------------------------------------------------------------------- atoms
 */

/* Lanes that count in the word that this one counts in. */
static axe_lane_set
with_lane(const sim *s, const sim_call *c, int lane)
{
    axe_lane_set same = 0;

    for (int l = 0; l < s->lanes; l++)
        if (axe_sim_has(c->pred, l) && c->at[0][l] == c->at[0][lane])
            same |= AXE_ONE_LANE(l);
    return same;
}

/* The word becomes one more, or what the lane says. */
static int64_t
next_value(sim *s, const sim_warp *w, const sim_call *c, int64_t value)
{
    const sim_arg    *a = &c->in->arg[0];
    const sim_global *g = &s->global[a->tensor];

    if (c->in->shape->atom->sync == AXE_SYNC_PUT)
        return c->at[1][c->lane];
    if ((value < 0 || value == INT64_MAX) &&
        !axe_sim_known(s, AXE_SIM_BOUNDS, c->in, -1))
        axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                     "%s counts in element %lld of %s beyond 63 bits",
                     axe_sim_agent_text(s, w->agent),
                     (long long)c->at[0][c->lane], g->tensor->name);
    return (int64_t)((uint64_t)value + 1);
}

/* Of lanes that count together all have told what they did when the last of
 * them has. */
static void
count(sim *s, sim_warp *w, sim_call *c, int lane)
{
    const sim_arg *a = &c->in->arg[0];
    sim_global    *g = &s->global[a->tensor];
    axe_lane_set   same = with_lane(s, c, lane);
    uint32_t       now = w->clock.vc[w->agent];
    int64_t        at = c->at[0][lane], value = 0;
    sim_counter   *k = NULL;

    c->lane = lane;
    if (axe_sim_peek(s, a, w->cta, at, &value))
        k = counter_at(s, g, at);
    value = next_value(s, w, c, value);
    if (!axe_sim_bytes(s, c, a, w->cta, at, 1, true, &value) || !k)
        return;
    if (same >> lane != 1) /* others are behind it */
        same = 0;
    w->clock.vc[w->agent] = axe_sim_told(w, same);
    tell(s, k, &w->clock, value);
    if (s->trace)
        k->told[k->n_told - 1].gate = axe_sim_trace_count(
            s, w, k->n_told > 1 ? k->told[k->n_told - 2].gate : 0);
    w->clock.vc[w->agent] = now;
}

/* May the lane look at its word? */
static bool
looks(sim *s, const sim_warp *w, sim_call *c, int lane)
{
    int64_t value;

    c->lane = lane;
    return axe_sim_bytes(s, c, &c->in->arg[0], w->cta, c->at[0][lane], 1, false,
                         &value);
}

static void
reach(sim *s, sim_warp *w, sim_call *c)
{
    const sim_arg *a = &c->in->arg[0];

    w->lanes = 0;
    for (int l = 0; l < s->lanes; l++) {
        if (!axe_sim_has(c->pred, l) || !looks(s, w, c, l))
            continue;
        w->lanes |= AXE_ONE_LANE(l);
        w->word[l] = c->at[0][l];
        w->least[l] = c->at[1][l];
        (void)counter_at(s, &s->global[a->tensor], w->word[l]);
    }
    w->wait = SIM_WAIT_COUNTER;
    w->at = c->in;
    s->n_await++;
    try_reach(s, w);
}

void
axe_sim_counter(sim *s, sim_warp *w, sim_call *c)
{
    if (axe_sim_is_awaited(c->in->shape->atom)) {
        reach(s, w, c);
        return;
    }
    for (int l = 0; l < s->lanes; l++)
        if (axe_sim_has(c->pred, l))
            count(s, w, c, l);
    axe_sim_release(s, w);
    wake(s, &s->global[c->in->arg[0].tensor]);
}

/* Who writes a word tells nothing, and what was told is over; who adds to it
 * only does not.  Of one that is PUT there is no word before. */
void
axe_sim_counters_written(sim *s, const sim_call *c, sim_global *g, int64_t at,
                         int64_t n)
{
    const axe_atom *atom = c->in->shape->atom;

    if (atom->sync == AXE_SYNC_COUNT)
        return;
    for (int64_t i = at; i < at + n && atom->fold == AXE_FOLD_NONE; i++) {
        sim_counter *k = g->counter[i];
        if (!k)
            continue;
        k->first = atom->sync == AXE_SYNC_PUT ? 0 : axe_sim_counter_value(g, i);
        k->n_told = k->n_news = 0;
        axe_sim_clock_zero(s, &k->clock, 0);
    }
    if (atom->sync != AXE_SYNC_PUT) /* who waits hears of it first */
        wake(s, g);
}
