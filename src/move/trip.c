/* trip.c - what all warps store to memory and load from it, by one layout. */
#include <string.h>

#include "move/move_int.h"

typedef struct trip {
    axe_ctx        *cx;
    const axe_trip *t;
    int64_t         n_place;
    const int64_t  *at;
    int64_t        *place; /* [lanes * slots] of one warp */
} trip;

static void
append(axe_ctx *cx, axe_accesses *to, const axe_accesses *from)
{
    axe_access *all = axe_new_array(cx, axe_access, to->n + from->n + 1);

    if (to->n > 0)
        memcpy(all, to->access, (size_t)to->n * sizeof *all);
    if (from->n > 0)
        memcpy(all + to->n, from->access, (size_t)from->n * sizeof *all);
    to->access = all;
    to->n = to->cap = to->n + from->n;
}

/* One side of one warp, the w-th of all. */
static void
one_warp(trip *x, bool store, int64_t w, axe_accesses *into,
         axe_trip_count *out)
{
    const axe_trip   *t = x->t;
    const axe_places *p = store ? &t->sides->src : &t->sides->dst;
    int64_t           n = (int64_t)t->lanes * p->n_slot, first = w * n;
    const bool       *need = (store ? t->store : t->load) + first;
    int64_t           size = t->bits / 8, most = t->mc->simt->max_vector / size;
    axe_accesses      list;
    bool              idle = true;

    for (int64_t k = 0; k < n; k++) {
        int64_t e = p->element[first + k];
        x->place[k] = e < 0 ? -1 : x->at[e];
        idle = idle && !need[k];
    }
    if (idle)
        return;
    axe_vectors_find(x->cx, t->lanes, p->n_slot, x->place, need,
                     most > 1 ? (int)most : 1, x->n_place, &list);
    axe_vectors_count(
        x->cx, t->mc, t->bits,
        t->sides->global ? AXE_MOVE_IN_GLOBAL : AXE_MOVE_IN_SHARED, store,
        &list, store ? &out->store : &out->load, &out->cost);
    if (into)
        append(x->cx, into, &list);
}

void
axe_trip_of(axe_ctx *cx, const axe_trip *t, int64_t n_place, const int64_t *at,
            axe_warp_program *warp, axe_trip_count *out)
{
    trip x = {.cx = cx, .t = t, .n_place = n_place, .at = at};

    x.place = axe_new_array(cx, int64_t, t->lanes * AXE_MOVE_SLOTS);
    for (int side = 0; side < 2; side++) {
        const axe_places *p = side == 0 ? &t->sides->src : &t->sides->dst;
        bool              store = side == 0;
        if (p->memory || !(store ? t->store : t->load))
            continue;
        for (int64_t w = 0; w < (int64_t)p->n_cta * p->n_thread / t->lanes; w++)
            one_warp(&x, store, w,
                     warp ? (store ? &warp[w].store : &warp[w].load) : NULL,
                     out);
    }
}
