/* beyond.c - what a tile holds beyond the end of a global tensor.
 *
 * A dimension that ends early (domain.c) is never written beyond its end.  That
 * is right where all that would be there are zeros that are added, and where
 * the end is that of the turn at hand: so two things are looked for.  A tile
 * may hold other than zeros there, as exp(x) does.  And an end may be of a loop
 * whose turns leave the tile to one another, or to statements outside of it. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

const axe_node *
sys_declared(const axe_stmt *st, const axe_var *v)
{
    return axe_stmt_extent(st, v);
}

/* sub is v + rest: rest, or NULL. */
const axe_node *
sys_rest_of(sys *s, const axe_node *sub, const axe_var *v)
{
    axe_affine a;

    if (!axe_affine_of(s->cx, sub, &a) || axe_affine_coef(&a, v) != 1)
        return NULL;
    for (int i = 0; i < a.n; i++)
        if (a.var[i] != v && a.var[i]->kind == AXE_VAR_INDEX)
            return NULL;
    return axe_node_with(s->cx, sub, v, axe_index_const(s->cx, 0));
}

/* Does v + rest end where dimension d does, for all the index's values? */
bool
sys_ends_there(const axe_stmt *st, const axe_node *load, int d,
               const axe_var *v, const axe_node *rest)
{
    const axe_node *e = sys_declared(st, v);
    const axe_node *size = load->u.tensor->shape[d];
    int64_t         n, m, r;

    if (!axe_is_iconst(rest, &r))
        return false;
    if (axe_is_iconst(e, &n) && axe_is_iconst(size, &m))
        return r >= 0 && n + r <= m;
    return r == 0 && axe_node_same(e, size);
}

bool
sys_ends_at(sys *s, const axe_stmt *st, const axe_node *load, int d,
            const axe_var *v)
{
    const axe_node *rest = sys_rest_of(s, load->arg[d], v);

    return rest && !sys_ends_there(st, load, d, v, rest);
}

/* ------------------------------------------------------------------- zeros */

static bool
same_everywhere(const axe_node *n, const axe_var *v)
{
    return !axe_mentions(n, v);
}

/* Is a load zero where the index is beyond: of a global tensor that ends there,
 * of a tile that holds zeros? */
static bool
load_vanishes(sys *s, const axe_stmt *st, const axe_node *n, const axe_var *v)
{
    const axe_tensor *t = n->u.tensor;

    for (int d = 0; d < n->n_arg; d++) {
        if (!axe_mentions(n->arg[d], v))
            continue;
        if (t->space == AXE_SPACE_GLOBAL
                ? sys_ends_at(s, st, n, d, v)
                : axe_just_index(n->arg[d]) == v && !s->some[sys_dim(t, d)])
            return true;
    }
    return false;
}

bool
sys_vanishes(sys *s, const axe_stmt *st, const axe_node *n, const axe_var *v)
{
    switch (n->op) {
    case AXE_OP_load:
        return load_vanishes(s, st, n, v);
    case AXE_OP_cast:
    case AXE_OP_neg:
    case AXE_OP_abs:
        return sys_vanishes(s, st, n->arg[0], v);
    case AXE_OP_mul:
        return sys_vanishes(s, st, n->arg[0], v) ||
               sys_vanishes(s, st, n->arg[1], v);
    case AXE_OP_add:
    case AXE_OP_sub:
        return sys_vanishes(s, st, n->arg[0], v) &&
               sys_vanishes(s, st, n->arg[1], v);
    case AXE_OP_div:
        return sys_vanishes(s, st, n->arg[0], v) &&
               same_everywhere(n->arg[1], v);
    case AXE_OP_reduce:
        return n->u.reduce.fold == AXE_FOLD_SUM &&
               sys_vanishes(s, st, n->arg[0], v);
    case AXE_OP_fconst:
        return n->u.f == 0;
    default:
        return false;
    }
}

/* What the statement writes to a tile may be other than zero beyond. */
static bool
mark(sys *s, const axe_stmt *st)
{
    const axe_node *dst = st->dst;
    bool            moved = false;

    if (dst->u.tensor->space == AXE_SPACE_GLOBAL)
        return false;
    for (int d = 0; d < dst->n_arg; d++) {
        const axe_var *v = axe_just_index(dst->arg[d]);
        bool          *some = &s->some[sys_dim(dst->u.tensor, d)];
        bool adds = st->fold == AXE_FOLD_NONE || st->fold == AXE_FOLD_SUM;
        if (*some || (v && adds && sys_vanishes(s, st, st->value, v)))
            continue;
        *some = moved = true;
    }
    return moved;
}

static bool
mark_all(sys *s, int n, axe_stmt *const *body)
{
    bool moved = false;

    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            moved = mark(s, body[i]) || moved;
        moved = mark_all(s, body[i]->n_body, body[i]->body) || moved;
        moved = mark_all(s, body[i]->n_other, body[i]->other) || moved;
    }
    return moved;
}

void
sys_mark_zeros(sys *s)
{
    s->some = axe_new_array(s->cx, bool, s->k->n_tensor *AXE_SYSTOLIC_RANK);
    while (mark_all(s, s->k->n_body, s->k->body))
        continue;
}

/* ------------------------------------------------------------------- turns */

static bool
touches(const axe_stmt *st, const axe_tensor *t)
{
    return axe_stmt_reads(st, t) || axe_stmt_writes(st, t);
}

static bool
declares(const axe_stmt *st, const axe_tensor *t)
{
    if (st->kind == AXE_STMT_TENSOR && st->tensor == t)
        return true;
    for (int i = 0; st->kind == AXE_STMT_PIPELINE && i < st->pipeline->n_tensor;
         i++)
        if (st->pipeline->tensor[i] == t)
            return true;
    for (int i = 0; i < st->n_body; i++)
        if (declares(st->body[i], t))
            return true;
    for (int i = 0; i < st->n_other; i++)
        if (declares(st->other[i], t))
            return true;
    return false;
}

static bool
is_written(const axe_stmt *st, const axe_tensor *t)
{
    if (st->fold != AXE_FOLD_NONE || st->dst->u.tensor != t ||
        axe_stmt_reads(st, t))
        return false;
    for (int d = 0; d < st->dst->n_arg; d++)
        if (!axe_just_index(st->dst->arg[d]))
            return false;
    return true;
}

/* Is the first of the statements that touches the tile one that writes it, in
 * each turn? */
static bool
begins_anew(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *st = body[i];
        if (!touches(st, t))
            continue;
        if (st->kind == AXE_STMT_INDEX)
            return is_written(st, t);
        return (st->kind == AXE_STMT_PRODUCE || st->kind == AXE_STMT_CONSUME) &&
               begins_anew(st->n_body, st->body, t);
    }
    return true;
}

static bool
has_var(const axe_stmt *st, const axe_var *v)
{
    for (int i = 0; i < st->n_var; i++)
        if (st->var[i] == v)
            return true;
    return false;
}

/* Does no turn of v's loop see what another left in the tile, nor anything
 * outside of the loop the tile? */
static bool
is_settled(int n, axe_stmt *const *body, const axe_tensor *t, const axe_var *v)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *st = body[i];
        if (!touches(st, t))
            continue;
        if (has_var(st, v)) {
            if (!declares(st, t) && !begins_anew(st->n_body, st->body, t))
                return false;
        } else if (st->kind == AXE_STMT_INDEX || axe_node_reads(st->cond, t) ||
                   !is_settled(st->n_body, st->body, t, v) ||
                   !is_settled(st->n_other, st->other, t, v))
            return false;
    }
    return true;
}

bool
sys_is_settled(sys *s, const axe_node *limit, const axe_tensor *t)
{
    axe_affine a;

    if (!axe_affine_of(s->cx, limit, &a))
        return false;
    for (int i = 0; i < a.n; i++)
        if (a.var[i]->kind != AXE_VAR_SIZE &&
            !is_settled(s->k->n_body, s->k->body, t, a.var[i]))
            return false;
    return true;
}
