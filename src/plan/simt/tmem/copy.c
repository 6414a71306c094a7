/* copy.c - tiles from shared to tensor memory, see copy.h.
 *
 * The row's d is a block of lanes and columns, its a one of rows in shared
 * memory that lie side by side.  A tile is copied block after block of its
 * columns; which shared place goes to which lane and column the two layouts
 * say, element by element.  An open shared tile gets the layout that its
 * columns' blocks, one after the other, make of the tile in tensor memory. */
#include "plan/simt/tmem/copy.h"

#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/team/cta_pair.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/tmem_int.h"

enum { MAX_ITER = 24, BLOCK_ROWS = AXE_DESC_ROWS, NOWHERE = -1 };

/* A row of the table as a block: lanes by columns. */
typedef struct block {
    const axe_atom   *atom;
    int               param;
    const axe_layout *to; /* over (row, column), on lanes and columns */
    int64_t           rows, cols;
} block;

/* Does the statement copy a shared tile to one in tensor memory, index by
 * index, both whole? */
static bool
is_copy(const axe_planner *p, const axe_stmt *s)
{
    const axe_node *d = s->dst, *v = s->value;

    if (s->fold != AXE_FOLD_NONE || v->op != AXE_OP_load || d->n_arg != 2 ||
        v->n_arg != 2 || d->u.tensor->space != AXE_SPACE_TMEM ||
        v->u.tensor->space != AXE_SPACE_SHARED ||
        p->place[d->u.tensor->id].type != p->place[v->u.tensor->id].type ||
        !axe_walks_whole(d) || !axe_walks_whole(v))
        return false;
    for (int i = 0; i < d->n_arg; i++)
        if (!axe_node_same(d->arg[i], v->arg[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------ the rows
 */

/* A block of `cols` columns in rows that lie side by side, as each CTA copies
 * it; asked of the engine that reads the tile. */
static bool
read_block(axe_planner *p, const axe_tensor *tile, const axe_atom *a,
           block *out)
{
    const char       *engine = p->simt->engine[tile->id], *names;
    axe_type          t = p->place[tile->id].type;
    const axe_layout *from;

    *out = (block){.atom = a};
    if (a->kind != AXE_ATOM_COPY || a->space[0] != AXE_ARG_TMEM ||
        a->space[1] != AXE_ARG_SHARED || a->by != AXE_SCOPE_THREAD ||
        (engine && strcmp(engine, a->group) != 0) ||
        !axe_machine_has(p->mc, a) || !axe_atom_param(a, t, &out->param) ||
        axe_atom_layout(p->cx, a->d, out->param, 1, &names, &out->to) !=
            AXE_OK ||
        axe_atom_layout(p->cx, a->a, out->param, 1, &names, &from) != AXE_OK ||
        !(out->to = axe_side_of_one(p, out->to)) ||
        !(from = axe_side_of_one(p, from)) || from->n_shard != 2 ||
        out->to->n_shard != 2)
        return false;
    out->rows = from->shard[0].extent;
    out->cols = from->shard[1].extent;
    return from->shard[0].stride == out->cols && from->shard[1].stride == 1 &&
           out->to->shard[0].axis == p->simt->tlane &&
           out->to->shard[0].stride == 1 &&
           out->to->shard[1].axis == p->simt->tcol &&
           out->to->shard[1].stride == 1;
}

/* The lanes of the tile but for its copies are those of the block, its columns
 * whole blocks. */
static bool
covers(const axe_planner *p, const axe_layout *tile, const block *b,
       int *n_block)
{
    int64_t lanes = 1, cols = 1;

    for (int i = 0; i < tile->n_shard; i++) {
        axe_iter it = tile->shard[i];
        if (it.axis == p->simt->tlane)
            lanes += it.stride * (it.extent - 1);
        else if (it.axis == p->simt->tcol)
            cols += it.stride * (it.extent - 1);
        else
            return false;
    }
    *n_block = (int)(cols / b->cols);
    return lanes == b->rows && cols % b->cols == 0 &&
           tile->size == lanes * cols && tile->n_offset == 0 &&
           b->to->n_offset == 0 && axe_simt_same_copies(tile, b->to);
}

/* ------------------------------------------------------------------- layouts
 */

/* The shared tile's layout that the blocks make of `tile`. */
static const axe_layout *
as_shared(const axe_planner *p, const axe_layout *tile, const block *b)
{
    axe_iter          it[MAX_ITER];
    int              *end = axe_new_array(p->cx, int, tile->n_dim), n = 0;
    const axe_layout *l;

    for (int d = 0, i = 0; d < tile->n_dim; d++) {
        for (; i < tile->dim_end[d]; i++) {
            axe_iter e = tile->shard[i];
            int64_t  reach = e.stride * e.extent;
            bool     lane = e.axis == p->simt->tlane;
            if (n + 2 > MAX_ITER)
                return NULL;
            if (!lane && e.stride < b->cols && reach > b->cols) {
                if (b->cols % e.stride != 0 || reach % b->cols != 0)
                    return NULL;
                it[n++] = (axe_iter){reach / b->cols, b->rows * b->cols,
                                     AXE_AXIS_M, AXE_UNIT_ONE};
                e.extent = b->cols / e.stride;
            } else if (lane) {
                e.stride *= b->cols;
            } else if (e.stride >= b->cols) {
                e.stride *= b->rows;
            }
            e.axis = AXE_AXIS_M;
            it[n++] = e;
        }
        end[d] = n;
    }
    axe_layout spec = {
        .n_shard = n, .shard = it, .n_dim = tile->n_dim, .dim_end = end};
    return axe_layout_make(p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

const axe_layout *
axe_tcopy_layout(axe_planner *p, const axe_tensor *t, const axe_atom **by)
{
    const axe_layout *tile = p->place[t->id].layout, *l;
    block             b;
    int               n;

    for (int i = 0; i < p->mc->n_atom; i++) {
        axe_mark m = axe_ctx_mark(p->cx);
        if (read_block(p, t, &p->mc->atom[i], &b) && covers(p, tile, &b, &n) &&
            (l = as_shared(p, tile, &b))) {
            *by = b.atom;
            return l;
        }
        axe_ctx_release(p->cx, m);
    }
    return NULL;
}

axe_status
axe_simt_tcopy_infer(axe_planner *p, const axe_stmt *s)
{
    const axe_tensor *from;
    const axe_layout *l;
    const axe_atom   *by;

    if (!is_copy(p, s) || !p->place[s->dst->u.tensor->id].layout)
        return AXE_OK;
    from = s->value->u.tensor;
    if (axe_simt_is_open(p, from) &&
        (l = axe_tcopy_layout(p, s->dst->u.tensor, &by)))
        axe_simt_settle(
            p, from, l,
            axe_textf(p->cx, "auto: for %s of statement %d", by->name, s->id));
    return AXE_OK;
}

/* ------------------------------------------------------------------ schedules
 */

/* Where each block reads, if every element then goes to its place. */
static bool
find_blocks(axe_planner *p, const axe_layout *tile, const axe_layout *mem,
            const block *b, int n, int64_t *from)
{
    for (int i = 0; i < n; i++)
        from[i] = NOWHERE;
    for (int64_t e = 0; e < tile->size; e++) {
        int64_t lane = axe_layout_at(tile, e, p->simt->tlane);
        int64_t col = axe_layout_at(tile, e, p->simt->tcol);
        int64_t at =
            axe_layout_at(mem, e, AXE_AXIS_M) - lane * b->cols - col % b->cols;
        int64_t *own = &from[col / b->cols];
        if (*own == NOWHERE)
            *own = at;
        if (*own != at || at < 0)
            return false;
    }
    return true;
}

static bool
fit(axe_planner *p, const axe_tensor *t, const axe_tensor *source,
    const axe_atom *a, axe_simt_tcopy *out)
{
    const axe_layout *tile = p->place[t->id].layout;
    const axe_layout *mem = p->place[source->id].layout;
    axe_type          type = p->place[t->id].type;
    int64_t           bytes, *to, *from;
    block             b;
    int               n;

    if (!read_block(p, t, a, &b) || !covers(p, tile, &b, &n) ||
        mem->swizzle.bits > 0 || p->mc->simt->desc == AXE_DESC_none)
        return false;
    to = axe_new_array(p->cx, int64_t, n);
    from = axe_new_array(p->cx, int64_t, n);
    if (!find_blocks(p, tile, mem, &b, n, from))
        return false;
    for (int i = 0; i < n; i++)
        to[i] = i * b.cols;
    bytes = b.cols * axe_type_table[type].bits / 8;
    *out = (axe_simt_tcopy){.atom = a,
                            .param = b.param,
                            .desc = axe_desc_bits(p->mc->simt, mem->swizzle,
                                                  b.rows * bytes,
                                                  BLOCK_ROWS * bytes, false),
                            .n = n,
                            .to = to,
                            .from = from,
                            .n_proved = tile->size};
    return true;
}

bool
axe_tcopy_fit(axe_planner *p, const axe_tensor *to, const axe_tensor *from,
              axe_simt_tcopy *out)
{
    for (int i = 0; i < p->mc->n_atom; i++) {
        axe_mark m = axe_ctx_mark(p->cx);
        if (fit(p, to, from, &p->mc->atom[i], out))
            return true;
        axe_ctx_release(p->cx, m);
    }
    return false;
}

bool
axe_simt_tcopy_plan(axe_planner *p, const axe_stmt *s, axe_schedule *out)
{
    axe_simt_tcopy *c;

    if (!is_copy(p, s))
        return false;
    c = axe_new(p->cx, axe_simt_tcopy);
    if (!axe_tcopy_fit(p, s->dst->u.tensor, s->value->u.tensor, c))
        return false;
    p->simt->of[s->id]->tcopy = c;
    out->kind = AXE_SCHED_COPY;
    out->n_proved = c->n_proved;
    out->cycles = c->n * c->atom->cost;
    return true;
}
