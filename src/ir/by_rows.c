/* by_rows.c - is a kernel one of rows: do the first dimensions of some of its
 * arguments go together, and each tile of rows by itself?
 *
 * It is where all that stands in it is a scope over tiles of an extent E, and
 * what has E rows is touched only in the rows of the scope's tile: subscript
 * `i*BM + m` with m below BM.  Then the kernel on all rows is the kernel on
 * some of them, and on the others, if they are cut between tiles: the same
 * entities compute the same. */
#include "ir/by_rows.h"

#include "ir/list.h"

typedef struct looking {
    const axe_var  *size, *tile; /* E; the scope's variable */
    int64_t         rows;        /* of a tile */
    const axe_stmt *stmt;        /* where a subscript is */
    const axe_node *at;          /* the expression that it is in */
    int  n_tile, n_ok;           /* uses of the variable, those in subscripts */
    bool fails;
} looking;

static bool
is_var(const axe_node *n, const axe_var *v)
{
    return n->op == AXE_OP_var && n->u.var == v;
}

static bool
has_rows(const axe_tensor *t, const axe_var *size)
{
    return t->space == AXE_SPACE_GLOBAL && t->rank > 0 &&
           is_var(t->shape[0], size);
}

/* ------------------------------------------------------------- subscripts */

typedef struct extents {
    const axe_var *var;
    int64_t        most;
    bool           found, open;
} extents;

static void
note_extent(extents *x, const axe_node *extent)
{
    int64_t n;

    x->found = true;
    if (!axe_is_iconst(extent, &n))
        x->open = true;
    else if (n > x->most)
        x->most = n;
}

static void
note_reduce(void *user, const axe_node *n)
{
    extents *x = user;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == x->var)
            note_extent(x, n->u.reduce.extent[i]);
}

/* Is it one of the rows of a tile? */
static bool
is_in_tile(const looking *l, const axe_node *n)
{
    extents x = {0};
    int64_t c;

    if (axe_is_iconst(n, &c))
        return c >= 0 && c < l->rows;
    if (n->op != AXE_OP_var)
        return false;
    x.var = n->u.var;
    if (x.var->kind == AXE_VAR_LOOP)
        note_extent(&x, x.var->extent);
    for (int i = 0; i < l->stmt->n_dim; i++)
        if (l->stmt->dim[i].var == x.var)
            note_extent(&x, l->stmt->dim[i].extent);
    axe_node_walk(l->at, note_reduce, &x);
    return x.found && !x.open && x.most <= l->rows;
}

static bool
is_begin(const looking *l, const axe_node *n)
{
    int64_t c;

    if (is_var(n, l->tile))
        return l->rows == 1;
    return n->op == AXE_OP_mul &&
           ((is_var(n->arg[0], l->tile) && axe_is_iconst(n->arg[1], &c) &&
             c == l->rows) ||
            (is_var(n->arg[1], l->tile) && axe_is_iconst(n->arg[0], &c) &&
             c == l->rows));
}

static bool
is_row(const looking *l, const axe_node *n)
{
    if (is_begin(l, n))
        return true;
    return n->op == AXE_OP_add &&
           ((is_begin(l, n->arg[0]) && is_in_tile(l, n->arg[1])) ||
            (is_begin(l, n->arg[1]) && is_in_tile(l, n->arg[0])));
}

/* ------------------------------------------------------------- statements */

static void
look(void *user, const axe_node *n)
{
    looking *l = user;

    if (is_var(n, l->tile))
        l->n_tile++;
    if (is_var(n, l->size))
        l->fails = true;
    if (n->op == AXE_OP_load && has_rows(n->u.tensor, l->size)) {
        if (is_row(l, n->arg[0]))
            l->n_ok++;
        else
            l->fails = true;
    }
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        axe_node_walk(n->u.reduce.extent[i], look, l);
}

static void
look_at(looking *l, const axe_stmt *s, const axe_node *n)
{
    if (!n)
        return;
    l->stmt = s;
    l->at = n;
    axe_node_walk(n, look, l);
}

static void look_in(looking *l, int n, axe_stmt *const *body);

static void
look_stmt(looking *l, const axe_stmt *s)
{
    for (int i = 0; i < s->n_var; i++)
        look_at(l, s, s->var[i]->extent);
    look_at(l, s, s->cond);
    for (int i = 0; i < s->n_dim; i++)
        look_at(l, s, s->dim[i].extent);
    if (s->kind == AXE_STMT_INDEX) {
        const axe_tensor *t = s->dst->u.tensor;

        look_at(l, s, s->dst);
        look_at(l, s, s->value);
        if (t->space == AXE_SPACE_GLOBAL && !has_rows(t, l->size))
            l->fails = true;
    }
    look_in(l, s->n_body, s->body);
    look_in(l, s->n_other, s->other);
}

static void
look_in(looking *l, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        look_stmt(l, body[i]);
}

/* cdiv(E, rows), or E for tiles of one row. */
static bool
is_tiles_of(const axe_node *n, const axe_var *size, int64_t *rows)
{
    *rows = 1;
    if (is_var(n, size))
        return true;
    return n->op == AXE_OP_cdiv && is_var(n->arg[0], size) &&
           axe_is_iconst(n->arg[1], rows) && *rows > 0;
}

static bool
in_other_dims(const axe_kernel *k, const axe_var *size)
{
    for (int i = 0; i < k->n_param; i++)
        for (int d = 1; d < k->param[i]->rank; d++) {
            const axe_node *e = k->param[i]->shape[d];

            if (e->op == AXE_OP_var ? e->u.var == size : e->n_arg > 0)
                return true;
        }
    return k->n_temp > 0;
}

bool
axe_kernel_by_rows(const axe_kernel *k, const axe_tensor *t, axe_by_rows *out)
{
    const axe_stmt *s = k->n_body == 1 ? k->body[0] : NULL;
    looking         l = {0};
    int             at = -1;

    if (!s || s->kind != AXE_STMT_SCOPE || s->first || s->tensor ||
        t->rank == 0 || t->shape[0]->op != AXE_OP_var)
        return false;
    l.size = t->shape[0]->u.var;
    if (l.size->kind != AXE_VAR_SIZE || axe_size_source(k, l.size) ||
        in_other_dims(k, l.size))
        return false;
    for (int i = 0; i < s->n_var && at < 0; i++)
        if (is_tiles_of(s->var[i]->extent, l.size, &l.rows)) {
            at = i;
            l.tile = s->var[i];
        }
    if (at < 0)
        return false;
    for (int i = 0; i < s->n_var; i++)
        if (i != at)
            look_at(&l, s, s->var[i]->extent);
    look_in(&l, s->n_body, s->body);
    if (l.fails || l.n_tile != l.n_ok)
        return false;
    *out = (axe_by_rows){l.size, l.rows};
    return true;
}
