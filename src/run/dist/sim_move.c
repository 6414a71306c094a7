/* sim_move.c - what moves between simulated devices: by the lists that
 * engines over addresses are held to, in several orders. */
#include "base/ctx.h"
#include "run/dist/dist_sim_int.h"

typedef axe_dist_world world;

/* As in pieces.c; a device's launch is of all rows. */
enum { PIECES = 32 };

/* The lists of what overlaps, in pieces of whole tiles. */
static axe_status
list_pieces(const world *w, protocol **out)
{
    const axe_fuse *f = w->fuse;
    int64_t        *grain = axe_new_array(w->cx, int64_t, w->d->n_device);

    for (int64_t q = 0; q < w->d->n_device; q++) {
        int64_t n = axe_reshard_held(f->plan, !f->giving, q);
        int64_t rows = axe_dist_size(w->d, NULL, q, f->rows.size);
        int64_t tiles = (rows + f->rows.tile - 1) / f->rows.tile;
        int64_t by = (tiles + PIECES - 1) / PIECES;

        grain[q] = rows > 0 && n > 0 ? by * f->rows.tile * (n / rows) : 1;
    }
    return protocol_of_pieces(w->cx, f->plan, f->giving, false, grain, out);
}

axe_status
axe_dist_sim_move(world *w, axe_span at, const axe_tensor *t,
                  const axe_reshard_plan *plan, const axe_reshard_bound *bound,
                  void *const *from, void *const *to)
{
    protocol_run   r = {.plan = plan,
                        .bound = bound,
                        .at = at,
                        .src = (const void *const *)(const void *)from,
                        .dst = to,
                        .what = axe_textf(w->cx, "moving %s", t->name)};
    protocol_times times = {
        .now = w->now, .span = axe_dist_sim_span, .user = w};
    bool        pieces = w->fuse && w->fuse->plan == plan;
    axe_traffic moved = {0};
    axe_mark    m;
    protocol   *rank;

    AXE_TRY(axe_dist_number(w->cx, t, &r.type));
    AXE_TRY(pieces ? list_pieces(w, &rank)
                   : protocol_of_plan(w->cx, plan, bound, &rank));
    w->piece = pieces ? rank : w->piece;
    r.rank = rank;
    r.traffic = &moved;
    r.times = w->t && !pieces ? &times : NULL;
    w->out->n_move++;
    for (int64_t i = 0;
         protocol_next_order(w->d->n_device, i, w->with->seed, &r); i++) {
        int n = w->out->n_finding;

        m = axe_ctx_mark(w->cx);
        AXE_TRY(protocol_simulate(w->cx, &r, w->out));
        w->out->n_order++;
        w->out->moved += r.traffic ? moved.total : 0;
        r.traffic = NULL;
        r.times = NULL;
        r.src = NULL;
        if (w->out->n_finding > n)
            break;
        if (i > 0 || !w->t)
            axe_ctx_release(w->cx, m);
    }
    return AXE_OK;
}
