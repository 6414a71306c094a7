/* tma_box_certify.c - the certificate of TMA boxes: each element of the region
 * is copied exactly once, to the place where the tile keeps it.
 *
 * The elements of the boxes are enumerated in the order in which the engine
 * takes them, and compared with the places that the iters of the tile's indices
 * give.  No code is shared with the search that found the boxes. */
#include "plan/simt/copy/tma_box.h"

/* A dimension of the region: index v of it adds at[v] to the place where the
 * tile keeps an element, and v * weight to the element's number in the region.
 */
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

/* One loop of the enumeration: in a box, around boxes, or over parts; the
 * fastest comes first.  An iteration adds `move` to the coordinate in dimension
 * `dim`, and `step` to the place in the tile. */
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

/* Goes on to the next element; false if there is none. */
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

/* Does the tile keep element x at `at`, and has x not been copied before? */
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
