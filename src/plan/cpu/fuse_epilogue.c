/* fuse_epilogue.c - the ends of a contraction's sums, merged into it.
 *
 *     acc[m, n] = 0                      no work: iteration 0 does not add old
 * sums for (t) { ... acc[m, n] += ... } C[.., ..] = f(acc[m, n])           done
 * with the sums in registers
 *
 * Then the sums' tile is touched only between iterations, and not at all if
 * there is one iteration.  What follows is merged for whole register tiles; the
 * ragged ones keep their sums in the tile, and the statement is left with
 * those.  Without any iteration both statements run as written.
 *
 * Zeros written right before the one contraction that adds to them are left out
 * where that visits, whoever reads its sums then.
 *
 * Allowed iff nobody can tell: all that write or read acc are these three; the
 * contraction is the last statement of its loop, which no iteration leaves by
 * `break` or `continue`, and the loop stands right before what follows, which
 * takes sums only at the very element it computes, and is bounded as the
 * contraction is. */
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* Where a contraction stands: in `body`, at `at`; its own place, or that of the
 * loop around it. */
typedef struct place {
    int              n;
    axe_stmt *const *body;
    int              at;
    const axe_stmt  *loop; /* or NULL */
} place;

static bool find(int n, axe_stmt *const *body, const axe_stmt *s, place *out);

/* Is s the last statement of the loop, not below a branch? */
static bool
ends_with(int n, axe_stmt *const *body, const axe_stmt *s)
{
    const axe_stmt *last = n > 0 ? body[n - 1] : NULL;

    return last && (last == s || (last->kind == AXE_STMT_CONSUME &&
                                  ends_with(last->n_body, last->body, s)));
}

static bool
find(int n, axe_stmt *const *body, const axe_stmt *s, place *out)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *b = body[i];
        bool            loop = b->kind == AXE_STMT_FOR;
        *out = (place){n, body, i, loop ? b : NULL};
        if (b == s || (loop && ends_with(b->n_body, b->body, s)))
            return true;
        if (find(b->n_body, b->body, s, out) ||
            find(b->n_other, b->other, s, out))
            return true;
    }
    return false;
}

/* The statement after `at` that does something, one level deep. */
static const axe_stmt *
next(const place *pl)
{
    int i = pl->at + 1;

    return i < pl->n && pl->body[i]->kind == AXE_STMT_INDEX ? pl->body[i]
                                                            : NULL;
}

/* The plain `t = 0` before the contraction in the same body. */
static const axe_stmt *
zeroed(axe_planner *p, const place *pl, const axe_tensor *t)
{
    for (int i = 0; i < pl->at; i++) {
        const axe_stmt     *b = pl->body[i];
        const axe_schedule *s =
            b->kind == AXE_STMT_INDEX ? p->schedule[b->id] : NULL;
        const axe_node *v = s ? s->value : NULL;
        while (v && v->op == AXE_OP_cast)
            v = v->arg[0];
        if (v && b->dst->u.tensor == t && b->fold == AXE_FOLD_NONE &&
            axe_walks_whole(b->dst) &&
            ((v->op == AXE_OP_fconst && v->u.f == 0) ||
             (v->op == AXE_OP_iconst && v->u.i == 0)))
            return b;
    }
    return NULL;
}

static int
accesses_in(const axe_schedule *s, const axe_tensor *t)
{
    int n = 0;

    for (int k = 0; s && k < s->n_operand; k++)
        n += s->operand[k].tensor == t;
    return n;
}

/* Have z, s and f, of which z and f may be NULL, all accesses of t? */
static bool
alone(const axe_planner *p, const axe_tensor *t, const axe_schedule *z,
      const axe_schedule *s, const axe_schedule *f)
{
    int all = 0;

    for (int i = 0; i < p->kernel->n_index_stmt; i++)
        all += accesses_in(p->schedule[i], t);
    return all == accesses_in(z, t) + accesses_in(s, t) + accesses_in(f, t);
}

static const axe_node *
bound_of(const axe_schedule *s, const axe_var *v)
{
    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].var == v)
            return s->bound[i].limit;
    return NULL;
}

static bool
same(const axe_node *a, const axe_node *b)
{
    return a == b || (a && b && axe_node_same(a, b));
}

/* Does nobody read sums that the contraction does not visit? */
static bool
covers(axe_planner *p, const axe_schedule *s)
{
    const axe_node *dst = s->stmt->dst;

    for (int d = 0; d < dst->n_arg; d++) {
        const axe_node *l = dst->arg[d]->op == AXE_OP_var
                                ? bound_of(s, dst->arg[d]->u.var)
                                : NULL;
        if (l && !same(l, axe_common_limit(p, dst->u.tensor, d)))
            return false;
    }
    return true;
}

/* The index of e that takes the place of the contraction's index v; NULL if e
 * reads sums anywhere else than at (m, n). */
static const axe_var *
index_for(const axe_schedule *s, const axe_schedule *e, const axe_var *v)
{
    const axe_node *dst = s->stmt->dst;
    const axe_var  *out = NULL;

    for (int k = 1; k < e->n_operand; k++) {
        const axe_node *load = e->operand[k].load;
        for (int d = 0; load->u.tensor == dst->u.tensor && d < dst->n_arg;
             d++) {
            if (dst->arg[d]->op != AXE_OP_var || dst->arg[d]->u.var != v)
                continue;
            if (load->arg[d]->op != AXE_OP_var ||
                (out && out != load->arg[d]->u.var))
                return NULL;
            out = load->arg[d]->u.var;
        }
    }
    return out;
}

static bool
has_guard(const axe_operand *op, const axe_var *v, const axe_node *limit)
{
    for (int g = 0; g < op->n_guard; g++)
        if (op->guard[g].var == v && axe_node_same(op->guard[g].limit, limit))
            return true;
    return false;
}

/* Do all operands of e leave their tensors, if at all, where its destination
 * does, and that where the contraction ends? */
static bool
same_edges(const axe_schedule *s, const axe_schedule *e)
{
    const axe_var *of[2] = {s->core->tile.m, s->core->tile.n};

    for (int i = 0; i < 2; i++) {
        const axe_node *l = bound_of(s, of[i]);
        for (int k = 0; k < e->n_operand; k++)
            for (int g = 0; g < e->operand[k].n_guard; g++)
                if (e->operand[k].guard[g].var == e->core->merged[i] &&
                    !same(l, e->operand[k].guard[g].limit))
                    return false;
        if (l && !has_guard(&e->operand[0], e->core->merged[i], l))
            return false;
    }
    return true;
}

static bool
fits(axe_planner *p, const axe_schedule *s, const axe_schedule *e)
{
    const axe_tensor *t = s->stmt->dst->u.tensor;
    bool              ok = e && !e->stmt->atom && e->kind == AXE_SCHED_MAP &&
              e->stmt->fold == AXE_FOLD_NONE && e->n_nest == 1 &&
              e->stmt->n_dim == 2 && e->n_bound == 0 &&
              e->operand[0].tensor->space == AXE_SPACE_GLOBAL &&
              e->nest[0].lanes == s->nest[0].lanes && accesses_in(e, t) > 0;

    for (int k = 0; ok && k < e->n_operand; k++)
        ok = e->operand[k].n_check == 0;
    if (!ok)
        return false;
    const axe_var **merged = axe_core_edit(p, e)->merged;
    merged[0] = index_for(s, e, s->core->tile.m);
    merged[1] = index_for(s, e, s->core->tile.n);
    return merged[0] && merged[1] && merged[0] != merged[1] &&
           e->nest[0].digit[e->nest[0].n_digit - 1].var == merged[1] &&
           same_edges(s, e);
}

/* Sums are kept as they are in registers, so the tile rounds nothing. */
static bool
kept_exactly(axe_planner *p, const axe_schedule *s)
{
    const axe_tensor *t = s->stmt->dst->u.tensor;
    axe_type          c;

    return t->space != AXE_SPACE_GLOBAL && axe_walks_whole(s->stmt->dst) &&
           s->stmt->dst->n_arg == 2 &&
           axe_compute_type(p->cx, p->mc, s->stmt->at, t->type, &c) == AXE_OK &&
           c == t->type && p->place[t->id].type == t->type;
}

static void
merge(axe_planner *p, const axe_schedule *s)
{
    const axe_tensor  *t = s->stmt->dst->u.tensor;
    axe_core_schedule *own = axe_core_edit(p, s);
    place              pl;

    if (!kept_exactly(p, s) || !s->core->split.early || s->core->split.loop ||
        !find(p->kernel->n_body, p->kernel->body, s->stmt, &pl))
        return;
    const axe_stmt     *z = zeroed(p, &pl, t), *f = next(&pl);
    const axe_schedule *zs = z ? p->schedule[z->id] : NULL;
    const axe_schedule *fs = f ? p->schedule[f->id] : NULL;
    if (!alone(p, t, zs, s, fs) ||
        (pl.loop && axe_leaves_iteration(pl.loop->n_body, pl.loop->body)))
        return;
    if (pl.loop) {
        own->iteration = axe_var_node(p->cx, AXE_NOWHERE, pl.loop->var[0]);
        own->iterations = pl.loop->var[0]->extent;
    }
    if (zs && covers(p, s)) {
        own->fresh = true;
        axe_core_edit(p, zs)->within = s;
    }
    if (fits(p, s, fs)) {
        own->then = fs;
        own->parts = s->core->tile.narrow && fs->nest[0].parts;
        axe_core_edit(p, fs)->within = s;
    }
}

/* The rows of t that the contraction does not write: those from here on, or all
 * where it leaves out columns. */
static const axe_node *
rest_of_rows(axe_planner *p, axe_schedule *s)
{
    const axe_split *sp = &s->core->split;
    const axe_node  *mr = axe_index_const(p->cx, s->core->tile.mr), *all, *rows;
    int64_t          columns = 0;

    for (int i = 0; i < s->stmt->n_dim; i++)
        if (s->stmt->dim[i].var == s->core->tile.n)
            columns = axe_dim_extent(&s->stmt->dim[i]);
    all = axe_node2(p->cx, AXE_OP_le, axe_index_const(p->cx, columns),
                    sp->columns);
    rows = axe_node2(p->cx, AXE_OP_mul,
                     axe_node2(p->cx, AXE_OP_cdiv, sp->rows, mr), mr);
    rows = axe_node_new(
        p->cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
        (const axe_node *[]){all, rows, axe_index_const(p->cx, 0)});
    return axe_split_let(p, s, "zeros", rows);
}

/* Does a statement of pl's body between z and the contraction touch t, or may
 * one of them skip the contraction? */
static bool
touched(const place *pl, const axe_stmt *z, const axe_tensor *t)
{
    bool behind = false;

    for (int i = 0; i < pl->at; i++) {
        if (behind &&
            (axe_leaves_iteration(1, pl->body + i) ||
             axe_stmt_reads(pl->body[i], t) || axe_stmt_writes(pl->body[i], t)))
            return true;
        behind = behind || pl->body[i] == z;
    }
    return false;
}

/* t = 0 right before the one contraction that adds to it: that writes what it
 * visits, and only the rest is left to the statement.  Others may read t. */
static void
merge_zeros(axe_planner *p, axe_schedule *s)
{
    const axe_node *dst = s->stmt->dst;
    const axe_stmt *z;
    axe_schedule   *zs;
    axe_guard      *from;
    place           pl;
    int             d = 0;

    if (s->core->fresh || !s->core->split.early || !kept_exactly(p, s) ||
        !find(p->kernel->n_body, p->kernel->body, s->stmt, &pl) || pl.loop)
        return;
    z = zeroed(p, &pl, dst->u.tensor);
    zs = z ? p->schedule[z->id] : NULL;
    if (!zs || zs->kind != AXE_SCHED_MAP || zs->core->within ||
        zs->n_from > 0 || touched(&pl, z, dst->u.tensor))
        return;
    while (dst->arg[d]->u.var != s->core->tile.m)
        d++;
    from = axe_new(p->cx, axe_guard);
    *from = (axe_guard){z->dst->arg[d]->u.var, rest_of_rows(p, s)};
    zs->n_from = 1;
    zs->from = from;
    axe_core_edit(p, s)->fresh = true;
}

void
axe_merge_ends(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        axe_schedule *s = p->schedule[i];
        if (s && s->kind == AXE_SCHED_CONTRACT && !s->stmt->atom) {
            merge(p, s);
            merge_zeros(p, s);
        }
    }
}
