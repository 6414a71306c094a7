/* rounds.c - elements that change lanes: a matching for each round.
 *
 * Lanes that want the same in all slots are one taker.  A demand is a taker and
 * an element; an edge is a demand and a lane that could give it.  Each round is
 * a matching of takers with givers that reaches every taker and every giver
 * with most left to do, so that the number of rounds is that of the busiest one
 * (Koenig), as far as givers have no choice.  Among edges, those to near lanes
 * come first, by exclusive or, which makes rounds of regular layouts regular.
 */
#include "move/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

enum { LANES = AXE_ROUND_LANES };

/* A register with an element. */
typedef struct holder {
    int64_t element;
    int16_t lane, reg;
} holder;

typedef struct demand {
    const holder *of; /* who has it: n of them */
    int           n;
    int           slot; /* the first that wants it */
    bool          done;
} demand;

typedef struct edge {
    int16_t demand, lane, reg;
} edge;

typedef struct taker {
    int          first; /* lane */
    axe_lane_set lanes;
    int          n_demand, n_left, n_edge;
    demand      *demand;
    edge        *edge; /* nearest lanes first */
} taker;

typedef struct solver {
    axe_ctx        *cx;
    int             n_lane, n_want, n_holder, n_taker;
    const int64_t  *want;
    const holder   *holder;
    taker           taker[LANES];
    axe_round_from *slot;
    int             sole[LANES];     /* demands that only this lane can meet */
    const edge     *taken[LANES];    /* by taker, in this round */
    int             giver_of[LANES]; /* taker that the lane gives to, or -1 */
    axe_lane_set    seen;            /* or takers */
} solver;

static int
by_element(const void *x, const void *y)
{
    const holder *a = x, *b = y;

    if (a->element != b->element)
        return a->element < b->element ? -1 : 1;
    return a->lane != b->lane ? a->lane - b->lane : a->reg - b->reg;
}

static void
list_holders(solver *s, int n_have, const int64_t *have)
{
    holder *h = axe_new_array(s->cx, holder, s->n_lane * n_have + 1);

    for (int l = 0; l < s->n_lane; l++)
        for (int r = 0; r < n_have; r++)
            if (have[l * n_have + r] >= 0)
                h[s->n_holder++] =
                    (holder){have[l * n_have + r], (int16_t)l, (int16_t)r};
    qsort(h, (size_t)s->n_holder, sizeof *h, by_element);
    s->holder = h;
}

/* Those that have the element, in order of lanes; how many. */
static int
find_holders(const solver *s, int64_t element, const holder **out)
{
    int lo = 0, hi = s->n_holder, n = 0;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (s->holder[mid].element < element)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo + n < s->n_holder && s->holder[lo + n].element == element)
        n++;
    *out = s->holder + lo;
    return n;
}

/* ------------------------------------------------------------------ takers */

static void
find_takers(solver *s)
{
    size_t row = (size_t)s->n_want * sizeof *s->want;

    for (int l = 0; l < s->n_lane; l++) {
        int k = 0;
        while (k < s->n_taker &&
               memcmp(s->want + l * s->n_want,
                      s->want + s->taker[k].first * s->n_want, row) != 0)
            k++;
        if (k == s->n_taker)
            s->taker[s->n_taker++].first = l;
        s->taker[k].lanes |= AXE_ONE_LANE(l);
    }
}

/* The lane's own register with it, or -1. */
static int
own_register(int lane, int n, const holder *h)
{
    for (int i = 0; i < n; i++)
        if (h[i].lane == lane)
            return h[i].reg;
    return -1;
}

/* A slot that all lanes of the taker fill from their own registers. */
static bool
fill_own(solver *s, const taker *t, int slot, int n, const holder *h)
{
    for (int l = 0; l < s->n_lane; l++)
        if (t->lanes >> l & 1 && own_register(l, n, h) < 0)
            return false;
    for (int l = 0; l < s->n_lane; l++)
        if (t->lanes >> l & 1)
            s->slot[l * s->n_want + slot] =
                (axe_round_from){-1, (int16_t)own_register(l, n, h)};
    return true;
}

static bool
is_asked(const taker *t, const holder *h)
{
    for (int i = 0; i < t->n_demand; i++)
        if (t->demand[i].of == h)
            return true;
    return false;
}

static void
add_edge(taker *t, int d, const holder *h)
{
    int k = t->n_edge++;

    for (; k > 0 && (t->edge[k - 1].lane ^ t->first) > (h->lane ^ t->first);
         k--)
        t->edge[k] = t->edge[k - 1];
    t->edge[k] = (edge){(int16_t)d, h->lane, h->reg};
}

static bool
find_demands(solver *s, taker *t)
{
    const int64_t *want = s->want + t->first * s->n_want;
    int            n_edge = 0, n;
    const holder  *h;

    t->demand = axe_new_array(s->cx, demand, s->n_want + 1);
    for (int i = 0; i < s->n_want; i++) {
        if (want[i] < 0)
            continue;
        n = find_holders(s, want[i], &h);
        if (n == 0)
            return false;
        if (fill_own(s, t, i, n, h) || is_asked(t, h))
            continue;
        t->demand[t->n_demand++] = (demand){h, n, i, false};
        n_edge += n;
        if (h[0].lane == h[n - 1].lane)
            s->sole[h[0].lane]++;
    }
    t->n_left = t->n_demand;
    t->edge = axe_new_array(s->cx, edge, n_edge + 1);
    for (int d = 0; d < t->n_demand; d++)
        for (int i = 0; i < t->demand[d].n; i++)
            add_edge(t, d, &t->demand[d].of[i]);
    return true;
}

/* --------------------------------------------------------------- a matching */

static bool
is_open(const taker *t, const edge *e)
{
    return !t->demand[e->demand].done;
}

/* Taker k gets something, whoever else must get his from another lane. */
static bool
reach_taker(solver *s, int k)
{
    const taker *t = &s->taker[k];

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->n_edge; i++) {
            const edge *e = &t->edge[i];
            int         other = s->giver_of[e->lane];
            if (!is_open(t, e) || (pass == 0 && other >= 0) ||
                (pass == 1 && s->seen >> e->lane & 1))
                continue;
            s->seen |= AXE_ONE_LANE(e->lane);
            if (other >= 0 && !reach_taker(s, other))
                continue;
            s->giver_of[e->lane] = k;
            s->taken[k] = e;
            return true;
        }
    return false;
}

/* Lane l gives something, if that leaves no busy lane (most demands) idle. */
static bool
reach_giver(solver *s, int l, int most)
{
    for (int k = 0; k < s->n_taker; k++) {
        const taker *t = &s->taker[k];
        int          old = s->taken[k] ? s->taken[k]->lane : -1;
        if (s->seen >> k & 1)
            continue;
        for (int i = 0; i < t->n_edge; i++) {
            const edge *e = &t->edge[i];
            if (!is_open(t, e) || e->lane != l)
                continue;
            s->seen |= AXE_ONE_LANE(k);
            if (old >= 0 && s->sole[old] >= most && !reach_giver(s, old, most))
                break;
            if (old >= 0 && s->giver_of[old] == k)
                s->giver_of[old] = -1;
            s->giver_of[l] = k;
            s->taken[k] = e;
            return true;
        }
    }
    return false;
}

/* What the busiest taker or giver has left. */
static int
most_left(const solver *s)
{
    int most = 0;

    for (int k = 0; k < s->n_taker; k++)
        most = s->taker[k].n_left > most ? s->taker[k].n_left : most;
    for (int l = 0; l < s->n_lane; l++)
        most = s->sole[l] > most ? s->sole[l] : most;
    return most;
}

static void
match(solver *s)
{
    int most = most_left(s);

    memset(s->taken, 0, sizeof s->taken);
    for (int l = 0; l < LANES; l++)
        s->giver_of[l] = -1;
    for (int left = most; left > 0; left--)
        for (int k = 0; k < s->n_taker; k++) {
            s->seen = 0;
            if (s->taker[k].n_left == left)
                (void)reach_taker(s, k);
        }
    for (int l = 0; l < s->n_lane; l++) {
        s->seen = 0;
        if (s->sole[l] >= most && s->giver_of[l] < 0)
            (void)reach_giver(s, l, most);
    }
}

/* ------------------------------------------------------------------- rounds */

/* The taker's slots with that element come from this round. */
static void
take(solver *s, taker *t, const edge *e, int number, axe_round *r)
{
    demand *d = &t->demand[e->demand];
    int64_t what = d->of->element;

    d->done = true;
    t->n_left--;
    if (d->of[0].lane == d->of[d->n - 1].lane)
        s->sole[d->of[0].lane]--;
    r->reg[e->lane] = e->reg;
    for (int l = 0; l < s->n_lane; l++) {
        if (!(t->lanes >> l & 1))
            continue;
        r->from[l] = e->lane;
        for (int i = d->slot; i < s->n_want; i++)
            if (s->want[l * s->n_want + i] == what)
                s->slot[l * s->n_want + i] =
                    (axe_round_from){(int16_t)number, -1};
    }
}

/* A taker with nothing yet takes what is given to others. */
static void
share(solver *s, int k, int number, axe_round *r)
{
    taker *t = &s->taker[k];

    for (int i = 0; i < t->n_edge && !s->taken[k]; i++)
        if (is_open(t, &t->edge[i]) &&
            r->reg[t->edge[i].lane] == t->edge[i].reg) {
            s->taken[k] = &t->edge[i];
            take(s, t, &t->edge[i], number, r);
        }
}

static void
add_round(solver *s, axe_rounds *out)
{
    axe_round *r;

    if (out->n == out->cap) {
        out->cap = out->cap ? 2 * out->cap : 8;
        axe_round *more = axe_new_array(s->cx, axe_round, out->cap);
        if (out->n > 0)
            memcpy(more, out->round, (size_t)out->n * sizeof *more);
        out->round = more;
    }
    r = &out->round[out->n];
    memset(r, 0xff, sizeof *r);
    match(s);
    for (int k = 0; k < s->n_taker; k++)
        if (s->taken[k])
            take(s, &s->taker[k], s->taken[k], out->n, r);
    for (int k = 0; k < s->n_taker; k++)
        share(s, k, out->n, r);
    out->n++;
}

bool
axe_rounds_find(axe_ctx *cx, int n_lane, int n_have, const int64_t *have,
                int n_want, const int64_t *want, axe_rounds *out)
{
    solver *s = axe_new(cx, solver);

    s->cx = cx;
    s->n_lane = n_lane;
    s->n_want = n_want;
    s->want = want;
    s->slot = axe_new_array(cx, axe_round_from, n_lane * n_want + 1);
    for (int i = 0; i < n_lane * n_want; i++)
        s->slot[i] = (axe_round_from){-2, -1};
    list_holders(s, n_have, have);
    find_takers(s);
    for (int k = 0; k < s->n_taker; k++)
        if (!find_demands(s, &s->taker[k]))
            return false;
    *out = (axe_rounds){.slot = s->slot, .least = most_left(s)};
    while (most_left(s) > 0)
        add_round(s, out);
    return true;
}

/* ------------------------------------------------------------ other numberings
 */

/* A shuffle of the lanes, number i of them. */
static void
number_anew(int n, int i, int *to)
{
    uint32_t state = 2463534242u + (uint32_t)i * 7919u;

    for (int l = 0; l < n; l++)
        to[l] = l;
    for (int l = n - 1; l > 0; l--) {
        state = state * 1664525u + 1013904223u;
        int k = (int)((state >> 8) % (uint32_t)(l + 1)), x = to[l];
        to[l] = to[k];
        to[k] = x;
    }
}

static const int64_t *
rows_anew(axe_ctx *cx, int n_lane, int n, const int *to, const int64_t *row)
{
    int64_t *out = axe_new_array(cx, int64_t, (int64_t)n_lane * n + 1);

    for (int l = 0; l < n_lane && n > 0; l++)
        memcpy(out + to[l] * n, row + l * n, (size_t)n * sizeof *row);
    return out;
}

/* Back to the lanes' own numbers. */
static void
number_back(axe_ctx *cx, int n_lane, int n_want, const int *to, axe_rounds *r)
{
    axe_round_from *slot =
        axe_new_array(cx, axe_round_from, n_lane * n_want + 1);
    int from[LANES];

    for (int l = 0; l < n_lane; l++)
        from[to[l]] = l;
    for (int l = 0; l < n_lane && n_want > 0; l++)
        memcpy(slot + l * n_want, r->slot + to[l] * n_want,
               (size_t)n_want * sizeof *slot);
    r->slot = slot;
    for (int i = 0; i < r->n; i++) {
        axe_round old = r->round[i];
        for (int l = 0; l < n_lane; l++) {
            int whose = old.from[to[l]];
            r->round[i].reg[l] = old.reg[to[l]];
            r->round[i].from[l] = (int16_t)(whose < 0 ? whose : from[whose]);
        }
    }
}

static bool
lane_has(int n_have, const int64_t *have, int lane, int64_t element)
{
    for (int r = 0; r < n_have; r++)
        if (have[lane * n_have + r] == element)
            return true;
    return false;
}

/* Rounds that some lane needs to get what it lacks, or to give what no other
 * has: each element once, whoever takes it. */
static int
fewest(int n_lane, int n_have, const int64_t *have, int n_want,
       const int64_t *want, const solver *s)
{
    int get[LANES] = {0}, give[LANES] = {0}, most = 0, n;

    for (int l = 0; l < n_lane; l++)
        for (int k = 0; k < n_want; k++) {
            int64_t e = want[l * n_want + k];
            get[l] += e >= 0 && !lane_has(n_have, have, l, e);
        }
    for (int i = 0; i < s->n_holder; i += n) {
        const holder *h;
        bool          asked = false;
        n = find_holders(s, s->holder[i].element, &h);
        for (int k = 0; k < n_lane * n_want && h[0].lane == h[n - 1].lane; k++)
            asked = asked || (want[k] == h->element && k / n_want != h->lane);
        give[h->lane] += asked;
    }
    for (int l = 0; l < n_lane; l++) {
        most = get[l] > most ? get[l] : most;
        most = give[l] > most ? give[l] : most;
    }
    return most;
}

bool
axe_rounds_fewest(axe_ctx *cx, int n_lane, int n_have, const int64_t *have,
                  int n_want, const int64_t *want, axe_rounds *out)
{
    int        to[LANES];
    axe_rounds r;

    solver *s = axe_new(cx, solver);

    if (!axe_rounds_find(cx, n_lane, n_have, have, n_want, want, out))
        return false;
    s->cx = cx;
    s->n_lane = n_lane;
    list_holders(s, n_have, have);
    out->least = fewest(n_lane, n_have, have, n_want, want, s);
    for (int i = 0; i < AXE_ROUND_TRIES && out->n > out->least; i++) {
        number_anew(n_lane, i, to);
        if (!axe_rounds_find(cx, n_lane, n_have,
                             rows_anew(cx, n_lane, n_have, to, have), n_want,
                             rows_anew(cx, n_lane, n_want, to, want), &r) ||
            r.n >= out->n)
            continue;
        number_back(cx, n_lane, n_want, to, &r);
        r.least = out->least;
        *out = r;
    }
    return true;
}
