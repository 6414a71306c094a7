/* pieces.c - what devices compute and what goes between them, piece by
 * piece.
 *
 * What a plan begins and ends with is in symmetric memory for good, at the same
 * place on each rank: so where peers' memory has an address, a piece is given
 * by counting, and nothing is copied but what is needed elsewhere. */
#include <stdlib.h>

#include "base/ctx.h"
#include "lower/lower.h"
#include "plan/plan.h"
#include "run/array/values.h"
#include "run/dist/run.h"

/* Pieces are few enough that none is short, and many enough that the last one
 * is little of all.  From memory that has an address a rank takes by itself,
 * while it does not compute: there pieces only let it begin before a peer is
 * done, for which few are enough.  Where a queue of the memory takes, each
 * piece is a launch. */
enum {
    PIECES = 32,
    ADDRESSED_PIECES = 4,
    QUEUE_PIECES = 8,
    PIECE_BYTES = 16 << 10,
    WORKER_PIECES = 4,
    WAVES_MORE = 8, /* at most one of so many */
    ROWS_APART =
        32 /* rows whose bytes are on 16, whatever elements they have */
};

struct axe_dist_piecing {
    engine_pieces *x;
    void          *end[2];     /* where the plan begins and ends */
    int64_t        rows, each; /* that this rank has; elements of one */
};

/* ------------------------------------------------------------------ opening */

/* Of the device that has most. */
static int64_t
most_bytes(const axe_dist_runner *r, const axe_tensor *t)
{
    int64_t most = 0;

    for (int64_t i = 0; i < r->d->n_device; i++) {
        int64_t n = axe_dist_part(r->d, i, t, NULL, NULL);

        most = n > most ? n : most;
    }
    return axe_type_bytes(t->type, most);
}

static axe_status
open_end(axe_dist_runner *r, const axe_fuse *f, int tensor, void **out)
{
    const axe_tensor *t = tensor < 0 ? f->local : axe_dist_tensor(r->d, tensor);

    if (tensor >= 0 && r->home[tensor]) {
        *out = r->data[tensor];
        return AXE_OK;
    }
    AXE_TRY(r->memory ? r->memory->ops->alloc(r->memory, most_bytes(r, t), out)
                      : axe_engine_alloc(r->e, most_bytes(r, t), out));
    if (tensor >= 0) {
        r->home[tensor] = true;
        r->data[tensor] = *out;
    }
    return AXE_OK;
}

static const axe_program *
program_of_fuse(const axe_dist_runner *r, const axe_fuse *f)
{
    return f->device >= 0 ? r->d->program->part[f->device]
                          : f->between->program;
}

/* A value of what is computed, on n rows. */
static bool
value_at(const axe_dist_runner *r, const axe_fuse *f, int64_t n,
         const axe_node *of, int64_t *out)
{
    const axe_kernel *k = program_of_fuse(r, f)->plan->kernel;
    int64_t          *size = axe_new_array(r->cx, int64_t, k->n_size);
    axe_values        in = {
               .kernel = k, .size = size, .cores = axe_device_n_thread(r->device)};

    for (int i = 0; i < k->n_size; i++)
        size[i] = k->size[i] == f->rows.size
                      ? n
                      : axe_dist_size(r->d, NULL, r->rank, k->size[i]);
    return axe_value_of(&in, of, out);
}

/* Which side of its branch, if it has one, the kernel takes for n rows. */
static bool
side_of(const axe_dist_runner *r, const axe_fuse *f, int64_t n)
{
    const axe_program *p = program_of_fuse(r, f);
    int64_t            yes = 0;

    return p->side_text[0] &&
           value_at(r, f, n, axe_lowered_branch(p->lowered)->value, &yes) &&
           yes != 0;
}

/* How often `width` CTAs at a time are started for n rows; the last time may
 * leave some of the device with nothing. */
static int64_t
waves_of(const axe_dist_runner *r, const axe_fuse *f, int64_t n, int64_t width)
{
    const axe_lowered *l = program_of_fuse(r, f)->lowered;
    int64_t            sum = 0, blocks;

    for (int i = 0; i < l->n_grid && n > 0; i++)
        if (l->grid[i].n_host_loop == 0 &&
            value_at(r, f, n, l->grid[i].blocks, &blocks))
            sum += (blocks + width - 1) / width;
    return sum;
}

/* Tiles of a piece, `by` or more, with which pieces take hardly more waves than
 * all rows at once, and begin where accesses of any width may. */
static int64_t
by_waves(const axe_dist_runner *r, const axe_fuse *f, int64_t rows, int64_t by,
         int64_t width)
{
    axe_mark mark = axe_ctx_mark(r->cx);
    int64_t  tile = f->rows.tile, n_tile = rows / tile + (rows % tile != 0);
    int64_t  all = waves_of(r, f, rows, width), step = 1;

    while (step < ROWS_APART && step * tile % ROWS_APART != 0)
        step *= 2;
    for (by = (by + step - 1) / step * step; by < n_tile; by += step) {
        int64_t n = rows / (by * tile), left = rows - n * by * tile;

        if (n * waves_of(r, f, by * tile, width) +
                waves_of(r, f, left, width) <=
            all + all / WAVES_MORE)
            break;
    }
    axe_ctx_release(r->cx, mark);
    return by;
}

static int64_t
most_pieces(const axe_dist_runner *r)
{
    if (r->memory)
        return QUEUE_PIECES;
    return r->e->addressed ? ADDRESSED_PIECES : PIECES;
}

/* Rows of a piece: of whole tiles, and so many that the kernel does as it does
 * for all rows. */
static int64_t
rows_of_piece(const axe_dist_runner *r, const axe_fuse *f, int64_t rows,
              int64_t row_bytes)
{
    axe_dist_width w = r->ops->width(
        r, f->device >= 0 ? r->part[f->device]
                          : r->between[f->between - r->p->between]);
    int64_t most = most_pieces(r), n_worker = w.waves ? 1 : w.n;
    int64_t tile = f->rows.tile, n_tile = rows / tile + (rows % tile != 0);
    int64_t by = (n_tile + most - 1) / most, bytes = tile * row_bytes;
    int64_t few = (n_tile + WORKER_PIECES - 1) / WORKER_PIECES;

    few = few < n_worker ? few : n_worker;
    if (n_worker > 1 && by < few)
        by = few;
    if (bytes > 0 && by < PIECE_BYTES / bytes)
        by = PIECE_BYTES / bytes;
    by = by > 0 ? by : 1;
    if (w.waves)
        by = by_waves(r, f, rows, by, w.n);
    while (by < n_tile && side_of(r, f, by * tile) != side_of(r, f, rows))
        by *= 2;
    return by * tile;
}

static axe_status
open_one(axe_dist_runner *r, const axe_fuse *f, axe_dist_piecing *g)
{
    int                t = f->giving ? f->src : f->dst;
    const axe_tensor  *cut = t < 0 ? f->local : axe_dist_tensor(r->d, t);
    int64_t            n = axe_dist_part(r->d, r->rank, cut, NULL, NULL);
    engine_pieces_spec spec = {
        .plan = f->plan, .giving = f->giving, .one_by_one = r->p->one_by_one};

    AXE_TRY(open_end(r, f, f->src, &g->end[0]));
    AXE_TRY(open_end(r, f, f->dst, &g->end[1]));
    g->rows = axe_dist_size(r->d, NULL, r->rank, f->rows.size);
    g->each = g->rows > 0 ? n / g->rows : 0;
    spec.src = g->end[0];
    spec.dst = g->end[1];
    spec.grain =
        rows_of_piece(r, f, g->rows, axe_type_bytes(cut->type, g->each));
    spec.grain *= g->each > 0 ? g->each : 1;
    AXE_TRY(axe_dist_number(r->cx, cut, &spec.type));
    return engine_pieces_new(r->e, &spec, &g->x);
}

axe_status
axe_dist_pieces_open(axe_dist_runner *r)
{
    r->piecing = axe_new_array(r->cx, axe_dist_piecing, r->p->n_fuse + 1);
    for (int i = 0; i < r->p->n_fuse; i++)
        AXE_TRY(open_one(r, &r->p->fuse[i], &r->piecing[i]));
    return AXE_OK;
}

axe_status
axe_dist_settle(axe_dist_runner *r)
{
    bool lent = r->lent;

    r->lent = false;
    return lent && r->e->addressed ? axe_engine_barrier(r->e) : AXE_OK;
}

/* ------------------------------------------------------------------ running */

typedef struct stage {
    axe_dist_runner *r;
    const axe_fuse  *fuse;
    void            *exec;
    axe_array       *array; /* of all rows */
    const axe_frame *frame;
} stage;

/* What is computed, on rows [from, to). */
static axe_status
run_rows(const stage *s, int64_t from, int64_t to)
{
    const axe_kernel *k = s->fuse->kernel;
    axe_ctx          *cx = s->r->cx;
    axe_mark          mark = axe_ctx_mark(cx);
    axe_array        *array = axe_new_array(cx, axe_array, k->n_param);

    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        int64_t           each = 1;
        int64_t          *shape;

        array[i] = s->array[i];
        if (t->rank == 0 || t->shape[0]->op != AXE_OP_var ||
            t->shape[0]->u.var != s->fuse->rows.size)
            continue;
        shape = axe_new_array(cx, int64_t, t->rank);
        shape[0] = to - from;
        for (int d = 1; d < t->rank; d++)
            each *= shape[d] = s->array[i].shape[d];
        array[i].shape = shape;
        array[i].data =
            (char *)array[i].data + axe_type_bytes(t->type, from * each);
    }
    AXE_TRY(axe_dist_launch(s->r, s->exec, k, array, s->frame,
                            s->fuse->rows.size, to - from));
    axe_ctx_release(cx, mark);
    return AXE_OK;
}

static axe_status
run_pieces(const stage *s, const axe_dist_piecing *g)
{
    int64_t from, to;

    for (;;) {
        AXE_TRY(engine_pieces_next(g->x, &from, &to));
        if (from < 0)
            break;
        AXE_TRY(run_rows(s, from / g->each, to / g->each));
        AXE_TRY(engine_pieces_done(g->x));
    }
    return g->each == 0 ? run_rows(s, 0, g->rows) : AXE_OK;
}

static axe_status
run_stage(stage *s, const axe_dist_piecing *g)
{
    axe_status st;

    AXE_TRY(axe_dist_settle(s->r));
    AXE_TRY(s->r->ops->numbers(s->r, s->fuse->kernel, s->array));
    st = engine_pieces_begin(g->x);
    if (st == AXE_OK)
        st = run_pieces(s, g);
    s->r->lent = true;
    s->r->planned += s->fuse->plan->total * s->fuse->plan->bits / 8;
    if (st == AXE_OK)
        st = engine_pieces_end(g->x);
    if (st != AXE_OK)
        engine_pieces_stop(g->x);
    return st;
}

static axe_status
run_device(stage *s, const axe_dist_piecing *g)
{
    axe_dist_runner  *r = s->r;
    const axe_kernel *k = s->fuse->kernel;

    s->exec = r->part[s->fuse->device];
    s->array = axe_new_array(r->cx, axe_array, k->n_param);
    for (int i = 0; i < k->n_param; i++) {
        int t = axe_dist_find(r->d, k->param[i]->name);

        s->array[i] = axe_dist_array(r->cx, r->d, s->frame, r->rank,
                                     axe_dist_tensor(r->d, t),
                                     k->param[i]->name, r->data[t]);
    }
    return run_stage(s, g);
}

/* A statement's operands but the one that is taken are brought before. */
static axe_status
run_between(stage *s, const axe_dist_piecing *g)
{
    axe_dist_runner   *r = s->r;
    const axe_between *b = s->fuse->between;
    int                n = b->n_arg;
    void             **data = axe_new_array(r->cx, void *, n + 1);
    bool              *own = axe_new_array(r->cx, bool, n + 1);
    axe_status         st = AXE_OK;

    s->exec = r->between[b - r->p->between];
    for (int i = 0; i < n && st == AXE_OK; i++) {
        data[i] = g->end[1];
        if (i != s->fuse->arg)
            st = axe_dist_bring(r, b, i, s->frame, data, own);
    }
    data[n] = s->fuse->giving ? g->end[0] : r->data[b->result.tensor];
    if (st == AXE_OK && !s->fuse->giving)
        st = axe_dist_result(r, b, &data[n], &own[n]);
    if (st == AXE_OK) {
        s->array = axe_dist_arrays(r, b, s->frame, data);
        st = run_stage(s, g);
    }
    if (st == AXE_OK && !s->fuse->giving)
        st = axe_dist_deliver(r, b, s->frame, data[n]);
    for (int i = 0; i <= n; i++)
        if (own[i])
            s->r->ops->free(s->r, data[i]);
    return st;
}

axe_status
axe_dist_run_pieces(axe_dist_runner *r, const axe_fuse *fuse,
                    const axe_frame *f)
{
    stage             s = {.r = r, .fuse = fuse, .frame = f};
    axe_dist_piecing *g = &r->piecing[fuse - r->p->fuse];

    return fuse->device >= 0 ? run_device(&s, g) : run_between(&s, g);
}
