/* scale.c - scales on their way to the atom that multiplies by them.
 *
 * Such an atom reads scales out of tensor memory only, so they go there in
 * front of it, by copies that are asked for by the same thread and done in
 * order (copy.c).  The tile there is one for all iterations of a loop: nothing
 * else touches it.  Its layout is the row's, repeated: along the sum as far as
 * a word holds scales, then rows, then words. */
#include "plan/simt/tmem/scale.h"
#include "ir/stmt.h"

#include <inttypes.h>

#include "ir/rewrite.h"
#include "plan/access/access.h"
#include "plan/simt/map/map.h"
#include "plan/simt/team/cta_pair.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/tmem_int.h"

enum { MAX_ITER = 16 };

/* --------------------------------------------------------------- rewriting */

typedef struct rewriting {
    axe_ctx           *cx;
    const axe_machine *mc;
    axe_kernel        *k;
    axe_list           tiles; /* axe_stmt *, to be declared in the cta */
} rewriting;

/* A tile like `from` in tensor memory, declared in x->tiles. */
static const axe_tensor *
make_tile(rewriting *x, const axe_tensor *from, axe_span at)
{
    axe_stmt *s = axe_tile_make(
        x->cx, x->k,
        &(axe_tensor){.name = axe_textf(x->cx, "%s.held", from->name),
                      .at = at,
                      .space = AXE_SPACE_TMEM,
                      .type = from->type,
                      .rank = from->rank,
                      .shape = from->shape});

    axe_list_push(&x->tiles, s);
    return s->tensor;
}

/* held[row, s] = scale[row, s]; the element held[row, k/B]. */
static const axe_node *
hold(rewriting *x, const axe_node *scale, axe_list *out)
{
    const axe_tensor *from = scale->u.tensor;
    const axe_tensor *t = make_tile(x, from, scale->at);
    const axe_node  **sub = axe_new_array(x->cx, const axe_node *, 2);
    axe_dim          *dim = axe_new_array(x->cx, axe_dim, 2);
    const axe_var *v = axe_var_make(x->cx, x->k, AXE_VAR_INDEX, "s", scale->at);

    dim[0] = (axe_dim){.var = scale->arg[0]->u.var, .extent = from->shape[0]};
    dim[1] = (axe_dim){.var = v, .extent = from->shape[1]};
    sub[0] = scale->arg[0];
    sub[1] = axe_var_node(x->cx, scale->at, v);
    axe_list_push(out, axe_index_make(x->cx, x->k, scale->at,
                                      axe_load(x->cx, scale->at, t, sub),
                                      axe_load(x->cx, scale->at, from, sub), 2,
                                      dim));
    return axe_load(x->cx, scale->at, t, scale->arg);
}

typedef struct swap {
    const axe_node *from[2], *to[2];
} swap;

static const axe_node *
swapped(void *user, const axe_node *n)
{
    const swap *x = user;

    return n == x->from[0] ? x->to[0] : n == x->from[1] ? x->to[1] : NULL;
}

static void
rewrite(rewriting *x, const axe_stmt *s, axe_list *out)
{
    axe_stmt  *copy = axe_new(x->cx, axe_stmt);
    axe_scaled is;
    swap       held;

    (void)axe_contract_scaled(s, &is);
    for (int i = 0; i < 2; i++) {
        held.from[i] = is.scale[i];
        held.to[i] = hold(x, is.scale[i], out);
    }
    *copy = *s;
    copy->value = axe_node_map(x->cx, s->value, swapped, &held);
    axe_list_push(out, copy);
}

static bool
hold_stmt(void *user, axe_stmt *s, axe_list *out)
{
    rewriting *x = user;

    if (s->kind != AXE_STMT_INDEX || !axe_takes_scales(x->cx, x->mc, s, false))
        return false;
    rewrite(x, s, out);
    return true;
}

/* Tiles are declared in front of all else in the cta. */
static axe_stmt *
declare_tiles(void *user, axe_stmt *s)
{
    rewriting *x = user;
    axe_stmt  *copy;

    if (s->kind != AXE_STMT_SCOPE || s->scope != AXE_SCOPE_CTA ||
        x->tiles.n == 0)
        return s;
    for (int i = 0; i < s->n_body; i++)
        axe_list_push(&x->tiles, s->body[i]);
    copy = axe_new(x->cx, axe_stmt);
    *copy = *s;
    copy->n_body = x->tiles.n;
    copy->body = axe_stmt_list(&x->tiles);
    x->tiles = (axe_list){.cx = x->cx};
    return copy;
}

const axe_kernel *
axe_simt_hold_scales(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k)
{
    axe_kernel *new = axe_new(cx, axe_kernel);
    rewriting x = {.cx = cx, .mc = mc, .k = new, .tiles = {.cx = cx}};

    *new = *k;
    return axe_kernel_map(
        &(axe_body_change){
            .cx = cx, .before = hold_stmt, .after = declare_tiles, .user = &x},
        k, new);
}

/* --------------------------------------------------------------------- layouts
 */

/* The row's scales of side 1 or 2 as this CTA has them, over (row, s) on lanes
 * and columns. */
static const axe_layout *
row_scales(const axe_planner *p, const axe_atom *a, int param, int side)
{
    const axe_layout *l;
    const char       *names;
    axe_layout        own;
    axe_iter         *copy;
    int               n = 0;

    if (axe_atom_layout(p->cx, a->scale[side - 1], param, 1, &names, &l) !=
            AXE_OK ||
        l->n_dim != 2 || !(l = axe_side_of_one(p, l)))
        return NULL;
    own = *l;
    copy = axe_new_array(p->cx, axe_iter, l->n_replica + 1);
    for (int i = 0; i < l->n_replica; i++)
        if (l->replica[i].axis != p->simt->cta)
            copy[n++] = l->replica[i];
    own.n_replica = n;
    own.replica = copy;
    return axe_layout_make(p->cx, &own, &l) == AXE_OK ? l : NULL;
}

/* How the row's scales are repeated, in words of `wide` scales. */
typedef struct repeated {
    const axe_layout *row;
    int64_t           rows, per; /* of the row: rows, scales of each */
    int64_t           reach;     /* columns that its rows take */
    int64_t           n_row, n_word, wide;
} repeated;

static bool
repeat(const axe_product *j, const axe_candidate *by, int side, repeated *x)
{
    const axe_spread *row = side == 1 ? &by->m : &by->n;
    int64_t           all, span, n = j->extent[2] / j->block;

    *x = (repeated){.row = row_scales(j->p, by->atom, by->param, side)};
    if (!x->row ||
        axe_layout_span(j->p->cx, x->row, j->p->simt->tcol, &span) != AXE_OK)
        return false;
    x->wide = AXE_WORD_BITS / axe_type_table[by->atom->scale_type].bits;
    x->rows = axe_dim_size(x->row, 0);
    x->per = axe_dim_size(x->row, 1);
    x->reach = (span + x->wide - 1) / x->wide * x->wide;
    x->n_row = row->n_rep;
    x->n_word = n / x->wide;
    return n % x->wide == 0 && x->wide % x->per == 0 &&
           axe_mul(x->rows, x->n_row, &all) && all == j->extent[side - 1];
}

const axe_layout *
axe_scale_layout(const axe_product *j, const axe_candidate *by, int side)
{
    axe_iter          it[MAX_ITER];
    axe_axis          col = j->p->simt->tcol;
    repeated          x;
    int               n = 0, end[2];
    const axe_layout *l;

    if (!repeat(j, by, side, &x) || x.row->dim_end[0] + 3 > MAX_ITER)
        return NULL;
    if (x.n_row > 1)
        it[n++] = (axe_iter){x.n_row, x.reach, col, AXE_UNIT_ONE};
    for (int i = 0; i < x.row->dim_end[0]; i++)
        if (x.row->shard[i].extent > 1)
            it[n++] = x.row->shard[i];
    end[0] = n;
    if (x.n_word > 1)
        it[n++] = (axe_iter){x.n_word, x.reach * x.n_row, col, AXE_UNIT_ONE};
    it[n++] = (axe_iter){x.wide, 1, col, AXE_UNIT_ONE};
    end[1] = n;
    axe_layout spec = {.n_shard = n,
                       .shard = it,
                       .n_replica = x.row->n_replica,
                       .replica = x.row->replica,
                       .n_dim = 2,
                       .dim_end = end};
    return axe_layout_make(j->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

void
axe_scales_open(const axe_product *j, bool open[2])
{
    for (int i = 0; i < 2; i++)
        open[i] = j->scale[i] && axe_simt_is_open(j->p, j->scale[i]->u.tensor);
}

bool
axe_scales_put(const axe_product *j, const bool open[2],
               const axe_candidate *by)
{
    bool fits = true;

    for (int i = 0; i < 2; i++) {
        const axe_layout *l =
            open[i] && by ? axe_scale_layout(j, by, i + 1) : NULL;
        if (open[i])
            j->p->place[j->scale[i]->u.tensor->id].layout = l;
        fits = fits && (l || !open[i]);
    }
    return fits;
}

void
axe_scales_settle(const axe_product *j, const bool open[2],
                  const axe_candidate *by)
{
    axe_planner *p = j->p;

    for (int i = 0; i < 2; i++) {
        const axe_tensor *t = open[i] ? j->scale[i]->u.tensor : NULL;
        if (!t)
            continue;
        p->simt->engine[t->id] = by->atom->group;
        axe_simt_settle(
            p, t, axe_scale_layout(j, by, i + 1),
            axe_textf(p->cx, "auto: scales for statement %d", j->s->id));
    }
}

/* ---------------------------------------------------------------------- proof
 */

/* Where the steps say that repetitions (row, k) of the atom find theirs. */
static int64_t
step_to(const axe_scale *s, int64_t row, int64_t k)
{
    int64_t at = 0;

    for (int i = 0; i < s->n_step; i++)
        at += axe_step_at(&s->step[i], s->step[i].of == AXE_COUNT_K ? k : row);
    return at;
}

/* Does each repetition find the scales of its rows and its part of the sum? */
static bool
finds_own(const axe_product *j, const axe_layout *tile, const repeated *x,
          const axe_scale *s)
{
    axe_axis lane = j->p->simt->tlane, col = j->p->simt->tcol;
    int64_t  n = x->n_word * x->wide, n_k = n / x->per;

    for (int64_t i = 0; i < x->n_row * n_k; i++) {
        int64_t row = i / n_k, k = i % n_k, at = step_to(s, row, k);
        for (int64_t e = 0; e < x->rows * x->per; e++) {
            int64_t flat =
                (row * x->rows + e / x->per) * n + k * x->per + e % x->per;
            if (axe_layout_at(tile, flat, lane) !=
                    axe_layout_at(x->row, e, lane) ||
                axe_layout_at(tile, flat, col) !=
                    at + axe_layout_at(x->row, e, col))
                return false;
        }
    }
    return axe_simt_same_copies(tile, x->row);
}

bool
axe_scale_fit(const axe_product *j, const axe_candidate *by, int side,
              axe_scale *out, const char **why)
{
    const axe_tensor *t = j->scale[side - 1]->u.tensor;
    axe_counter       own = side == 1 ? AXE_COUNT_M : AXE_COUNT_N;
    repeated          x;

    *why = axe_textf(j->p->cx, "%s does not lie as its scales do", t->name);
    if (!repeat(j, by, side, &x))
        return false;
    *out = (axe_scale){.tensor = t, .n_step = 3};
    out->step[0] = (axe_step){own, 1, x.n_row, x.reach};
    out->step[1] = (axe_step){AXE_COUNT_K, 1, x.wide / x.per, x.per};
    out->step[2] =
        (axe_step){AXE_COUNT_K, x.wide / x.per, x.n_word, x.reach * x.n_row};
    return finds_own(j, j->p->place[t->id].layout, &x, out);
}

void
axe_scale_reject(axe_planner *p, axe_request *r)
{
    axe_scaled x;

    if (axe_contract_scaled(r->stmt, &x))
        axe_rejected(p, r, "contract",
                     "no atom of %s takes %s and %s with %s for %" PRId64
                     " of %s each, or its sums are not in tmem, its scales in "
                     "whole shared tiles",
                     p->mc->name,
                     axe_type_table[x.factor[0]->u.tensor->type].name,
                     axe_type_table[x.factor[1]->u.tensor->type].name,
                     axe_type_table[x.scale[0]->u.tensor->type].name, x.block,
                     x.ro.k->var->name);
}
