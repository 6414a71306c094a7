/* access.c - a statement's accesses as base, strides and guards.
 *
 * A subscript is affine: outer variables (scopes, loops, sizes) plus index
 * variables.  In a global tensor an index moves the address by the dimension's
 * stride; in a tile it walks the dimension's block of the layout, found by
 * slicing and grouping, and outer variables move it by whole blocks.  A global
 * subscript that cannot be proven inside its dimension gives a guard `index <
 * size - outer part`, or where it has no such form a check of every element. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/access/subscript.h"
#include "plan/plan_int.h"
#include "plan/target.h"

/* The index variables of a subscript, each moving the address by `step` times
 * its coefficient. */
static axe_status
add_terms(axe_planner *p, const axe_request *r, const axe_node *at,
          const axe_subscript *s, axe_stride step, axe_operand *op)
{
    for (int i = 0; i < s->inner.n; i++) {
        axe_iter *it = axe_new(p->cx, axe_iter);
        int64_t   stride;
        if (!axe_mul(step.coef, s->inner.coef[i], &stride))
            return axe_fail(p->cx, at->at, AXE_EOVERFLOW,
                            "the subscript %s of %s moves by more than int64 "
                            "holds",
                            axe_node_text(p->cx, at), op->tensor->name);
        *it = (axe_iter){axe_dim_extent(axe_request_dim(r, s->inner.var[i])),
                         stride, AXE_AXIS_M, step.unit};
        op->term[op->n_term++] = (axe_term){s->inner.var[i], 1, it};
    }
    return AXE_OK;
}

/* The variable along which the last cluster of CTAs around s is filled up, if
 * it may be; or NULL. */
static const axe_var *
filled_up(const axe_planner *p, int n, axe_stmt *const *body, const axe_stmt *s)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *at = body[i];
        int64_t         e;
        if (at->kind != AXE_STMT_SCOPE && at->n_body > 0) {
            const axe_var *v = filled_up(p, at->n_body, at->body, s);
            v = v ? v : filled_up(p, at->n_other, at->other, s);
            if (v)
                return v;
        }
        if (at->kind == AXE_STMT_SCOPE && at->keys.cluster > 1 &&
            axe_stmt_within(at->n_body, at->body, s))
            return axe_is_iconst(at->var[0]->extent, &e) &&
                           e % at->keys.cluster == 0
                       ? NULL
                       : at->var[0];
    }
    return NULL;
}

/* Does v count the tiles of this dimension, so that further ones are outside?
 */
static bool
counts_tiles(const axe_subscript *s, const axe_node *size, const axe_var *v)
{
    int64_t tile = axe_affine_coef(&s->outer, v), by, e, n;

    if (!s->index || tile < 1)
        return false;
    if (axe_is_iconst(v->extent, &e) && axe_is_iconst(size, &n))
        return axe_mul(e, tile, &e) && e >= n;
    return v->extent->op == AXE_OP_cdiv &&
           axe_is_iconst(v->extent->arg[1], &by) && by == tile &&
           axe_node_same(v->extent->arg[0], size);
}

static bool
is_guarded(const axe_operand *op, const axe_var *index)
{
    for (int i = 0; i < op->n_guard; i++)
        if (op->guard[i].var == index)
            return true;
    return false;
}

/* CTAs that fill up a cluster write nothing, and read nothing that no guard
 * keeps inside. */
static axe_status
global_operand(axe_planner *p, const axe_request *r, axe_operand *op)
{
    const axe_tensor *t = op->tensor;
    const axe_node   *base = axe_index_const(p->cx, 0);
    const axe_var    *fills = NULL;
    bool              ends = false, open = false;

    if (!p->target->alone)
        fills = filled_up(p, p->kernel->n_body, p->kernel->body, r->stmt);
    op->guard = axe_new_array(p->cx, axe_guard, t->rank + 1);
    op->check = axe_new_array(p->cx, axe_check, t->rank + 1);
    op->fills = fills != NULL;
    for (int d = 0; d < t->rank; d++) {
        axe_subscript   s;
        const axe_node *unit = axe_unit_node(p, t->stride[d].unit);
        AXE_TRY(axe_subscript_apart(p, op->load->arg[d], &s));
        int n_ask = op->n_guard + op->n_check;
        axe_subscript_guard(p, r, &s, t->shape[d], op);
        if (fills && counts_tiles(&s, t->shape[d], fills)) {
            op->fills = false;
            ends = ends || is_guarded(op, s.index);
        }
        open = open || (fills && op->n_guard + op->n_check == n_ask &&
                        axe_mentions(op->load->arg[d], fills));
        const axe_node *step = axe_node2(
            p->cx, AXE_OP_mul, unit, axe_index_const(p->cx, t->stride[d].coef));
        base = axe_node2(p->cx, AXE_OP_add, base,
                         axe_node2(p->cx, AXE_OP_mul, s.outer_node, step));
        AXE_TRY(add_terms(p, r, op->load->arg[d], &s, t->stride[d], op));
    }
    op->base = base;
    if (fills && (op->load == r->stmt->dst ? !ends : open))
        op->check[op->n_check++] =
            (axe_check){.outer = axe_var_node(p->cx, fills->at, fills),
                        .size = fills->extent};
    return AXE_OK;
}

/* One dimension of a tile: the subscript as its place within [begin, end),
 * which does not move, and how far outer variables move it. */
typedef struct window {
    axe_subscript s;
    int64_t       begin, end;
    bool          whole; /* of the dimension, since it moves */
    bool          guard; /* every element asks whether it is inside */
} window;

static axe_status
open_window(axe_planner *p, const axe_request *r, const axe_node *at,
            int64_t full, window *out)
{
    const axe_dim *dim;

    AXE_TRY(axe_subscript_apart(p, at, &out->s));
    dim = out->s.index ? axe_request_dim(r, out->s.index) : NULL;
    out->guard = axe_tile_guarded(p, r, at, full);
    out->whole = out->s.outer.n > 0 || (out->s.inner.n > 0 && !out->s.index) ||
                 out->guard;
    out->begin = out->whole ? 0 : out->s.outer.constant;
    out->end = out->whole ? full : out->begin + (dim ? axe_dim_extent(dim) : 1);
    return AXE_OK;
}

/* A window that moves: where the dimension is one iter by any steps, else as
 * window.c says. */
static axe_status
move_window(axe_planner *p, const axe_request *r, const axe_node *at,
            const window *w, int n, const axe_iter *it, axe_operand *op)
{
    axe_stride step = {n > 0 ? it[0].stride : 0, AXE_UNIT_ONE};

    if (n > 1)
        return axe_window_move(p, r, at, &w->s.inner, &w->s.outer, n, it, op);
    op->base =
        axe_node2(p->cx, AXE_OP_add, op->base,
                  axe_node2(p->cx, AXE_OP_mul, axe_affine_node(p, &w->s.outer),
                            axe_index_const(p->cx, step.coef)));
    return add_terms(p, r, at, &w->s, step, op);
}

/* The block of dimension d of the tile's layout, restricted to the region that
 * the subscripts can reach. */
static axe_status
tile_operand(axe_planner *p, const axe_request *r, axe_operand *op)
{
    const axe_tensor *t = op->tensor;
    const axe_var    *stage = axe_stage_of(p, r->stmt, t);
    const axe_layout *l, *view;
    int64_t          *begin = axe_new_array(p->cx, int64_t, t->rank + 1);
    int64_t          *end = axe_new_array(p->cx, int64_t, t->rank + 1);
    int64_t          *full = axe_new_array(p->cx, int64_t, t->rank + 1);
    window           *w = axe_new_array(p->cx, window, t->rank + 1);

    AXE_TRY(p->target->storage(p, t, &l));
    op->check = axe_new_array(p->cx, axe_check, t->rank + 1);
    for (int d = 0; d < t->rank; d++) {
        axe_is_iconst(t->shape[d], &full[d]);
        AXE_TRY(open_window(p, r, op->load->arg[d], full[d], &w[d]));
        if (w[d].s.computed)
            axe_subscript_guard(p, r, &w[d].s, t->shape[d], op);
        else if (w[d].guard)
            axe_subscript_ask(&w[d].s, t->shape[d], op);
        begin[d] = w[d].begin;
        end[d] = w[d].end;
    }
    AXE_TRY(axe_layout_slice(p->cx, l, (axe_shape){t->rank, full}, begin, end,
                             &view));
    for (int d = 0; d < t->rank; d++)
        full[d] = end[d] - begin[d];
    AXE_TRY(axe_layout_group(p->cx, view, (axe_shape){t->rank, full}, &view));
    op->base =
        axe_index_const(p->cx, view->n_offset ? view->offset[0].value : 0);
    if (stage)
        op->base =
            axe_node2(p->cx, AXE_OP_add, op->base,
                      axe_node2(p->cx, AXE_OP_mul,
                                axe_var_node(p->cx, AXE_NOWHERE, stage),
                                axe_index_const(p->cx, p->place[t->id].stage)));
    if (p->place[t->id].each)
        op->base =
            axe_node2(p->cx, AXE_OP_add, op->base,
                      axe_node2(p->cx, AXE_OP_mul, p->target->entity(p, t),
                                axe_index_const(p->cx, p->place[t->id].each)));
    for (int d = 0; d < t->rank; d++) {
        int first = d > 0 ? view->dim_end[d - 1] : 0;
        int n = view->dim_end[d] - first;
        if (w[d].whole)
            AXE_TRY(move_window(p, r, op->load->arg[d], &w[d], n,
                                view->shard + first, op));
        else if (w[d].s.index)
            op->term[op->n_term++] =
                (axe_term){w[d].s.index, n, view->shard + first};
    }
    return AXE_OK;
}

static axe_status
resolve(axe_planner *p, const axe_request *r, const axe_node *load,
        axe_operand *op)
{
    int n = 1;

    for (int d = 0; d < load->n_arg; d++)
        for (int i = 0; i < r->n_nest; i++)
            n += r->nest[i].n_dim;
    *op = (axe_operand){.load = load,
                        .tensor = load->u.tensor,
                        .term = axe_new_array(p->cx, axe_term, n)};
    if (op->tensor->space == AXE_SPACE_GLOBAL)
        return global_operand(p, r, op);
    if (p->place[op->tensor->id].view && load != r->stmt->dst)
        return axe_packed_operand(p, r, op);
    return tile_operand(p, r, op);
}

static int
count(const axe_node *n, axe_op op)
{
    int k = n->op == op;

    for (int i = 0; i < n->n_arg; i++)
        k += count(n->arg[i], op);
    return k;
}

/* How many loads are in the expression, and where what it reads is packed. */
static int
loads_in(const axe_planner *p, const axe_node *n)
{
    const axe_node *from = n->op == AXE_OP_load ? axe_packed_load(p, n) : NULL;
    int             k = n->op == AXE_OP_load;

    for (int i = 0; i < n->n_arg; i++)
        k += loads_in(p, n->arg[i]);
    return k + (from ? 4 * count(from, AXE_OP_load) : 0);
}

/* All loads of an expression, also in subscripts, each node once. */
static void
gather(const axe_node *n, const axe_node **load, int *n_load)
{
    for (int i = 0; i < *n_load; i++)
        if (load[i] == n)
            return;
    if (n->op == AXE_OP_load)
        load[(*n_load)++] = n;
    for (int i = 0; i < n->n_arg; i++)
        gather(n->arg[i], load, n_load);
}

static void
gather_nests(axe_planner *p, const axe_node *n, axe_request *r)
{
    if (n->op == AXE_OP_reduce) {
        int      k = n->u.reduce.n_over;
        axe_dim *dim = axe_new_array(p->cx, axe_dim, k);
        for (int i = 0; i < k; i++)
            dim[i] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
        r->nest[r->n_nest++] = (axe_nest){
            .reduce = n, .n_dim = k, .dim = dim, .lanes = 1, .chains = 1};
    }
    for (int i = 0; i < n->n_arg; i++)
        if (n->op != AXE_OP_load)
            gather_nests(p, n->arg[i], r);
}

static const axe_op fold_op[] = {
    [AXE_FOLD_SUM] = AXE_OP_add,
    [AXE_FOLD_MUL] = AXE_OP_mul,
    [AXE_FOLD_MAX] = AXE_OP_max,
    [AXE_FOLD_MIN] = AXE_OP_min,
};

const axe_node *
axe_spell_fold(axe_ctx *cx, const axe_stmt *s)
{
    const axe_node *v = s->value;

    if (s->fold == AXE_FOLD_NONE)
        return v;
    if (s->n_dim > s->n_free)
        v = axe_reduce(cx, s->at, s->fold, s->n_dim - s->n_free,
                       s->dim + s->n_free, v);
    return axe_node2(cx, fold_op[s->fold], s->dst, v);
}

/* Reading the destination elsewhere than where it is written needs an order
 * between elements, which an index statement does not give. */
static axe_status
check_overlap(axe_planner *p, const axe_request *r)
{
    for (int i = 1; i < r->n_operand && r->stmt->n_free > 0; i++) {
        const axe_operand *op = &r->operand[i];
        if (op->tensor != r->operand[0].tensor)
            continue;
        for (int d = 0; d < op->tensor->rank; d++)
            if (!axe_node_same(op->load->arg[d], r->operand[0].load->arg[d]))
                return axe_fail(p->cx, op->load->at, AXE_EUNSUPPORTED,
                                "%s is written at %s and read at %s in one "
                                "statement",
                                op->tensor->name,
                                axe_node_text(p->cx, r->operand[0].load),
                                axe_node_text(p->cx, op->load));
    }
    return AXE_OK;
}

/* Is the value one of its type, without rounding? */
static bool
is_exact(const axe_node *n)
{
    switch (n->op) {
    case AXE_OP_load:
    case AXE_OP_cast:
    case AXE_OP_fconst:
    case AXE_OP_iconst:
        return true;
    case AXE_OP_neg:
    case AXE_OP_abs:
        return is_exact(n->arg[0]);
    case AXE_OP_min:
    case AXE_OP_max:
        return is_exact(n->arg[0]) && is_exact(n->arg[1]);
    case AXE_OP_select:
        return is_exact(n->arg[1]) && is_exact(n->arg[2]);
    default:
        return false;
    }
}

/* What a tile that is kept in a wider floating type is assigned is rounded to
 * its own type, as storing it there would: f16 a[m] = x[m] * y[m]. */
static const axe_node *
rounded(axe_planner *p, const axe_stmt *s, const axe_node *value)
{
    const axe_tensor *t = s->dst->u.tensor;
    axe_type kept = t->space == AXE_SPACE_GLOBAL || !p->place[t->id].tensor
                        ? t->type
                        : p->place[t->id].type;

    if (kept == t->type || s->fold != AXE_FOLD_NONE ||
        axe_type_table[t->type].cls != AXE_CLASS_FLOAT || is_exact(value))
        return value;
    return axe_cast(p->cx, value->at, t->type,
                    axe_cast(p->cx, value->at, kept, value));
}

axe_status
axe_request_also(axe_planner *p, const axe_node *n, axe_request *r)
{
    int              n_load = 0, n_all = r->n_operand + loads_in(p, n);
    const axe_node **load = axe_new_array(p->cx, const axe_node *, n_all + 1);
    axe_operand     *all = axe_new_array(p->cx, axe_operand, n_all + 1);

    for (; n_load < r->n_operand; n_load++) {
        all[n_load] = r->operand[n_load];
        load[n_load] = all[n_load].load;
    }
    gather(n, load, &n_load);
    for (int i = r->n_operand; i < n_load; i++) {
        AXE_TRY(resolve(p, r, load[i], &all[i]));
        all[i].n_guard = all[i].n_check = 0;
        for (int d = 0; d < load[i]->n_arg; d++) {
            axe_subscript s;
            AXE_TRY(axe_subscript_apart(p, load[i]->arg[d], &s));
            axe_subscript_ask(&s, load[i]->u.tensor->shape[d], &all[i]);
        }
    }
    r->operand = all;
    r->n_operand = n_load;
    return AXE_OK;
}

axe_status
axe_request_make(axe_planner *p, const axe_stmt *s, axe_request *out)
{
    axe_request r = {.stmt = s,
                     .value = rounded(p, s, axe_spell_fold(p->cx, s)),
                     .atomic = axe_scatter_is_atomic(p, s)};
    int         n_load = 1, n_max = loads_in(p, r.value) + loads_in(p, s->dst);
    const axe_node **load = axe_new_array(p->cx, const axe_node *, n_max + 1);

    p->n_request++;
    if (r.atomic)
        r.value = r.value->arg[1];
    r.nest = axe_new_array(p->cx, axe_nest, count(r.value, AXE_OP_reduce) + 1);
    r.nest[r.n_nest++] =
        (axe_nest){.n_dim = s->n_free, .dim = s->dim, .lanes = 1, .chains = 1};
    gather_nests(p, r.value, &r);
    load[0] = s->dst;
    for (int d = 0; d < s->dst->n_arg; d++)
        gather(s->dst->arg[d], load, &n_load);
    gather(r.value, load, &n_load);
    const axe_node **next = axe_new_array(p->cx, const axe_node *, n_max + 1);
    for (int i = 1; i < n_load; i++) {
        const axe_node *from = axe_packed_load(p, load[i]);
        for (int d = 0; from && d < from->n_arg; d++)
            gather(from->arg[d], load, &n_load);
        next[i] = from ? axe_packed_next(p, load[i]) : NULL;
        if (next[i])
            gather(next[i], load, &n_load);
    }
    r.operand = axe_new_array(p->cx, axe_operand, n_load);
    r.n_operand = n_load;
    for (int i = 0; i < n_load; i++) {
        AXE_TRY(resolve(p, &r, load[i], &r.operand[i]));
        r.operand[i].next = next[i];
    }
    AXE_TRY(check_overlap(p, &r));
    *out = r;
    return AXE_OK;
}
