/* protocol.c - a plan as a list of steps for each rank: what perform.c, and by
 * pieces pieces_run.c, do over addresses. */
#include "engine/protocol.h"

#include <inttypes.h>

#include "base/ctx.h"
#include "engine/pieces_int.h"

typedef struct lister {
    axe_ctx  *cx;
    protocol *out;
    int       room;
    uint32_t  base; /* posts before the first phase, but for its own */
    /* Of the first phase's pulls, the post that is enough; else NULL. */
    const uint32_t *enough;
} lister;

static protocol_step *
add(lister *l, protocol_kind kind, int phase, int step)
{
    protocol *p = l->out;

    if (p->n_step == l->room) {
        int            room = l->room ? 2 * l->room : 16;
        protocol_step *more = axe_new_array(l->cx, protocol_step, room);

        for (int i = 0; i < p->n_step; i++)
            more[i] = p->step[i];
        p->step = more;
        l->room = room;
    }
    p->step[p->n_step] =
        (protocol_step){.kind = kind, .phase = phase, .step = step};
    return &p->step[p->n_step++];
}

static void
add_wait(lister *l, int phase, int step, int64_t peer, uint32_t count)
{
    protocol_step *s = add(l, PROTOCOL_WAIT, phase, step);

    s->peer = peer;
    s->count = count;
}

/* Those that read what this phase overwrites have done so. */
static void
add_readers(lister *l, const program *g, int phase)
{
    const program_phase *f = &g->phase[phase];

    for (int k = 0; f->fresh && k < phase; k++)
        for (int i = 0;
             g->phase[k].step >= f->step - 2 && i < g->phase[k].n_give; i++)
            if (g->phase[k].give[i].from == f->to)
                add_wait(l, phase, f->step, g->phase[k].give[i].peer,
                         l->base + 2 + (uint32_t)k);
}

static void
add_pull(lister *l, const program *g, int phase, int pull, program_box box)
{
    const program_phase *f = &g->phase[phase];
    const program_move  *m = &f->pull[pull];
    protocol_step       *s;

    if (m->peer != g->rank)
        add_wait(l, phase, f->step, m->peer,
                 l->enough && phase == 0 ? l->enough[pull]
                                         : l->base + 1 + (uint32_t)phase);
    s = add(l, PROTOCOL_PULL, phase, f->step);
    s->peer = m->peer;
    s->from = m->from;
    s->to = f->to;
    s->add = f->add && !(f->whole && pull == 0);
    s->box = box;
}

static void
begin_sum(lister *l, const program *g, int phase)
{
    const program_phase *f = &g->phase[phase];
    protocol_step       *s;

    if (!f->add || f->whole)
        return;
    s = add(l, PROTOCOL_ZERO, phase, f->step);
    s->to = f->to;
    s->n = g->room;
}

static void
add_phase(lister *l, const program *g, int phase)
{
    const program_phase *f = &g->phase[phase];

    add_readers(l, g, phase);
    begin_sum(l, g, phase);
    for (int i = 0; i < f->n_pull; i++)
        add_pull(l, g, phase, i, f->pull[i].box);
    if (phase + 1 < g->n_phase)
        add(l, PROTOCOL_POST, phase, f->step)->count =
            l->base + (uint32_t)phase + 2;
}

static lister
begin(axe_ctx *cx, const program *g, uint32_t n_post, protocol *out)
{
    *out = (protocol){.rank = g->rank,
                      .size = g->size,
                      .room = g->room,
                      .n_phase = g->n_phase,
                      .n_post = n_post};
    return (lister){.cx = cx, .out = out};
}

static void
put(lister *l, const program *g)
{
    add(l, PROTOCOL_PUT, -1, 0)->n = g->n_src;
    add(l, PROTOCOL_POST, -1, 0)->count = 1;
}

static void
end(lister *l, const program *g)
{
    protocol_step *s = add(l, PROTOCOL_TAKE, g->n_phase, 0);

    s->from = g->last;
    s->n = g->n_dst;
    add(l, PROTOCOL_MEET, g->n_phase, 0);
    add(l, PROTOCOL_LEAVE, g->n_phase, 0);
}

static void
list(axe_ctx *cx, const program *g, protocol *out)
{
    lister l = begin(cx, g, (uint32_t)g->n_phase + 1, out);

    put(&l, g);
    for (int i = 0; i < g->n_phase; i++)
        add_phase(&l, g, i);
    end(&l, g);
}

static axe_status
check_ranks(axe_ctx *cx, int64_t n)
{
    return n <= PROTOCOL_RANKS
               ? AXE_OK
               : axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                          "the simulator has %d devices at most, and the mesh "
                          "%" PRId64 ": a smaller one shows the same protocol",
                          PROTOCOL_RANKS, n);
}

axe_status
protocol_of_plan(axe_ctx *cx, const axe_reshard_plan *p,
                 const axe_reshard_bound *bound, protocol **out)
{
    int64_t n = p->mesh->n_device;

    AXE_TRY(check_ranks(cx, n));
    *out = axe_new_array(cx, protocol, n);
    for (int64_t r = 0; r < n; r++) {
        const program *g;

        AXE_TRY(program_of(cx, p, r, bound, &g));
        list(cx, g, &(*out)[r]);
    }
    return AXE_OK;
}

/* --------------------------------------------------------------- by pieces */

static void
add_piece(lister *l, const pieces_cut *c, protocol_kind kind, int piece)
{
    int64_t        left = c->elements - piece * c->grain;
    protocol_step *s =
        add(l, kind, kind == PROTOCOL_MAKE ? -1 : c->g->n_phase - 1, 0);

    s->to = 0;
    s->from = c->g->last;
    s->first = piece * c->grain;
    s->n = left < c->grain ? left : c->grain;
}

/* Posts go to n_most + 1 on all ranks, by pieces or at once. */
static void
give(lister *l, const pieces_cut *c, uint32_t n_most, bool one_by_one)
{
    uint32_t said = 1;

    add(l, PROTOCOL_POST, -1, 0)->count = said;
    for (int i = 0; i < c->n; i++) {
        add_piece(l, c, PROTOCOL_MAKE, c->order[i]);
        if (!one_by_one)
            add(l, PROTOCOL_POST, -1, 0)->count = ++said;
    }
    if (said < n_most + 1) {
        protocol_step *s = add(l, PROTOCOL_POST, -1, 0);

        s->count = n_most + 1;
        s->left = n_most - said;
    }
    l->base = n_most;
    for (int i = 0; i < c->g->n_phase; i++)
        add_phase(l, c->g, i);
}

static void
take(lister *l, const pieces_cut *c)
{
    int                  last = c->g->n_phase - 1;
    const program_phase *f = &c->g->phase[last];

    put(l, c->g);
    for (int i = 0; i < last; i++)
        add_phase(l, c->g, i);
    begin_sum(l, c->g, last);
    for (int k = 0; k < c->n; k++) {
        for (int i = 0; i < f->n_pull; i++) {
            program_box box =
                pieces_box(c, &f->pull[i].box, c->order[k], c->grain);

            if (box.n > 0)
                add_pull(l, c->g, last, i, box);
        }
        add_piece(l, c, PROTOCOL_USE, c->order[k]);
    }
}

/* Where each piece is in the orders of all ranks. */
static axe_status
cut_all(axe_ctx *cx, const axe_reshard_plan *p, bool giving,
        const int64_t *grain, pieces_cut *cut, int32_t **place, int *n_most)
{
    *n_most = 0;
    for (int64_t r = 0; r < p->mesh->n_device; r++) {
        const program *g;

        AXE_TRY(program_of(cx, p, r, NULL, &g));
        pieces_cut_open(cx, g, giving, grain[r], &cut[r]);
        if (cut[r].n > ENGINE_PIECES)
            return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                            "reshard: rank %" PRId64
                            " has %d pieces; %d go: make them larger",
                            r, cut[r].n, ENGINE_PIECES);
        *n_most = cut[r].n > *n_most ? cut[r].n : *n_most;
        place[r] = axe_new_array(cx, int32_t, ENGINE_PIECES);
        for (int i = 0; i < cut[r].n; i++)
            place[r][cut[r].order[i]] = i;
    }
    return AXE_OK;
}

/* Posts that are enough of each pull's peer. */
static const uint32_t *
enough_of(const pieces_cut *c, const pieces_cut *all, int32_t *const *place,
          int n_most, bool one_by_one)
{
    const program_phase *f = pieces_phase(c);
    uint32_t            *out = axe_new_array(c->cx, uint32_t, f->n_pull + 1);

    for (int i = 0; i < f->n_pull; i++) {
        int64_t q = f->pull[i].peer;

        out[i] = one_by_one ? (uint32_t)n_most + 1
                            : 1 + pieces_enough(c, &f->pull[i].box, n_most,
                                                all[q].grain, place[q]);
    }
    return out;
}

axe_status
protocol_of_pieces(axe_ctx *cx, const axe_reshard_plan *p, bool giving,
                   bool one_by_one, const int64_t *grain, protocol **out)
{
    int64_t     n = p->mesh->n_device;
    pieces_cut *cut = axe_new_array(cx, pieces_cut, n);
    int32_t   **place = axe_new_array(cx, int32_t *, n);
    int         n_most;

    AXE_TRY(check_ranks(cx, n));
    AXE_TRY(cut_all(cx, p, giving, grain, cut, place, &n_most));
    *out = axe_new_array(cx, protocol, n);
    for (int64_t r = 0; r < n; r++) {
        const program *g = cut[r].g;
        uint32_t n_post = (uint32_t)((giving ? n_most : 0) + g->n_phase) + 1;
        lister   l = begin(cx, g, n_post, &(*out)[r]);

        if (giving) {
            l.enough = enough_of(&cut[r], cut, place, n_most, one_by_one);
            give(&l, &cut[r], (uint32_t)n_most, one_by_one);
        } else {
            take(&l, &cut[r]);
        }
        add(&l, PROTOCOL_POST, g->n_phase - 1, 0)->count = n_post;
        end(&l, g);
    }
    return AXE_OK;
}

const char *
protocol_step_text(axe_ctx *cx, const protocol_step *s)
{
    static const char *const word[] = {
#define PROTOCOL(name, word, text) word,
#include "engine/protocol.def"
    };

    switch (s->kind) {
    case PROTOCOL_POST:
        return axe_textf(cx, "post %" PRIu32, s->count);
    case PROTOCOL_WAIT:
        return axe_textf(cx, "wait for post %" PRIu32 " of device %" PRId64,
                         s->count, s->peer);
    case PROTOCOL_MAKE:
    case PROTOCOL_USE:
        return axe_textf(cx, "%s %" PRId64 " elements from %" PRId64 " on",
                         word[s->kind], s->n, s->first);
    case PROTOCOL_PULL:
        return axe_textf(cx, "%s %" PRId64 " elements of device %" PRId64,
                         s->add ? "add" : "pull", s->box.n, s->peer);
    default:
        return word[s->kind];
    }
}

bool
protocol_next_order(int64_t n_rank, int64_t i, uint64_t seed, protocol_run *r)
{
    enum { SINGLED = 8, BY_CHANCE = 4 };
    int64_t n = n_rank < SINGLED ? n_rank : SINGLED;

    r->order = PROTOCOL_EVEN;
    r->seed = seed;
    if (i == 0)
        return true;
    i--;
    if (i < 2 * n) {
        r->order = i % 2 ? PROTOCOL_AHEAD : PROTOCOL_BEHIND;
        r->who = i / 2;
        return true;
    }
    r->order = PROTOCOL_CHANCE;
    r->seed = seed + (uint64_t)i;
    return n_rank > 1 && i < 2 * n + BY_CHANCE;
}
