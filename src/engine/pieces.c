/* pieces.c - a plan of one step, cut into pieces: in which order they are, and
 * what of them goes where.
 *
 * Where peers' memory has an address a rank counts on as pieces are done, and
 * where a piece is in its order stands in symmetric memory: who pulls some of
 * them waits for the last of these alone.  Where its memory has queues, ranks
 * that need some of a piece are told, and each of its parts is pulled when it
 * is there.  By messages each piece that another rank needs some of is one, in
 * parts, with the piece's number as its tag. */
#include "engine/pieces_int.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/ctx.h"

/* Messages of up to CHUNK_BYTES go off at once, without an answer: MPIs ask
 * before longer ones, and the answer waits for the next look. */
enum { FIRST_TAG = 1, CHUNK_BYTES = 48 << 10 };

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
            (program_run){r.src + lo - at, r.dst + lo - at, hi - lo, 0};
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

program_box
pieces_box(const pieces_cut *c, const program_box *b, int piece, int64_t grain)
{
    return cut(c->cx, b, c->giving, piece * grain, (piece + 1) * grain);
}

/* --------------------------------------------------------------- the order */

/* How far from this rank those are that a piece goes to or comes from: 0: it is
 * of this rank alone. */
static int64_t
distance(const pieces_cut *c, int piece)
{
    const program_phase *f = pieces_phase(c);
    const program_move  *m = c->giving ? f->give : f->pull;
    int64_t              size = c->g->size, rank = c->g->rank, out = 0;

    for (int i = 0; i < (c->giving ? f->n_give : f->n_pull); i++) {
        int64_t far = (c->giving ? m[i].peer - rank : rank - m[i].peer) + size;

        if (m[i].peer == rank ||
            pieces_box(c, &m[i].box, piece, c->grain).n == 0)
            continue;
        far %= size;
        if (out == 0 || (c->giving ? far < out : far > out))
            out = far;
    }
    return out;
}

/* Giving, by who is next; what nobody else needs is last.  Taking, what is here
 * is first. */
static void
sort(pieces_cut *c)
{
    axe_mark mark = axe_ctx_mark(c->cx);
    int64_t  key[ENGINE_PIECES];

    for (int i = 0; i < c->n; i++) {
        int k = i;

        key[i] = distance(c, i);
        if (c->giving && key[i] == 0)
            key[i] = c->g->size;
        for (; k > 0 && key[c->order[k - 1]] > key[i]; k--)
            c->order[k] = c->order[k - 1];
        c->order[k] = i;
    }
    axe_ctx_release(c->cx, mark);
}

void
pieces_cut_open(axe_ctx *cx, const program *g, bool giving, int64_t grain,
                pieces_cut *out)
{
    int64_t all;

    out->cx = cx;
    out->g = g;
    out->giving = giving;
    out->grain = grain;
    out->elements = giving ? g->n_src : g->n_dst;
    all = out->elements / grain + (out->elements % grain != 0);
    out->n = all < INT_MAX ? (int)all : INT_MAX;
    if (out->n <= ENGINE_PIECES)
        sort(out);
}

uint32_t
pieces_enough(const pieces_cut *c, const program_box *b, int n_most,
              int64_t grain, const int32_t *place)
{
    uint32_t out = 0;

    for (int k = 0; k < n_most; k++)
        if (pieces_box(c, b, k, grain).n > 0 && (uint32_t)place[k] + 1 > out)
            out = (uint32_t)place[k] + 1;
    return out;
}

/* ----------------------------------------------------------------- preparing
 */

static axe_status
count_pieces(engine_pieces *x)
{
    axe_engine *e = x->p.e;
    int64_t     mine[2], *all = axe_new_array(e->cx, int64_t, 2 * e->size);

    mine[0] = x->c.grain;
    mine[1] = x->c.n;
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
    return AXE_OK;
}

/* What is enough of each pull's peer. */
static axe_status
find_enough(engine_pieces *x)
{
    axe_engine          *e = x->p.e;
    const program_phase *f = phase_of(x);
    void                *at;

    AXE_TRY(
        axe_engine_alloc(e, ENGINE_PIECES * (int64_t)sizeof x->place[0], &at));
    x->place = at;
    for (int i = 0; i < x->c.n; i++)
        x->place[x->c.order[i]] = i;
    AXE_TRY(axe_engine_barrier(e));
    if (!e->addressed || !x->c.giving)
        return AXE_OK;
    x->enough = axe_new_array(e->cx, uint32_t, f->n_pull + 1);
    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];

        x->enough[i] =
            pieces_enough(&x->c, &m->box, x->n_most, x->grains[m->peer],
                          axe_engine_peer(e, x->place, m->peer));
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
cut_message(axe_ctx *cx, part *p)
{
    int64_t n = (p->message.bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;

    p->n_chunk = (int)n;
    p->chunk = axe_new_array(cx, engine_message, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * CHUNK_BYTES, left = p->message.bytes - at;

        p->chunk[i] = p->message;
        p->chunk[i].at = (char *)p->message.at + at;
        p->chunk[i].bytes = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    }
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
    if (!x->p.e->addressed && m->peer != x->p.g->rank)
        cut_message(cx, p);
}

/* What comes to this rank: by a peer's pieces where it gives, else by its own.
 */
static void
find_in(engine_pieces *x)
{
    const program_phase *f = phase_of(x);

    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        bool                by_own = !x->c.giving || m->peer == x->p.g->rank;
        int64_t             grain = by_own ? x->c.grain : x->grains[m->peer];

        if (x->c.giving && m->peer == x->p.g->rank)
            continue;
        for (int k = 0; k < x->n_most; k++)
            add_part(x, &x->in, m, i, k, pieces_box(&x->c, &m->box, k, grain));
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
            int64_t grain = x->c.giving ? x->c.grain : x->grains[m->peer];

            add_part(x, &x->out, m, at, k,
                     pieces_box(&x->c, &m->box, k, grain));
        }
}

axe_status
engine_pieces_new(axe_engine *e, const engine_pieces_spec *spec,
                  engine_pieces **out)
{
    engine_pieces *x = axe_new(e->cx, engine_pieces);

    assert(spec->plan->n_step == 1 && spec->grain > 0);
    x->plan = spec->plan;
    x->one_by_one = spec->one_by_one;
    AXE_TRY(perform_open(&x->p, e, spec->plan, spec->type, NULL));
    x->p.queues = x->p.m->queues;
    assert(x->p.queues || x->p.m == &x->p.host);
    x->p.buffer[0] = spec->src;
    x->p.buffer[1] = spec->dst;
    pieces_cut_open(e->cx, x->p.g, spec->giving, spec->grain, &x->c);
    AXE_TRY(count_pieces(x));
    AXE_TRY(find_enough(x));
    if (!e->addressed || x->p.queues || !x->c.giving)
        find_in(x);
    if (!e->addressed || (x->p.queues && x->c.giving))
        find_out(x);
    if (x->p.queues) {
        AXE_TRY(pieces_land(x));
        AXE_TRY(pieces_rehearse(x));
    }
    *out = x;
    return AXE_OK;
}
