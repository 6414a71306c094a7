/* zero_copy.c - factors of a contraction that are read where they come from.
 *
 * A tile that one statement fills with plain copies of an argument, or of a
 * tensor of the kernel's own that other scopes write, and that only the
 * contraction reads, need not be filled where the source itself can be read: a
 * left factor of any strides, a right factor whose columns lie together.  The
 * code is the same; only where it begins and how far it steps differ, so the
 * choice is made when the kernel runs:
 *
 *   for each register tile, since ragged ones are filled with the zeros beyond
 *   the edge and read from the tile;
 *   for the kernel, since strides may put what is read again and again into
 *   few sets of a cache (cache_sets.c).  What is read only once is never
 * copied. */
#include <assert.h>
#include <inttypes.h>

#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/access/contract_roles.h"
#include "plan/cpu/cpu.h"

/* The index of `load` that walks the dimension that v walks in dst. */
static const axe_var *
renamed(const axe_node *dst, const axe_node *load, const axe_var *v)
{
    for (int d = 0; d < dst->n_arg; d++)
        if (dst->arg[d]->op == AXE_OP_var && dst->arg[d]->u.var == v &&
            load->arg[d]->op == AXE_OP_var)
            return load->arg[d]->u.var;
    return NULL;
}

/* The source of the fill with the contraction's indices, or NULL. */
static const axe_operand *
source_of(axe_planner *p, const axe_schedule *fill, const axe_node *load)
{
    const axe_operand *from = &fill->operand[1];
    axe_operand       *op = axe_new(p->cx, axe_operand);
    axe_term          *term = axe_new_array(p->cx, axe_term, from->n_term + 1);
    axe_guard *guard = axe_new_array(p->cx, axe_guard, from->n_guard + 1);

    *op = *from;
    op->term = term;
    op->guard = guard;
    for (int i = 0; i < from->n_term; i++) {
        term[i] = from->term[i];
        term[i].var = renamed(fill->stmt->dst, load, from->term[i].var);
        if (!term[i].var || term[i].n_iter != 1)
            return NULL;
        for (int k = 0; k < i; k++)
            if (term[k].var == term[i].var)
                return NULL;
    }
    for (int i = 0; i < from->n_guard; i++) {
        guard[i] = from->guard[i];
        guard[i].var = renamed(fill->stmt->dst, load, from->guard[i].var);
        if (!guard[i].var)
            return NULL;
    }
    return op;
}

static const axe_stmt *
outermost_scope(int n, axe_stmt *const *body, const axe_stmt *s)
{
    for (int i = 0; i < n; i++) {
        if (!axe_stmt_within(1, body + i, s))
            continue;
        if (body[i]->kind == AXE_STMT_SCOPE)
            return body[i];
        return axe_stmt_within(body[i]->n_body, body[i]->body, s)
                   ? outermost_scope(body[i]->n_body, body[i]->body, s)
                   : outermost_scope(body[i]->n_other, body[i]->other, s);
    }
    return NULL;
}

/* Does t stay as it is while w's scope runs?  So does what an argument is only
 * read from, and a tensor of the kernel's own that no entity writes there. */
static bool
rests(const axe_planner *p, const axe_stmt *w, const axe_tensor *t)
{
    const axe_stmt *scope =
        outermost_scope(p->kernel->n_body, p->kernel->body, w);

    return t->dir == AXE_DIR_IN ||
           (t->space == AXE_SPACE_GLOBAL && t->dir == AXE_DIR_LOCAL && scope &&
            !axe_stmt_writes(scope, t));
}

/* The only statement that fills the factor's tile, if that copies elements as
 * they are; else NULL and why. */
static axe_schedule *
filled_by(axe_planner *p, const axe_schedule *s, const axe_operand *op,
          const char **why)
{
    const axe_stmt *w = axe_only_writer(p, op->tensor);
    const axe_stmt *iterations = s->core->split.loop;
    axe_schedule   *fill = w ? p->schedule[w->id] : NULL;
    int             readers = 0;

    for (int i = 0; i < p->kernel->n_index_stmt; i++)
        for (int k = 1; p->schedule[i] && k < p->schedule[i]->n_operand; k++)
            readers += p->schedule[i]->operand[k].tensor == op->tensor;
    *why = "it is no plain copy of what nobody writes here";
    if (!fill || fill->kind == AXE_SCHED_CONTRACT || w->fold != AXE_FOLD_NONE ||
        fill->value->op != AXE_OP_load || fill->n_operand != 2 ||
        fill->operand[1].n_check > 0 || !rests(p, w, fill->operand[1].tensor) ||
        fill->operand[1].tensor->type != p->place[op->tensor->id].type ||
        p->place[op->tensor->id].flip || !axe_walks_whole(w->dst) ||
        !axe_walks_whole(op->load))
        return NULL;
    *why = "others read it, too, or at another time";
    if (readers != 1 || !axe_runs_before(p, w, s->stmt) ||
        !axe_known_at(p, s->stmt, fill->operand[1].base))
        return NULL;
    *why = "what is left of it is another number in each iteration";
    if (iterations && !axe_stmt_within(iterations->n_body, iterations->body, w))
        return NULL;
    *why = "it is transposed";
    return fill->kind == AXE_SCHED_MAP ? fill : NULL;
}

static const axe_iter *
step_of(const axe_operand *op, const axe_var *v)
{
    for (int i = 0; i < op->n_term; i++)
        if (op->term[i].var == v)
            return op->term[i].iter;
    return NULL;
}

/* Inside its tensor wherever whole register tiles read: the rest of the sum is
 * not visited. */
static bool
inside(const axe_schedule *s, const axe_operand *op, const axe_var *kept)
{
    for (int g = 0; g < op->n_guard; g++) {
        bool ok = false;
        for (int i = 0; i < s->n_bound; i++)
            ok = ok || (s->bound[i].var == op->guard[g].var &&
                        axe_node_same(s->bound[i].limit, op->guard[g].limit));
        if (!ok)
            return false;
    }
    return step_of(op, kept) && step_of(op, s->core->tile.k);
}

static const axe_node *
in_bytes(axe_planner *p, const axe_operand *op, const axe_iter *it)
{
    const axe_node *n = axe_index_const(
        p->cx, it->stride * (axe_type_table[op->tensor->type].bits / 8));

    for (int i = 0; i < axe_unit_n_factor(p->cx, it->unit); i++)
        for (int k = 0; k < p->kernel->n_size; k++)
            if (axe_unit_factor(p->cx, it->unit, i) == p->kernel->size[k]->name)
                n = axe_node2(
                    p->cx, AXE_OP_mul, n,
                    axe_var_node(p->cx, AXE_NOWHERE, p->kernel->size[k]));
    return n;
}

static int64_t
extent_of(const axe_schedule *s, const axe_var *v)
{
    for (int i = 0; i < s->stmt->n_dim; i++)
        if (s->stmt->dim[i].var == v)
            return axe_dim_extent(&s->stmt->dim[i]);
    return 0;
}

/* Does a row of the sum lie together? */
static bool
sums_together(const axe_schedule *s, const axe_operand *op)
{
    for (int i = 0; i <= s->core->tile.n_more; i++) {
        const axe_iter *it =
            step_of(op, i < s->core->tile.n_more ? s->core->tile.more[i]
                                                 : s->core->tile.k);
        if (it && it->stride == 1 && it->unit == AXE_UNIT_ONE)
            return true;
    }
    return false;
}

/* Do `tiles` register tiles' rows of a, each with a line of its own, fit the
 * sets of L1? */
static const axe_node *
rows_fit(axe_planner *p, const axe_schedule *s, const axe_operand *op,
         int tiles)
{
    const axe_machine *mc = p->mc;

    return axe_fits_sets(
        p->cx, axe_index_const(p->cx, (int64_t)tiles * s->core->tile.mr),
        axe_index_const(p->cx, 64),
        in_bytes(p, op, step_of(op, s->core->tile.m)),
        mc->l1_bytes / mc->l1_ways, mc->l1_ways);
}

/* Is what is read again in lines that do not drive one another out?  Rows of a
 * are read again at once, tile after tile of the columns; everything else when
 * all else has passed, so it may take half of the second-level cache. */
static const axe_node *
settled(axe_planner *p, const axe_schedule *s, const axe_operand *op, bool left,
        const char **why)
{
    const axe_machine *mc = p->mc;
    const axe_iter    *k = step_of(op, s->core->tile.k);
    int                ways = mc->l2_ways;
    int64_t            period = mc->l2_bytes / ways;
    int                bytes = axe_type_table[op->tensor->type].bits / 8;
    const axe_node *n = axe_index_const(p->cx, extent_of(s, s->core->tile.k));

    *why = axe_textf(p->cx, "%d rows get at most %d of the %d ways of L1",
                     s->core->tile.mr, s->core->tile.mr, mc->l1_ways);
    if (left && sums_together(s, op))
        return rows_fit(p, s, op, 1);
    if (s->core->iterations && s->core->iterations->op == AXE_OP_cdiv)
        n = axe_node2(p->cx, AXE_OP_min, n, s->core->iterations->arg[0]);
    const axe_node *row =
        left ? axe_index_const(p->cx, (int64_t)s->core->tile.mr * bytes)
             : axe_node2(p->cx, AXE_OP_mul, s->core->split.columns,
                         axe_index_const(p->cx, bytes));
    const axe_node *stride = in_bytes(p, op, k);
    *why = axe_textf(
        p->cx,
        "%s pieces of %s bytes, %s apart, get %d of the %d ways of "
        "L2 in no set of its %" PRId64 ", or they are read once",
        axe_node_text(p->cx, n), axe_node_text(p->cx, row),
        axe_node_text(p->cx, stride), ways / 2 + 1, ways, period / 64);
    return axe_fits_sets(p->cx, n, row, stride, period, ways / 2);
}

/* Does the sum end with a whole group, wherever it is cut?  The tile has zeros
 * behind it, the argument has not. */
static const axe_node *
whole_groups(axe_planner *p, const axe_schedule *s, const axe_operand *op)
{
    const axe_node *size =
        s->core->iterations && s->core->iterations->op == AXE_OP_cdiv
            ? s->core->iterations->arg[0]
            : NULL;
    int64_t tile;

    if (s->core->tile.group == 1)
        return axe_iconst(p->cx, AXE_NOWHERE, AXE_TYPE_bool, 1);
    for (int g = 0; g < op->n_guard; g++)
        if (op->guard[g].var == s->core->tile.k &&
            (!size || !axe_is_iconst(s->core->iterations->arg[1], &tile) ||
             tile % s->core->tile.group != 0))
            return axe_iconst(p->cx, AXE_NOWHERE, AXE_TYPE_bool, 0);
    return size ? axe_node2(
                      p->cx, AXE_OP_eq,
                      axe_node2(p->cx, AXE_OP_mod, size,
                                axe_index_const(p->cx, s->core->tile.group)),
                      axe_index_const(p->cx, 0))
                : axe_iconst(p->cx, AXE_NOWHERE, AXE_TYPE_bool, 1);
}

/* Read again at all? */
static const axe_node *
once(axe_planner *p, const axe_schedule *s, bool left)
{
    int64_t n =
        left ? (int64_t)s->core->tile.nv * s->nest[0].lanes : s->core->tile.mr;

    return axe_node2(p->cx, AXE_OP_le,
                     left ? s->core->split.columns : s->core->split.rows,
                     axe_index_const(p->cx, n));
}

/* What n steps of `weight` move the operand by each; false if it differs: one
 * part is within one iter, since no iter of a tile stands still. */
static bool
even_steps(axe_planner *p, const axe_operand *op, const axe_var *v,
           int64_t weight, int64_t n, axe_stride *out)
{
    axe_move *m = axe_new_array(p->cx, axe_move, axe_operand_n_iter(op) + 1);
    axe_digit d = {v, weight, n};

    if (axe_operand_moves(op, &d, m) != 1)
        return false;
    assert(m[0].over == 1 && m[0].extent == 0);
    *out = m[0].stride;
    return true;
}

/* The same along the sum's other indices. */
static bool
find_more(axe_planner *p, const axe_schedule *s, const axe_operand *op,
          const axe_operand *src, axe_view *v)
{
    for (int i = 0; i < s->core->tile.n_more; i++) {
        int64_t e = extent_of(s, s->core->tile.more[i]);
        if (e > 1 &&
            (!even_steps(p, op, s->core->tile.more[i], 1, e, &v->more[i][0]) ||
             !even_steps(p, src, s->core->tile.more[i], 1, e, &v->more[i][1])))
            return false;
    }
    return true;
}

static bool
find_steps(axe_planner *p, const axe_schedule *s, const axe_operand *op,
           const axe_operand *src, bool left, axe_view *v)
{
    const axe_var *of = left ? s->core->tile.m : s->core->tile.n,
                  *k = s->core->tile.k;
    int64_t w = left ? 1 : s->nest[0].lanes;
    int64_t n = left ? s->core->tile.mr : extent_of(s, of) / w;
    int64_t ek = extent_of(s, k);

    return (n == 1 || even_steps(p, op, of, w, n, &v->step[0])) &&
           (n == 1 || even_steps(p, src, of, w, n, &v->step[1])) &&
           (ek == 1 || even_steps(p, op, k, 1, ek, &v->sum[0])) &&
           (ek == 1 || even_steps(p, src, k, 1, ek, &v->sum[1])) &&
           find_more(p, s, op, src, v);
}

/* The atom that loads the last vector of columns where it is less than whole.
 * Every tile's goes that way, so only one that costs no more than a whole. */
static const axe_atom *
end_of_row(axe_planner *p, const axe_schedule *s, const axe_operand *src)
{
    const axe_layout *mem;
    int               lanes = s->nest[0].lanes;
    const axe_atom *all, *part = axe_find_part(p, src, s->core->tile.n, lanes);

    if (!part || !axe_fast_layout(p, src, s->core->tile.n, lanes, &mem))
        return NULL;
    all = axe_find_move(p, AXE_ATOM_LOAD, lanes, 1, mem, NULL);
    return all && part->cost <= all->cost ? part : NULL;
}

static void
find_view(axe_planner *p, axe_schedule *s, bool left)
{
    axe_view          *v = &axe_core_edit(p, s)->view[left ? 0 : 1];
    const axe_operand *op =
        &s->operand[left ? s->core->tile.a : s->core->tile.b];
    const axe_var     *of = left ? s->core->tile.m : s->core->tile.n;
    const axe_operand *src;
    const axe_node    *whole;
    axe_schedule      *fill = filled_by(p, s, op, &v->why);
    axe_guard         *from;
    int64_t            known;

    if (!fill)
        return;
    src = source_of(p, fill, op->load);
    v->why = "it may be read beyond its edges";
    if (!src || !inside(s, src, of))
        return;
    v->why = "groups of the sum do not lie together";
    if (s->core->tile.group > 1 &&
        (!left || step_of(src, s->core->tile.k)->stride != 1 ||
         step_of(src, s->core->tile.k)->unit != AXE_UNIT_ONE))
        return;
    v->why = "its columns do not lie together";
    if (!left && (step_of(src, of)->stride != 1 ||
                  step_of(src, of)->unit != AXE_UNIT_ONE))
        return;
    v->why = "its layout is uneven";
    if (!find_steps(p, s, op, src, left, v) || (!left && !s->core->tile.narrow))
        return;
    v->why = "an iteration may end within a group of the sum";
    whole = whole_groups(p, s, src);
    if (axe_is_iconst(whole, &known) && !known)
        return;
    v->source = src;
    s->n_proved += axe_certify_view(p, src, op->load, fill);
    v->part = left ? NULL : end_of_row(p, s, src);
    v->end = left      ? s->core->split.whole_row
             : v->part ? s->core->split.columns
                       : s->core->split.whole_column;
    const axe_node *fits = axe_node2(
        p->cx, AXE_OP_or, settled(p, s, src, left, &v->why), once(p, s, left));
    v->when = axe_split_let(p, s, left ? "a.view" : "b.view",
                            axe_node2(p->cx, AXE_OP_and, whole, fits));
    if (left && sums_together(s, src))
        v->room = axe_split_let(p, s, "a.room", rows_fit(p, s, src, 2));
    from = axe_new(p->cx, axe_guard);
    *from = (axe_guard){
        renamed(op->load, fill->stmt->dst, of),
        axe_node_new(
            p->cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
            (const axe_node *[]){v->when, v->end, axe_index_const(p->cx, 0)})};
    fill->n_from = 1;
    fill->from = from;
}

/* Columns in more tiles would copy rows again, but for a view. */
static void
note_cheap(axe_planner *p, const axe_schedule *s)
{
    for (int i = 0; s->core->view[0].source && i < s->n_bound; i++)
        for (int k = 0; k < p->n_retile; k++)
            if (s->bound[i].var == s->core->tile.n &&
                axe_mentions(s->bound[i].limit, p->retile[k].origin))
                p->retile[k].cheap = true;
}

void
axe_find_views(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        axe_schedule *s = p->schedule[i];
        if (!s || s->stmt->atom || s->kind != AXE_SCHED_CONTRACT ||
            !s->core->split.early)
            continue;
        find_view(p, s, true);
        find_view(p, s, false);
        note_cheap(p, s);
    }
}
