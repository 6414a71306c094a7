/* simt_feed.c - how the factors of a contraction reach its atom.
 *
 * Either the atom reads the tile itself, in shared memory (simt_desc.c) or in
 * tensor memory (simt_lanes.c), or each thread
 * has what the atom's operand says in registers, for `chunk` steps of k at a
 * time: more than one where an atom takes one step and several lie together in
 * memory, so that they come in one load. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/simt_feed.h"

enum { MAX_ITER = 2 * AXE_MAX_PART + 8 };

static axe_axis
axis_of(const axe_feed_ask *q, axe_counter of)
{
    axe_iter own[2];
    int      n = axe_crew_axes(q->p->simt, q->crew, own);

    return of == AXE_COUNT_LANE || n == 1 ? own[n - 1].axis : own[0].axis;
}

static bool
is_thread(axe_counter of)
{
    return of == AXE_COUNT_WARP || of == AXE_COUNT_LANE;
}

/* Is k the fast one in memory? */
static bool
sum_is_fast(const axe_feed_ask *q)
{
    const axe_layout *l = q->mem;

    return l->n_shard > 0 && l->dim_end[1] > l->dim_end[0] &&
           l->shard[l->n_shard - 1].stride == 1;
}

/* Steps of k that go through registers together: one, but for atoms of single
 * elements a vector of them. */
static int64_t
chunk_for(const axe_feed_ask *q)
{
    int64_t n = q->p->mc->simt->max_vector * 8 / axe_type_table[q->type].bits;

    if (q->k->atom > 1 || !sum_is_fast(q))
        return 1;
    while (q->k->n_rep % n != 0)
        n /= 2;
    return n;
}

/* The layout of what threads hold but for the atom's own part, over
 * (row / its rows, k / its k); notes where repetitions begin. */
static const axe_layout *
outer_of(const axe_feed_ask *q, axe_feed *f)
{
    axe_iter it[MAX_ITER], copy[AXE_MAX_PART];
    int64_t  own = axe_frag_regs(q->p->cx, q->inner);
    int64_t  regs = own * f->chunk;
    int      n = q->row->n_part, n_copy = 0, end[2];

    f->n_reg = 0;
    for (int i = n - 1; i >= 0; i--) {
        const axe_part *p = &q->row->part[i];
        if (is_thread(p->of)) {
            it[i] =
                (axe_iter){p->extent, p->over, axis_of(q, p->of), AXE_UNIT_ONE};
            continue;
        }
        it[i] = (axe_iter){p->extent, regs, q->p->simt->reg, AXE_UNIT_ONE};
        f->reg[f->n_reg++] = (axe_step){p->of, p->over, p->extent, regs};
        regs *= p->extent;
    }
    f->regs = regs;
    end[0] = n;
    it[n++] =
        (axe_iter){q->k->n_rep / f->chunk, regs, q->p->simt->reg, AXE_UNIT_ONE};
    it[n++] = (axe_iter){f->chunk, own, q->p->simt->reg, AXE_UNIT_ONE};
    if (f->chunk > 1)
        f->reg[f->n_reg++] = (axe_step){AXE_COUNT_K, 1, f->chunk, own};
    end[1] = n;
    for (int i = 0; i < q->other->n_part; i++) {
        const axe_part *p = &q->other->part[i];
        if (is_thread(p->of))
            copy[n_copy++] =
                (axe_iter){p->extent, p->over, axis_of(q, p->of), AXE_UNIT_ONE};
    }
    axe_layout        spec = {.n_shard = n,
                              .shard = it,
                              .n_replica = n_copy,
                              .replica = copy,
                              .n_dim = 2,
                              .dim_end = end};
    const axe_layout *l;
    return axe_layout_make(q->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

/* All that the threads hold, over (row, k). */
static const axe_layout *
fragment(const axe_feed_ask *q, axe_feed *f)
{
    axe_ctx          *cx = q->p->cx;
    const axe_layout *o = outer_of(q, f), *l;
    int64_t           out[2] = {q->row->extent / q->row->atom, q->k->n_rep};
    int64_t           in[2] = {q->row->atom, q->k->atom};
    int64_t           all[2] = {q->row->extent, q->k->extent};

    if (!o ||
        axe_layout_direct_sum(cx, o, (axe_shape){2, out}, q->inner,
                              (axe_shape){2, in}, &l) != AXE_OK ||
        axe_layout_group(cx, l, (axe_shape){2, all}, &l) != AXE_OK)
        return NULL;
    return l;
}

/* Turns of the whole fragment as chunks, and turns in one. */
static void
split_turns(axe_ctx *cx, axe_feed *f, int64_t n_chunk)
{
    axe_reg_move *m = &f->load;
    axe_step     *step = axe_new_array(cx, axe_step, 2 * m->n_step + 1);
    int64_t       per = m->n_turn / n_chunk;
    int           n = 0;

    for (int i = 0; i < m->n_step; i++) {
        axe_step s = m->step[i];
        int64_t  reach = s.over * s.extent;
        if (s.of != AXE_COUNT_TURN) {
            step[n++] = s;
        } else if (reach <= per) {
            step[n++] = s;
        } else if (s.over >= per) {
            s.of = AXE_COUNT_K;
            s.over = s.over / per * f->chunk;
            step[n++] = s;
        } else {
            step[n++] =
                (axe_step){AXE_COUNT_TURN, s.over, per / s.over, s.stride};
            step[n++] = (axe_step){AXE_COUNT_K, f->chunk, reach / per,
                                   s.stride * (per / s.over)};
        }
    }
    m->banks.phases /= n_chunk;
    m->banks.cycles /= n_chunk;
    m->n_turn = per;
    m->n_step = n;
    m->step = step;
}

/* In chunks that are whole loads. */
static bool
through_registers(const axe_feed_ask *q, axe_feed *f, const char **why)
{
    axe_frag_ask ask = {.cx = q->p->cx,
                        .mc = q->p->mc,
                        .kind = AXE_ATOM_LOAD,
                        .space = AXE_ARG_SHARED,
                        .type = q->type,
                        .n_thread = q->crew->n_thread,
                        .mem = q->mem,
                        .swizzle = q->swizzle,
                        .align = q->align};

    *why = "no load brings its elements to the threads that need them";
    for (f->chunk = chunk_for(q); q->k->n_rep % f->chunk == 0; f->chunk *= 2) {
        int64_t n = q->k->n_rep / f->chunk;
        ask.reg = f->frag = fragment(q, f);
        if (!ask.reg || !axe_frag_find(&ask, &f->load))
            return false;
        if (f->load.n_turn % n != 0)
            continue;
        split_turns(q->p->cx, f, n);
        return true;
    }
    return false;
}

const axe_layout *
axe_feed_layout(const axe_feed_ask *q)
{
    axe_feed f = {.chunk = 1};

    return fragment(q, &f);
}

bool
axe_feed_fit(const axe_feed_ask *q, axe_feed *out, const char **why)
{
    if (q->held)
        return axe_held_fit(q, out, why);
    *out = (axe_feed){.direct = q->atom->space[q->side] != AXE_ARG_REG,
                      .chunk = 1};
    if (q->atom->space[q->side] == AXE_ARG_TMEM)
        return axe_tmem_fit(q, &out->desc, why);
    return out->direct ? axe_desc_fit(q, &out->desc, why)
                       : through_registers(q, out, why);
}

double
axe_feed_cycles(const axe_feed_ask *q, const axe_feed *f)
{
    int64_t crews = q->atom->space[0] == AXE_ARG_TMEM
                        ? 1
                        : q->crew->n_thread / axe_atom_threads(q->atom);
    int64_t warps = q->crew->n_thread / q->p->mc->simt->lanes;

    if (f->held)
        return 0;
    if (f->direct)
        return (double)(f->desc.banks.cycles * crews * q->row->n_rep *
                        q->other->n_rep * q->k->n_rep);
    return (double)(f->load.banks.cycles * warps * q->k->n_rep / f->chunk);
}
