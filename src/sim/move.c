/* move.c - LOAD, STORE, PERMUTE, and COPY without a tensor map: element by
 * element from where one layout says to where the other says. */
#include <assert.h>
#include <string.h>

#include "sim/bits.h"
#include "sim/sim_int.h"

enum { MAX_ELEM = 8, PIECE = 256, MAX_PERMUTED = 512 };

/* ---------------------------------------------------------- bank conflicts */

/* Rows of neighbours that one atom of a warp touches, in order of its lanes. */
typedef struct rows {
    int     n, bytes;      /* of one */
    int64_t at[MAX_LANES]; /* [bytes] in shared memory */
} rows;

/* Accesses beyond the first that banks need for rows [from, to): the most
 * different words of one bank. */
static int
extra_accesses(const sim *s, const rows *r, int from, int to)
{
    enum { MOST = MAX_LANES };
    int64_t word[AXE_MAX_BANKS][MOST];
    int     n[AXE_MAX_BANKS] = {0}, most = 1, banks = s->mc->simt->banks;
    int     width = s->mc->simt->bank_bytes;

    for (int i = from; i < to; i++)
        for (int64_t b = r->at[i] / width;
             b <= (r->at[i] + r->bytes - 1) / width; b++) {
            int bank = (int)(b % banks), k = 0, kept = n[bank];
            kept = kept < MOST ? kept : MOST;
            while (k < kept && word[bank][k] != b)
                k++;
            if (k < kept)
                continue;
            if (k < MOST)
                word[bank][k] = b;
            most = ++n[bank] > most ? n[bank] : most;
        }
    return most - 1;
}

/* An access moves what all banks have: so many rows come together. */
static void
count_conflicts(sim *s, const rows *r)
{
    int all = s->mc->simt->banks * s->mc->simt->bank_bytes;
    int together = r->bytes > 0 && r->bytes < all ? all / r->bytes : 1;

    if (together > s->lanes)
        together = s->lanes;
    for (int i = 0; i < r->n; i += together) {
        int to = i + together < r->n ? i + together : r->n;
        s->report->conflicts += extra_accesses(s, r, i, to);
    }
}

static void
note_row(sim *s, const sim_arg *a, int64_t at, int n, rows *r)
{
    const axe_buffer *b;
    int               size;

    if (a->space != AXE_ARG_SHARED || r->n == s->lanes ||
        s->mc->simt->partitions > 0)
        return;
    b = &s->g->buffer[a->tensor];
    size = axe_type_table[b->tensor->type].bits / 8;
    r->bytes = n * size;
    r->at[r->n++] = b->offset + axe_sim_swizzled(b, at * size);
}

/* ------------------------------------------------------------- registers */

static sim_warp *
warp_of(const sim_call *c, const sim_place *p)
{
    return c->warp + (p->warp > 0 ? p->warp : 0);
}

static int
lane_of(const sim_place *p, int lane)
{
    return p->lane < 0 ? lane : p->lane;
}

/* ---------------------------------------------------------- load and store */

/* Neighbours of memory to or from registers: moves [from, to), whose memory is
 * that of thread `lane`. */
static void
move_run(sim *s, sim_call *c, int from, int to, int lane, rows *r)
{
    const sim_moves *m = c->in->shape->moves;
    bool             load = c->in->shape->atom->kind == AXE_ATOM_LOAD;
    int              reg = load ? 0 : 1, mem = load ? 1 : 0;
    const sim_arg   *ra = &c->in->arg[reg], *ma = &c->in->arg[mem];
    const sim_place *rp = load ? m->to : m->from, *mp = load ? m->from : m->to;
    uint8_t          data[PIECE] = {0};
    int              size = c->in->shape->elem_bytes, n = to - from;
    int              who = lane_of(&mp[from], lane);
    int64_t          at = c->at[mem][who] + mp[from].at;
    bool             here = axe_sim_has(c->pred, who);
    sim_cta         *cta = axe_sim_cta_of(s, c, mem, who);

    for (int i = 0; i < n && !load && here; i++)
        axe_sim_reg_get(
            s, c, ra, warp_of(c, &rp[from + i]), lane_of(&rp[from + i], lane),
            c->at[reg][lane_of(&rp[from + i], lane)] + rp[from + i].at,
            data + i * size);
    if (here && cta) {
        note_row(s, ma, at, n, r);
        c->lane = mp[from].lane < 0 ? lane : EVERY_LANE;
        (void)axe_sim_bytes(s, c, ma, cta, at, n, !load, data);
    }
    for (int i = 0; i < n && load; i++)
        axe_sim_reg_put(
            s, c, ra, warp_of(c, &rp[from + i]), lane_of(&rp[from + i], lane),
            c->at[reg][lane_of(&rp[from + i], lane)] + rp[from + i].at,
            data + i * size);
}

static void
move_lane(sim *s, sim_call *c, int lane, rows *r)
{
    const sim_moves *m = c->in->shape->moves;
    int              most = PIECE / MAX_ELEM;

    for (int k = 0; k < m->n_run; k++)
        for (int i = m->run[k]; i < m->run[k + 1]; i += most)
            move_run(s, c, i,
                     i + most < m->run[k + 1] ? i + most : m->run[k + 1], lane,
                     r);
}

/* Two threads of one atom that write one place: nobody knows who wins. */
static void
check_lanes(sim *s, const sim_call *c)
{
    const sim_arg *a = &c->in->arg[0];

    for (int l = 0; l < s->lanes; l++)
        for (int k = 0; k < l; k++)
            if (axe_sim_has(c->pred, l) && axe_sim_has(c->pred, k) &&
                c->at[0][l] == c->at[0][k] &&
                (!a->cta || c->cta[0][l] == c->cta[0][k]) &&
                !axe_sim_known(s, AXE_SIM_RACE, c->in, -1))
                axe_sim_find(s, AXE_SIM_RACE, c->in, -1,
                             "lanes %d and %d of %s both write element %lld", k,
                             l, axe_sim_agent_text(s, c->agent),
                             (long long)c->at[0][l]);
}

/* red: what is there and what comes, together. */
static void
fold_lane(sim *s, sim_call *c, int lane)
{
    const axe_atom  *atom = c->in->shape->atom;
    const sim_arg   *to = &c->in->arg[0], *from = &c->in->arg[1];
    axe_type         t = c->warp->array[from->tensor].type;
    const sim_moves *m = c->in->shape->moves;
    uint8_t          old[MAX_ELEM] = {0}, new[MAX_ELEM] = {0};
    sim_cta         *cta = axe_sim_cta_of(s, c, 0, lane);

    for (int i = 0; i < m->n && cta; i++) {
        int64_t at = c->at[0][lane] + m->to[i].at;
        axe_sim_reg_get(s, c, from, c->warp, lane,
                        c->at[1][lane] + m->from[i].at, new);
        if (!axe_sim_peek(s, to, cta, at, old))
            memset(old, 0, sizeof old);
        axe_sim_fold(atom->fold, t, old, new);
        c->lane = lane;
        (void)axe_sim_bytes(s, c, to, cta, at, 1, true, old);
    }
}

static void
load_or_store(sim *s, sim_call *c)
{
    const axe_atom *atom = c->in->shape->atom;
    rows            r = {0};

    c->warp->touched |= atom->by == AXE_SCOPE_THREAD ? c->pred : s->all_lanes;
    if (atom->by != AXE_SCOPE_THREAD) {
        move_lane(s, c, 0, &r);
        count_conflicts(s, &r);
        return;
    }
    if (atom->kind == AXE_ATOM_STORE && atom->fold == AXE_FOLD_NONE &&
        s->checks)
        check_lanes(s, c);
    for (int l = 0; l < s->lanes; l++) {
        if (!axe_sim_has(c->mask, l))
            continue;
        if (atom->fold == AXE_FOLD_NONE)
            move_lane(s, c, l, &r);
        else if (axe_sim_has(c->pred, l))
            fold_lane(s, c, l);
    }
    count_conflicts(s, &r);
}

/* ---------------------------------------------------------------- permute */

/* An element of the row is `wide` neighbours of the array. */
static void
permute(sim *s, sim_call *c)
{
    const sim_moves *m = c->in->shape->moves;
    const sim_arg   *to = &c->in->arg[0], *from = &c->in->arg[1];
    int              size = c->in->shape->elem_bytes;
    int              align = c->in->shape->atom->align;
    int              wide = align > size ? align / size : 1;
    bool             index = c->in->n_arg > 2;
    uint8_t          data[MAX_PERMUTED * MAX_ELEM];

    assert(m->n * wide <= MAX_PERMUTED);
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < wide; k++) {
            int lane = lane_of(&m->from[i], 0), me = lane_of(&m->to[i], 0);
            if (index)
                lane = (int)(c->at[2][me] & (s->lanes - 1));
            axe_sim_reg_get(s, c, from, warp_of(c, &m->from[i]), lane,
                            c->at[1][lane] + m->from[i].at * wide + k,
                            data + (i * wide + k) * MAX_ELEM);
        }
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < wide; k++) {
            int lane = lane_of(&m->to[i], 0);
            axe_sim_reg_put(s, c, to, warp_of(c, &m->to[i]), lane,
                            c->at[0][lane] + m->to[i].at * wide + k,
                            data + (i * wide + k) * MAX_ELEM);
        }
}

static bool
is_place(const sim_place *a, const sim_place *b)
{
    return a->warp == b->warp && a->lane == b->lane && a->at == b->at;
}

/* Each place gets what all that go there come to; of a prefix, what it and
 * those before it do.  Nothing is written before all is read. */
static void
permute_folded(sim *s, sim_call *c)
{
    const sim_moves *m = c->in->shape->moves;
    const sim_arg   *to = &c->in->arg[0], *from = &c->in->arg[1];
    axe_type         t = c->warp->array[from->tensor].type;
    uint8_t          sum[MAX_LANES][MAX_ELEM], one[MAX_ELEM];
    int              n = 0;

    for (int i = 0; i < m->n; i++) {
        bool first = i == 0 || !is_place(&m->to[i], &m->to[i - 1]);
        int  lane = lane_of(&m->from[i], 0);
        axe_sim_reg_get(s, c, from, warp_of(c, &m->from[i]), lane,
                        c->at[1][lane] + m->from[i].at, one);
        n += first;
        assert(n <= MAX_LANES);
        if (first && m->prefix && n > 1)
            memcpy(sum[n - 1], sum[n - 2], MAX_ELEM);
        if (first && (!m->prefix || n == 1))
            memcpy(sum[n - 1], one, MAX_ELEM);
        else
            axe_sim_fold(c->in->shape->atom->fold, t, sum[n - 1], one);
    }
    n = 0;
    for (int i = 0; i < m->n; i++) {
        int lane = lane_of(&m->to[i], 0);
        if (i == 0 || !is_place(&m->to[i], &m->to[i - 1]))
            axe_sim_reg_put(s, c, to, warp_of(c, &m->to[i]), lane,
                            c->at[0][lane] + m->to[i].at, sum[n++]);
    }
}

/* ------------------------------------------------------------------- copy */

/* Neighbours [from, to) of a copy that thread `lane` issued. */
static void
copy_run(sim *s, sim_call *c, int from, int to, int lane)
{
    const sim_moves *m = c->in->shape->moves;
    const sim_arg   *d = &c->in->arg[0], *a = &c->in->arg[1];
    axe_fold         fold = c->in->shape->atom->fold;
    uint8_t          data[PIECE] = {0}, old[PIECE] = {0};
    int              n = to - from, size = c->in->shape->elem_bytes;
    int64_t          at = c->at[0][lane] + m->to[from].at;
    sim_cta         *dc = axe_sim_cta_of(s, c, 0, lane);
    sim_cta         *ac = axe_sim_cta_of(s, c, 1, lane);

    if (!dc || !ac)
        return;
    if (axe_sim_has(c->pred, lane))
        (void)axe_sim_bytes(s, c, a, ac, c->at[1][lane] + m->from[from].at, n,
                            false, data);
    if (fold == AXE_FOLD_NONE) {
        (void)axe_sim_bytes(s, c, d, dc, at, n, true, data);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!axe_sim_peek(s, d, dc, at + i, old + i * size))
            return;
    for (int i = 0; i < n; i++)
        axe_sim_fold(fold, s->global[d->tensor].tensor->type, old + i * size,
                     data + i * size);
    (void)axe_sim_bytes(s, c, d, dc, at, n, true, old);
}

static void
copy(sim *s, sim_call *c)
{
    const sim_moves *m = c->in->shape->moves;
    int              most = PIECE / MAX_ELEM;

    for (int l = 0; l < s->lanes; l++)
        for (int k = 0; k < m->n_run && axe_sim_has(c->mask, l); k++)
            for (int i = m->run[k]; i < m->run[k + 1]; i += most)
                copy_run(s, c, i,
                         i + most < m->run[k + 1] ? i + most : m->run[k + 1],
                         l);
}

void
axe_sim_move(sim *s, sim_call *c)
{
    switch (c->in->shape->atom->kind) {
    case AXE_ATOM_PERMUTE:
        if (c->in->shape->atom->fold == AXE_FOLD_NONE)
            permute(s, c);
        else
            permute_folded(s, c);
        return;
    case AXE_ATOM_COPY:
        copy(s, c);
        return;
    default:
        load_or_store(s, c);
    }
}
