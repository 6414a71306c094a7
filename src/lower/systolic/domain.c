/* domain.c - how far indices need go.
 *
 * A tile's dimension and the indices that go over it are one class.  Where one
 * of them meets the end of a global tensor, what lies beyond it in the tile is
 * never read for a result: it would be zeros that are added, or elements that
 * are not written.  So all of the class end there.  That fails where something
 * beyond counts (beyond.c), is stored, or where ends differ; then
 * the class is `open`, tiles are filled with zeros, and all of it is
 * computed. */
#include <string.h>

#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

/* Numbers: statement's indices first, then tensors' dimensions. */
static int
of_index(const sys *s, const axe_stmt *st, const axe_var *v)
{
    return st->id * s->k->n_var + v->id;
}

static int
of_dim(const sys *s, const axe_tensor *t, int d)
{
    return s->k->n_index_stmt * s->k->n_var + t->id * AXE_SYSTOLIC_RANK + d;
}

static int
find(const sys *s, int i)
{
    while (s->up[i] != i)
        i = s->up[i];
    return i;
}

static void
put_limit(sys *s, int cls, const axe_node *limit)
{
    sys_class *c = &s->cls[find(s, cls)];

    if (c->limit && !axe_node_same(c->limit, limit))
        c->open = true;
    c->limit = limit;
}

static void
join(sys *s, int a, int b)
{
    a = find(s, a);
    b = find(s, b);
    if (a == b)
        return;
    s->up[b] = a;
    s->cls[a].open = s->cls[a].open || s->cls[b].open;
    if (s->cls[b].limit)
        put_limit(s, a, s->cls[b].limit);
}

/* Is size - rest at least 1 for all scopes and loops around?  Where rest is the
 * number of a block of `size` times what a block has. */
static bool
is_some(sys *s, const axe_node *size, const axe_node *rest)
{
    axe_affine a;
    int64_t    n, m, c;

    if (!axe_affine_of(s->cx, rest, &a) || a.constant != 0 || a.n > 1)
        return false;
    if (a.n == 0)
        return true;
    const axe_node *e = a.var[0]->extent;
    if (!e || a.var[0]->kind == AXE_VAR_PART)
        return false;
    if (axe_is_iconst(e, &n) && axe_is_iconst(size, &m))
        return (n - 1) * a.coef[0] < m;
    return (e->op == AXE_OP_cdiv && axe_is_iconst(e->arg[1], &c) &&
            c == a.coef[0] && axe_node_same(e->arg[0], size)) ||
           (a.coef[0] == 1 && axe_node_same(e, size));
}

typedef struct walk {
    sys            *s;
    const axe_stmt *st;
} walk;

static void
look_dim(sys *s, const axe_stmt *st, const axe_node *load, int d)
{
    bool              store = load == st->dst;
    const axe_tensor *t = load->u.tensor;
    bool              tile = t->space != AXE_SPACE_GLOBAL;
    bool              plain = false;
    axe_affine        a;

    if (!axe_affine_of(s->cx, load->arg[d], &a))
        a.n = 0;
    for (int i = 0; i < a.n; i++) {
        const axe_var *v = a.var[i];
        if (v->kind != AXE_VAR_INDEX)
            continue;
        const axe_node *rest = sys_rest_of(s, load->arg[d], v);
        int64_t         r;
        if (!rest) {
            s->cls[find(s, of_index(s, st, v))].open = true;
            continue;
        }
        if (!tile && store && sys_ends_there(st, load, d, v, rest))
            s->cls[find(s, of_index(s, st, v))].open = true;
        if (!tile && !sys_ends_there(st, load, d, v, rest)) {
            put_limit(s, of_index(s, st, v),
                      axe_node2(s->cx, AXE_OP_sub, t->shape[d], rest));
            if (!is_some(s, t->shape[d], rest))
                s->cls[find(s, of_index(s, st, v))].open = true;
        }
        if (tile && axe_is_iconst(rest, &r) && r == 0) {
            join(s, of_index(s, st, v), of_dim(s, t, d));
            plain = true;
        }
    }
    if (tile && !plain)
        s->cls[find(s, of_dim(s, t, d))].open = true;
}

static void
look_load(void *user, const axe_node *n)
{
    walk *w = user;

    if (n->op == AXE_OP_load)
        for (int d = 0; d < n->n_arg; d++)
            look_dim(w->s, w->st, n, d);
}

static void
look_fold(void *user, const axe_node *n)
{
    walk *w = user;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++) {
        const axe_var *v = n->u.reduce.over[i];
        if (n->u.reduce.fold != AXE_FOLD_SUM ||
            !sys_vanishes(w->s, w->st, n->arg[0], v))
            w->s->cls[find(w->s, of_index(w->s, w->st, v))].open = true;
    }
}

static void
look(sys *s, int n, axe_stmt *const *body, int round)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *st = body[i];
        walk            w = {s, st};
        if (st->kind == AXE_STMT_INDEX && round == 0) {
            look_load(&w, st->dst);
            axe_node_walk(st->value, look_load, &w);
        } else if (st->kind == AXE_STMT_INDEX) {
            for (int d = st->n_free; d < st->n_dim; d++)
                if (st->fold != AXE_FOLD_SUM ||
                    !sys_vanishes(s, st, st->value, st->dim[d].var))
                    s->cls[find(s, of_index(s, st, st->dim[d].var))].open =
                        true;
            axe_node_walk(st->value, look_fold, &w);
        }
        look(s, st->n_body, st->body, round);
        look(s, st->n_other, st->other, round);
    }
}

/* Ends that are of turns which leave the tile to others. */
static void
look_tile(sys *s, const axe_tensor *t)
{
    for (int d = 0; t->space != AXE_SPACE_GLOBAL && d < t->rank; d++) {
        sys_class *c = &s->cls[find(s, of_dim(s, t, d))];
        c->open = c->open || (c->limit && !sys_is_settled(s, c->limit, t));
    }
}

static void
look_turns(sys *s, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *st = body[i];
        if (st->kind == AXE_STMT_TENSOR)
            look_tile(s, st->tensor);
        if (st->kind == AXE_STMT_PIPELINE)
            for (int k = 0; k < st->pipeline->n_tensor; k++)
                look_tile(s, st->pipeline->tensor[k]);
        look_turns(s, st->n_body, st->body);
        look_turns(s, st->n_other, st->other);
    }
}

void
sys_domains(sys *s)
{
    int n =
        s->k->n_index_stmt * s->k->n_var + s->k->n_tensor * AXE_SYSTOLIC_RANK;

    s->up = axe_new_array(s->cx, int, n + 1);
    s->cls = axe_new_array(s->cx, sys_class, n + 1);
    for (int i = 0; i < n; i++)
        s->up[i] = i;
    look(s, s->k->n_body, s->k->body, 0);
    sys_mark_zeros(s);
    look(s, s->k->n_body, s->k->body, 1);
    look_turns(s, s->k->n_body, s->k->body);
}

sys_ex
sys_extent(sys *s, const axe_stmt *st, const axe_var *v)
{
    const axe_node  *e = sys_declared(st, v);
    const sys_class *c = &s->cls[find(s, of_index(s, st, v))];
    sys_ex           out = sys_of(s, e);

    if (!c->limit || c->open || axe_node_same(e, c->limit))
        return out;
    return sys_named(s, v->name, sys_min(s, out, sys_of(s, c->limit)));
}

bool
sys_inside(sys *s, const axe_node *load, int d)
{
    axe_affine a;
    bool       any = false;

    if (!axe_affine_of(s->cx, load->arg[d], &a))
        return false;
    for (int i = 0; i < a.n; i++) {
        const axe_var *v = a.var[i];
        if (v->kind != AXE_VAR_INDEX)
            continue;
        const axe_node  *rest = sys_rest_of(s, load->arg[d], v);
        const sys_class *c = &s->cls[find(s, of_index(s, s->s, v))];
        if (!rest || any)
            return false;
        any = true;
        if (!sys_ends_there(s->s, load, d, v, rest) && c->open)
            return false;
    }
    return any;
}
