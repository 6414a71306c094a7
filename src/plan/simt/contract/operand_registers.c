/* operand_registers.c - what the threads of a group hold of a factor that goes
 * through registers. */
#include <inttypes.h>
#include <string.h>

#include "machine/thread_rows.h"
#include "plan/simt/contract/operand_path.h"

enum { MAX_ITER = 2 * AXE_MAX_PART + 8 };

static axe_axis
axis_of(const axe_factor_query *q, axe_counter of)
{
    axe_iter own[2];
    int      n = axe_threads_axes(q->p->simt, q->threads, own);

    return of == AXE_COUNT_LANE || n == 1 ? own[n - 1].axis : own[0].axis;
}

static bool
is_thread(axe_counter of)
{
    return of == AXE_COUNT_WARP || of == AXE_COUNT_LANE;
}

/* Is k the fast one in memory? */
static bool
sum_is_fast(const axe_factor_query *q)
{
    const axe_layout *l = q->mem;

    return l->n_shard > 0 && l->dim_end[1] > l->dim_end[0] &&
           l->shard[l->n_shard - 1].stride == 1;
}

/* Steps of k that go through registers together: one, but for atoms of single
 * elements a vector of them. */
int64_t
axe_factor_chunk(const axe_factor_query *q)
{
    int64_t n = axe_simt_vector(q->p->mc, q->type);

    if (q->k->atom > 1 || !sum_is_fast(q))
        return 1;
    while (q->k->n_rep % n != 0)
        n /= 2;
    return n;
}

/* The layout of what threads hold but for the atom's own part, over
 * (row / its rows, k / its k); notes where repetitions begin. */
static const axe_layout *
outer_of(const axe_factor_query *q, axe_factor *f)
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
const axe_layout *
axe_factor_fragment(const axe_factor_query *q, axe_factor *f)
{
    axe_ctx          *cx = q->p->cx;
    const axe_layout *by = outer_of(q, f), *l;
    int64_t           out[2] = {q->row->extent / q->row->atom, q->k->n_rep};
    int64_t           in[2] = {q->row->atom, q->k->atom};
    int64_t           all[2] = {q->row->extent, q->k->extent};

    if (!by ||
        axe_layout_direct_sum(cx, by, (axe_shape){2, out}, q->inner,
                              (axe_shape){2, in}, &l) != AXE_OK ||
        axe_layout_group(cx, l, (axe_shape){2, all}, &l) != AXE_OK)
        return NULL;
    return l;
}

const axe_layout *
axe_factor_layout(const axe_factor_query *q)
{
    axe_factor f = {.chunk = 1};

    return axe_factor_fragment(q, &f);
}
