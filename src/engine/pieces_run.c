/* pieces_run.c - a plan of one step, carried out piece by piece.
 *
 * Messages to come are asked for at the beginning, and each look at one lets
 * all go on.  What is summed is summed at the end, in the order of ranks.
 *
 * In a memory with queues all is asked for by the host as it is here, and done
 * when what it waits for is: pieces in one queue, pulls in the other. */
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

/* ------------------------------------------------------------------- queues
 */

/* What a part of a pull has is moved, when its peer has come so far. */
static axe_status
fetch(engine_pieces *x, const part *p, uint32_t count)
{
    performing          *own = &x->p;
    const program_phase *f = phase_of(x);
    const program_move  *m = &f->pull[p->move];
    char                *landed = x->landed ? x->landed[p->move].at : NULL;
    engine_box           b = {.box = &p->box,
                              .type = own->type,
                              .adds = !landed && perform_adds(f, p->move),
                              .to = landed ? landed : own->buffer[f->to],
                              .from = own->buffer[m->from]};

    if (m->peer != own->g->rank) {
        if ((int32_t)(x->heard[m->peer] - count) < 0)
            AXE_TRY(own->queues->hear(own->m, m->peer, count));
        x->heard[m->peer] = count;
        b.from = own->m->ops->peer(own->m, b.from, m->peer);
        perform_count(own, f, p->message.bytes);
    }
    return own->m->ops->box(own->m, &b);
}

/* What is asked for goes into the other queue, behind all that is in this one;
 * or only from there on. */
static axe_status
go_over(engine_pieces *x, engine_queue to, bool behind)
{
    const performing *p = &x->p;

    p->queues->use(p->m, to);
    return behind ? p->queues->join(p->m) : AXE_OK;
}

/* Those that need some of it. */
static axe_status
tell_of_piece(engine_pieces *x, int piece, uint32_t count)
{
    for (int i = 0; i < x->out.n; i++)
        if (x->out.at[i].piece == piece)
            AXE_TRY(x->p.queues->say(x->p.m, x->out.at[i].message.peer, count));
    return AXE_OK;
}

/* Pulls of what was given, behind their peers' pieces; and what is added,
 * behind all of them. */
static axe_status
land_all(engine_pieces *x)
{
    performing *p = &x->p;

    if (x->one_by_one)
        AXE_TRY(perform_post(p, p->base + 1));
    AXE_TRY(go_over(x, ENGINE_MOVES, x->one_by_one));
    for (int i = 0; i < x->in.n; i++)
        AXE_TRY(
            fetch(x, &x->in.at[i],
                  x->one_by_one ? p->base + 1 : x->begin + x->in.at[i].count));
    AXE_TRY(go_over(x, ENGINE_COMPUTES, true));
    p->landed = x->landed;
    return perform_phases(p, 0, p->g->n_phase);
}

static axe_status take(engine_pieces *x, int piece);

/* What comes before the pieces, in the queue that moves. */
static axe_status
begin_pulls(engine_pieces *x)
{
    performing          *p = &x->p;
    const program_phase *f = phase_of(x);

    AXE_TRY(perform_post(p, p->base + 1));
    AXE_TRY(go_over(x, ENGINE_MOVES, true));
    AXE_TRY(perform_phases(p, 0, p->g->n_phase - 1));
    p->e->doing = p->doing[f->step];
    if (f->add && !f->whole)
        AXE_TRY(p->m->ops->zero(p->m, p->buffer[f->to],
                                (size_t)p->g->room * p->width));
    for (int i = 0; i < x->c.n && x->one_by_one; i++)
        AXE_TRY(take(x, x->c.order[i]));
    return go_over(x, ENGINE_COMPUTES, x->one_by_one);
}

/* ------------------------------------------------------------------- giving */

static axe_status
begin_giving(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    if (x->p.queues) {
        AXE_TRY(go_over(x, ENGINE_MOVES, true));
        return go_over(x, ENGINE_COMPUTES, false);
    }
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
    if (p->queues)
        return land_all(x);
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

    if (p->queues)
        return begin_pulls(x);
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

    if (x->taken[piece])
        return AXE_OK;
    x->taken[piece] = true;
    for (int i = 0; i < x->in.n; i++) {
        part   *p = &x->in.at[i];
        int64_t peer = p->message.peer;

        if (p->piece != piece)
            continue;
        if (x->p.queues) {
            AXE_TRY(fetch(x, p, last));
            continue;
        }
        if (peer != x->p.g->rank)
            AXE_TRY(e->addressed ? e->ops->await(e, peer, last)
                                 : wait_for(x, p));
        put(x, p);
    }
    return AXE_OK;
}

/* The next piece has come; with queues, when the one that computes comes there.
 */
static axe_status
take_next(engine_pieces *x, int *piece)
{
    bool over = x->p.queues && !x->one_by_one;

    if (x->p.queues)
        *piece = x->c.order[x->at];
    else
        AXE_TRY(choose(x, piece));
    if (over)
        AXE_TRY(go_over(x, ENGINE_MOVES, false));
    AXE_TRY(take(x, *piece));
    return over ? go_over(x, ENGINE_COMPUTES, true) : AXE_OK;
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
    if (!x->c.giving)
        AXE_TRY(take_next(x, &piece));
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
    if (x->p.queues)
        return tell_of_piece(x, x->c.order[x->at],
                             x->begin + (uint32_t)x->at + 1);
    if (e->addressed) {
        e->ops->post(e, x->begin + (uint32_t)x->at + 1);
        return AXE_OK;
    }
    AXE_TRY(send_piece(x, x->c.order[x->at]));
    return look(x);
}

/* The rest of the plan. */
static axe_status
end(engine_pieces *x)
{
    axe_engine *e = x->p.e;
    axe_mark    mark = axe_ctx_mark(e->cx);

    if (x->c.giving)
        AXE_TRY(end_giving(x));
    else if (!e->addressed)
        AXE_TRY(wait_all(x, &x->out));
    axe_ctx_release(e->cx, mark);
    x->p.enough = NULL;
    x->p.landed = NULL;
    return AXE_OK;
}

axe_status
engine_pieces_end(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    AXE_TRY(end(x));
    if (x->p.queues)
        AXE_TRY(x->p.queues->finish(x->p.m));
    if (e->addressed)
        e->ops->post(e, e->posted);
    return AXE_OK;
}

void
engine_pieces_stop(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    if (!x->p.queues)
        return;
    e->ops->fail(e, axe_last_error(e->cx));
    x->p.queues->stop(x->p.m);
}

/* All that one turn asks for, but for what computes. */
static axe_status
rehearse(engine_pieces *x)
{
    int64_t from = 0, to;

    AXE_TRY(engine_pieces_begin(x));
    while (from >= 0) {
        AXE_TRY(engine_pieces_next(x, &from, &to));
        if (from >= 0)
            AXE_TRY(engine_pieces_done(x));
    }
    return end(x);
}

axe_status
pieces_rehearse(engine_pieces *x)
{
    axe_engine *e = x->p.e;
    performing  was = x->p;
    const char *doing = e->doing;
    uint32_t    posted = e->posted;
    int64_t     moved = e->moved;
    axe_status  st;

    was.queues->rehearse(was.m, true);
    st = rehearse(x);
    was.queues->rehearse(was.m, false);
    x->p = was;
    e->doing = doing;
    e->posted = posted;
    e->moved = moved;
    for (int64_t r = 0; r < e->size; r++)
        x->heard[r] = posted;
    return st;
}
