/* tma_box_certify.c - the certificate of boxes: every element of all of them is
 * where the tile has it, and all of the region come, each once.
 *
 * The boxes are run element by element, as an engine does; the tile is asked by
 * the iters of its indices.  Neither knows how the boxes were found. */
#include "plan/simt/copy/tma_box.h"

/* By each value of a dimension of the region, what it adds to where the tile
 * keeps the element, and to its number among all of the region. */
typedef struct place_list {
    int64_t        extent;
    const int64_t *at;
    int64_t        weight;
} place_list;

static void
list_places(axe_ctx *cx, const axe_box_copy *c, place_list out[AXE_RANK_MAX])
{
    int64_t weight = 1;

    for (int i = c->n_walk - 1; i >= 0; i--) {
        const axe_box_walk *w = &c->walk[i];
        int64_t             n = 1;
        for (int k = 0; k < w->n_iter; k++)
            n *= w->iter[k].extent;
        int64_t *at = axe_new_array(cx, int64_t, n);
        for (int64_t x = 0; x < n; x++)
            for (int64_t k = w->n_iter - 1, v = x; k >= 0; k--) {
                at[x] += v % w->iter[k].extent * w->iter[k].stride;
                v /= w->iter[k].extent;
            }
        out[w->dim] = (place_list){n, at, weight};
        weight *= n;
    }
}

static int64_t
region_size(const axe_box_copy *c)
{
    int64_t n = 1;

    for (int i = 0; i < c->n_walk; i++)
        for (int k = 0; k < c->walk[i].n_iter; k++)
            n *= c->walk[i].iter[k].extent;
    return n;
}

/* All parts, loops and boxes, fast to slow: a step moves on in dimension `dim`
 * and in the tile. */
typedef struct counter {
    int64_t extent, step, move, value;
    int     dim;
} counter;

static int
list_counters(const axe_box *b, counter *out)
{
    int64_t size = 1;
    int     n = 0;

    for (int i = 0; i < b->rank; i++) {
        out[n++] = (counter){b->extent[i], size, 1, 0, b->dim[i]};
        size *= b->extent[i];
    }
    for (int i = 0; i <= b->n_loop; i++) {
        const axe_box_loop *l = i < b->n_loop ? &b->loop[i] : &b->part;
        out[n++] = (counter){l->extent, l->step, l->move, 0, l->dim};
    }
    return n;
}

/* The next element; false behind the last. */
static bool
next_element(int n, counter *d, int64_t *x, int64_t *at)
{
    for (int i = 0; i < n; i++) {
        x[d[i].dim] += d[i].move;
        *at += d[i].step;
        if (++d[i].value < d[i].extent)
            return true;
        x[d[i].dim] -= d[i].move * d[i].extent;
        *at -= d[i].step * d[i].extent;
        d[i].value = 0;
    }
    return false;
}

/* Is the element that goes to `at` kept there by the tile, and the first one
 * with its number? */
static bool
is_kept_at(const axe_box_copy *c, const place_list *p, const int64_t *x,
           int64_t at, bool *seen)
{
    int64_t want = 0, number = 0;

    for (int i = 0; i < c->n_walk; i++) {
        const place_list *d = &p[c->walk[i].dim];
        int64_t           v = x[c->walk[i].dim];
        if (v < 0 || v >= d->extent)
            return false;
        want += d->at[v];
        number += v * d->weight;
    }
    if (at != want || seen[number])
        return false;
    seen[number] = true;
    return true;
}

int64_t
axe_box_certify(axe_ctx *cx, const axe_box_copy *c, const axe_box *b)
{
    int64_t    n = region_size(c), x[AXE_RANK_MAX] = {0}, at = 0, done = 0;
    axe_mark   m = axe_ctx_mark(cx);
    bool      *seen = axe_new_array(cx, bool, n), more = true;
    place_list place[AXE_RANK_MAX] = {{0}};
    counter    count[AXE_BOX_RANK + AXE_BOX_LOOPS + 1];
    int        n_count = list_counters(b, count);

    list_places(cx, c, place);
    while (more && done <= n && is_kept_at(c, place, x, at, seen)) {
        done++;
        more = next_element(n_count, count, x, &at);
    }
    axe_ctx_release(cx, m);
    return !more && done == n ? n : -1;
}
