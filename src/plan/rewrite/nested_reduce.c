/* nested_reduce.c - folds inside folds become statements.
 *
 *     y[i*8 + m] = min[n](X[i*8 + m, n] == max[l](X[i*8 + m, l]) ? n : N);
 *
 * The inner fold does not know n: threads that share out n would each do all of
 * it for each of theirs.  So it is one of its own, by a register tile:
 *
 *     top[m] = max[n](X[i*8 + m, n]);
 *     y[i*8 + m] = min[n](X[i*8 + m, n] == top[m] ? n : N);
 *
 * If both folds run as far they have one index, so that what both read is seen
 * to be the same (row_cache.c). */
#include "ir/rewrite.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

typedef struct unnest {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *s;
    const axe_node *inner; /* the fold that comes out */
    const axe_node *outer; /* the one that it stands in */
    const axe_node *load;  /* of the tile in its place */
    axe_list       *out;
} unnest;

static bool
counts(const axe_node *n, const axe_node *reduce)
{
    for (int i = 0; i < reduce->u.reduce.n_over; i++)
        if (axe_mentions(n, reduce->u.reduce.over[i]))
            return true;
    return false;
}

/* A fold in n that no fold around it, up to n, has an index of; or NULL. */
static const axe_node *
find_inner(const axe_node *n, const axe_node **around)
{
    const axe_node *found = NULL, *outside = *around;

    if (n->op == AXE_OP_reduce && outside)
        return counts(n, outside) ? NULL : n;
    if (n->op == AXE_OP_reduce)
        *around = n;
    for (int i = 0; i < n->n_arg && !found; i++)
        found = find_inner(n->arg[i], around);
    if (!found)
        *around = outside;
    return found;
}

/* The fold by the index of the outer one, if that runs as far. */
static const axe_node *
by_outer_index(const unnest *x)
{
    const axe_node *in = x->inner, *o = x->outer;
    axe_dim         dim;

    if (in->u.reduce.n_over != 1 || o->u.reduce.n_over != 1 ||
        in->arg[0]->op == AXE_OP_reduce ||
        !axe_node_same(in->u.reduce.extent[0], o->u.reduce.extent[0]))
        return in;
    dim = (axe_dim){o->u.reduce.over[0], o->u.reduce.extent[0]};
    return axe_reduce(x->cx, in->at, in->u.reduce.fold, 1, &dim,
                      axe_node_with(x->cx, in->arg[0], in->u.reduce.over[0],
                                    axe_var_node(x->cx, in->at, dim.var)));
}

/* The indices of the statement that the fold mentions: the tile's dimensions.
 * -1: one runs over what is known at launch only. */
static int
find_dims(const unnest *x, const axe_dim **dim)
{
    int     n = 0;
    int64_t e;

    for (int i = 0; i < x->s->n_free; i++) {
        if (!axe_mentions(x->inner, x->s->dim[i].var))
            continue;
        if (!axe_is_iconst(x->s->dim[i].extent, &e))
            return -1;
        dim[n++] = &x->s->dim[i];
    }
    return n;
}

static const axe_node *
replaced(void *user, const axe_node *n)
{
    const unnest *x = user;

    return axe_node_same(n, x->inner) ? x->load : NULL;
}

/* The tile, and the load of it where the indices are. */
static axe_stmt *
make_tile(unnest *x, int n, const axe_dim **dim)
{
    const axe_node **shape = axe_new_array(x->cx, const axe_node *, n + 1);
    const axe_node **at = axe_new_array(x->cx, const axe_node *, n + 1);
    axe_stmt        *s;

    for (int i = 0; i < n; i++) {
        shape[i] = dim[i]->extent;
        at[i] = axe_var_node(x->cx, x->s->at, dim[i]->var);
    }
    s = axe_tile_make(
        x->cx, x->k,
        &(axe_tensor){.name = axe_textf(x->cx, "%s.%s",
                                        axe_fold_name(x->inner->u.reduce.fold),
                                        x->inner->u.reduce.over[0]->name),
                      .at = x->inner->at,
                      .space = AXE_SPACE_REG,
                      .type = x->inner->type,
                      .rank = n,
                      .shape = shape});
    x->load = axe_load(x->cx, x->inner->at, s->tensor, at);
    return s;
}

/* tile[m] = fold */
static axe_stmt *
make_fold(unnest *x, int n, const axe_dim **dim)
{
    axe_dim *own = axe_new_array(x->cx, axe_dim, n + 1);

    for (int i = 0; i < n; i++)
        own[i] = *dim[i];
    return axe_index_make(x->cx, x->k, x->inner->at, x->load, by_outer_index(x),
                          n, own);
}

static const axe_stmt *
without_inner(unnest *x)
{
    const axe_dim **dim =
        axe_new_array(x->cx, const axe_dim *, x->s->n_free + 1);
    axe_stmt *s = axe_new(x->cx, axe_stmt);
    int       n = find_dims(x, dim);

    if (n < 0)
        return NULL;
    axe_list_push(x->out, make_tile(x, n, dim));
    axe_list_push(x->out, make_fold(x, n, dim));
    *s = *x->s;
    s->value = axe_node_map(x->cx, s->value, replaced, x);
    return s;
}

static bool
unnest_stmt(void *user, axe_stmt *s, axe_list *out)
{
    unnest   *x = user;
    axe_stmt *copy;

    if (s->kind != AXE_STMT_INDEX)
        return false;
    x->s = s;
    x->out = out;
    for (;;) {
        const axe_stmt *less;
        x->outer = NULL;
        x->inner = find_inner(x->s->value, &x->outer);
        less = x->inner ? without_inner(x) : NULL;
        if (!less)
            break;
        x->s = less;
    }
    copy = axe_new(x->cx, axe_stmt);
    *copy = *x->s;
    axe_list_push(out, x->s == s ? s : copy);
    return true;
}

const axe_kernel *
axe_simt_unnest(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    unnest      x = {.cx = cx, .k = out};

    *out = *k;
    return axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = unnest_stmt, .user = &x}, k,
        out);
}
