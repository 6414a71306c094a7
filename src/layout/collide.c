/* collide.c - do two indices share a coordinate?
 *
 * Two indices share a point iff, on every axis, the difference of their digits
 * is a relation
 *
 *     sum delta_k * step_k = 0,   |delta_k| <= extent_k - 1
 *
 * with a delta on some index digit; replicas may move freely.  With
 * reach_k = sum_{i<k} (extent_i - 1) step_i:
 *
 *   - if step_k > reach_k for the top digit k, its delta is 0: drop it;
 *   - if gcd of all steps above the lowest exceeds its reach, the lowest moves
 *     alone, hence not at all: drop it.
 *
 * Layouts met in practice drop away wholly.  What stays is searched from the
 * top digit down: a partial sum must lie within the reach of the digits below
 * and be a multiple of their gcd.  If that takes too long, the points are
 * listed and sorted.
 */
#include <stdlib.h>

#include "layout/digit.h"

/* Deltas tried before the points are listed. */
#ifdef AXE_STRESS
enum { MAX_NODE = 4 };
#else
enum { MAX_NODE = 1 << 18 };
#endif

enum { MAX_POINT = 1 << 22 }; /* listed before giving up */

/* A search over the digits [0, n) that did not drop away. */
typedef struct search {
    int              n;
    const axe_digit *digit;
    int64_t         *reach; /* [n + 1] of the digits below k */
    int64_t         *gcd;   /* [n + 1] of their steps; gcd[0] = 0 */
    int64_t         *delta; /* [n] */
} search;

static void
measure(search *s)
{
    s->reach[0] = s->gcd[0] = 0;
    for (int k = 0; k < s->n; k++) {
        const axe_digit *d = &s->digit[k];
        s->reach[k + 1] = s->reach[k] + (d->extent - 1) * d->step;
        s->gcd[k + 1] = axe_gcd(s->gcd[k], d->step);
    }
}

/* Drop the digits that cannot move. */
static void
peel(search *s)
{
    int64_t above;

    do {
        measure(s);
        while (s->n > 0 && s->digit[s->n - 1].step > s->reach[s->n - 1])
            s->n--;
        above = 0;
        for (int k = 1; k < s->n; k++)
            above = axe_gcd(above, s->digit[k].step);
        if (s->n == 0 || above <= s->reach[1])
            return;
        s->digit++;
        s->n--;
    } while (true);
}

static bool
moves_index(const search *s)
{
    for (int k = 0; k < s->n; k++)
        if (s->delta[k] != 0 && s->digit[k].weight != 0)
            return true;
    return false;
}

static void
witness_of(const search *s, int64_t witness[2])
{
    int64_t x = 0, y = 0;

    for (int k = 0; k < s->n; k++) {
        int64_t w = s->digit[k].weight * s->delta[k];
        if (s->digit[k].reversed)
            w = -w;
        x -= w < 0 ? w : 0;
        y += w > 0 ? w : 0;
    }
    witness[0] = x < y ? x : y;
    witness[1] = x < y ? y : x;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a * b modulo m, for 0 <= a, b < m < 2^62. */
static int64_t
mul_mod(int64_t a, int64_t b, int64_t m)
{
    int64_t r = 0;

    for (; b > 0; b >>= 1) {
        if (b & 1)
            r = r + a < m ? r + a : r + a - m;
        a = a + a < m ? a + a : a + a - m;
    }
    return r;
}

/* The inverse of a modulo m, coprime, m >= 1. */
static int64_t
inverse_mod(int64_t a, int64_t m)
{
    int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;

    while (r1 > 0) {
        int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    return t0 < 0 ? t0 + m : t0;
}

/* One level of the search: the deltas of digit k not tried yet. */
typedef struct level {
    int64_t sum;                /* of the digits above */
    int64_t next, last, stride; /* delta */
} level;

/* The deltas after which the digits below can still cancel: the rest is within
 * their reach, and a multiple of their gcd g,
 *
 *     delta * step = -sum  (mod g) */
static level
open_level(const search *s, int k, int64_t sum)
{
    int64_t step = s->digit[k].step, most = s->digit[k].extent - 1;
    int64_t lo = -floor_div(s->reach[k] + sum, step);
    int64_t hi = floor_div(s->reach[k] - sum, step);
    int64_t g = s->gcd[k], h = axe_gcd(g, step), m, want;
    level   v = {sum, lo < -most ? -most : lo, hi > most ? most : hi, 1};

    if (g == 0)
        return v;
    if (sum % h != 0)
        return (level){sum, 1, 0, 1};
    m = g / h;
    want = -(sum / h) % m;
    want = mul_mod(want < 0 ? want + m : want, inverse_mod(step / h, m), m);
    want = (want - v.next % m) % m;
    v.next += want < 0 ? want + m : want;
    v.stride = m;
    return v;
}

typedef enum verdict { NONE, FOUND, UNDECIDED } verdict;

static verdict
search_relation(axe_ctx *cx, search *s)
{
    level *stack = axe_new_array(cx, level, s->n);
    int    k = s->n - 1;

    stack[k] = open_level(s, k, 0);
    for (int budget = MAX_NODE; budget > 0; budget--) {
        level *v = &stack[k];
        if (v->next > v->last) {
            if (++k == s->n)
                return NONE;
            continue;
        }
        s->delta[k] = v->next;
        v->next += v->stride;
        if (k > 0) {
            int64_t sum = v->sum + s->delta[k] * s->digit[k].step;
            k--;
            stack[k] = open_level(s, k, sum);
        } else if (moves_index(s))
            return FOUND;
    }
    return UNDECIDED;
}

/* A point of the digits, and the index part of it. */
typedef struct place {
    int64_t coord, index;
} place;

static int
by_place(const void *pa, const void *pb)
{
    const place *a = pa, *b = pb;

    if (a->coord != b->coord)
        return a->coord < b->coord ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Fill p with all points; n is their number. */
static void
list_points(const search *s, place *p)
{
    int64_t done = 1;

    for (int k = 0; k < s->n; k++)
        if (s->digit[k].reversed)
            p[0].index += (s->digit[k].extent - 1) * s->digit[k].weight;
    for (int k = 0; k < s->n; k++) {
        const axe_digit *d = &s->digit[k];
        int64_t          weight = d->reversed ? -d->weight : d->weight;
        for (int64_t i = done; i < done * d->extent; i++) {
            p[i].coord = p[i - done].coord + d->step;
            p[i].index = p[i - done].index + weight;
        }
        done *= d->extent;
    }
}

/* Sort the points and look for neighbours that differ in the index alone. */
static verdict
sort_points(axe_ctx *cx, const search *s, int64_t witness[2])
{
    int64_t n = 1;
    place  *p;

    for (int k = 0; k < s->n; k++)
        if (!axe_mul(n, s->digit[k].extent, &n) || n > MAX_POINT)
            return UNDECIDED;
    p = axe_new_array(cx, place, n);
    list_points(s, p);
    qsort(p, (size_t)n, sizeof *p, by_place);
    for (int64_t i = 1; i < n; i++)
        if (p[i].coord == p[i - 1].coord && p[i].index != p[i - 1].index) {
            witness[0] = p[i - 1].index;
            witness[1] = p[i].index;
            return FOUND;
        }
    return NONE;
}

static verdict
decide(axe_ctx *cx, const axe_digits *g, int64_t witness[2])
{
    search  s = {g->n, g->digit, NULL, NULL, NULL};
    verdict v = UNDECIDED;

    s.reach = axe_new_array(cx, int64_t, g->n + 1);
    s.gcd = axe_new_array(cx, int64_t, g->n + 1);
    s.delta = axe_new_array(cx, int64_t, g->n + 1);
    peel(&s);
    if (s.n == 0)
        return NONE;
    if (s.reach[s.n] < INT64_MAX / 4)
        v = search_relation(cx, &s);
    if (v == FOUND)
        witness_of(&s, witness);
    return v == UNDECIDED ? sort_points(cx, &s, witness) : v;
}

axe_status
axe_digits_collide(axe_ctx *cx, const axe_digits *g, bool *out,
                   int64_t witness[2])
{
    axe_mark m = axe_ctx_mark(cx);
    int64_t  w[2] = {0, 0};
    verdict  v = decide(cx, g, w);

    axe_ctx_release(cx, m);
    if (v == UNDECIDED)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "injective: the %d digits of an axis interlock, and "
                        "have over %d points to compare",
                        g->n, MAX_POINT);
    *out = v == FOUND;
    if (v == FOUND && witness) {
        witness[0] = w[0];
        witness[1] = w[1];
    }
    return AXE_OK;
}
