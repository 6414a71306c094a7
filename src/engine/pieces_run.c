/* pieces_run.c - a plan of one step, carried out piece by piece.
 *
 * Messages to come are asked for at the beginning, and each look at one lets
 * all go on.  What is summed is summed at the end, in the order of ranks. */
#include "engine/pieces_int.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "base/ctx.h"

enum { LOOKS = 64, LOOKS_A_PIECE = 8 };

/* ------------------------------------------------------------------ messages
 */

static axe_status
start(engine_pieces *x, bool sends, part *p)
{
    p->started = true;
    p->message.done = false;
    for (int i = 0; i < p->n_chunk; i++)
        AXE_TRY(x->p.e->ops->start(x->p.e, sends, &p->chunk[i]));
    return AXE_OK;
}

static axe_status
test(engine_pieces *x, part *p)
{
    bool done = true;

    for (int i = 0; i < p->n_chunk && done; i++) {
        if (!p->chunk[i].done)
            AXE_TRY(x->p.e->ops->test(x->p.e, &p->chunk[i]));
        done = p->chunk[i].done;
    }
    p->message.done = done;
    return AXE_OK;
}

static axe_status
wait_for(engine_pieces *x, part *p)
{
    axe_engine *e = x->p.e;
    int64_t     until = engine_now_ms() + e->timeout_ms;

    for (int i = 1; !p->message.done; i++) {
        AXE_TRY(test(x, p));
        if (!p->message.done && i % LOOKS == 0)
            sched_yield();
        if (!p->message.done && i % (LOOKS * LOOKS) == 0 &&
            engine_now_ms() > until)
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE,
                            "rank %" PRId64 " of %" PRId64
                            " waited %.3g s for rank %" PRId64 " in %s",
                            e->rank, e->size, (double)e->timeout_ms / 1e3,
                            p->message.peer, e->doing);
    }
    return AXE_OK;
}

static axe_status
wait_all(engine_pieces *x, parts *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->at[i].message.peer != x->p.g->rank)
            AXE_TRY(wait_for(x, &list->at[i]));
    return AXE_OK;
}

static part *
first_open(const engine_pieces *x, const parts *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->at[i].message.peer != x->p.g->rank && list->at[i].started &&
            !list->at[i].message.done)
            return &list->at[i];
    return NULL;
}

/* A look at one lets all go on, some way: what is said before a long message
 * and what is sent of it want a look each. */
static axe_status
look(engine_pieces *x)
{
    for (int i = 0; i < LOOKS_A_PIECE; i++) {
        part *p = first_open(x, i % 2 ? &x->out : &x->in);

        p = p ? p : first_open(x, &x->out);
        if (p)
            AXE_TRY(test(x, p));
    }
    return AXE_OK;
}

static axe_status
send(engine_pieces *x, part *p)
{
    engine_walk w = {.box = &p->box,
                     .width = x->p.width,
                     .dst = p->message.at,
                     .src = x->p.buffer[phase_of(x)->give[p->move].from],
                     .dst_packed = true};

    if (!p->direct)
        engine_walk_box(&w);
    return start(x, true, p);
}

static axe_status
send_piece(engine_pieces *x, int piece)
{
    for (int i = 0; i < x->out.n; i++)
        if (x->out.at[i].piece == piece)
            AXE_TRY(send(x, &x->out.at[i]));
    return AXE_OK;
}

static axe_status
send_all(engine_pieces *x)
{
    for (int i = 0; i < x->out.n; i++)
        AXE_TRY(send(x, &x->out.at[i]));
    return AXE_OK;
}

static axe_status
ask_for_all(engine_pieces *x)
{
    for (int i = 0; i < x->in.n; i++)
        if (x->in.at[i].message.peer != x->p.g->rank)
            AXE_TRY(start(x, false, &x->in.at[i]));
    return AXE_OK;
}

/* A part that is here, to where it belongs. */
static void
put(engine_pieces *x, const part *p)
{
    const program_phase *f = phase_of(x);
    const program_move  *m = &f->pull[p->move];
    bool                 own = m->peer == x->p.g->rank;
    engine_walk          w = {.box = &p->box,
                              .width = x->p.width,
                              .adds = perform_adds(f, p->move),
                              .type = x->p.type,
                              .dst = x->p.buffer[f->to],
                              .src = p->message.at,
                              .src_packed = true};

    if (!own)
        perform_count(&x->p, f, p->message.bytes);
    if (own || x->p.e->addressed) {
        w.src = own ? x->p.buffer[m->from]
                    : axe_engine_peer(x->p.e, x->p.buffer[m->from], m->peer);
        w.src_packed = false;
    }
    if (own || x->p.e->addressed || !p->direct)
        engine_walk_box(&w);
}

/* All pulls of the first phase, whose messages have come, rank by rank. */
static void
put_all(engine_pieces *x)
{
    const program_phase *f = phase_of(x);
    int                  at = 0;

    perform_begin_sum(&x->p, f);
    for (int i = 0; i < f->n_pull; i++) {
        part own = {.move = i, .box = f->pull[i].box};

        if (f->pull[i].peer == x->p.g->rank)
            put(x, &own);
        for (; at < x->in.n && x->in.at[at].move == i; at++)
            put(x, &x->in.at[at]);
    }
}

/* ------------------------------------------------------------------- giving */

static axe_status
begin_giving(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    if (e->addressed) {
        e->ops->post(e, x->begin);
        return AXE_OK;
    }
    return x->one_by_one ? AXE_OK : ask_for_all(x);
}

static axe_status
end_giving(engine_pieces *x)
{
    performing *p = &x->p;
    axe_engine *e = p->e;
    int         first = 0;

    p->enough = NULL;
    if (e->addressed) {
        uint32_t *enough =
            axe_new_array(e->cx, uint32_t, p->g->phase[0].n_pull + 1);

        for (int i = 0; i < p->g->phase[0].n_pull; i++)
            enough[i] = x->one_by_one ? p->base + 1 : x->begin + x->enough[i];
        p->enough = enough;
        if (x->c.n < x->n_most || (x->one_by_one && x->n_most > 0))
            e->ops->post(e, p->base + 1); /* there are no more pieces */
    } else {
        e->doing = p->doing[0];
        if (x->one_by_one) {
            AXE_TRY(ask_for_all(x));
            AXE_TRY(send_all(x));
        }
        AXE_TRY(wait_all(x, &x->in));
        put_all(x);
        AXE_TRY(wait_all(x, &x->out));
        first = 1;
    }
    return perform_phases(p, first, p->g->n_phase);
}

/* ------------------------------------------------------------------- taking */

/* What has to be here before the last phase, and that goes off. */
static axe_status
begin_taking(engine_pieces *x)
{
    performing *p = &x->p;
    axe_engine *e = p->e;

    if (e->addressed) {
        e->ops->post(e, p->base + 1);
    } else if (p->g->n_phase == 1) {
        AXE_TRY(ask_for_all(x));
    }
    AXE_TRY(perform_phases(p, 0, p->g->n_phase - 1));
    perform_begin_sum(p, phase_of(x));
    e->doing = p->doing[phase_of(x)->step];
    if (e->addressed)
        return AXE_OK;
    if (p->g->n_phase > 1)
        AXE_TRY(ask_for_all(x));
    AXE_TRY(send_all(x));
    return x->one_by_one ? wait_all(x, &x->in) : AXE_OK;
}

/* Has all of a piece come?  A look at one message lets all go on. */
static axe_status
has_come(engine_pieces *x, int piece, bool *out)
{
    *out = true;
    for (int i = 0; i < x->in.n && *out && !x->p.e->addressed; i++) {
        part *p = &x->in.at[i];

        if (p->piece != piece || p->message.peer == x->p.g->rank)
            continue;
        AXE_TRY(test(x, p));
        *out = p->message.done;
    }
    return AXE_OK;
}

/* The first in the order that has come, else the first. */
static axe_status
choose(engine_pieces *x, int *out)
{
    bool come = false;

    *out = -1;
    for (int i = 0; i < x->c.n && !come; i++) {
        if (x->taken[x->c.order[i]])
            continue;
        AXE_TRY(has_come(x, x->c.order[i], &come));
        if (come || *out < 0)
            *out = x->c.order[i];
    }
    return AXE_OK;
}

static axe_status
take(engine_pieces *x, int piece)
{
    axe_engine *e = x->p.e;
    uint32_t    last = x->p.base + (uint32_t)x->p.g->n_phase;

    x->taken[piece] = true;
    for (int i = 0; i < x->in.n; i++) {
        part   *p = &x->in.at[i];
        int64_t peer = p->message.peer;

        if (p->piece != piece)
            continue;
        if (peer != x->p.g->rank)
            AXE_TRY(e->addressed ? e->ops->await(e, peer, last)
                                 : wait_for(x, p));
        put(x, p);
    }
    return AXE_OK;
}

/* ---------------------------------------------------------------- the pieces
 */

axe_status
engine_pieces_begin(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    x->at = -1;
    memset(x->taken, 0, sizeof x->taken);
    x->begin = e->posted + 1;
    x->p.base = e->posted + (x->c.giving ? (uint32_t)x->n_most : 0);
    e->posted = x->p.base + (uint32_t)x->p.g->n_phase + 1;
    return x->c.giving ? begin_giving(x) : begin_taking(x);
}

axe_status
engine_pieces_next(engine_pieces *x, int64_t *from, int64_t *to)
{
    int piece;

    *from = *to = -1;
    if (++x->at >= x->c.n)
        return AXE_OK;
    piece = x->c.order[x->at];
    if (!x->c.giving) {
        AXE_TRY(choose(x, &piece));
        AXE_TRY(take(x, piece));
    }
    *from = piece * x->c.grain;
    *to =
        *from + x->c.grain < x->c.elements ? *from + x->c.grain : x->c.elements;
    return AXE_OK;
}

axe_status
engine_pieces_done(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    if (x->one_by_one)
        return AXE_OK;
    if (!x->c.giving)
        return e->addressed ? AXE_OK : look(x);
    if (e->addressed) {
        e->ops->post(e, x->begin + (uint32_t)x->at + 1);
        return AXE_OK;
    }
    AXE_TRY(send_piece(x, x->c.order[x->at]));
    return look(x);
}

axe_status
engine_pieces_end(engine_pieces *x)
{
    axe_engine *e = x->p.e;
    axe_mark    mark = axe_ctx_mark(e->cx);

    if (x->c.giving)
        AXE_TRY(end_giving(x));
    else if (!e->addressed)
        AXE_TRY(wait_all(x, &x->out));
    axe_ctx_release(e->cx, mark);
    x->p.enough = NULL;
    if (e->addressed)
        e->ops->post(e, e->posted);
    return AXE_OK;
}
