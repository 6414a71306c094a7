/* pieces.c - a plan of one step, cut into pieces: in which order they are, and
 * what of them goes where.
 *
 * Where peers' memory has an address a rank counts on as pieces are done, and
 * where a piece is in its order stands in symmetric memory: who pulls some of
 * them waits for the last of these alone.  By messages each piece that another
 * rank needs some of is one, in parts, with the piece's number as its tag. */
#include "engine/pieces_int.h"

#include <assert.h>
#include <inttypes.h>
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
