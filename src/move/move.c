/* move.c - the ways from one layout to another, and the cheapest.
 *
 * What a thread has itself is renamed.  What another lane of its warp has may
 * come by shuffles or by way of shared memory, what another warp has by shared
 * memory only; where there is a choice both programs are made and compared in
 * cycles.  Then the interpreter executes the program (play.c). */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "machine/thread_rows.h"
#include "move/move_int.h"
#include "move/rows.h"

typedef struct mover {
    axe_ctx           *cx;
    const axe_machine *mc;
    const axe_layout  *src, *dst;
    axe_sides          s;
    int                bits, lanes, n_warp; /* warps of a CTA */
    axe_move_kind      by;                  /* of the options */
    axe_fill          *own;                 /* [places of dst] */
    bool              *near, *far; /* [places of dst]: in the warp, beyond */
    int64_t            n_near, n_far, n_moved; /* moved: own, renamed */
    axe_warp_program  *warp;                   /* the program being made */
} mover;

static int64_t
n_places(const axe_places *p)
{
    return (int64_t)p->n_cta * p->n_thread * p->n_slot;
}

static int
n_warps(const mover *m)
{
    return m->s.dst.n_cta * m->n_warp;
}

/* ------------------------------------------------------- who has what they
 * want
 */

/* Does register r hold what the lane wants in every lane that has it at all?
 * Lanes that want nothing do not matter. */
static bool
serves_all(const mover *m, const int64_t *have, const int64_t *want, int slot,
           int r)
{
    int  n_have = m->s.src.n_slot, n_want = m->s.dst.n_slot;
    bool used = false;

    for (int l = 0; l < m->lanes; l++) {
        int64_t e = want[l * n_want + slot];
        if (e < 0)
            continue;
        if (have[l * n_have + r] != e)
            return false;
        used = true;
    }
    return used;
}

static int
own_register(const int64_t *have, int n, int64_t e)
{
    for (int r = 0; r < n; r++)
        if (have[r] == e)
            return r;
    return -1;
}

/* Slots that lanes of the warp fill themselves: from the same register, where
 * one serves all; that of the slot's own number, if it does. */
static void
find_own(mover *m, int64_t w)
{
    int            n_have = m->s.src.n_slot, n_want = m->s.dst.n_slot;
    const int64_t *have = m->s.src.element + w * m->lanes * n_have;
    const int64_t *want = m->s.dst.element + w * m->lanes * n_want;
    axe_fill      *fill = m->own + w * m->lanes * n_want;

    for (int s = 0; s < n_want; s++) {
        int all = s < n_have && serves_all(m, have, want, s, s) ? s : -1;
        for (int r = 0; r < n_have && all < 0; r++)
            if (serves_all(m, have, want, s, r))
                all = r;
        for (int l = 0; l < m->lanes; l++) {
            int64_t e = want[l * n_want + s];
            int     r = e < 0      ? -1
                        : all >= 0 ? all
                                   : own_register(have + l * n_have, n_have, e);
            if (r < 0)
                continue;
            fill[l * n_want + s] = (axe_fill){AXE_FILL_OWN, -1, (int16_t)r};
            m->n_moved += r != s;
        }
    }
}

/* A mark for every element in so many places from `first`. */
static void
mark(const mover *m, int64_t first, int64_t n, int32_t *of, int32_t number)
{
    for (int64_t k = first; k < first + n; k++)
        if (m->s.src.element[k] >= 0)
            of[m->s.src.element[k]] = number;
}

static axe_status
refuse_cta(const mover *m, int64_t e, int cta)
{
    axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "move: element %" PRId64 " is wanted in CTA %d, which does not "
             "have it",
             e, cta);
    axe_help(m->cx, "between CTAs elements go by way of global memory, or a "
                    "copy into a tile with replicas");
    return AXE_EUNSUPPORTED;
}

/* What is not own is near or far. */
static axe_status
find_distance(mover *m)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;
    int32_t          *warp = axe_new_array(m->cx, int32_t, m->s.n + 1);
    int32_t          *cta = axe_new_array(m->cx, int32_t, m->s.n + 1);
    int64_t           per = (int64_t)m->lanes * s->n_slot;

    for (int w = 0; w < n_warps(m); w++) {
        int64_t first = (int64_t)w * m->lanes * d->n_slot;
        if (w % m->n_warp == 0)
            mark(m, w * per, m->n_warp * per, cta, w / m->n_warp + 1);
        mark(m, w * per, per, warp, w + 1);
        for (int64_t k = first; k < first + m->lanes * d->n_slot; k++) {
            int64_t e = d->element[k];
            if (e < 0 || m->own[k].kind == AXE_FILL_OWN)
                continue;
            if (cta[e] != w / m->n_warp + 1)
                return refuse_cta(m, e, w / m->n_warp);
            m->near[k] = warp[e] == w + 1;
            m->far[k] = !m->near[k];
            m->n_near += m->near[k];
            m->n_far += m->far[k];
        }
    }
    return AXE_OK;
}

/* ------------------------------------------------------------------ shuffles
 */

/* Rounds for all that is near; false: the machine has none. */
static bool
add_shuffles(mover *m, axe_move_program *out)
{
    for (int w = 0; w < n_warps(m); w++) {
        int64_t         s = (int64_t)w * m->lanes * m->s.src.n_slot;
        int64_t         d = (int64_t)w * m->lanes * m->s.dst.n_slot;
        axe_shuffling  *sh = &m->warp[w].shuffle;
        axe_warp_tables t = {m->lanes,
                             m->s.src.n_slot,
                             m->s.dst.n_slot,
                             m->s.src.element + s,
                             m->s.dst.element + d,
                             m->near + d};
        double          cost;
        int64_t         n;

        if (!axe_words_find(m->cx, &t, m->bits, sh, m->warp[w].fill))
            return false;
        cost = axe_words_cost(m->cx, m->mc, sh, m->bits);
        if (cost < 0)
            return false;
        n = (int64_t)sh->rounds.n * sh->parts;
        out->n_shuffle += n;
        out->most_shuffle = n > out->most_shuffle ? n : out->most_shuffle;
        out->cost += cost;
    }
    return true;
}

/* ------------------------------------------------------------- shared memory
 */

/* Slots whose lanes all want what those of an earlier slot want are filled from
 * what that one got. */
static void
merge_loads(mover *m, int64_t w, bool *load, int16_t *from)
{
    int            n = m->s.dst.n_slot;
    const int64_t *want = m->s.dst.element + w * m->lanes * n;
    bool          *need = load + w * m->lanes * n;

    for (int s = 0; s < n; s++) {
        int like = 0, l = 0;
        for (; like < s; like++) {
            for (l = 0; l < m->lanes; l++)
                if (need[l * n + s] &&
                    (want[l * n + s] != want[l * n + like] ||
                     from[like] != like || !need[l * n + like]))
                    break;
            if (l == m->lanes)
                break;
        }
        from[s] = (int16_t)like;
        for (l = 0; like < s && l < m->lanes; l++)
            need[l * n + s] = false;
    }
}

/* The lowest thread of each CTA that has a wanted element stores it. */
static void
choose_stores(const mover *m, const bool *load, bool *store)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;
    int32_t          *cta = axe_new_array(m->cx, int32_t, m->s.n + 1);
    int64_t per_s = n_places(s) / s->n_cta, per_d = n_places(d) / d->n_cta;

    for (int c = 0; c < d->n_cta; c++) {
        for (int64_t k = c * per_d; k < (c + 1) * per_d; k++)
            if (load[k])
                cta[d->element[k]] = c + 1;
        for (int64_t k = c * per_s; k < (c + 1) * per_s; k++)
            if (s->element[k] >= 0 && cta[s->element[k]] == c + 1) {
                store[k] = true;
                cta[s->element[k]] = 0;
            }
    }
}

static void
fill_loads(mover *m, const bool *wanted, const int16_t *from)
{
    int n = m->s.dst.n_slot;

    for (int w = 0; w < n_warps(m); w++)
        for (int k = 0; k < m->lanes * n; k++)
            if (wanted[(int64_t)w * m->lanes * n + k])
                m->warp[w].fill[k] =
                    (axe_fill){AXE_FILL_LOAD, -1, from[(int64_t)w * n + k % n]};
}

/* Stores, a barrier, and loads of what is wanted. */
static axe_status
add_trip(mover *m, const bool *wanted, axe_move_program *out)
{
    int64_t  n = n_places(&m->s.dst), *at;
    bool    *load = axe_new_array(m->cx, bool, n + 1);
    bool    *store = axe_new_array(m->cx, bool, n_places(&m->s.src) + 1);
    int16_t *from =
        axe_new_array(m->cx, int16_t, n_warps(m) * m->s.dst.n_slot + 1);
    axe_trip t = {m->mc, m->bits, m->lanes, &m->s, store, load, m->src, m->dst};
    axe_trip_count c = {0};

    memcpy(load, wanted, (size_t)n * sizeof *load);
    for (int w = 0; w < n_warps(m); w++)
        merge_loads(m, w, load, from + (int64_t)w * m->s.dst.n_slot);
    choose_stores(m, load, store);
    out->shared = axe_trip_search(m->cx, &t);
    if (!out->shared)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "move: %" PRId64 " elements of %d bits have no room in "
                        "shared memory: %s has %" PRId64 " bytes",
                        m->s.n, m->bits, m->mc->name,
                        axe_machine_room(m->mc, AXE_SPACE_SHARED));
    at = axe_new_array(m->cx, int64_t, m->s.n + 1);
    out->shared_bytes = axe_trip_places(m->cx, out->shared, at);
    axe_trip_of(m->cx, &t, out->shared_bytes, at, m->warp, &c);
    out->shared_bytes = out->shared_bytes * m->bits / 8;
    fill_loads(m, wanted, from);
    out->store = c.store;
    out->load = c.load;
    out->n_barrier = 1;
    out->warp_barrier = m->n_far == 0;
    const axe_atom *row =
        axe_simt_find_sync(m->mc, AXE_SYNC_BARRIER,
                           out->warp_barrier ? AXE_SCOPE_WARP : AXE_SCOPE_CTA,
                           "", AXE_ARG_NONE, AXE_ARG_NONE);
    out->cost += c.cost + (row ? row->cost * n_warps(m) : 0);
    return AXE_OK;
}

/* ---------------------------------------------------------------- the choice
 */

static void
begin(mover *m, axe_move_program *out, axe_move_kind kind)
{
    int64_t per = (int64_t)m->lanes * m->s.dst.n_slot;

    m->warp = axe_new_array(m->cx, axe_warp_program, n_warps(m) + 1);
    for (int w = 0; w < n_warps(m) && m->own; w++) {
        m->warp[w].fill = axe_new_array(m->cx, axe_fill, per + 1);
        memcpy(m->warp[w].fill, m->own + w * per, (size_t)per * sizeof *m->own);
    }
    *out = (axe_move_program){.kind = kind,
                              .machine = m->mc->name,
                              .bits = m->bits,
                              .lanes = m->lanes,
                              .n_warp = m->n_warp,
                              .n_cta = m->s.dst.n_cta,
                              .n_element = m->s.n};
}

static void
finish(mover *m, int64_t n_shared, axe_move_program *out)
{
    struct axe_move_code *p = axe_new(m->cx, struct axe_move_code);

    for (int w = 0; w < n_warps(m); w++)
        axe_words_count(m->lanes, m->s.dst.n_slot, &m->warp[w], &out->n_select,
                        &out->n_permute);
    out->cost += AXE_SELECT_CYCLES * (double)(out->n_select + out->n_permute);
    *p = (struct axe_move_code){m->mc,     m->s,     m->lanes,
                                m->n_warp, n_shared, m->warp};
    out->code = p;
}

/* By shuffles where lanes can, else and beyond by shared memory. */
static axe_status
by_shuffles(mover *m, axe_move_program *out, bool *found)
{
    begin(m, out, m->n_far > 0 ? AXE_MOVE_MIXED : AXE_MOVE_SHUFFLE);
    *found = add_shuffles(m, out);
    if (*found && m->n_far > 0)
        AXE_TRY(add_trip(m, m->far, out));
    if (*found)
        finish(m, out->shared_bytes * 8 / m->bits, out);
    return AXE_OK;
}

/* Slots that some lanes must load are loaded by all that want them, so that
 * none is chosen by lane. */
static void
widen(const mover *m, bool *wanted)
{
    int n = m->s.dst.n_slot;

    for (int64_t k = 0; k < n_warps(m) * (int64_t)n; k++) {
        int64_t first = k / n * m->lanes * n + k % n;
        bool    any = false;
        for (int l = 0; l < m->lanes; l++)
            any = any || wanted[first + l * n];
        for (int l = 0; any && l < m->lanes; l++)
            wanted[first + l * n] = m->s.dst.element[first + l * n] >= 0;
    }
}

static axe_status
by_shared(mover *m, bool wide, axe_move_program *out)
{
    int64_t n = n_places(&m->s.dst);
    bool   *all = axe_new_array(m->cx, bool, n + 1);

    for (int64_t k = 0; k < n; k++)
        all[k] = m->near[k] || m->far[k];
    if (wide)
        widen(m, all);
    begin(m, out, AXE_MOVE_SHARED);
    AXE_TRY(add_trip(m, all, out));
    finish(m, out->shared_bytes * 8 / m->bits, out);
    return AXE_OK;
}

static axe_status
refuse_shuffles(const mover *m)
{
    if (m->n_far > 0)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "move: %" PRId64 " places want elements of other "
                        "warps, which no shuffle brings",
                        m->n_far);
    return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "move: %s has no shuffles", m->mc->name);
}

static axe_status
between_registers(mover *m, axe_move_program *out)
{
    int64_t          n = n_places(&m->s.dst);
    axe_move_program other = {0};
    bool             found = false;

    m->own = axe_new_array(m->cx, axe_fill, n + 1);
    m->near = axe_new_array(m->cx, bool, n + 1);
    m->far = axe_new_array(m->cx, bool, n + 1);
    for (int w = 0; w < n_warps(m); w++)
        find_own(m, w);
    AXE_TRY(find_distance(m));
    if (m->n_near + m->n_far == 0) {
        begin(m, out, m->n_moved > 0 ? AXE_MOVE_RENAME : AXE_MOVE_NOTHING);
        finish(m, 0, out);
        return AXE_OK;
    }
    if (m->n_near > 0 && m->by != AXE_MOVE_SHARED)
        AXE_TRY(by_shuffles(m, &other, &found));
    if (m->by == AXE_MOVE_SHUFFLE) {
        if (!found || m->n_far > 0)
            return refuse_shuffles(m);
        *out = other;
        return AXE_OK;
    }
    for (int wide = 0; wide < 2; wide++) {
        axe_mark   before = axe_ctx_mark(m->cx);
        axe_status st = by_shared(m, wide, out);
        if (st != AXE_OK && !found)
            return st;
        if (st != AXE_OK)
            axe_ctx_release(m->cx, before);
        if (st == AXE_OK && (!found || out->cost < other.cost))
            other = *out;
        found = true;
        if (other.n_select == 0 && wide == 0 && other.kind == AXE_MOVE_SHARED)
            break;
    }
    *out = other;
    return AXE_OK;
}

/* ---------------------------------------------------------- memory, one side
 */

/* Where each element is in the memory of one CTA; refused if it lacks what that
 * CTA wants, which is marked. */
static axe_status
places_in_cta(const mover *m, int cta, int64_t *at, bool *load)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;
    int64_t           per = n_places(d) / d->n_cta;

    for (int64_t x = 0; x < m->s.n; x++)
        at[x] = -1;
    for (int64_t k = s->n_slot - 1; k >= 0; k--)
        if (s->element[cta * (int64_t)s->n_slot + k] >= 0)
            at[s->element[cta * (int64_t)s->n_slot + k]] = k;
    for (int64_t k = cta * per; k < (cta + 1) * per; k++) {
        load[k] = d->element[k] >= 0;
        if (load[k] && at[d->element[k]] < 0)
            return refuse_cta(m, d->element[k], cta);
    }
    return AXE_OK;
}

static axe_status
from_memory(mover *m, axe_move_program *out)
{
    int64_t  n = n_places(&m->s.dst), per = n / m->s.dst.n_cta;
    int64_t *at = axe_new_array(m->cx, int64_t, m->s.n + 1);
    bool    *all = axe_new_array(m->cx, bool, n + 1);
    bool    *load = axe_new_array(m->cx, bool, n + 1);
    int16_t *from =
        axe_new_array(m->cx, int16_t, n_warps(m) * m->s.dst.n_slot + 1);
    axe_trip t = {m->mc, m->bits, m->lanes, &m->s, NULL, load, m->src, m->dst};
    axe_trip_count c = {0};

    m->own = axe_new_array(m->cx, axe_fill, n + 1);
    begin(m, out, AXE_MOVE_LOAD);
    for (int cta = 0; cta < m->s.dst.n_cta; cta++) {
        memset(load, 0, (size_t)n * sizeof *load);
        AXE_TRY(places_in_cta(m, cta, at, load));
        memcpy(all + cta * per, load + cta * per, (size_t)per * sizeof *load);
        for (int w = cta * m->n_warp; w < (cta + 1) * m->n_warp; w++)
            merge_loads(m, w, load, from + (int64_t)w * m->s.dst.n_slot);
        axe_trip_of(m->cx, &t, m->s.src.n_slot, at, m->warp, &c);
    }
    fill_loads(m, all, from);
    out->load = c.load;
    out->cost = c.cost;
    finish(m, m->s.src.n_slot, out);
    return AXE_OK;
}

/* Places of the destination that are still to be stored: one of each element,
 * into at[]; returns how many. */
static int64_t
next_places(const mover *m, int cta, bool *done, int64_t *at)
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

static axe_status
to_memory(mover *m, axe_move_program *out)
{
    int64_t *at = axe_new_array(m->cx, int64_t, m->s.n + 1);
    int64_t *found = axe_new_array(m->cx, int64_t, m->s.n + 1);
    bool    *done = axe_new_array(m->cx, bool, n_places(&m->s.dst) + 1);
    int64_t  n = n_places(&m->s.src), per = n / m->s.src.n_cta;
    bool    *store = axe_new_array(m->cx, bool, n + 1);
    axe_trip t = {m->mc, m->bits, m->lanes, &m->s, store, NULL, m->src, m->dst};
    axe_trip_count c = {0};

    begin(m, out, AXE_MOVE_STORE);
    for (int cta = 0; cta < m->s.dst.n_cta; cta++)
        while (next_places(m, cta, done, at) > 0) {
            memcpy(found, at, (size_t)m->s.n * sizeof *at);
            memset(store, 0, (size_t)n * sizeof *store);
            for (int64_t k = cta * per; k < (cta + 1) * per; k++) {
                int64_t e = m->s.src.element[k];
                store[k] = e >= 0 && found[e] >= 0;
                if (e >= 0)
                    found[e] = -1;
            }
            for (int64_t x = 0; x < m->s.n; x++)
                if (found[x] >= 0)
                    return refuse_cta(m, x, cta);
            axe_trip_of(m->cx, &t, m->s.dst.n_slot, at, m->warp, &c);
        }
    out->store = c.store;
    out->cost = c.cost;
    finish(m, m->s.dst.n_slot, out);
    return AXE_OK;
}

static axe_status
in_memory(mover *m, axe_move_program *out)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;

    for (int64_t k = 0; k < n_places(d); k++) {
        int64_t at = k % d->n_slot + k / d->n_slot * s->n_slot;
        if (d->element[k] < 0 ||
            (k % d->n_slot < s->n_slot && s->element[at] == d->element[k]))
            continue;
        axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "move: SRC and DST are both memory, and element %" PRId64
                 " changes its place: which threads move it is not said",
                 d->element[k]);
        axe_help(m->cx, "move to registers of threads, and from there");
        return AXE_EUNSUPPORTED;
    }
    begin(m, out, AXE_MOVE_NOTHING);
    finish(m, s->n_slot > d->n_slot ? s->n_slot : d->n_slot, out);
    return AXE_OK;
}

/* ------------------------------------------------------------------ the call
 */

static axe_status
check_options(axe_ctx *cx, const axe_move_options *opt, mover *m)
{
    const char *name = opt && opt->machine ? opt->machine : "sm_90a";

    m->bits = opt && opt->bits != 0 ? opt->bits : 32;
    if (m->bits != 8 && m->bits != 16 && m->bits != 32 && m->bits != 64 &&
        m->bits != 128)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "move: elements of %d bits; 8, 16, 32, 64 and 128 are "
                        "moved",
                        m->bits);
    m->by = opt ? opt->by : AXE_MOVE_NOTHING;
    if (m->by != AXE_MOVE_NOTHING && m->by != AXE_MOVE_SHUFFLE &&
        m->by != AXE_MOVE_SHARED)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "move: by must be SHUFFLE, SHARED, or NOTHING for the "
                        "cheapest");
    AXE_TRY(axe_machine_find(cx, name, &m->mc));
    if (!m->mc->simt)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "move: %s has no threads that run together",
                        m->mc->name);
    m->lanes = m->mc->simt->lanes;
    return axe_axes_use(cx, axe_machine_own_axes(m->mc));
}

axe_status
axe_move_plan(axe_ctx *cx, const axe_layout *src, const axe_layout *dst,
              const axe_move_options *opt, const axe_move_program **out)
{
    AXE_NEED(cx, src);
    AXE_NEED(cx, dst);
    AXE_NEED(cx, out);
    mover             m = {.cx = cx, .src = src, .dst = dst};
    axe_move_program *r = axe_new(cx, axe_move_program);
    bool              same;

    AXE_TRY(check_options(cx, opt, &m));
    AXE_TRY(axe_sides_make(cx, m.mc, m.bits, src, dst, &m.s));
    m.n_warp = (m.s.dst.memory ? m.s.src.memory ? m.lanes : m.s.src.n_thread
                               : m.s.dst.n_thread) /
               m.lanes;
    if (m.s.src.memory && m.s.dst.memory)
        AXE_TRY(in_memory(&m, r));
    else if (m.s.src.memory)
        AXE_TRY(from_memory(&m, r));
    else if (m.s.dst.memory)
        AXE_TRY(to_memory(&m, r));
    else
        AXE_TRY(between_registers(&m, r));
    same = axe_move_play(cx, r, &r->n_proved);
    assert(same);
    (void)same;
    *out = r;
    return AXE_OK;
}
