/* tile_layout.c - the layouts of a contraction's open tiles.
 *
 * The innermost loop runs over the sum.  Its vectors come from b, whose columns
 * must therefore lie together, and its single elements from a:
 *
 *     b: (n / V, k, V)        c: (m, n + pad)
 *     a: (m, k + pad)         where the tile is filled from rows along k,
 *        (m / MR, k, MR)      where it is filled from columns along m
 *
 * V is a vector's length: a register tile takes as many neighbouring vectors of
 * b as it likes, so that tiles of different widths read one packing.
 *
 * Single elements may come from anywhere, so a is laid out as its source is
 * fast and filling it needs no transpose; the padding of one line keeps MR rows
 * from falling into one set of the cache.  Packing is a copy into an inferred
 * layout, nothing else. */
#include <inttypes.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"

static bool
open_tile(const axe_planner *p, const axe_tensor *t)
{
    return t->space != AXE_SPACE_GLOBAL && !p->place[t->id].layout;
}

/* A piece of a variable, for laying a tile out. */
typedef struct piece {
    const axe_dim *dim;
    int64_t        extent, pad; /* pad: left free behind it */
} piece;

static bool
is_index(const axe_node *n)
{
    return n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX;
}

static void
find_index(void *user, const axe_node *n)
{
    bool *found = user;

    *found = *found || is_index(n);
}

/* Where the subscript is the same for the whole statement, one place of the
 * dimension is in use at a time: such dimensions are the slowest. */
static bool
is_outer(const axe_node *subscript)
{
    bool index = false;

    axe_node_walk(subscript, find_index, &index);
    return !index;
}

/* The pieces of a variable that walks a dimension of `full` elements; false if
 * it walks less. */
static bool
lay_out_pieces(const axe_var *v, int64_t full, int n_piece, const piece *pc,
               axe_iter *it, int *n)
{
    for (int i = 0; i < n_piece; i++) {
        int64_t stride = 1;
        if (pc[i].dim->var != v || pc[i].extent == 1)
            continue;
        if (axe_dim_extent(pc[i].dim) != full)
            return false;
        for (int j = i + 1; j < n_piece; j++)
            stride *= pc[j].extent + pc[j].pad;
        it[(*n)++] = (axe_iter){pc[i].extent, stride, AXE_AXIS_M, AXE_UNIT_ONE};
    }
    return true;
}

/* Does the index walk another dimension, too?  All places would be in use on
 * the diagonal only, and pieces for one dimension are none for the other. */
static bool
walks_before(const axe_node *load, int d)
{
    for (int i = 0; i < d; i++)
        if (is_index(load->arg[i]) &&
            load->arg[i]->u.var == load->arg[d]->u.var)
            return true;
    return false;
}

/* The layout of tile `t`, accessed by `load`, whose pieces lie one after the
 * other, slow to fast.  NULL if a subscript with an index is not one whole
 * index, or one that another has. */
static const axe_layout *
lay_out(axe_planner *p, const axe_node *load, int n_piece, const piece *pc)
{
    const axe_tensor *t = load->u.tensor;
    axe_iter *it = axe_new_array(p->cx, axe_iter, n_piece + t->rank + 1);
    int      *end = axe_new_array(p->cx, int, t->rank + 1), n = 0;
    int64_t   size = 1, full;
    const axe_layout *out;

    for (int j = 0; j < n_piece; j++)
        size *= pc[j].extent + pc[j].pad;
    for (int d = t->rank - 1; d >= 0; d--)
        if (is_outer(load->arg[d]) && axe_is_iconst(t->shape[d], &full)) {
            end[d] = (int)size; /* the stride, for now */
            if (!axe_mul(size, full, &size) || size > INT32_MAX)
                return NULL;
        }
    for (int d = 0; d < t->rank; d++) {
        if (!axe_is_iconst(t->shape[d], &full))
            return NULL;
        if (is_outer(load->arg[d]))
            it[n++] = (axe_iter){full, end[d], AXE_AXIS_M, AXE_UNIT_ONE};
        else if (!is_index(load->arg[d]) || walks_before(load, d) ||
                 !lay_out_pieces(load->arg[d]->u.var, full, n_piece, pc, it,
                                 &n))
            return NULL;
        end[d] = n;
    }
    axe_layout spec = {
        .n_shard = n, .shard = it, .n_dim = t->rank, .dim_end = end};
    return axe_layout_make(p->cx, &spec, &out) == AXE_OK ? out : NULL;
}

/* The layout of the tile with rows of n's dimension, around them dimensions of
 * k, around those all others: for subscripts that are more than an index.  NULL
 * if an extent is not known. */
static const axe_layout *
lay_out_rows(axe_planner *p, const axe_roles *ro, const axe_node *load)
{
    const axe_tensor *t = load->u.tensor;
    axe_iter         *it = axe_new_array(p->cx, axe_iter, t->rank + 1);
    int              *end = axe_new_array(p->cx, int, t->rank + 1);
    int64_t           size = 1;
    const axe_layout *out;

    for (int pass = 0; pass < 3; pass++)
        for (int d = t->rank - 1; d >= 0; d--) {
            int of = axe_mentions(load->arg[d], ro->n->var)   ? 0
                     : axe_mentions(load->arg[d], ro->k->var) ? 1
                                                              : 2;
            end[d] = d + 1;
            if (of != pass)
                continue;
            it[d] = (axe_iter){0, size, AXE_AXIS_M, AXE_UNIT_ONE};
            if (!axe_is_iconst(t->shape[d], &it[d].extent) ||
                !axe_mul(size, it[d].extent, &size) || size > INT32_MAX)
                return NULL;
        }
    axe_layout spec = {
        .n_shard = t->rank, .shard = it, .n_dim = t->rank, .dim_end = end};
    return axe_layout_make(p->cx, &spec, &out) == AXE_OK ? out : NULL;
}

static void
settle(axe_planner *p, const axe_tensor *t, const axe_layout *l, axe_type type,
       const char *why)
{
    axe_place *pl = &p->place[t->id];

    if (l)
        *pl = (axe_place){.tensor = t,
                          .layout = l,
                          .type = type,
                          .why = axe_textf(p->cx, "auto: %s", why)};
}

/* The sum's indices in the order of the source's dimensions, if it is fast in
 * one of them; how many, 0 if not all are found there. */
static int
sums_of_source(axe_planner *p, const axe_roles *ro, const axe_node *load,
               const axe_dim **out)
{
    int             all = ro->n_more[AXE_SUMS] + 1, n = 0;
    const axe_node *src;
    const axe_stmt *w = axe_filled_from(p, load, &src);
    const axe_var  *fast = axe_fast_source(p, load);
    bool            is_sum = false;

    for (int d = 0; w && d < src->n_arg; d++)
        for (int i = 0; i < all; i++) {
            const axe_dim *k = i == 0 ? ro->k : ro->more[AXE_SUMS][i - 1];
            if (axe_index_along(w, src, d, load) != k->var || n == all)
                continue;
            out[n++] = k;
            is_sum = is_sum || k->var == fast;
        }
    return n == all && is_sum ? n : 0;
}

static piece
whole(const axe_dim *d)
{
    return (piece){d, axe_dim_extent(d), 0};
}

/* Batches outermost; returns how many. */
static int
batches(const axe_roles *ro, piece *out)
{
    for (int i = 0; i < ro->n_batch; i++)
        out[i] = whole(ro->batch[i]);
    return ro->n_batch;
}

/* The type in which the atom takes elements of its operand i. */
static axe_type
taken_as(const axe_candidate *c, int i)
{
    axe_type t = c->atom->type[i];

    return t == AXE_TYPE_any ? c->type : t;
}

/* Indices of the sum but k, outermost of those that follow. */
static int
outer_sums(const axe_roles *ro, piece *out)
{
    for (int i = 0; i < ro->n_more[AXE_SUMS]; i++)
        out[i] = whole(ro->more[AXE_SUMS][i]);
    return ro->n_more[AXE_SUMS];
}

static void
lay_out_left(const axe_product *q, const axe_candidate *c)
{
    const axe_roles  *ro = &q->ro;
    const axe_tensor *t = q->load[1]->u.tensor;
    piece             a[16];
    int               n = batches(ro, a);
    axe_type          type = taken_as(c, 1);
    int64_t           line = 64 * 8 / axe_type_table[type].bits;
    const char       *why;
    const axe_dim    *sum[AXE_MAX_MORE + 1];
    int               n_sum = sums_of_source(q->p, ro, q->load[1], sum);

    if (n_sum > 0) {
        a[n++] = whole(ro->m);
        for (int i = 0; i < n_sum; i++)
            a[n++] =
                (piece){sum[i], axe_dim_extent(sum[i]), n_sum == 1 ? line : 0};
        why = axe_textf(q->p->cx,
                        "left factor of statement %d: rows as they "
                        "come, a line of padding behind each",
                        q->s->id);
    } else {
        n += outer_sums(ro, a + n);
        a[n++] = (piece){ro->m, c->m.extent / c->m.n_rep, 0};
        a[n++] = (piece){ro->k, c->k.extent / c->k.atom, 0};
        a[n++] = (piece){ro->m, c->m.n_rep, 0};
        a[n++] = (piece){ro->k, c->k.atom, 0};
        why = axe_textf(q->p->cx,
                        "left factor of statement %d: rows in blocks "
                        "of %" PRId64 ", the sum between them",
                        q->s->id, c->m.n_rep);
    }
    if (c->atom->flip)
        why =
            axe_textf(q->p->cx, "%s; signs flipped for %s", why, c->atom->name);
    settle(q->p, t, lay_out(q->p, q->load[1], n, a), type, why);
    q->p->place[t->id].flip = c->atom->flip;
}

static void
lay_out_right(const axe_product *q, const axe_candidate *c)
{
    const axe_roles *ro = &q->ro;
    const axe_node  *y = q->load[2];
    piece            b[16];
    int              n = batches(ro, b);

    n += outer_sums(ro, b + n);
    b[n++] = (piece){ro->n, c->n.extent / c->n.atom, 0};
    b[n++] = (piece){ro->k, c->k.extent / c->k.atom, 0};
    b[n++] = (piece){ro->n, c->n.atom, 0};
    b[n++] = (piece){ro->k, c->k.atom, 0};
    const axe_layout *l = lay_out(q->p, y, n, b);
    settle(q->p, y->u.tensor, l, taken_as(c, 2),
           axe_textf(q->p->cx,
                     "right factor of statement %d: columns in vectors of "
                     "%" PRId64 ", the sum between them%s",
                     q->s->id, c->n.atom,
                     c->k.atom > 1 ? ", in groups within a lane" : ""));
    if (!l && c->k.atom == 1)
        settle(q->p, y->u.tensor, lay_out_rows(q->p, ro, y), taken_as(c, 2),
               axe_textf(q->p->cx,
                         "right factor of statement %d: rows of columns, the "
                         "sum between them",
                         q->s->id));
}

static void
lay_out_sums(const axe_product *q)
{
    axe_type type = q->s->dst->u.tensor->type;
    int64_t  line = 64 * 8 / axe_type_table[type].bits;
    piece    c[12];
    int      n = batches(&q->ro, c);

    c[n++] = whole(q->ro.m);
    c[n++] = (piece){q->ro.n, axe_dim_extent(q->ro.n), line};
    settle(q->p, q->s->dst->u.tensor, lay_out(q->p, q->s->dst, n, c), type,
           axe_textf(q->p->cx,
                     "sums of statement %d: rows, a line of padding behind "
                     "each",
                     q->s->id));
}

void
axe_contract_layouts(const axe_product *q, const axe_candidate *c)
{
    const axe_tensor *y = q->load[2]->u.tensor;

    if (open_tile(q->p, q->load[1]->u.tensor))
        lay_out_left(q, c);
    if (open_tile(q->p, y) && !q->p->place[y->id].view)
        lay_out_right(q, c);
    if (open_tile(q->p, q->s->dst->u.tensor))
        lay_out_sums(q);
}
