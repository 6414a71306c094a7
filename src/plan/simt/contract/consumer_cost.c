/* consumer_cost.c - what a contraction's layouts cost the statements around it.
 *
 * The layout of an accumulator is that of everything which is done with it.
 * Where warps share a row, each fold along rows (a maximum, a sum, the next
 * product) passes values from warp to warp.  A factor that is made element by
 * element of a tile in registers is to lie as that one does. */
#include <string.h>

#include "ir/list.h"
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/simt/contract/product.h"
#include "plan/simt/map/map.h"

/* What passing values from warp to warp through shared memory takes but for the
 * bytes: two barriers, a store and a load. */
enum { EXCHANGE_CYCLES = 120 };

typedef void each_index(void *user, const axe_stmt *s);

static void
walk(int n, axe_stmt *const *body, each_index *fn, void *user)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            fn(user, body[i]);
        walk(body[i]->n_body, body[i]->body, fn, user);
        walk(body[i]->n_other, body[i]->other, fn, user);
    }
}

/* The dimension of an access that is this index alone, or -1. */
static int
dim_of(const axe_node *load, const axe_var *v)
{
    for (int d = 0; d < load->n_arg; d++)
        if (load->arg[d]->op == AXE_OP_var && load->arg[d]->u.var == v)
            return d;
    return -1;
}

/* ------------------------------------------------------------------- folds */

/* A tile that is to be asked, and which of its dimensions. */
typedef struct along {
    const axe_tensor *tile;
    int               dim;
} along;

typedef struct counting {
    axe_planner    *p;
    along           at;
    const axe_stmt *s;    /* the statement being read */
    const axe_var  *var;  /* that walks the dimension in it, or NULL */
    axe_list        seen; /* of along */
    double          cycles;
} counting;

static void
find_var(void *user, const axe_node *n)
{
    counting *c = user;

    if (n->op == AXE_OP_load && n->u.tensor == c->at.tile &&
        n->arg[c->at.dim]->op == AXE_OP_var)
        c->var = n->arg[c->at.dim]->u.var;
}

/* Is the tile's dimension one of the destination's, which is asked then? */
static void
follow(counting *c, const axe_node *dst, int dim)
{
    for (int i = 0; i < c->seen.n; i++) {
        const along *a = c->seen.item[i];
        if (a->tile == dst->u.tensor && a->dim == dim)
            return;
    }
    along *new = axe_new(c->p->cx, along);
    *new = (along){dst->u.tensor, dim};
    axe_list_push(&c->seen, new);
}

/* Cycles that a fold along the tile takes where warps share its rows: of a
 * product all of it is stored and loaded. */
static double
fold_cycles(const counting *c)
{
    const axe_tensor *t = c->at.tile;
    const axe_simt   *m = c->p->mc->simt;
    double            bytes = 2 * axe_type_table[t->type].bits / 8.0;

    for (int d = 0; d < t->rank; d++) {
        int64_t e = 1;
        axe_is_iconst(t->shape[d], &e);
        bytes *= (double)e;
    }
    if (!axe_contract_wanted(c->s))
        bytes = 0;
    return EXCHANGE_CYCLES + bytes / (m->banks * m->bank_bytes);
}

static void
read_stmt(void *user, const axe_stmt *s)
{
    counting *c = user;
    int       dim;

    c->s = s;
    c->var = NULL;
    axe_node_walk(s->value, find_var, c);
    if (!c->var || c->var->kind != AXE_VAR_INDEX)
        return;
    if (!axe_stmt_is_free(s, c->var)) {
        c->cycles += fold_cycles(c);
        return;
    }
    dim = dim_of(s->dst, c->var);
    if (dim >= 0 && s->dst->u.tensor->space == AXE_SPACE_REG)
        follow(c, s->dst, dim);
}

double
axe_fold_cycles(axe_planner *p, const axe_tensor *t, int d)
{
    counting c = {.p = p, .seen = {.cx = p->cx}};
    along    first = {t, d};

    axe_list_push(&c.seen, &first);
    for (int i = 0; i < c.seen.n; i++) {
        c.at = *(const along *)c.seen.item[i];
        walk(p->kernel->n_body, p->kernel->body, read_stmt, &c);
    }
    return c.cycles;
}

/* ------------------------------------------------------------------- fills */

typedef struct filling {
    axe_planner      *p;
    const axe_tensor *tile;
    const axe_node   *dst;
    bool              apart; /* from another thread's registers */
} filling;

/* Do the same threads hold the same elements? */
static bool
same_threads(axe_planner *p, const axe_layout *a, const axe_layout *b)
{
    const axe_axis axis[3] = {p->simt->lane, p->simt->warp, p->simt->wid};
    const int64_t  by[3] = {1, 1 << 20, INT64_C(1) << 40};
    axe_mark       m = axe_ctx_mark(p->cx);
    int64_t       *x, *y;
    bool           same = true;

    if (a->size != b->size || a->n_replica != b->n_replica)
        return false;
    if (a->n_shard == b->n_shard && a->n_offset + b->n_offset == 0 &&
        axe_simt_same_iters(p, a->n_shard, a->shard, b->shard))
        return true;
    x = axe_new_array(p->cx, int64_t, a->size + 1);
    y = axe_new_array(p->cx, int64_t, b->size + 1);
    axe_layout_list(a, 3, axis, by, x);
    axe_layout_list(b, 3, axis, by, y);
    same = memcmp(x, y, (size_t)a->size * sizeof *x) == 0;
    axe_ctx_release(p->cx, m);
    return same;
}

/* A load of a register tile by the very indices that the other is filled by. */
static void
look_at(void *user, const axe_node *n)
{
    filling          *f = user;
    const axe_layout *l, *own = f->p->place[f->tile->id].layout;

    if (n->op != AXE_OP_load || n->u.tensor->space != AXE_SPACE_REG ||
        n->n_arg != f->dst->n_arg)
        return;
    for (int d = 0; d < n->n_arg; d++)
        if (!axe_node_same(n->arg[d], f->dst->arg[d]))
            return;
    l = f->p->place[n->u.tensor->id].layout;
    f->apart = f->apart || (l && !same_threads(f->p, l, own));
}

static void
look_into(void *user, const axe_stmt *s)
{
    filling *f = user;

    if (s->dst->u.tensor != f->tile)
        return;
    f->dst = s->dst;
    axe_node_walk(s->value, look_at, f);
}

bool
axe_made_apart(axe_planner *p, const axe_tensor *t)
{
    filling f = {.p = p, .tile = t};

    walk(p->kernel->n_body, p->kernel->body, look_into, &f);
    return f.apart;
}
