/* pieces_land.c - where what peers give is put as it comes, in a memory with
 * queues.
 *
 * What is not added goes where it belongs.  Addends wait, one behind the other,
 * until all of them are there: they are added in the order of ranks, whichever
 * came first. */
#include "engine/pieces_int.h"

#include <stdlib.h>

#include "base/ctx.h"

enum { GRAIN = 256 /* [bytes] where a pull's addends begin */ };

/* The box with one side's elements one behind the other. */
static program_box
dense(axe_ctx *cx, const program_box *b, bool src)
{
    program_box out = *b;
    int64_t     pitch = 1;

    for (int d = b->n_dim - 1; d >= 0; d--) {
        int64_t n = 0;

        out.run[d] = axe_new_array(cx, program_run, b->n_run[d] + 1);
        for (int i = 0; i < b->n_run[d]; i++) {
            out.run[d][i] = b->run[d][i];
            *(src ? &out.run[d][i].src : &out.run[d][i].dst) = n;
            n += b->run[d][i].n;
        }
        *(src ? &out.src_pitch[d] : &out.dst_pitch[d]) = pitch;
        pitch *= n;
    }
    return out;
}

/* What no memory has stays so. */
static int64_t
room_of(const program_move *m, int64_t width)
{
    int64_t most = INT64_MAX / (8 * ENGINE_RANKS);

    return m->box.n < most / width
               ? (m->box.n * width + GRAIN - 1) / GRAIN * GRAIN
               : most;
}

/* Of all addends that come to a rank. */
static int64_t
landing(const program *g, int64_t width)
{
    const program_phase *f = g->phase;
    int64_t              sum = 0;

    for (int i = 0; g->n_phase > 0 && f->add && i < f->n_pull; i++)
        if (f->pull[i].peer != g->rank)
            sum += room_of(&f->pull[i], width);
    return sum;
}

axe_status
engine_pieces_landing(axe_ctx *cx, const axe_reshard_plan *plan, bool giving,
                      int64_t *out)
{
    axe_mark mark = axe_ctx_mark(cx);
    int64_t  most = 0;

    for (int64_t r = 0; giving && r < plan->mesh->n_device; r++) {
        const program *g;
        int64_t        n;

        AXE_TRY(program_of(cx, plan, r, NULL, &g));
        n = landing(g, plan->bits / 8);
        most = n > most ? n : most;
    }
    axe_ctx_release(cx, mark);
    *out = most;
    return AXE_OK;
}

/* Who gives sooner is pulled from sooner; of pieces that peers do at a time,
 * the one of the peer that gives to this rank first. */
static int
by_time(const void *a, const void *b)
{
    const part *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->far > y->far) - (x->far < y->far);
}

static void
set_order(engine_pieces *x)
{
    int64_t size = x->p.g->size, rank = x->p.g->rank;

    for (int i = 0; i < x->in.n; i++) {
        part          *p = &x->in.at[i];
        const int32_t *place =
            axe_engine_peer(x->p.e, x->place, p->message.peer);

        p->count = (uint32_t)place[p->piece] + 1;
        p->far = (rank - p->message.peer + size) % size;
    }
    if (x->in.n > 0)
        qsort(x->in.at, (size_t)x->in.n, sizeof x->in.at[0], by_time);
}

/* Parts go into the room of their pull, and from there where they belong. */
static axe_status
take_room(engine_pieces *x)
{
    axe_ctx             *cx = x->p.e->cx;
    const program_phase *f = phase_of(x);
    program_box         *to = axe_new_array(cx, program_box, f->n_pull + 1);
    void                *at;
    int64_t              bytes, used = 0;

    AXE_TRY(engine_pieces_landing(cx, x->plan, true, &bytes));
    AXE_TRY(x->p.m->ops->alloc(x->p.m, bytes, &at));
    for (int i = 0; i < f->n_pull; i++) {
        if (f->pull[i].peer == x->p.g->rank)
            continue;
        to[i] = dense(cx, &f->pull[i].box, false);
        x->landed[i].at = (char *)at + used;
        x->landed[i].box = dense(cx, &f->pull[i].box, true);
        used += room_of(&f->pull[i], (int64_t)x->p.width);
    }
    for (int i = 0; i < x->in.n; i++) {
        part *p = &x->in.at[i];

        p->box = pieces_box(&x->c, &to[p->move], p->piece,
                            x->grains[p->message.peer]);
    }
    return AXE_OK;
}

axe_status
pieces_land(engine_pieces *x)
{
    axe_engine          *e = x->p.e;
    const program_phase *f = phase_of(x);

    x->heard = axe_new_array(e->cx, uint32_t, e->size);
    for (int64_t r = 0; r < e->size; r++)
        x->heard[r] = e->posted;
    if (!x->c.giving)
        return AXE_OK;
    set_order(x);
    x->landed = axe_new_array(e->cx, perform_landed, f->n_pull + 1);
    return f->add ? take_room(x) : AXE_OK;
}
