/* maps.h - layouts by their definition, on three axes, for the oracles.
 *
 * A map is the list, index by index, of the sorted set of points of the index,
 * each set closed by MAP_END; a point is three coordinates in one integer.
 * Nothing here calls the algebra: only the fields of a layout are read. */
#ifndef MAPS_H
#define MAPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"

enum { MAP_MAX = 1 << 16, MAP_AXES = 3, MAP_BIAS = 1 << 19 };
#define MAP_END INT64_MAX

typedef struct map {
    int64_t size, origin; /* indices; the bias of a point at 0 */
    int     n;
    int64_t at[MAP_MAX];
} map;

/* Coordinates add as these integers do, while each stays within the bias. */
static inline int64_t
point_of(int axis, int64_t v)
{
    return v * ((int64_t)1 << (20 * axis));
}

/* The coordinate on an axis of a sum of point_of. */
static inline int64_t
coord_of(int64_t p, int axis)
{
    for (int a = 0; a < axis; a++)
        p = (p - ((p + MAP_BIAS) & ((1 << 20) - 1)) + MAP_BIAS) / (1 << 20);
    return axis == 2 ? p : ((p + MAP_BIAS) & ((1 << 20) - 1)) - MAP_BIAS;
}

static inline int
map_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Close the set that begins at `from`. */
static inline void
map_close(map *m, int from)
{
    int n = from;

    qsort(m->at + from, (size_t)(m->n - from), sizeof m->at[0], map_order);
    for (int k = from; k < m->n; k++)
        if (k == from || m->at[k] != m->at[n - 1])
            m->at[n++] = m->at[k];
    m->n = n;
    m->at[m->n++] = MAP_END;
}

static inline int64_t
map_digits(int n, const axe_iter *iter, int64_t x)
{
    int64_t p = 0;

    for (int k = n - 1; k >= 0; x /= iter[k--].extent)
        p += point_of(iter[k].axis, x % iter[k].extent * iter[k].stride);
    return p;
}

static inline void
map_of(const axe_layout *l, map *m)
{
    int64_t copies = 1, base = 0;

    for (int k = 0; k < l->n_replica; k++)
        copies *= l->replica[k].extent;
    for (int k = 0; k < l->n_offset; k++)
        base += point_of(l->offset[k].axis, l->offset[k].value);
    m->size = l->size;
    m->n = 0;
    for (int64_t x = 0; x < l->size; x++) {
        int from = m->n;
        assert_true(m->n + copies + 1 < MAP_MAX);
        for (int64_t r = 0; r < copies; r++)
            m->at[m->n++] = base + map_digits(l->n_shard, l->shard, x) +
                            map_digits(l->n_replica, l->replica, r);
        map_close(m, from);
    }
}

static inline bool
map_same(const map *a, const map *b)
{
    return a->size == b->size && a->n == b->n &&
           memcmp(a->at, b->at, (size_t)a->n * sizeof a->at[0]) == 0;
}

/* Is f[0..n), f[0] = 0, the map of a list of iters?  By trying every extent of
 * the fastest one. */
static inline bool
is_iters(int64_t n, const int64_t *f)
{
    int64_t outer[256];
    int     used = 0;

    if (n == 1)
        return true;
    assert_true(n <= 256);
    for (int a = 0; a < MAP_AXES; a++)
        used += coord_of(f[1], a) != 0;
    for (int64_t e = 2; e <= n; e++) {
        bool fits = n % e == 0 && used <= 1;
        for (int64_t x = 0; fits && x < n; x++)
            fits = f[x] == f[x / e * e] + x % e * f[1];
        for (int64_t q = 0; fits && q < n / e; q++)
            outer[q] = f[q * e];
        if (fits && is_iters(n / e, outer))
            return true;
    }
    return false;
}

/* Is f over the row-major domain of n extents the map of iters cut into those
 * dims: a sum of one function of each coordinate, each a list of iters? */
static inline bool
is_cut(int n, const int64_t *extent, const int64_t *f)
{
    int64_t size = 1, pitch = 1, sum[256], part[256];

    for (int k = 0; k < n; k++)
        size *= extent[k];
    assert_true(size <= 256);
    for (int64_t x = 0; x < size; x++)
        sum[x] = 0;
    for (int k = n - 1; k >= 0; pitch *= extent[k--]) {
        for (int64_t i = 0; i < extent[k]; i++)
            part[i] = f[i * pitch] - f[0];
        if (!is_iters(extent[k], part))
            return false;
        for (int64_t x = 0; x < size; x++)
            sum[x] += part[x / pitch % extent[k]];
    }
    for (int64_t x = 0; x < size; x++)
        if (f[x] - f[0] != sum[x])
            return false;
    return true;
}

/* ------------------------------------------------------- random layouts */

static inline uint64_t
random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline int64_t
random_in(uint64_t *state, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(random_next(state) >> 11) % (hi - lo + 1);
}

typedef struct family {
    int     max_shard, max_replica, max_offset, n_axis;
    int64_t max_extent, min_stride, max_stride;
} family;

static inline const axe_layout *
random_layout(axe_ctx *cx, uint64_t *state, family f)
{
    axe_iter          it[16];
    axe_offset        off[4];
    const axe_layout *l;
    axe_layout        spec = {.shard = it, .offset = off};

    spec.n_shard = (int)random_in(state, 0, f.max_shard);
    spec.n_replica = (int)random_in(state, 0, f.max_replica);
    spec.n_offset = (int)random_in(state, 0, f.max_offset);
    spec.replica = it + spec.n_shard;
    for (int k = 0; k < spec.n_shard + spec.n_replica; k++)
        it[k] = (axe_iter){random_in(state, 1, f.max_extent),
                           random_in(state, f.min_stride, f.max_stride),
                           (axe_axis)random_in(state, 0, f.n_axis - 1), 0};
    for (int k = 0; k < spec.n_offset; k++)
        off[k] = (axe_offset){random_in(state, -3, 3),
                              (axe_axis)random_in(state, 0, f.n_axis - 1), 0};
    if (axe_layout_make(cx, &spec, &l) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return l;
}

/* A ctx with axes m, a, b. */
static inline axe_ctx *
maps_ctx(void)
{
    axe_ctx *cx = axe_ctx_new();
    axe_axis a;

    assert_non_null(cx);
    assert_int_equal(axe_axis_declare(cx, "a", AXE_KIND_THREAD, &a), AXE_OK);
    assert_int_equal(axe_axis_declare(cx, "b", AXE_KIND_MEMORY, &a), AXE_OK);
    return cx;
}

#endif
