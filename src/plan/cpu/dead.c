/* dead.c - elements of a tile that nobody reads need not be written.
 *
 * A reader bounds an index of a tile when it stops at a limit: a contraction
 * where a factor is zero (rounded up to its register tile), a move where its
 * destination ends.  If every reader of a tile bounds a dimension by the same
 * limit, the statements that fill the tile are cut there too: the zeros beyond
 * the edge of a matrix are then never written, nor sums that are never stored.
 * A limit that moves with a loop is shared only within an iteration of the
 * loop.
 */
#include <string.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* How far a reader goes in one dimension of a tile. */
typedef struct reach {
    const axe_node *limit; /* NULL: to the end */
    int64_t         round; /* up to a multiple of this */
} reach;

static const axe_dim *
dim_of(const axe_stmt *s, const axe_var *v)
{
    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            return &s->dim[i];
    return NULL;
}

/* How far index v goes in the schedule. */
static reach
index_reach(const axe_schedule *s, const axe_var *v)
{
    reach out = {NULL, 1};

    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].var == v)
            out.limit = s->bound[i].limit;
    for (int g = 0; g < s->operand[0].n_guard && !out.limit; g++)
        if (s->operand[0].guard[g].var == v)
            out.limit = s->operand[0].guard[g].limit;
    if (s->kind == AXE_SCHED_CONTRACT && v == s->core->tile.m)
        out.round = s->core->tile.mr;
    if (s->kind == AXE_SCHED_CONTRACT && v == s->core->tile.n)
        out.round = (int64_t)(s->core->tile.narrow ? 1 : s->core->tile.nv) *
                    s->nest[0].lanes;
    if (s->kind == AXE_SCHED_CONTRACT && v == s->core->tile.k)
        out.round = s->core->tile.group;
    return out;
}

static const axe_node *
rounded(axe_planner *p, reach r)
{
    const axe_node *k = axe_index_const(p->cx, r.round);

    if (r.round == 1)
        return r.limit;
    return axe_node2(p->cx, AXE_OP_mul,
                     axe_node2(p->cx, AXE_OP_cdiv, r.limit, k), k);
}

/* The subscript x + h reaches as far as x does, and h more. */
static reach
reach_of(axe_planner *p, const axe_schedule *s, const axe_node *sub)
{
    reach out = {NULL, 1};

    if (sub->op == AXE_OP_var)
        return index_reach(s, sub->u.var);
    if (sub->op != AXE_OP_add || sub->arg[0]->op != AXE_OP_var ||
        sub->arg[1]->op != AXE_OP_var)
        return out;
    for (int i = 0; i < 2 && !out.limit; i++) {
        reach          r = index_reach(s, sub->arg[i]->u.var);
        const axe_dim *d = dim_of(s->stmt, sub->arg[1 - i]->u.var);
        if (r.limit && d && axe_dim_extent(d) > 0 &&
            dim_of(s->stmt, sub->arg[i]->u.var))
            out.limit =
                axe_node2(p->cx, AXE_OP_add, rounded(p, r),
                          axe_index_const(p->cx, axe_dim_extent(d) - 1));
    }
    return out;
}

static bool
merge(reach *all, bool first, reach r)
{
    if (!r.limit)
        return false;
    if (first) {
        *all = r;
        return true;
    }
    if (!axe_node_same(all->limit, r.limit))
        return false;
    int64_t big = all->round > r.round ? all->round : r.round;
    int64_t small = all->round > r.round ? r.round : all->round;
    all->round = big;
    return big % small == 0;
}

/* Does operand k only serve to add to the element that is written?  What
 * nobody else reads then is not needed. */
static bool
adds_to_it(const axe_schedule *s, int k)
{
    return s->kind == AXE_SCHED_MAP && s->stmt->fold != AXE_FOLD_NONE &&
           (k == 0 || axe_node_same(s->operand[k].load, s->stmt->dst));
}

/* What all readers of dimension d of the tile, but one, have in common. */
static bool
common_reach(axe_planner *p, const axe_tensor *t, int d,
             const axe_schedule *but, reach *out)
{
    bool first = true;

    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        for (int k = 0; s && k < s->n_operand; k++) {
            bool reads = k > 0 || s->kind == AXE_SCHED_CONTRACT ||
                         s->stmt->fold != AXE_FOLD_NONE;
            if (s->operand[k].tensor != t || !reads || s == but ||
                adds_to_it(s, k))
                continue;
            if (!merge(out, first, reach_of(p, s, s->operand[k].load->arg[d])))
                return false;
            first = false;
        }
    }
    return !first;
}

const axe_node *
axe_common_limit(axe_planner *p, const axe_tensor *t, int d)
{
    reach r;

    return common_reach(p, t, d, NULL, &r) ? r.limit : NULL;
}

/* Does it differ from one iteration of a loop to the next? */
static bool
moves(const axe_node *n)
{
    if (n->op == AXE_OP_var)
        return n->u.var->kind == AXE_VAR_LOOP;
    for (int i = 0; i < n->n_arg; i++)
        if (moves(n->arg[i]))
            return true;
    return false;
}

/* Do all readers of what s writes see it in the iteration in which it was
 * written? In a later one they might read further than it was filled. */
static bool
before_readers(const axe_planner *p, const axe_schedule *s)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *r = p->schedule[i];
        for (int k = 0; r && k < r->n_operand; k++)
            if (r != s && r->operand[k].tensor == s->operand[0].tensor &&
                (k > 0 || r->kind == AXE_SCHED_CONTRACT ||
                 r->stmt->fold != AXE_FOLD_NONE) &&
                !axe_runs_before(p, s->stmt, r->stmt))
                return false;
    }
    return true;
}

static void
cut_writer(axe_planner *p, axe_schedule *s, int d, reach r)
{
    const axe_node *sub = s->stmt->dst->arg[d];
    axe_guard      *bound = axe_new_array(p->cx, axe_guard, s->n_bound + 1);

    if (sub->op != AXE_OP_var || !axe_known_at(p, s->stmt, r.limit) ||
        (moves(r.limit) &&
         (s->stmt->fold != AXE_FOLD_NONE || !before_readers(p, s))))
        return;
    if (s->n_bound > 0)
        memcpy(bound, s->bound, (size_t)s->n_bound * sizeof *bound);
    bound[s->n_bound++] = (axe_guard){sub->u.var, rounded(p, r)};
    s->bound = bound;
}

static bool
is_bound(const axe_schedule *s, const axe_var *v)
{
    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].var == v)
            return true;
    return false;
}

/* Sums that none of those who take them reads are not summed up. */
static void
cut_sums(axe_planner *p, axe_schedule *s)
{
    const axe_node *dst = s->stmt->dst;
    axe_guard      *bound = axe_new_array(p->cx, axe_guard, s->n_bound + 2);
    reach           r;

    if (s->n_bound > 0)
        memcpy(bound, s->bound, (size_t)s->n_bound * sizeof *bound);
    for (int d = 0; d < dst->n_arg; d++) {
        const axe_node *sub = dst->arg[d];
        bool tile = sub->op == AXE_OP_var && (sub->u.var == s->core->tile.m ||
                                              sub->u.var == s->core->tile.n);
        bool iteration = sub->op == AXE_OP_var &&
                         sub->u.var->kind == AXE_VAR_LOOP && !s->core->idle.var;
        if ((!tile && !iteration) || is_bound(s, sub->u.var) ||
            !common_reach(p, dst->u.tensor, d, s, &r) || r.round != 1 ||
            !axe_known_at(p, s->stmt, r.limit) || moves(r.limit))
            continue;
        if (iteration)
            axe_core_edit(p, s)->idle = (axe_guard){sub->u.var, r.limit};
        else
            bound[s->n_bound++] = (axe_guard){sub->u.var, r.limit};
    }
    s->bound = bound;
}

void
axe_cut_dead(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        axe_schedule *s = p->schedule[i];
        if (s && s->kind == AXE_SCHED_CONTRACT && !s->stmt->atom &&
            s->operand[0].tensor->space != AXE_SPACE_GLOBAL)
            cut_sums(p, s);
    }
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        axe_schedule     *s = p->schedule[i];
        const axe_tensor *t = s ? s->operand[0].tensor : NULL;
        if (!s || t->space == AXE_SPACE_GLOBAL || axe_stage_of(p, s->stmt, t) ||
            s->stmt->atom || s->kind == AXE_SCHED_CONTRACT ||
            (s->stmt->fold != AXE_FOLD_NONE && s->kind != AXE_SCHED_MAP) ||
            !axe_walks_whole(s->stmt->dst))
            continue;
        for (int d = 0; d < t->rank; d++) {
            reach r;
            if (common_reach(p, t, d, NULL, &r))
                cut_writer(p, s, d, r);
        }
    }
}
