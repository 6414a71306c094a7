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
#include "move/mover.h"
#include "move/rows.h"

/* ------------------------------------------------------- who has what they
 * want
 */

/* Does register r hold what the lane wants in every lane that has it at all?
 * Lanes that want nothing do not matter. */
static bool
serves_all(const axe_mover *m, const int64_t *have, const int64_t *want,
           int slot, int r)
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
find_own(axe_mover *m, int64_t w)
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
mark(const axe_mover *m, int64_t first, int64_t n, int32_t *of, int32_t number)
{
    for (int64_t k = first; k < first + n; k++)
        if (m->s.src.element[k] >= 0)
            of[m->s.src.element[k]] = number;
}

axe_status
axe_mover_refuse(const axe_mover *m, int64_t e, int cta)
{
    axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "move: element %" PRId64 " is wanted in CTA %d, which does not "
             "have it",
             e, cta);
    axe_help(m->cx, "between CTAs elements go by way of global memory: move "
                    "SRC to a layout over m with memory global, wait for all "
                    "CTAs, move that to DST");
    return AXE_EUNSUPPORTED;
}

/* What is not own is near or far. */
static axe_status
find_distance(axe_mover *m)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;
    int32_t          *warp = axe_new_array(m->cx, int32_t, m->s.n + 1);
    int32_t          *cta = axe_new_array(m->cx, int32_t, m->s.n + 1);
    int64_t           per = (int64_t)m->lanes * s->n_slot;

    for (int w = 0; w < axe_mover_warps(m); w++) {
        int64_t first = (int64_t)w * m->lanes * d->n_slot;
        if (w % m->n_warp == 0)
            mark(m, w * per, m->n_warp * per, cta, w / m->n_warp + 1);
        mark(m, w * per, per, warp, w + 1);
        for (int64_t k = first; k < first + m->lanes * d->n_slot; k++) {
            int64_t e = d->element[k];
            if (e < 0 || m->own[k].kind == AXE_FILL_OWN)
                continue;
            if (cta[e] != w / m->n_warp + 1)
                return axe_mover_refuse(m, e, w / m->n_warp);
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
add_shuffles(axe_mover *m, axe_move_program *out)
{
    for (int w = 0; w < axe_mover_warps(m); w++) {
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
void
axe_mover_merge_loads(axe_mover *m, int64_t w, bool *load, int16_t *from)
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
choose_stores(const axe_mover *m, const bool *load, bool *store)
{
    const axe_places *s = &m->s.src, *d = &m->s.dst;
    int32_t          *cta = axe_new_array(m->cx, int32_t, m->s.n + 1);
    int64_t           per_s = axe_mover_places(s) / s->n_cta,
            per_d = axe_mover_places(d) / d->n_cta;

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

void
axe_mover_fill_loads(axe_mover *m, const bool *wanted, const int16_t *from)
{
    int n = m->s.dst.n_slot;

    for (int w = 0; w < axe_mover_warps(m); w++)
        for (int k = 0; k < m->lanes * n; k++)
            if (wanted[(int64_t)w * m->lanes * n + k])
                m->warp[w].fill[k] =
                    (axe_fill){AXE_FILL_LOAD, -1, from[(int64_t)w * n + k % n]};
}

/* Stores, a barrier, and loads of what is wanted. */
static axe_status
add_trip(axe_mover *m, const bool *wanted, axe_move_program *out)
{
    int64_t n = axe_mover_places(&m->s.dst), *at;
    bool   *load = axe_new_array(m->cx, bool, n + 1);
    bool   *store = axe_new_array(m->cx, bool, axe_mover_places(&m->s.src) + 1);
    int16_t *from =
        axe_new_array(m->cx, int16_t, axe_mover_warps(m) * m->s.dst.n_slot + 1);
    axe_trip t = {m->mc, m->bits, m->lanes, &m->s, store, load, m->src, m->dst};
    axe_trip_count c = {0};

    memcpy(load, wanted, (size_t)n * sizeof *load);
    for (int w = 0; w < axe_mover_warps(m); w++)
        axe_mover_merge_loads(m, w, load, from + (int64_t)w * m->s.dst.n_slot);
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
    axe_mover_fill_loads(m, wanted, from);
    out->store = c.store;
    out->load = c.load;
    out->n_barrier = 1;
    out->warp_barrier = m->n_far == 0;
    const axe_atom *row =
        axe_simt_find_sync(m->mc, AXE_SYNC_BARRIER,
                           out->warp_barrier ? AXE_SCOPE_WARP : AXE_SCOPE_CTA,
                           "", AXE_ARG_NONE, AXE_ARG_NONE);
    out->cost += c.cost + (row ? row->cost * axe_mover_warps(m) : 0);
    return AXE_OK;
}

/* ---------------------------------------------------------------- the choice
 */

void
axe_mover_begin(axe_mover *m, axe_move_program *out, axe_move_kind kind)
{
    int64_t per = (int64_t)m->lanes * m->s.dst.n_slot;

    m->warp = axe_new_array(m->cx, axe_warp_program, axe_mover_warps(m) + 1);
    for (int w = 0; w < axe_mover_warps(m) && m->own; w++) {
        m->warp[w].fill = axe_new_array(m->cx, axe_fill, per + 1);
        memcpy(m->warp[w].fill, m->own + w * per, (size_t)per * sizeof *m->own);
    }
    *out = (axe_move_program){.kind = kind,
                              .machine = m->mc->name,
                              .bits = m->bits,
                              .lanes = m->lanes,
                              .n_warp = m->n_warp,
                              .n_cta = m->s.dst.n_cta,
                              .n_element = m->s.n,
                              .memory = m->s.global ? AXE_MOVE_IN_GLOBAL
                                                    : AXE_MOVE_IN_SHARED};
}

void
axe_mover_finish(axe_mover *m, int64_t n_shared, axe_move_program *out)
{
    struct axe_move_code *p = axe_new(m->cx, struct axe_move_code);

    for (int w = 0; w < axe_mover_warps(m); w++)
        axe_words_count(m->lanes, m->s.dst.n_slot, &m->warp[w], &out->n_select,
                        &out->n_permute);
    out->cost += AXE_SELECT_CYCLES * (double)(out->n_select + out->n_permute);
    *p = (struct axe_move_code){m->mc,     m->s,     m->lanes,
                                m->n_warp, n_shared, m->warp};
    out->code = p;
}

/* By shuffles where lanes can, else and beyond by shared memory. */
static axe_status
by_shuffles(axe_mover *m, axe_move_program *out, bool *found)
{
    axe_mover_begin(m, out, m->n_far > 0 ? AXE_MOVE_MIXED : AXE_MOVE_SHUFFLE);
    *found = add_shuffles(m, out);
    if (*found && m->n_far > 0)
        AXE_TRY(add_trip(m, m->far, out));
    if (*found)
        axe_mover_finish(m, out->shared_bytes * 8 / m->bits, out);
    return AXE_OK;
}

/* Slots that some lanes must load are loaded by all that want them, so that
 * none is chosen by lane. */
static void
widen(const axe_mover *m, bool *wanted)
{
    int n = m->s.dst.n_slot;

    for (int64_t k = 0; k < axe_mover_warps(m) * (int64_t)n; k++) {
        int64_t first = k / n * m->lanes * n + k % n;
        bool    any = false;
        for (int l = 0; l < m->lanes; l++)
            any = any || wanted[first + l * n];
        for (int l = 0; any && l < m->lanes; l++)
            wanted[first + l * n] = m->s.dst.element[first + l * n] >= 0;
    }
}

static axe_status
by_shared(axe_mover *m, bool wide, axe_move_program *out)
{
    int64_t n = axe_mover_places(&m->s.dst);
    bool   *all = axe_new_array(m->cx, bool, n + 1);

    for (int64_t k = 0; k < n; k++)
        all[k] = m->near[k] || m->far[k];
    if (wide)
        widen(m, all);
    axe_mover_begin(m, out, AXE_MOVE_SHARED);
    AXE_TRY(add_trip(m, all, out));
    axe_mover_finish(m, out->shared_bytes * 8 / m->bits, out);
    return AXE_OK;
}

static axe_status
refuse_shuffles(const axe_mover *m)
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
between_registers(axe_mover *m, axe_move_program *out)
{
    int64_t          n = axe_mover_places(&m->s.dst);
    axe_move_program other = {0};
    bool             found = false;

    m->own = axe_new_array(m->cx, axe_fill, n + 1);
    m->near = axe_new_array(m->cx, bool, n + 1);
    m->far = axe_new_array(m->cx, bool, n + 1);
    for (int w = 0; w < axe_mover_warps(m); w++)
        find_own(m, w);
    AXE_TRY(find_distance(m));
    if (m->n_near + m->n_far == 0) {
        axe_mover_begin(m, out,
                        m->n_moved > 0 ? AXE_MOVE_RENAME : AXE_MOVE_NOTHING);
        axe_mover_finish(m, 0, out);
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

/* ------------------------------------------------------------------ the call
 */

static axe_status
check_options(axe_ctx *cx, const axe_move_options *opt, axe_mover *m)
{
    const char *name = opt && opt->machine ? opt->machine : "sm_90a";

    m->bits = opt && opt->bits != 0 ? opt->bits : 32;
    if (m->bits != 4 && m->bits != 8 && m->bits != 16 && m->bits != 32 &&
        m->bits != 64 && m->bits != 128)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "move: elements of %d bits; 4, 8, 16, 32, 64 and 128 "
                        "are moved",
                        m->bits);
    m->by = opt ? opt->by : AXE_MOVE_NOTHING;
    if (m->by != AXE_MOVE_NOTHING && m->by != AXE_MOVE_SHUFFLE &&
        m->by != AXE_MOVE_SHARED)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "move: by must be SHUFFLE, SHARED, or NOTHING for the "
                        "cheapest");
    if (opt && opt->memory != AXE_MOVE_IN_SHARED &&
        opt->memory != AXE_MOVE_IN_GLOBAL)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "move: memory must be IN_SHARED or IN_GLOBAL");
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
    axe_mover         m = {.cx = cx};
    axe_move_program *r = axe_new(cx, axe_move_program);
    bool              same, pairs;

    AXE_TRY(check_options(cx, opt, &m));
    pairs = m.bits == 4;
    if (pairs && src->size == dst->size)
        AXE_TRY(axe_move_bytes_of(cx, &src, &dst));
    m.bits = pairs ? 8 : m.bits;
    m.src = src;
    m.dst = dst;
    AXE_TRY(axe_sides_make(cx, m.mc, m.bits,
                           opt ? opt->memory : AXE_MOVE_IN_SHARED, src, dst,
                           &m.s));
    m.n_warp = (m.s.dst.memory ? m.s.src.memory ? m.lanes : m.s.src.n_thread
                               : m.s.dst.n_thread) /
               m.lanes;
    if (m.s.src.memory && m.s.dst.memory)
        AXE_TRY(axe_mover_in_memory(&m, r));
    else if (m.s.src.memory)
        AXE_TRY(axe_mover_from_memory(&m, r));
    else if (m.s.dst.memory)
        AXE_TRY(axe_mover_to_memory(&m, r));
    else
        AXE_TRY(between_registers(&m, r));
    same = axe_move_play(cx, r, &r->n_proved);
    assert(same);
    (void)same;
    r->bits = pairs ? 4 : r->bits;
    *out = r;
    return AXE_OK;
}
