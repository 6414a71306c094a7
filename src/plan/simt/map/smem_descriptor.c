/* smem_descriptor.c - tiles in shared memory that an atom reads by a
 * descriptor.
 *
 * Such an atom sees memory as blocks of 8 rows of as many bytes as the swizzle
 * keeps in a row (16 without one), rows one after the other.  Along the fast
 * dimension blocks are `lead` bytes apart, along the slow one `stride`; if the
 * sum index is the slow one, the operand is `major`.  Cutting the tile's layout
 * at these extents shows whether it is so, and the numbers.
 *
 * What the hardware calls the leading offset is the step along the fast
 * dimension; without a swizzle it is the one along the sum, whether that is
 * fast or slow. */
#include <inttypes.h>
#include <stdio.h>

#include "plan/simt/contract/operand_path.h"

enum {
    BLOCK_ROWS = AXE_DESC_ROWS,
    CHUNK_BYTES = AXE_DESC_UNIT,
    MAX_STEP = 32,
    MAX_CUT = 32
};

/* One dimension of the operand, cut. */
typedef struct cut {
    int64_t           extent[MAX_CUT];
    int               n;
    int               n_part; /* the first are the spread's parts */
    const axe_layout *l;
} cut;

static const axe_layout *
dim_of(axe_ctx *cx, const axe_layout *l, int d)
{
    int               first = d > 0 ? l->dim_end[d - 1] : 0;
    const axe_layout *out;

    if (axe_layout_of_iters(cx, l->dim_end[d] - first, l->shard + first,
                            &out) != AXE_OK)
        return NULL;
    return out;
}

static bool
cut_dim(const axe_factor_query *q, int d, const axe_spread *s, int n_inner,
        const int64_t *inner, cut *out)
{
    const axe_layout *l = dim_of(q->p->cx, q->mem, d);

    out->n = 0;
    for (int i = 0; i < s->n_part; i++)
        out->extent[out->n++] = s->part[i].extent;
    out->n_part = out->n;
    for (int i = 0; i < n_inner; i++)
        out->extent[out->n++] = inner[i];
    return l && axe_layout_group(q->p->cx, l, (axe_shape){out->n, out->extent},
                                 &out->l) == AXE_OK;
}

/* The stride of dim k of the cut if it is one iter, or iters that step on where
 * the next ones end; 0 if its extent is 1. */
static bool
stride_of(const cut *c, int k, int64_t *stride)
{
    int             first = k > 0 ? c->l->dim_end[k - 1] : 0;
    int             n = c->l->dim_end[k] - first;
    const axe_iter *it = c->l->shard + first;

    *stride = n > 0 ? it[n - 1].stride : 0;
    for (int i = 1; i < n; i++)
        if (it[i - 1].stride != it[i].stride * it[i].extent)
            return false;
    return true;
}

/* The spread's parts as steps of the address. */
static bool
part_steps(const cut *c, const axe_spread *s, int64_t unit, int64_t block,
           axe_step *step, int *n)
{
    for (int i = 0; i < c->n_part; i++) {
        int     first = i > 0 ? c->l->dim_end[i - 1] : 0;
        int64_t over = s->part[i].over;
        for (int k = c->l->dim_end[i] - 1; k >= first; k--) {
            axe_iter it = c->l->shard[k];
            if (*n == MAX_STEP || it.stride % unit != 0 ||
                (it.stride > block / BLOCK_ROWS && it.stride % block != 0))
                return false;
            if (it.stride != 0)
                step[(*n)++] =
                    (axe_step){s->part[i].of, over, it.extent, it.stride};
            over *= it.extent;
        }
    }
    return true;
}

/* Eight rows of a block, read 16 bytes of each at a time. */
static axe_banks
read_banks(const axe_factor_query *q, int64_t row_bytes)
{
    int64_t   at[BLOCK_ROWS];
    axe_banks b;

    for (int i = 0; i < BLOCK_ROWS; i++) {
        at[i] = i * row_bytes;
        if (q->swizzle.bits > 0)
            at[i] = axe_swizzle_apply(q->swizzle, at[i]);
    }
    b = axe_banks_of(q->p->mc->simt, BLOCK_ROWS, at, CHUNK_BYTES);
    int64_t bytes =
        q->row->atom * q->k->atom * axe_type_table[q->type].bits / 8;
    int64_t n = bytes / (BLOCK_ROWS * CHUNK_BYTES);
    return (axe_banks){b.phases * n, b.cycles * n};
}

/* The operand seen as blocks with dim `fast` of the tile along their rows. */
typedef struct view {
    const axe_spread *along, *across;
    int64_t           row, block, wide; /* [elements]; wide: of a row that one
                                           invocation reads */
    cut     along_cut, across_cut;
    int64_t lead, stride;
} view;

static const char *
cut_view(const axe_factor_query *q, int fast, view *v)
{
    int64_t along[2] = {v->along->atom / v->wide, v->wide};
    int64_t across[2] = {v->across->atom / BLOCK_ROWS, BLOCK_ROWS};
    int64_t run, line;

    if (v->along->atom % v->wide != 0 || v->row % v->wide != 0 ||
        v->across->atom % BLOCK_ROWS != 0 ||
        !cut_dim(q, fast, v->along, 2, along, &v->along_cut) ||
        !cut_dim(q, 1 - fast, v->across, 2, across, &v->across_cut))
        return axe_textf(q->p->cx,
                         "the tile cannot be cut into blocks of %d rows of "
                         "%" PRId64 " elements",
                         BLOCK_ROWS, v->row);
    if (!stride_of(&v->along_cut, v->along_cut.n - 1, &run) || run != 1 ||
        !stride_of(&v->across_cut, v->across_cut.n - 1, &line) ||
        line != v->row)
        return axe_textf(q->p->cx,
                         "neighbours must lie together and rows %" PRId64
                         " elements apart",
                         v->row);
    if (!stride_of(&v->along_cut, v->along_cut.n - 2, &v->lead) ||
        !stride_of(&v->across_cut, v->across_cut.n - 2, &v->stride) ||
        v->lead % v->block != 0 || v->stride % v->block != 0)
        return axe_textf(q->p->cx, "its blocks are not evenly spaced");
    return NULL;
}

static bool
fit_as(const axe_factor_query *q, int fast, axe_descriptor *out,
       const char **why)
{
    int64_t   bits = axe_type_table[q->type].bits, chunk = CHUNK_BYTES * 8;
    axe_step *step = axe_new_array(q->p->cx, axe_step, MAX_STEP);
    int       n = 0;
    view      v = {.along = fast == 0 ? q->row : q->k,
                   .across = fast == 0 ? q->k : q->row,
                   .row = (chunk << q->swizzle.bits) / bits};

    v.block = v.row * BLOCK_ROWS;
    v.wide = v.along->atom < v.row ? v.along->atom : v.row;
    if ((*why = cut_view(q, fast, &v)))
        return false;
    if (!part_steps(&v.along_cut, v.along, chunk / bits, v.block, step, &n) ||
        !part_steps(&v.across_cut, v.across, v.block, v.block, step, &n)) {
        *why = axe_textf(q->p->cx,
                         "an invocation does not begin at a block of %d by "
                         "%" PRId64 " elements",
                         BLOCK_ROWS, v.row);
        return false;
    }
    *out = (axe_descriptor){
        .lead = v.lead * bits / 8,
        .stride = v.stride * bits / 8,
        .bits = axe_desc_bits(q->p->mc->simt, q->swizzle, v.lead * bits / 8,
                              v.stride * bits / 8, fast == 0),
        .major = fast == 0,
        .n_step = n,
        .step = step,
        .banks = read_banks(q, v.row * bits / 8)};
    return true;
}

uint64_t
axe_desc_bits(const axe_simt *m, axe_swizzle s, int64_t lead, int64_t stride,
              bool major)
{
    bool swap = s.bits == 0 && major;

    return axe_desc_make(m->desc, s.bits, swap ? stride : lead,
                         swap ? lead : stride);
}

bool
axe_desc_fit(const axe_factor_query *q, axe_descriptor *out, const char **why)
{
    int64_t     block = (int64_t)CHUNK_BYTES * BLOCK_ROWS << q->swizzle.bits;
    axe_mark    m = axe_ctx_mark(q->p->cx);
    const char *other;

    if (q->p->mc->simt->desc == AXE_DESC_none) {
        *why = axe_textf(q->p->cx, "%s has no descriptors", q->p->mc->name);
        return false;
    }
    if (q->swizzle.bits > 0 &&
        (q->swizzle.base != 4 || q->swizzle.shift != 3)) {
        *why = axe_textf(q->p->cx, "it takes swizzles of 32, 64 or 128 bytes, "
                                   "as a tensor map does");
        return false;
    }
    if (q->align % block != 0) {
        *why = axe_textf(q->p->cx,
                         "it begins at a multiple of %" PRId64
                         " bytes, not of %" PRId64,
                         q->align, block);
        return false;
    }
    if (fit_as(q, 1, out, why))
        return true;
    if (q->atom->major && fit_as(q, 0, out, &other))
        return true;
    char keep[200];
    snprintf(keep, sizeof keep, "%s", *why);
    axe_ctx_release(q->p->cx, m);
    *why = axe_textf(q->p->cx, "%s", keep);
    return false;
}
