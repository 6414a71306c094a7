/* tmem_operand.c - factors of a contraction that lie in a memory of two axes:
 * tensor memory, and shared memory that is in partitions.
 *
 * An atom that reads one finds its rows in lanes and its steps of the sum in
 * columns, or its steps of the sum in partitions, at the places that its row of
 * the table says.  Taking these out of the tile's layout by tile-of leaves what
 * repetitions and further steps go by: the fast axis alone, as one thread asks
 * for all lanes at once. */
#include "plan/simt/contract/operand_path.h"
#include "plan/simt/tmem/tmem.h"

enum { MAX_STEP = 32, MAX_ITER = 2 * AXE_MAX_PART + 2 };

const axe_layout *
axe_tmem_wanted(const axe_factor_query *q, int64_t rows, int64_t sums)
{
    axe_ctx          *cx = q->p->cx;
    int64_t           out[2] = {rows / q->row->atom, sums / q->k->atom};
    int64_t           in[2] = {q->row->atom, q->k->atom};
    int64_t           all[2] = {rows, sums};
    axe_axis          column = q->p->simt->tcol;
    axe_iter          it[AXE_MAX_PART + 2];
    int               n = q->row->n_part, end[2] = {n + 1, n + 2};
    const axe_layout *l;

    if (rows % q->row->extent != 0 || sums % q->k->atom != 0)
        return NULL;
    it[0] = (axe_iter){rows / q->row->extent, q->row->n_rep * out[1], column,
                       AXE_UNIT_ONE};
    for (int i = 0; i < n; i++) {
        const axe_part *p = &q->row->part[i];
        if (p->of != AXE_COUNT_M && p->of != AXE_COUNT_N)
            return NULL;
        it[i + 1] =
            (axe_iter){p->extent, p->over * out[1], column, AXE_UNIT_ONE};
    }
    it[n + 1] = (axe_iter){out[1], 1, column, AXE_UNIT_ONE};
    axe_layout spec = {
        .n_shard = n + 2, .shard = it, .n_dim = 2, .dim_end = end};
    if (axe_layout_make(cx, &spec, &l) != AXE_OK ||
        axe_layout_tile(cx, l, (axe_shape){2, out}, q->inner,
                        (axe_shape){2, in}, &l) != AXE_OK ||
        axe_layout_group(cx, l, (axe_shape){2, all}, &l) != AXE_OK ||
        axe_layout_canon(cx, l, &l) != AXE_OK)
        return NULL;
    return l;
}

static axe_space
space_of(const axe_factor_query *q)
{
    return q->atom->space[q->side] == AXE_ARG_TMEM ? AXE_SPACE_TMEM
                                                   : AXE_SPACE_SHARED;
}

/* The tile over the memory's two axes. */
static const axe_layout *
over_lanes(const axe_factor_query *q)
{
    const axe_simt_plan *sp = q->p->simt;
    axe_space            in = space_of(q);
    int64_t    lane = sp->space[in]->pitch / axe_type_table[q->type].bits;
    axe_iter  *it = axe_new_array(q->p->cx, axe_iter, q->mem->n_shard + 1);
    axe_layout spec = *q->mem;
    const axe_layout *l;

    for (int i = 0; i < q->mem->n_shard; i++)
        it[i] = axe_iter_on(sp, in, lane, q->mem->shard[i]);
    spec.shard = it;
    return axe_layout_make(q->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

/* Dimensions of `l` from `first` on are the parts of one index. */
static bool
add_steps(const axe_factor_query *q, const axe_spread *s, const axe_layout *l,
          int first, int64_t span, axe_step *step, int *n)
{
    for (int i = 0; i < s->n_part; i++) {
        int     d = first + i, begin = d > 0 ? l->dim_end[d - 1] : 0;
        int64_t over = s->part[i].over;
        for (int k = l->dim_end[d] - 1; k >= begin; k--) {
            axe_iter it = l->shard[k];
            if (*n == MAX_STEP ||
                (it.extent > 1 && it.axis != q->p->simt->fast[space_of(q)]))
                return false;
            step[(*n)++] =
                (axe_step){s->part[i].of, over, it.extent, it.stride * span};
            over *= it.extent;
        }
    }
    return true;
}

bool
axe_tmem_fit(const axe_factor_query *q, axe_descriptor *out, const char **why)
{
    axe_ctx          *cx = q->p->cx;
    int64_t           in[2] = {q->row->atom, q->k->atom}, span;
    int64_t           all[2] = {q->row->extent, q->k->extent};
    int64_t           part[MAX_ITER];
    axe_step         *step = axe_new_array(cx, axe_step, MAX_STEP);
    const axe_layout *l = over_lanes(q);
    int               n = 0, n_part = 0;

    for (int i = 0; i < q->row->n_part; i++)
        part[n_part++] = q->row->part[i].extent;
    for (int i = 0; i < q->k->n_part; i++)
        part[n_part++] = q->k->part[i].extent;
    *why = space_of(q) == AXE_SPACE_TMEM
               ? "its rows and sums are not in the lanes and columns that the "
                 "atom reads"
               : "its rows and sums are not in the partitions that the atom "
                 "reads, and along them";
    if (!l ||
        axe_layout_tile_of(cx, l, (axe_shape){2, all}, q->inner,
                           (axe_shape){2, in}, &l) != AXE_OK ||
        axe_layout_group(cx, l, (axe_shape){n_part, part}, &l) != AXE_OK ||
        axe_layout_span(cx, q->inner, q->p->simt->fast[space_of(q)], &span) !=
            AXE_OK ||
        !add_steps(q, q->row, l, 0, span, step, &n) ||
        !add_steps(q, q->k, l, q->row->n_part, span, step, &n))
        return false;
    *out = (axe_descriptor){.n_step = n, .step = step};
    return true;
}
