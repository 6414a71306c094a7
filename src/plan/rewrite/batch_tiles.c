/* batch_tiles.c - tiles that a batched product counts by its batch are one for
 * each of it.
 *
 *     acc[b, m, n] += a[b, m, k] * x[b, n, k];
 *
 * Tensor cores take one product at a time, and a loop cannot count a thread's
 * registers.  So where b runs over a few numbers, and each statement
 * that touches one of the tiles goes along b by an index of its own or names
 * one number of it,
 *
 *     acc.0[m, n] += a.0[m, k] * x.0[n, k];  acc.1[m, n] += a.1[m, k] ...
 *
 * and so do all statements with them.  Else the kernel stays as it is, and the
 * product says why it cannot be. */
#include "ir/rewrite.h"
#include "plan/access/contract_roles.h"
#include "plan/rewrite/rewrite.h"

enum { MAX_BATCH = 16, MAX_TILES = 8, MAX_STMT = 512 };

/* A tile that becomes one for each number of its dimension `dim`. */
typedef struct parted {
    const axe_tensor *tile, *part[MAX_BATCH];
    int               dim; /* -1: it is only in a pipeline with others */
} parted;

typedef struct unbatch {
    axe_ctx            *cx;
    const axe_kernel   *was;
    axe_kernel         *k;
    int64_t             count; /* of the batch */
    int                 n, n_ring;
    parted              part[MAX_TILES];
    const axe_pipeline *ring[MAX_TILES], *ring_by[MAX_TILES];
    bool                ok;
    /* Of one statement: */
    const axe_var *v;   /* its index along the batch, or NULL */
    int64_t        now; /* number of it */
} unbatch;

static parted *
find_part(unbatch *x, const axe_tensor *t)
{
    for (int i = 0; i < x->n; i++)
        if (x->part[i].tile == t)
            return &x->part[i];
    return NULL;
}

/* ------------------------------------------------------------------ finding */

/* The load's tile counts the batch v by one whole dimension of its own, and is
 * free to lie elsewhere. */
static bool
add_tile(unbatch *x, const axe_node *load, const axe_var *v)
{
    const axe_tensor *t = load->u.tensor;
    int               dim = -1;
    int64_t           e;

    if (t->space == AXE_SPACE_GLOBAL)
        return true;
    for (int d = 0; d < load->n_arg; d++)
        if (load->arg[d]->op == AXE_OP_var && load->arg[d]->u.var == v &&
            axe_is_iconst(t->shape[d], &e) && e == x->count)
            dim = d;
    if (dim < 0 || t->layout || t->n_replica > 0 || x->n == MAX_TILES)
        return false;
    x->part[x->n++] = (parted){.tile = t, .dim = dim};
    return true;
}

/* Do the numbers of all batches leave few enough statements? */
static bool
are_few(const unbatch *x, const axe_roles *ro)
{
    int64_t all = x->was->n_index_stmt, e;

    for (int i = 0; i < ro->n_batch; i++) {
        if (!axe_is_iconst(ro->batch[i]->extent, &e) || e < 1 || e > MAX_BATCH)
            return false;
        all *= e;
        if (all > MAX_STMT)
            return false;
    }
    return true;
}

/* The batch of a product into a tile, and the tiles it counts. */
static bool
find_tiles(unbatch *x, const axe_stmt *s)
{
    const axe_node *a, *b;
    axe_roles       ro = {0};

    x->n = 0;
    if (!axe_contract_sort(s, &a, &b, &ro) || ro.n_batch == 0 ||
        s->dst->u.tensor->space == AXE_SPACE_GLOBAL || !are_few(x, &ro))
        return false;
    axe_is_iconst(ro.batch[0]->extent, &x->count);
    return add_tile(x, s->dst, ro.batch[0]->var) &&
           (find_part(x, a->u.tensor) || add_tile(x, a, ro.batch[0]->var)) &&
           (find_part(x, b->u.tensor) || add_tile(x, b, ro.batch[0]->var));
}

/* ----------------------------------------------------------------- checking */

typedef struct look {
    unbatch        *x;
    const axe_stmt *s; /* NULL: no index statement */
} look;

static bool
is_index_of(const axe_stmt *s, const axe_var *v, int64_t count)
{
    int64_t e;

    for (int i = 0; s && i < s->n_dim; i++)
        if (s->dim[i].var == v)
            return axe_is_iconst(s->dim[i].extent, &e) && e == count;
    return false;
}

/* Does the access name a number of the batch, or go along it by the one index
 * of its statement that does?  If so that index is x->v. */
static void
look_at(void *user, const axe_node *n)
{
    look   *l = user;
    parted *p = n->op == AXE_OP_load ? find_part(l->x, n->u.tensor) : NULL;
    int64_t at;

    if (!p || p->dim < 0)
        return;
    const axe_node *a = n->arg[p->dim];
    if (axe_is_iconst(a, &at))
        l->x->ok = l->x->ok && 0 <= at && at < l->x->count;
    else if (a->op == AXE_OP_var && is_index_of(l->s, a->u.var, l->x->count) &&
             (!l->x->v || l->x->v == a->u.var))
        l->x->v = a->u.var;
    else
        l->x->ok = false;
}

typedef struct reading {
    const axe_node *dst;
    bool            other; /* than the element that is written */
} reading;

static void
note_reading(void *user, const axe_node *n)
{
    reading *r = user;

    if (n->op == AXE_OP_load && n->u.tensor == r->dst->u.tensor)
        r->other = r->other || !axe_node_same(n, r->dst);
}

/* May the statement read what another number of the batch writes? */
static bool
reads_others(const axe_stmt *s)
{
    reading r = {.dst = s->dst};

    axe_node_walk(s->value, note_reading, &r);
    return r.other;
}

static void
check_index(unbatch *x, const axe_stmt *s)
{
    look l = {x, s};

    x->v = NULL;
    axe_node_walk(s->dst, look_at, &l);
    axe_node_walk(s->value, look_at, &l);
    if (x->v && (s->atom || s->via || s->prefix || reads_others(s)))
        x->ok = false;
}

/* Extents read scalars alone, which are no part of any of this. */
static void
check_body(unbatch *x, int n, axe_stmt *const *body)
{
    look l = {x, NULL};

    for (int i = 0; i < n && x->ok; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX)
            check_index(x, s);
        if (s->cond)
            axe_node_walk(s->cond, look_at, &l);
        check_body(x, s->n_body, s->body);
        check_body(x, s->n_other, s->other);
    }
}

/* All tiles of a pipeline of which one is parted belong to another pipeline. */
static bool
add_rings(unbatch *x)
{
    x->n_ring = 0;
    for (int i = 0; i < x->n; i++) {
        const axe_pipeline *r = x->part[i].tile->pipeline;
        bool                is = !r;
        for (int k = 0; k < x->n_ring; k++)
            is = is || x->ring[k] == r;
        if (is)
            continue;
        x->ring[x->n_ring++] = r;
        for (int k = 0; k < r->n_tensor; k++) {
            if (find_part(x, r->tensor[k]))
                continue;
            if (x->n == MAX_TILES)
                return false;
            x->part[x->n++] = (parted){.tile = r->tensor[k], .dim = -1};
        }
    }
    return true;
}

/* ------------------------------------------------------------------- making */

static int
count_of(const unbatch *x, const parted *p)
{
    return p->dim < 0 ? 1 : (int)x->count;
}

static void
make_parts(unbatch *x, parted *p)
{
    const axe_tensor *t = p->tile;

    for (int i = 0; i < count_of(x, p); i++) {
        axe_tensor      *one = axe_new(x->cx, axe_tensor);
        const axe_node **shape =
            axe_new_array(x->cx, const axe_node *, t->rank + 1);
        int rank = 0;
        for (int d = 0; d < t->rank; d++)
            if (d != p->dim)
                shape[rank++] = t->shape[d];
        *one = *t;
        one->id = x->k->n_tensor++;
        one->shape = shape;
        one->rank = rank;
        if (p->dim >= 0)
            one->name = axe_textf(x->cx, "%s.b%d", t->name, i);
        for (int k = 0; k < x->n_ring; k++)
            if (t->pipeline == x->ring[k])
                one->pipeline = x->ring_by[k];
        p->part[i] = one;
    }
}

static void
make_all(unbatch *x)
{
    axe_pipeline *by[MAX_TILES];

    for (int k = 0; k < x->n_ring; k++) {
        by[k] = axe_new(x->cx, axe_pipeline);
        *by[k] = *x->ring[k];
        x->ring_by[k] = by[k];
    }
    for (int i = 0; i < x->n; i++)
        make_parts(x, &x->part[i]);
    for (int k = 0; k < x->n_ring; k++) {
        axe_list all = {.cx = x->cx};
        for (int i = 0; i < by[k]->n_tensor; i++) {
            parted *p = find_part(x, by[k]->tensor[i]);
            for (int c = 0; c < count_of(x, p); c++)
                axe_list_push(&all, p->part[c]);
        }
        by[k]->n_tensor = all.n;
        by[k]->tensor = (const axe_tensor *const *)all.item;
    }
}

static const axe_node *
replaced(void *user, const axe_node *n)
{
    unbatch *x = user;
    parted  *p = n->op == AXE_OP_load ? find_part(x, n->u.tensor) : NULL;
    const axe_node **arg;
    int64_t          at = x->now;
    int              rank = 0;

    if (n->op == AXE_OP_var && n->u.var == x->v)
        return axe_iconst(x->cx, n->at, AXE_TYPE_INDEX, x->now);
    if (!p)
        return NULL;
    arg = axe_new_array(x->cx, const axe_node *, n->n_arg + 1);
    for (int d = 0; d < n->n_arg; d++)
        if (d != p->dim)
            arg[rank++] = axe_node_map(x->cx, n->arg[d], replaced, x);
    if (p->dim < 0)
        at = 0;
    else
        axe_is_iconst(n->arg[p->dim], &at);
    return axe_load(x->cx, n->at, p->part[at], arg);
}

/* The statement for one number of the batch. */
static axe_stmt *
for_one(unbatch *x, const axe_stmt *s)
{
    axe_stmt *out = axe_new(x->cx, axe_stmt);
    axe_dim  *dim = axe_new_array(x->cx, axe_dim, s->n_dim + 1);
    int       n = 0;

    *out = *s;
    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var != x->v)
            dim[n++] = s->dim[i];
        else if (i < s->n_free)
            out->n_free--;
    out->dim = dim;
    out->n_dim = n;
    out->dst = axe_node_map(x->cx, s->dst, replaced, x);
    out->value = axe_node_map(x->cx, s->value, replaced, x);
    return out;
}

static void
put_index(unbatch *x, const axe_stmt *s, axe_list *out)
{
    check_index(x, s); /* finds x->v again */
    for (x->now = 0; x->now < (x->v ? x->count : 1); x->now++)
        axe_list_push(out, for_one(x, s));
    x->now = 0;
    x->v = NULL;
}

static bool
put_stmt(void *user, axe_stmt *s, axe_list *out)
{
    unbatch  *x = user;
    parted   *p = s->kind == AXE_STMT_TENSOR ? find_part(x, s->tensor) : NULL;
    axe_stmt *one;

    if (s->kind == AXE_STMT_INDEX) {
        put_index(x, s, out);
        return true;
    }
    for (int i = 0; p && i < count_of(x, p); i++) {
        one = axe_new(x->cx, axe_stmt);
        *one = *s;
        one->tensor = p->part[i];
        axe_list_push(out, one);
    }
    return p != NULL;
}

/* Conditions and pipelines of a statement whose bodies have been. */
static axe_stmt *
put_heads(void *user, axe_stmt *s)
{
    unbatch  *x = user;
    axe_stmt *out = axe_new(x->cx, axe_stmt);

    *out = *s;
    if (s->cond)
        out->cond = axe_node_map(x->cx, s->cond, replaced, x);
    for (int k = 0; k < x->n_ring; k++)
        if (s->pipeline == x->ring[k])
            out->pipeline = x->ring_by[k];
    return out;
}

/* ------------------------------------------------------------------- kernel */

/* The first batched product whose tiles can be parted. */
static bool
find_batch(unbatch *x, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX && find_tiles(x, s) && add_rings(x)) {
            x->ok = true;
            check_body(x, x->was->n_body, x->was->body);
            if (x->ok)
                return true;
        }
        if (find_batch(x, s->n_body, s->body) ||
            find_batch(x, s->n_other, s->other))
            return true;
    }
    return false;
}

const axe_kernel *
axe_simt_unbatch(axe_ctx *cx, const axe_kernel *k)
{
    for (;;) {
        axe_kernel *out = axe_new(cx, axe_kernel);
        unbatch     x = {.cx = cx, .was = k, .k = out};
        *out = *k;
        if (!find_batch(&x, k->n_body, k->body))
            return k;
        make_all(&x);
        x.v = NULL;
        k = axe_kernel_map(
            &(axe_body_change){
                .cx = cx, .before = put_stmt, .after = put_heads, .user = &x},
            k, out);
        axe_kernel_renumber(cx, out);
    }
}
