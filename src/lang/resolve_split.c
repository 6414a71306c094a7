/* resolve_split.c - products that are no contraction of two tiles, as several
 * statements that are.
 *
 *     acc[m, n] += a[m, k] * f32(q[k, n]) * s[n]
 *
 * becomes, with tiles of its own,
 *
 *     factor[k, n] = f32(q[k, n])
 *     product[m, n] = 0
 *     product[m, n] += a[m, k] * factor[k, n]
 *     acc[m, n] += product[m, n] * s[n]
 *
 * and a chain a[i, j] * b[j, k] * d[k, l] is multiplied from the side that
 * takes fewer products.  What has not one row, one column and one sum for each
 * step, or an extent that is no constant, stays as it is. */
#include <string.h>

#include "lang/resolve_int.h"

enum { MAX_FACTOR = 8, MAX_DIM = 16 };

typedef struct factor {
    const axe_node *node; /* in the destination's type */
    unsigned        in;   /* dims of the statement that it mentions */
} factor;

typedef struct splitter {
    axe_resolver *r;
    axe_stmt     *s;
    axe_list     *out;
    unsigned      folded; /* dims that are summed over */
    int64_t       extent[MAX_DIM];
    int           n;
    factor        factor[MAX_FACTOR];
    bool          ok;
} splitter;

static const axe_node *
strip(const axe_node *n)
{
    while (n->op == AXE_OP_cast && axe_type_widens(n->arg[0]->type, n->type))
        n = n->arg[0];
    return n;
}

static unsigned
dims_in(const splitter *p, const axe_node *n)
{
    unsigned in = 0;

    for (int i = 0; i < p->s->n_dim; i++)
        if (axe_mentions(n, p->s->dim[i].var))
            in |= 1u << i;
    return in;
}

static void
collect(splitter *p, const axe_node *n)
{
    const axe_node *x = strip(n);

    if (x->op == AXE_OP_mul && x->type == p->s->dst->type) {
        collect(p, x->arg[0]);
        collect(p, x->arg[1]);
    } else if (p->n == MAX_FACTOR)
        p->ok = false;
    else {
        n = n->type == p->s->dst->type
                ? n
                : axe_cast(p->r->cx, n->at, p->s->dst->type, n);
        p->factor[p->n++] = (factor){n, dims_in(p, n)};
    }
}

static int
count(unsigned set)
{
    int n = 0;

    for (; set; set &= set - 1)
        n++;
    return n;
}

/* One row, one column, one sum over `over`. */
static bool
contracts(const splitter *p, unsigned x, unsigned y, unsigned over)
{
    (void)p;
    return count(over) == 1 && (x & over) && (y & over) && count(x & ~y) == 1 &&
           count(y & ~x) == 1;
}

static bool
is_load(const axe_node *n)
{
    return strip(n)->op == AXE_OP_load;
}

static bool
in_tile(const axe_node *n)
{
    return is_load(n) && strip(n)->u.tensor->space != AXE_SPACE_GLOBAL;
}

/* ---------------------------------------------------------- new statements */

/* The dims of a tile in the order in which x, then y, mention them. */
typedef struct order {
    const splitter *p;
    unsigned        left;
    int             n, dim[MAX_DIM];
} order;

static void
visit(void *user, const axe_node *n)
{
    order *o = user;

    for (int i = 0; n->op == AXE_OP_var && i < o->p->s->n_dim; i++)
        if (o->left & 1u << i && o->p->s->dim[i].var == n->u.var) {
            o->left &= ~(1u << i);
            o->dim[o->n++] = i;
        }
}

/* A new tile with these dims; the load of its elements. */
static const axe_node *
new_tile(splitter *p, const char *name, unsigned in, const axe_node *x,
         const axe_node *y)
{
    order            o = {.p = p, .left = in};
    axe_resolver    *r = p->r;
    axe_tensor      *t = axe_new(r->cx, axe_tensor);
    axe_stmt        *s = axe_new(r->cx, axe_stmt);
    const axe_node **shape = axe_new_array(r->cx, const axe_node *, MAX_DIM);
    const axe_node **sub = axe_new_array(r->cx, const axe_node *, MAX_DIM);
    axe_span         at = p->s->at;

    axe_node_walk(x, visit, &o);
    axe_node_walk(y, visit, &o);
    for (int i = 0; i < o.n; i++) {
        const axe_dim *d = &p->s->dim[o.dim[i]];
        shape[t->rank] = d->extent;
        sub[t->rank++] = axe_var_node(r->cx, at, d->var);
    }
    t->name = axe_names_fresh(r, axe_intern(r->cx, name, strlen(name)),
                              AXE_NAMED_TILE);
    t->at = at;
    t->id = r->kernel->n_tensor++;
    t->space = AXE_SPACE_REG;
    t->type = p->s->dst->type;
    t->dir = AXE_DIR_LOCAL;
    t->shape = shape;
    s->kind = AXE_STMT_TENSOR;
    s->at = at;
    s->tensor = t;
    axe_list_push(p->out, s);
    return axe_load(r->cx, at, t, sub);
}

static void
new_stmt(splitter *p, const axe_node *dst, axe_fold fold, const axe_node *value)
{
    axe_stmt *s = axe_new(p->r->cx, axe_stmt);

    s->kind = AXE_STMT_INDEX;
    s->at = p->s->at;
    s->dst = dst;
    s->fold = fold;
    s->value = value;
    s = axe_resolve_finish(p->r, s);
    p->ok = p->ok && s;
    if (s)
        axe_list_push(p->out, s);
}

/* The factor as elements of a tile. */
static factor
staged(splitter *p, factor f)
{
    const axe_node *tile;

    if (in_tile(f.node))
        return f;
    tile = new_tile(p, "factor", f.in, f.node, f.node);
    new_stmt(p, tile, AXE_FOLD_NONE, f.node);
    return (factor){tile, f.in};
}

/* The sum of x * y over one dim, as elements of a tile. */
static factor
multiplied(splitter *p, factor x, factor y, unsigned over)
{
    unsigned        in = (x.in | y.in) & ~over;
    const axe_node *tile;

    x = staged(p, x);
    y = staged(p, y);
    tile = new_tile(p, "product", in, x.node, y.node);
    new_stmt(p, tile, AXE_FOLD_NONE,
             axe_fold_unit(p->r->cx, AXE_FOLD_SUM, p->s->dst->type));
    new_stmt(p, tile, AXE_FOLD_SUM,
             axe_node2(p->r->cx, AXE_OP_mul, x.node, y.node));
    return (factor){tile, in};
}

/* ------------------------------------------------------------------ plans */

static double
work(const splitter *p, unsigned dims)
{
    double n = 1;

    for (int i = 0; i < p->s->n_dim; i++)
        if (dims & 1u << i)
            n *= (double)p->extent[i];
    return n;
}

/* The first two of three factors that are worth multiplying first: they alone
 * have a dim that is summed over.  false if no two are. */
static bool
first_pair(const splitter *p, const factor *f, int *a, int *b, unsigned *over)
{
    double best = 0;

    for (int i = 0; i < 3; i++) {
        int      j = (i + 1) % 3, k = (i + 2) % 3;
        unsigned sum = f[i].in & f[j].in & p->folded & ~f[k].in;
        unsigned rest = (f[i].in | f[j].in) & ~sum;
        double   w = work(p, f[i].in | f[j].in) + work(p, rest | f[k].in);
        if (!contracts(p, f[i].in, f[j].in, sum) ||
            !contracts(p, rest, f[k].in, p->folded & ~sum) ||
            (best > 0 && w >= best))
            continue;
        best = w;
        *a = i < j ? i : j;
        *b = i < j ? j : i;
        *over = sum;
    }
    return best > 0;
}

/* Factors of the sum to the front; how many they are. */
static int
inner_first(splitter *p)
{
    int n = 0;

    for (int i = 0; i < p->n; i++)
        if (p->factor[i].in & p->folded) {
            factor f = p->factor[i];
            memmove(&p->factor[n + 1], &p->factor[n],
                    (size_t)(i - n) * sizeof f);
            p->factor[n++] = f;
        }
    return n;
}

/* The statement's value becomes the product of these. */
static void
set_value(splitter *p, int n, const factor *f)
{
    const axe_node *v = f[0].node;

    for (int i = 1; i < n; i++)
        v = axe_node2(p->r->cx, AXE_OP_mul, v, f[i].node);
    p->s->value = v;
}

static void
split(splitter *p)
{
    int      n = inner_first(p), a, b;
    factor  *f = p->factor;
    unsigned over = p->folded;

    if (n == 3 && first_pair(p, f, &a, &b, &over)) {
        f[a] = multiplied(p, f[a], f[b], over);
        memmove(&f[b], &f[b + 1], (size_t)(--p->n - b) * sizeof *f);
        over = p->folded & ~over;
        n = 2;
    } else if (n != 2 || !contracts(p, f[0].in, f[1].in, over) ||
               (p->n == 2 && is_load(f[0].node) && is_load(f[1].node)))
        return;
    if (p->n > 2) {
        f[1] = multiplied(p, f[0], f[1], over);
        set_value(p, p->n - 1, f + 1);
        return;
    }
    f[0] = staged(p, f[0]);
    f[1] = staged(p, f[1]);
    set_value(p, 2, f);
}

bool
axe_resolve_split(axe_resolver *r, axe_stmt *s, axe_list *out)
{
    axe_stmt   whole = *s;
    splitter   p = {.r = r, .s = &whole, .out = out, .ok = true};
    axe_status st;

    if (s->fold != AXE_FOLD_SUM || s->slow || s->via || s->atom ||
        s->dst->u.tensor->space == AXE_SPACE_GLOBAL ||
        strip(s->value)->op != AXE_OP_mul)
        return true;
    st = axe_stmt_domain(r->cx, &r->tiled, &whole);
    if (st != AXE_OK)
        return axe_resolve_fail(r, st);
    if (whole.n_dim > MAX_DIM)
        return true;
    for (int i = 0; i < whole.n_dim; i++)
        p.ok = p.ok && axe_is_iconst(whole.dim[i].extent, &p.extent[i]);
    for (int i = whole.n_free; i < whole.n_dim; i++)
        p.folded |= 1u << i;
    collect(&p, s->value);
    if (!p.ok)
        return true;
    split(&p);
    s->value = whole.value;
    return p.ok;
}
