/* oracle.h - layouts by their definition, for tests: every point of every
 * index, straight from D, R and O.  Two axes at most, no units.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdio.h>
#include <stdlib.h>

#include "axe/layout.h"

enum { ORACLE_POINTS = 1 << 13 };

/* A point of index x: its coordinates on m and on the other axis. */
typedef struct point {
    int64_t x, m, other;
} point;

typedef struct points {
    int   n;
    point at[ORACLE_POINTS]; /* by index; the copies of one in any order */
} points;

/* Add digit `value` of a mixed radix to the coordinates of p. */
static inline int64_t
oracle_digit(axe_iter it, int64_t value, point *p)
{
    int64_t c = value % it.extent * it.stride;

    if (it.axis == AXE_AXIS_M)
        p->m += c;
    else
        p->other += c;
    return value / it.extent;
}

static inline void
oracle_points(const axe_layout *l, points *out)
{
    int64_t n_replica = 1;

    for (int k = 0; k < l->n_replica; k++)
        n_replica *= l->replica[k].extent;
    out->n = 0;
    for (int64_t x = 0; x < l->size; x++)
        for (int64_t r = 0; r < n_replica; r++) {
            point   p = {x, 0, 0};
            int64_t dx = x, dr = r;
            for (int k = l->n_shard - 1; k >= 0; k--)
                dx = oracle_digit(l->shard[k], dx, &p);
            for (int k = l->n_replica - 1; k >= 0; k--)
                dr = oracle_digit(l->replica[k], dr, &p);
            for (int k = 0; k < l->n_offset; k++)
                *(l->offset[k].axis == AXE_AXIS_M ? &p.m : &p.other) +=
                    l->offset[k].value;
            p.m = axe_swizzle_apply(l->swizzle, p.m);
            if (out->n == ORACLE_POINTS)
                abort();
            out->at[out->n++] = p;
        }
}

static inline int
oracle_by_place(const void *pa, const void *pb)
{
    const point *a = pa, *b = pb;

    if (a->m != b->m)
        return a->m < b->m ? -1 : 1;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

static inline int
oracle_by_index(const void *pa, const void *pb)
{
    const point *a = pa, *b = pb;

    return a->x != b->x ? (a->x < b->x ? -1 : 1) : oracle_by_place(pa, pb);
}

/* Sort by index and drop repeats, so that equal maps are equal arrays. */
static inline void
oracle_tidy(points *p)
{
    int n = 0;

    qsort(p->at, (size_t)p->n, sizeof p->at[0], oracle_by_index);
    for (int k = 0; k < p->n; k++)
        if (n == 0 || oracle_by_index(&p->at[n - 1], &p->at[k]) != 0)
            p->at[n++] = p->at[k];
    p->n = n;
}

/* xorshift64*: the same numbers on every machine. */
static inline uint64_t
oracle_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline int64_t
oracle_between(uint64_t *state, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(oracle_random(state) >> 11) % (hi - lo + 1);
}

#endif
