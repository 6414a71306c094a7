/* protocol.c - a plan as a list of steps for each rank: what perform.c does
 * over addresses. */
#include "engine/protocol.h"

#include <inttypes.h>

#include "base/ctx.h"

typedef struct lister {
    axe_ctx  *cx;
    protocol *out;
    int       room;
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
                         2 + (uint32_t)k);
}

static void
add_pulls(lister *l, const program *g, int phase)
{
    const program_phase *f = &g->phase[phase];

    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        protocol_step      *s;

        if (m->peer != g->rank)
            add_wait(l, phase, f->step, m->peer, 1 + (uint32_t)phase);
        s = add(l, PROTOCOL_PULL, phase, f->step);
        s->peer = m->peer;
        s->from = m->from;
        s->to = f->to;
        s->add = f->add && !(f->whole && i == 0);
        s->box = m->box;
    }
}

static void
add_phase(lister *l, const program *g, int phase)
{
    const program_phase *f = &g->phase[phase];

    add_readers(l, g, phase);
    if (f->add && !f->whole) {
        protocol_step *s = add(l, PROTOCOL_ZERO, phase, f->step);

        s->to = f->to;
        s->n = g->room;
    }
    add_pulls(l, g, phase);
    if (phase + 1 < g->n_phase)
        add(l, PROTOCOL_POST, phase, f->step)->count = (uint32_t)phase + 2;
}

static void
list(axe_ctx *cx, const program *g, protocol *out)
{
    lister         l = {.cx = cx, .out = out};
    protocol_step *s;

    *out = (protocol){.rank = g->rank,
                      .size = g->size,
                      .room = g->room,
                      .n_phase = g->n_phase};
    add(&l, PROTOCOL_PUT, -1, 0)->n = g->n_src;
    add(&l, PROTOCOL_POST, -1, 0)->count = 1;
    for (int i = 0; i < g->n_phase; i++)
        add_phase(&l, g, i);
    s = add(&l, PROTOCOL_TAKE, g->n_phase, 0);
    s->from = g->last;
    s->n = g->n_dst;
    add(&l, PROTOCOL_MEET, g->n_phase, 0);
    add(&l, PROTOCOL_LEAVE, g->n_phase, 0);
}

axe_status
protocol_of_plan(axe_ctx *cx, const axe_reshard_plan *p, protocol **out)
{
    int64_t n = p->mesh->n_device;

    if (n > PROTOCOL_RANKS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "the simulator has %d devices at most, and the mesh "
                        "%" PRId64 ": a smaller one shows the same protocol",
                        PROTOCOL_RANKS, n);
    *out = axe_new_array(cx, protocol, n);
    for (int64_t r = 0; r < n; r++) {
        const program *g;

        AXE_TRY(program_of(cx, p, r, &g));
        list(cx, g, &(*out)[r]);
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
