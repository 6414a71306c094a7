/* memory.c - moves of which one side is memory, of each CTA or one for all:
 * loads, or stores. */
#include <inttypes.h>
#include <string.h>

#include "move/mover.h"

/* Where each element is in the memory of one CTA; refused if it lacks what that
 * CTA wants, which is marked. */
static axe_status
places_in_cta(const axe_mover *m, int cta, int64_t *at, bool *load)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;
    int64_t           per = axe_mover_places(d) / d->n_cta;
    const int64_t    *row = axe_places_row(s, m->s.global ? 0 : cta, 0);

    for (int64_t x = 0; x < m->s.n; x++)
        at[x] = -1;
    for (int64_t k = s->n_slot - 1; k >= 0; k--)
        if (row[k] >= 0)
            at[row[k]] = k;
    for (int64_t k = cta * per; k < (cta + 1) * per; k++) {
        load[k] = d->element[k] >= 0;
        if (load[k] && at[d->element[k]] < 0)
            return axe_mover_refuse(m, d->element[k], cta);
    }
    return AXE_OK;
}

axe_status
axe_mover_from_memory(axe_mover *m, axe_move_program *out)
{
    int64_t  n = axe_mover_places(&m->s.dst), per = n / m->s.dst.n_cta;
    int64_t *at = axe_new_array(m->cx, int64_t, m->s.n + 1);
    bool    *all = axe_new_array(m->cx, bool, n + 1);
    bool    *load = axe_new_array(m->cx, bool, n + 1);
    int16_t *from =
        axe_new_array(m->cx, int16_t, axe_mover_warps(m) * m->s.dst.n_slot + 1);
    axe_trip t = {m->mc, m->bits, m->lanes, &m->s, NULL, load, m->src, m->dst};
    axe_trip_count c = {0};

    m->own = axe_new_array(m->cx, axe_fill, n + 1);
    axe_mover_begin(m, out, AXE_MOVE_LOAD);
    for (int cta = 0; cta < m->s.dst.n_cta; cta++) {
        memset(load, 0, (size_t)n * sizeof *load);
        AXE_TRY(places_in_cta(m, cta, at, load));
        memcpy(all + cta * per, load + cta * per, (size_t)per * sizeof *load);
        for (int w = cta * m->n_warp; w < (cta + 1) * m->n_warp; w++)
            axe_mover_merge_loads(m, w, load,
                                  from + (int64_t)w * m->s.dst.n_slot);
        axe_trip_of(m->cx, &t, m->s.src.n_slot, at, m->warp, &c);
    }
    axe_mover_fill_loads(m, all, from);
    out->load = c.load;
    out->cost = c.cost;
    axe_mover_finish(m, m->s.src.n_slot, out);
    return AXE_OK;
}

/* Of each element in at[] the first place of the source, of one CTA or of all,
 * stores it; refused if one has none. */
static axe_status
stores_of(const axe_mover *m, int cta, const int64_t *at, int64_t *found,
          bool *store)
{
    int64_t n = axe_mover_places(&m->s.src), per = n / m->s.src.n_cta;
    int64_t from = m->s.global ? 0 : cta * per;
    int64_t to = m->s.global ? n : from + per;

    memcpy(found, at, (size_t)m->s.n * sizeof *at);
    memset(store, 0, (size_t)n * sizeof *store);
    for (int64_t k = from; k < to; k++) {
        int64_t e = m->s.src.element[k];
        store[k] = e >= 0 && found[e] >= 0;
        if (e >= 0)
            found[e] = -1;
    }
    for (int64_t x = 0; x < m->s.n; x++)
        if (found[x] >= 0)
            return axe_mover_refuse(m, x, cta);
    return AXE_OK;
}

/* Places of the destination that are still to be stored: one of each element,
 * into at[]; returns how many. */
static int64_t
next_places(const axe_mover *m, int cta, bool *done, int64_t *at)
{
    const axe_places *d = &m->s.dst;
    int64_t           n = 0;

    for (int64_t x = 0; x < m->s.n; x++)
        at[x] = -1;
    for (int64_t k = 0; k < d->n_slot; k++) {
        int64_t i = (int64_t)cta * d->n_slot + k, e = d->element[i];
        if (e < 0 || done[i] || at[e] >= 0)
            continue;
        at[e] = k;
        done[i] = true;
        n++;
    }
    return n;
}

axe_status
axe_mover_to_memory(axe_mover *m, axe_move_program *out)
{
    int64_t *at = axe_new_array(m->cx, int64_t, m->s.n + 1);
    int64_t *found = axe_new_array(m->cx, int64_t, m->s.n + 1);
    bool    *done = axe_new_array(m->cx, bool, axe_mover_places(&m->s.dst) + 1);
    int64_t  n = axe_mover_places(&m->s.src);
    bool    *store = axe_new_array(m->cx, bool, n + 1);
    axe_trip t = {m->mc, m->bits, m->lanes, &m->s, store, NULL, m->src, m->dst};
    axe_trip_count c = {0};

    axe_mover_begin(m, out, AXE_MOVE_STORE);
    for (int cta = 0; cta < m->s.dst.n_cta; cta++)
        while (next_places(m, cta, done, at) > 0) {
            AXE_TRY(stores_of(m, cta, at, found, store));
            axe_trip_of(m->cx, &t, m->s.dst.n_slot, at, m->warp, &c);
        }
    out->store = c.store;
    out->cost = c.cost;
    axe_mover_finish(m, m->s.dst.n_slot, out);
    return AXE_OK;
}

axe_status
axe_mover_in_memory(axe_mover *m, axe_move_program *out)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;

    for (int64_t k = 0; k < axe_mover_places(d); k++) {
        int64_t at = k % d->n_slot + k / d->n_slot * s->n_slot;
        if (d->element[k] < 0 ||
            (k % d->n_slot < s->n_slot && s->element[at] == d->element[k]))
            continue;
        axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "move: SRC and DST are both memory, and element %" PRId64
                 " changes its place: which threads move it is not said",
                 d->element[k]);
        axe_help(m->cx, "choose a layout R over threads and registers: move "
                        "SRC to R, and R to DST");
        return AXE_EUNSUPPORTED;
    }
    axe_mover_begin(m, out, AXE_MOVE_NOTHING);
    axe_mover_finish(m, s->n_slot > d->n_slot ? s->n_slot : d->n_slot, out);
    return AXE_OK;
}
