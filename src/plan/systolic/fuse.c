/* fuse.c - statements that an engine does together with another one.
 *
 * scales  x[m, n] = x[m, n] * c[m], then x[m, n] += a product: the sum is
 *         added by one instruction that multiplies x before
 * sums    p[m, n] = exp(..), later sum[n](the same exp(..)): the instruction
 *         that computes p adds its values up, in f32, before p is rounded */
#include "ir/stmt.h"
#include "plan/systolic/systolic.h"

/* All of the tile, each element once: subscripts are indices, each of its own.
 */
static bool
is_whole(const axe_stmt *s)
{
    for (int d = 0; d < s->dst->n_arg; d++) {
        const axe_var *v = axe_just_index(s->dst->arg[d]);
        if (!v)
            return false;
        for (int i = 0; i < d; i++)
            if (axe_just_index(s->dst->arg[i]) == v)
                return false;
    }
    return s->n_free == s->dst->n_arg;
}

/* x = x * c, x *= c: c.  NULL: it is none. */
static const axe_node *
scale_of(const axe_stmt *s)
{
    const axe_node *v = s->value;

    if (s->kind != AXE_STMT_INDEX || s->prefix || s->n_dim != s->n_free ||
        !is_whole(s))
        return NULL;
    if (s->fold == AXE_FOLD_MUL)
        return v;
    if (s->fold != AXE_FOLD_NONE || v->op != AXE_OP_mul)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (axe_node_same(v->arg[i], s->dst) &&
            !axe_node_reads(v->arg[1 - i], s->dst->u.tensor))
            return v->arg[1 - i];
    return NULL;
}

/* Do the indices that both write with go equally far? */
static bool
same_extents(const axe_stmt *a, const axe_stmt *b)
{
    for (int i = 0; i < a->n_free; i++) {
        const axe_node *e = axe_stmt_extent(b, a->dim[i].var);
        if (!e || !axe_node_same(e, axe_stmt_extent(a, a->dim[i].var)))
            return false;
    }
    return true;
}

static void
find_scale(axe_planner *p, axe_stmt *s, axe_stmt *next)
{
    const axe_node      *c = scale_of(s);
    axe_systolic_product pr;

    if (!c || next->kind != AXE_STMT_INDEX || next->fold != AXE_FOLD_SUM ||
        !axe_node_same(s->dst, next->dst) || !same_extents(s, next) ||
        !axe_systolic_is_product(p->cx, next, p->systolic->tile, &pr))
        return;
    const axe_systolic_tile *x = &p->systolic->tile[s->dst->u.tensor->id];
    if (!x->tensor || x->psum || x->first || x->part < 0 || !pr.m ||
        axe_just_index(s->dst->arg[x->part]) != pr.m)
        return;
    if (c->op != AXE_OP_load || c->type != AXE_TYPE_f32 ||
        c->u.tensor->space == AXE_SPACE_GLOBAL)
        return;
    for (int d = 0; d < c->n_arg; d++)
        if (axe_just_index(c->arg[d]) != pr.m)
            return;
    p->systolic->step[next->id].scale = c;
    p->systolic->step[s->id].absorbed = true;
}

/* ------------------------------------------------------------------- sums */

static const axe_node *
bare(const axe_node *n)
{
    while (n->op == AXE_OP_cast && axe_type_is_float(n->type) &&
           axe_type_is_float(n->arg[0]->type))
        n = n->arg[0];
    return n;
}

typedef struct wanted {
    const axe_node *value; /* of which the sum is looked for */
    const axe_var  *over;
    const axe_node *found;
} wanted;

static void
look_sum(void *user, const axe_node *n)
{
    wanted *w = user;

    if (n->op == AXE_OP_reduce && n->u.reduce.fold == AXE_FOLD_SUM &&
        n->u.reduce.n_over == 1 && n->u.reduce.over[0] == w->over &&
        axe_node_same(bare(n->arg[0]), w->value))
        w->found = n;
}

typedef struct changed {
    const axe_stmt *s;
    bool            yes;
} changed;

static void
look_changed(void *user, const axe_node *n)
{
    changed *c = user;

    c->yes =
        c->yes || (n->op == AXE_OP_load && axe_stmt_writes(c->s, n->u.tensor));
}

/* Does the statement write what the value reads? */
static bool
changes(const axe_stmt *s, const axe_node *value)
{
    changed c = {s, false};

    axe_node_walk(value, look_changed, &c);
    return c.yes;
}

static void
find_sum(axe_planner *p, int n, axe_stmt *const *body, int i)
{
    const axe_stmt          *s = body[i];
    const axe_systolic_tile *x = &p->systolic->tile[s->dst->u.tensor->id];
    axe_systolic_step       *out = &p->systolic->step[s->id];
    wanted                   w = {bare(s->value), NULL, NULL};
    int64_t                  e;

    if (!x->tensor || x->psum || x->part < 0 || s->fold != AXE_FOLD_NONE ||
        s->prefix || s->n_dim != 2 || s->dst->n_arg != 2 || !is_whole(s) ||
        changes(s, w.value))
        return;
    w.over = axe_just_index(s->dst->arg[1 - x->part]);
    if (!axe_mentions(w.value, w.over) ||
        !axe_is_iconst(axe_stmt_extent(s, w.over), &e) || e > AXE_SYSTOLIC_N)
        return;
    for (int j = i + 1; j < n && !w.found; j++) {
        const axe_stmt *b = body[j];
        if (b->kind == AXE_STMT_INDEX) {
            axe_node_walk(b->value, look_sum, &w);
            const axe_node *f = w.found;
            if (f && !axe_node_same(f->u.reduce.extent[0],
                                    axe_stmt_extent(s, w.over)))
                return;
        }
        if (w.found)
            *out = (axe_systolic_step){.sum = w.found,
                                       .summed = b,
                                       .part =
                                           axe_just_index(s->dst->arg[x->part]),
                                       .blocks = x->blocks};
        else if (changes(b, w.value))
            return;
    }
}

static void
look(axe_planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX) {
            if (i + 1 < n)
                find_scale(p, body[i], body[i + 1]);
            find_sum(p, n, body, i);
        }
        look(p, body[i]->n_body, body[i]->body);
        look(p, body[i]->n_other, body[i]->other);
    }
}

void
axe_systolic_fuse(axe_planner *p)
{
    p->systolic->step =
        axe_new_array(p->cx, axe_systolic_step, p->kernel->n_index_stmt + 1);
    look(p, p->kernel->n_body, p->kernel->body);
}
