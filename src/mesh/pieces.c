/* pieces.c - what one device gives another, as layouts of the tensor's index.
 *
 * Each block's indices that are wanted are runs; a piece takes a run of each.
 * Below an uneven extent blocks are taken as in counting: equal to the extent's
 * digits so far, or below them. */
#include <inttypes.h>

#include "base/ctx.h"
#include "mesh/problem.h"

enum { MOST_PIECES = 4096 };

typedef struct cutting {
    axe_ctx            *cx;
    const mesh_problem *p;
    mesh_want           want;
    int64_t             pitch[MESH_DIMS]; /* of a dimension in the tensor */
    int                 n_iter, n, room;
    axe_iter            iter[MESH_BLOCKS];
    const axe_layout  **piece;
} cutting;

static axe_status
emit(cutting *c, int64_t begin)
{
    axe_offset o = {begin, AXE_AXIS_M, AXE_UNIT_ONE};

    if (c->n == MOST_PIECES)
        return axe_fail(c->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: what a device gives another is over %d "
                        "pieces",
                        MOST_PIECES);
    if (c->n == c->room) {
        int                room = c->room ? 4 * c->room : 4;
        const axe_layout **more =
            axe_new_array(c->cx, const axe_layout *, room);

        for (int i = 0; i < c->n; i++)
            more[i] = c->piece[i];
        c->piece = more;
        c->room = room;
    }
    AXE_TRY(axe_layout_make(c->cx,
                            &(axe_layout){.n_shard = c->n_iter,
                                          .shard = c->iter,
                                          .n_offset = 1,
                                          .offset = &o},
                            &c->piece[c->n]));
    AXE_TRY(axe_layout_canon(c->cx, c->piece[c->n], &c->piece[c->n]));
    c->n++;
    return AXE_OK;
}

static axe_status walk_dim(cutting *c, int d, int64_t begin);

/* Blocks from number k on, of dimension d; the tensor's index begins at
 * `begin`. rest: what is left of the extent while all blocks before equal its
 * digits; 0: they are below it. */
static axe_status
walk(cutting *c, int d, int k, int64_t rest, int64_t begin)
{
    const mesh_dim   *m = &c->p->dim[d];
    const mesh_block *b = &c->p->block[k];
    int64_t           by, digit, limit, from = 0, to;
    int               n_iter = c->n_iter;

    if (k == m->block + m->n_block)
        return walk_dim(c, d + 1, begin);
    by = b->step * c->pitch[d];
    digit = rest / b->step;
    limit = rest > 0 ? digit : b->extent;
    for (; mesh_next_run(c->p, b, limit, &c->want, &from, &to); from = to) {
        if (to - from > 1)
            c->iter[c->n_iter++] =
                (axe_iter){to - from, by, AXE_AXIS_M, AXE_UNIT_ONE};
        AXE_TRY(walk(c, d, k + 1, 0, begin + from * by));
        c->n_iter = n_iter;
    }
    if (rest % b->step > 0 && mesh_has(c->p, b, digit, &c->want))
        return walk(c, d, k + 1, rest % b->step, begin + digit * by);
    return AXE_OK;
}

static axe_status
walk_dim(cutting *c, int d, int64_t begin)
{
    const mesh_dim *m = d < c->p->n_dim ? &c->p->dim[d] : NULL;

    return !m || m->addend ? emit(c, begin) : walk(c, d, m->block, m->n, begin);
}

axe_status
axe_reshard_pieces(axe_ctx *cx, const axe_reshard_plan *r, int step,
                   int64_t from, int64_t to, int *n,
                   const axe_layout *const **out)
{
    AXE_NEED(cx, r);
    AXE_NEED(cx, n);
    AXE_NEED(cx, out);
    const mesh_problem *p = r->code->p;
    const mesh_state   *a;
    cutting             c = {.cx = cx, .p = p};
    int64_t             at[2][MESH_ATOMS], pitch = 1;

    if (step < 0 || step >= r->n_step || from < 0 || to < 0 ||
        from >= r->mesh->n_device || to >= r->mesh->n_device)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "reshard: a plan of %d steps over %" PRId64
                        " devices has no step %d from %" PRId64 " to %" PRId64,
                        r->n_step, r->mesh->n_device, step, from, to);
    if (r->window)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "reshard: what devices give one another within "
                        "windows is counted, and not told as layouts");
    if (axe_reshard_sends(r, step, from, to) < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "reshard: %s goes in rounds, of which a plan does not "
                        "say who gives whom what",
                        axe_collective_text(r->step[step].kind));
    a = &r->code->state[step];
    for (int d = p->n_dim - 1; d >= 0; d--) {
        c.pitch[d] = pitch;
        pitch *= p->dim[d].addend ? 1 : p->dim[d].n;
    }
    mesh_coordinates(p, from, at[0]);
    mesh_coordinates(p, to, at[1]);
    *n = 0;
    *out = NULL;
    if (!mesh_want_sent(p, a, a + 1, at[0], at[1], &c.want))
        return AXE_OK;
    AXE_TRY(walk_dim(&c, 0, 0));
    *n = c.n;
    *out = c.piece;
    return AXE_OK;
}
