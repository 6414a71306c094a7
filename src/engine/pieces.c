/* pieces.c - a plan of one step, piece by piece.
 *
 * Where peers' memory has an address a rank counts on as pieces are done, and
 * where a piece is in its order stands in symmetric memory: who pulls some of
 * them waits for the last of these alone.  By messages each piece that another
 * rank needs some of is one, with the piece's number as its tag; those to come
 * are asked for at the beginning, and each look at one lets all go on. */
#include "engine/pieces.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

enum { LOOKS = 64, LOOKS_A_PIECE = 8, FIRST_TAG = 1 };

/* What one move has in one piece. */
typedef struct part {
    int            move, piece;
    program_box    box;
    bool           direct; /* the message is in the buffer */
    engine_message message;
} part;

typedef struct parts {
    int   n, room;
    part *at;
} parts;

struct engine_pieces {
    performing p;
    bool       giving, one_by_one;
    int        n, n_most;       /* pieces of this rank; of that with most */
    int64_t    elements, grain; /* of its buffer; of a piece */
    int        order[ENGINE_PIECES], at; /* the one that is being done */
    bool       taken[ENGINE_PIECES];
    int32_t   *place;  /* in symmetric memory: of each piece in the order */
    int64_t   *grains; /* [size] of all ranks */
    uint32_t  *enough; /* [n_pull] */
    uint32_t   begin;  /* progress before the first piece */
    parts      in, out;
};

static const program_phase *
phase_of(const engine_pieces *x)
{
    return &x->p.g->phase[x->giving ? 0 : x->p.g->n_phase - 1];
}

/* -------------------------------------------------------------------- boxes */

/* Elements [from, to) of one of the two buffers, as far as the box has them. */
static program_box
cut(axe_ctx *cx, const program_box *b, bool by_src, int64_t from, int64_t to)
{
    program_box out = *b;
    int64_t     pitch = by_src ? b->src_pitch[0] : b->dst_pitch[0], n = 0;

    if (b->n_dim == 0)
        out.n = from == 0 ? b->n : 0;
    if (b->n_dim == 0 || b->n == 0)
        return out;
    if (b->n_dim == 1)
        pitch = 1;
    out.n_run[0] = 0;
    out.run[0] = axe_new_array(cx, program_run, b->n_run[0]);
    for (int i = 0; i < b->n_run[0]; i++) {
        program_run r = b->run[0][i];
        int64_t     at = by_src ? r.src : r.dst, end = at + r.n;
        int64_t     lo = from / pitch > at ? from / pitch : at;
        int64_t     hi = to / pitch < end ? to / pitch : end;

        if (lo >= hi)
            continue;
        out.run[0][out.n_run[0]++] =
            (program_run){r.src + lo - at, r.dst + lo - at, hi - lo};
        n += hi - lo;
    }
    for (int d = 1; d < b->n_dim; d++) {
        int64_t all = 0;

        for (int i = 0; i < b->n_run[d]; i++)
            all += b->run[d][i].n;
        n *= all;
    }
    out.n = n;
    return out;
}

static program_box
cut_piece(const engine_pieces *x, const program_box *b, int piece,
          int64_t grain)
{
    return cut(x->p.e->cx, b, x->giving, piece * grain, (piece + 1) * grain);
}

/* --------------------------------------------------------------- the order */

/* How far from this rank those are that a piece goes to or comes from: 0: it is
 * of this rank alone. */
static int64_t
distance(const engine_pieces *x, int piece)
{
    const program_phase *f = phase_of(x);
    const program_move  *m = x->giving ? f->give : f->pull;
    int64_t              size = x->p.g->size, rank = x->p.g->rank, out = 0;

    for (int i = 0; i < (x->giving ? f->n_give : f->n_pull); i++) {
        int64_t far = (x->giving ? m[i].peer - rank : rank - m[i].peer) + size;

        if (m[i].peer == rank ||
            cut_piece(x, &m[i].box, piece, x->grain).n == 0)
            continue;
        far %= size;
        if (out == 0 || (x->giving ? far < out : far > out))
            out = far;
    }
    return out;
}

/* Giving, by who is next; what nobody else needs is last.  Taking, what is here
 * is first. */
static void
sort(engine_pieces *x)
{
    axe_mark mark = axe_ctx_mark(x->p.e->cx);
    int64_t  key[ENGINE_PIECES];

    for (int i = 0; i < x->n; i++) {
        int k = i;

        key[i] = distance(x, i);
        if (x->giving && key[i] == 0)
            key[i] = x->p.g->size;
        for (; k > 0 && key[x->order[k - 1]] > key[i]; k--)
            x->order[k] = x->order[k - 1];
        x->order[k] = i;
    }
    axe_ctx_release(x->p.e->cx, mark);
}

/* ----------------------------------------------------------------- preparing
 */

static axe_status
count_pieces(engine_pieces *x)
{
    axe_engine *e = x->p.e;
    int64_t     mine[2], *all = axe_new_array(e->cx, int64_t, 2 * e->size);

    mine[0] = x->grain;
    mine[1] = x->elements / x->grain + (x->elements % x->grain != 0);
    AXE_TRY(axe_engine_gather(e, mine, sizeof mine, all));
    x->grains = axe_new_array(e->cx, int64_t, e->size);
    for (int64_t r = 0; r < e->size; r++) {
        x->grains[r] = all[2 * r];
        if (all[2 * r + 1] > ENGINE_PIECES)
            return axe_fail(e->cx, AXE_NOWHERE, AXE_ELIMIT,
                            "reshard: rank %" PRId64 " has %" PRId64
                            " pieces; %d go: make them larger",
                            r, all[2 * r + 1], ENGINE_PIECES);
        if (all[2 * r + 1] > x->n_most)
            x->n_most = (int)all[2 * r + 1];
    }
    x->n = (int)mine[1];
    return AXE_OK;
}

/* Of what a pull needs of a peer's pieces, the last in the peer's order. */
static axe_status
find_enough(engine_pieces *x)
{
    axe_engine          *e = x->p.e;
    const program_phase *f = phase_of(x);
    void                *at;

    AXE_TRY(
        axe_engine_alloc(e, ENGINE_PIECES * (int64_t)sizeof x->place[0], &at));
    x->place = at;
    for (int i = 0; i < x->n; i++)
        x->place[x->order[i]] = i;
    AXE_TRY(axe_engine_barrier(e));
    if (!e->addressed || !x->giving)
        return AXE_OK;
    x->enough = axe_new_array(e->cx, uint32_t, f->n_pull + 1);
    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        const int32_t      *place = axe_engine_peer(e, x->place, m->peer);

        for (int k = 0; k < x->n_most; k++)
            if (cut_piece(x, &m->box, k, x->grains[m->peer]).n > 0 &&
                (uint32_t)place[k] + 1 > x->enough[i])
                x->enough[i] = (uint32_t)place[k] + 1;
    }
    return AXE_OK;
}

/* Neighbours in the buffer of a side, from its element *at on? */
static bool
is_run(const program_box *b, bool src, int64_t *at)
{
    if (b->n_dim != 1 || b->n_run[0] != 1)
        return b->n_dim == 0;
    *at = src ? b->run[0][0].src : b->run[0][0].dst;
    return true;
}

static void
add_part(engine_pieces *x, parts *list, const program_move *m, int move,
         int piece, program_box box)
{
    axe_ctx *cx = x->p.e->cx;
    bool     gives = list == &x->out, adds = !gives && phase_of(x)->add;
    int      buffer = gives ? m->from : phase_of(x)->to;
    int64_t  at = 0, bytes = box.n * (int64_t)x->p.width;
    part    *p;

    if (box.n == 0)
        return;
    if (list->n == list->room) {
        int   room = list->room ? 2 * list->room : 16;
        part *more = axe_new_array(cx, part, room);

        if (list->n)
            memcpy(more, list->at, (size_t)list->n * sizeof *more);
        list->at = more;
        list->room = room;
    }
    p = &list->at[list->n++];
    *p = (part){.move = move, .piece = piece, .box = box};
    p->direct = !adds && is_run(&box, gives, &at);
    p->message = (engine_message){
        .peer = m->peer,
        .bytes = bytes,
        .tag = FIRST_TAG + piece,
        .at = p->direct ? x->p.buffer[buffer] + (size_t)at * x->p.width
              : x->p.e->addressed ? NULL
                                  : axe_alloc(cx, (size_t)bytes)};
}

/* What comes to this rank: by a peer's pieces where it gives, else by its own.
 */
static void
find_in(engine_pieces *x)
{
    const program_phase *f = phase_of(x);

    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        bool                by_own = !x->giving || m->peer == x->p.g->rank;
        int64_t             grain = by_own ? x->grain : x->grains[m->peer];

        if (x->giving && m->peer == x->p.g->rank)
            continue;
        for (int k = 0; k < x->n_most; k++)
            add_part(x, &x->in, m, i, k, cut_piece(x, &m->box, k, grain));
    }
}

/* What goes from it: by its own pieces where it gives, else by the peer's, to
 * all of them by turns, from the next rank on. */
static void
find_out(engine_pieces *x)
{
    const program_phase *f = phase_of(x);
    int64_t              rank = x->p.g->rank;
    int                  first = 0;

    while (first < f->n_give && f->give[first].peer < rank)
        first++;
    for (int k = 0; k < x->n_most; k++)
        for (int i = 0; i < f->n_give; i++) {
            int                 at = (first + i) % f->n_give;
            const program_move *m = &f->give[at];
            int64_t grain = x->giving ? x->grain : x->grains[m->peer];

            add_part(x, &x->out, m, at, k, cut_piece(x, &m->box, k, grain));
        }
}

axe_status
engine_pieces_new(axe_engine *e, const engine_pieces_spec *spec,
                  engine_pieces **out)
{
    engine_pieces *x = axe_new(e->cx, engine_pieces);

    assert(spec->plan->n_step == 1 && spec->grain > 0);
    x->giving = spec->giving;
    x->one_by_one = spec->one_by_one;
    x->grain = spec->grain;
    AXE_TRY(perform_open(&x->p, e, spec->plan, spec->type));
    x->p.buffer[0] = spec->src;
    x->p.buffer[1] = spec->dst;
    x->elements = x->giving ? x->p.g->n_src : x->p.g->n_dst;
    AXE_TRY(count_pieces(x));
    sort(x);
    AXE_TRY(find_enough(x));
    if (!e->addressed || !x->giving)
        find_in(x);
    if (!e->addressed)
        find_out(x);
    *out = x;
    return AXE_OK;
}

/* ------------------------------------------------------------------ messages
 */

static axe_status
wait_for(engine_pieces *x, engine_message *m)
{
    axe_engine *e = x->p.e;
    int64_t     until = engine_now_ms() + e->timeout_ms;

    for (int i = 1; !m->done; i++) {
        AXE_TRY(e->ops->test(e, m));
        if (!m->done && i % LOOKS == 0)
            sched_yield();
        if (!m->done && i % (LOOKS * LOOKS) == 0 && engine_now_ms() > until)
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE,
                            "rank %" PRId64 " of %" PRId64
                            " waited %.3g s for rank %" PRId64 " in %s",
                            e->rank, e->size, (double)e->timeout_ms / 1e3,
                            m->peer, e->doing);
    }
    return AXE_OK;
}

static axe_status
wait_all(engine_pieces *x, parts *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->at[i].message.peer != x->p.g->rank)
            AXE_TRY(wait_for(x, &list->at[i].message));
    return AXE_OK;
}

static part *
first_open(const engine_pieces *x, const parts *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->at[i].message.peer != x->p.g->rank &&
            list->at[i].message.request && !list->at[i].message.done)
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
            AXE_TRY(x->p.e->ops->test(x->p.e, &p->message));
    }
    return AXE_OK;
}

static axe_status
send(engine_pieces *x, part *p)
{
    perform_walk w = {.box = &p->box,
                      .width = x->p.width,
                      .dst = p->message.at,
                      .src = x->p.buffer[phase_of(x)->give[p->move].from],
                      .dst_packed = true};

    if (!p->direct)
        perform_box(&w);
    return x->p.e->ops->start(x->p.e, true, &p->message);
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
            AXE_TRY(x->p.e->ops->start(x->p.e, false, &x->in.at[i].message));
    return AXE_OK;
}

/* A part that is here, to where it belongs. */
static void
put(engine_pieces *x, const part *p)
{
    const program_phase *f = phase_of(x);
    const program_move  *m = &f->pull[p->move];
    bool                 own = m->peer == x->p.g->rank;
    perform_walk         w = {.box = &p->box,
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
        perform_box(&w);
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
        e->ops->post(e, p->base + 1);
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
        AXE_TRY(x->p.e->ops->test(x->p.e, &p->message));
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
    for (int i = 0; i < x->n && !come; i++) {
        if (x->taken[x->order[i]])
            continue;
        AXE_TRY(has_come(x, x->order[i], &come));
        if (come || *out < 0)
            *out = x->order[i];
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
                                 : wait_for(x, &p->message));
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
    x->p.base = e->posted + (x->giving ? (uint32_t)x->n_most : 0);
    e->posted = x->p.base + (uint32_t)x->p.g->n_phase + 1;
    return x->giving ? begin_giving(x) : begin_taking(x);
}

axe_status
engine_pieces_next(engine_pieces *x, int64_t *from, int64_t *to)
{
    int piece;

    *from = *to = -1;
    if (++x->at >= x->n)
        return AXE_OK;
    piece = x->order[x->at];
    if (!x->giving) {
        AXE_TRY(choose(x, &piece));
        AXE_TRY(take(x, piece));
    }
    *from = piece * x->grain;
    *to = *from + x->grain < x->elements ? *from + x->grain : x->elements;
    return AXE_OK;
}

axe_status
engine_pieces_done(engine_pieces *x)
{
    axe_engine *e = x->p.e;

    if (x->one_by_one)
        return AXE_OK;
    if (!x->giving)
        return e->addressed ? AXE_OK : look(x);
    if (e->addressed) {
        e->ops->post(e, x->begin + (uint32_t)x->at + 1);
        return AXE_OK;
    }
    AXE_TRY(send_piece(x, x->order[x->at]));
    return look(x);
}

axe_status
engine_pieces_end(engine_pieces *x)
{
    axe_engine *e = x->p.e;
    axe_mark    mark = axe_ctx_mark(e->cx);

    if (x->giving)
        AXE_TRY(end_giving(x));
    else if (!e->addressed)
        AXE_TRY(wait_all(x, &x->out));
    axe_ctx_release(e->cx, mark);
    x->p.enough = NULL;
    if (e->addressed)
        e->ops->post(e, e->posted);
    return AXE_OK;
}
