/* stage_operand.c - tiles through shared memory.
 *
 * Where a statement works in other threads than those that hold an operand, the
 * kernel is written anew with a shared tile between:
 *
 *     y[m, n] = f(x[n, m])    becomes    staged[i, j] = x[i, j];
 *                                        y[m, n] = f(staged[n, m]);
 *
 * and is planned again; so are the elements of an argument that is read across
 * (simt/map/transpose_staging.c).  Everything else, widths, banks, barriers and
 * memory, follows as for a tile that the text declares. */
#include <string.h>

#include "ir/rewrite.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

typedef struct staging {
    axe_ctx          *cx;
    axe_kernel       *k;
    const axe_stmt   *at;
    const axe_node   *load;   /* of the operand that moves */
    const axe_tensor *staged; /* the tile between */
    const axe_node   *inside; /* of an argument: the load of the tile */
} staging;

/* The tile between, declared: of the operand's shape, or another. */
static axe_stmt *
make_tile(staging *x, int rank, const axe_node *const *shape)
{
    const axe_tensor *from = x->load->u.tensor;
    axe_stmt         *s = axe_tile_make(
                x->cx, x->k,
                &(axe_tensor){.name = axe_textf(x->cx, "%s.staged", from->name),
                              .at = x->load->at,
                              .space = AXE_SPACE_SHARED,
                              .type = from->type,
                              .rank = rank,
                              .shape = shape});

    x->staged = s->tensor;
    return s;
}

/* Which subscripts of the load an index of the statement walks, in order: those
 * that the tile has as dimensions. */
static int
walked(const staging *x, const axe_dim **dim)
{
    int n = 0;

    for (int k = 0; k < x->load->n_arg; k++)
        for (int i = 0; i < x->at->n_free; i++)
            if (axe_mentions(x->load->arg[k], x->at->dim[i].var))
                dim[n++] = &x->at->dim[i];
    return n;
}

/* The tile of what an argument's load reads, and the load of it. */
static axe_stmt *
make_turned(staging *x)
{
    const axe_dim **dim =
        axe_new_array(x->cx, const axe_dim *, x->load->n_arg + 1);
    int              n = walked(x, dim);
    const axe_node **shape = axe_new_array(x->cx, const axe_node *, n + 1);
    const axe_node **sub = axe_new_array(x->cx, const axe_node *, n + 1);
    axe_stmt        *tile;

    for (int i = 0; i < n; i++) {
        shape[i] = dim[i]->extent;
        sub[i] = axe_var_node(x->cx, x->load->at, dim[i]->var);
    }
    tile = make_tile(x, n, shape);
    x->inside = axe_load(x->cx, x->load->at, x->staged, sub);
    return tile;
}

/* staged[m, n] = the argument's load. */
static axe_stmt *
make_fill(staging *x)
{
    const axe_dim **dim =
        axe_new_array(x->cx, const axe_dim *, x->load->n_arg + 1);
    axe_dim *own = axe_new_array(x->cx, axe_dim, x->load->n_arg + 1);
    int      n = walked(x, dim);

    for (int i = 0; i < n; i++)
        own[i] = *dim[i];
    return axe_index_make(x->cx, x->k, x->at->at, x->inside, x->load, n, own);
}

/* to[i0, ...] = from[i0, ...], all of it. */
static axe_stmt *
make_move(staging *x, const axe_tensor *to, const axe_tensor *from)
{
    axe_span         at = x->at->at;
    axe_dim         *dim = axe_new_array(x->cx, axe_dim, to->rank + 1);
    const axe_node **sub = axe_new_array(x->cx, const axe_node *, to->rank + 1);

    for (int d = 0; d < to->rank; d++) {
        const axe_var *v =
            axe_var_make(x->cx, x->k, AXE_VAR_INDEX,
                         axe_textf(x->cx, "%s.%d", from->name, d), at);
        dim[d] = (axe_dim){v, to->shape[d]};
        sub[d] = axe_var_node(x->cx, at, v);
    }
    return axe_index_make(x->cx, x->k, at, axe_load(x->cx, at, to, sub),
                          axe_load(x->cx, at, from, sub), to->rank, dim);
}

/* The one load, of the tile between. */
static const axe_node *
change_load(void *user, const axe_node *n)
{
    staging  *x = user;
    axe_node *copy;

    if (n != x->load)
        return NULL;
    if (x->inside)
        return x->inside;
    copy = axe_new_flex(x->cx, axe_node, arg, n->n_arg);
    *copy = *n;
    memcpy(copy->arg, n->arg, (size_t)n->n_arg * sizeof n->arg[0]);
    copy->u.tensor = x->staged;
    return copy;
}

static const axe_node *
replaced(staging *x, const axe_node *n)
{
    return axe_node_map(x->cx, n, change_load, x);
}

/* Does the statement set every element of its destination anew? */
static bool
sets_all(const axe_stmt *s)
{
    const axe_tensor *t = s->dst->u.tensor;

    if (s->fold != AXE_FOLD_NONE || s->n_free != t->rank)
        return false;
    for (int d = 0; d < t->rank; d++) {
        bool whole = false;
        for (int i = 0; i < s->n_free; i++)
            whole = whole || (s->dst->arg[d]->op == AXE_OP_var &&
                              s->dst->arg[d]->u.var == s->dim[i].var &&
                              axe_node_same(s->dim[i].extent, t->shape[d]));
        if (!whole)
            return false;
    }
    return true;
}

/* The statements in place of x->at. */
static void
rewrite(staging *x, axe_list *out)
{
    const axe_tensor *t = x->load->u.tensor;
    bool              dst = x->load == x->at->dst;
    axe_stmt         *tile = t->space == AXE_SPACE_GLOBAL
                                 ? make_turned(x)
                                 : make_tile(x, t->rank, t->shape);
    axe_stmt         *s = axe_new(x->cx, axe_stmt);

    *s = *x->at;
    s->dst = replaced(x, s->dst);
    s->value = replaced(x, s->value);
    axe_list_push(out, tile);
    if (x->inside)
        axe_list_push(out, make_fill(x));
    else if (!dst || !sets_all(x->at))
        axe_list_push(out, make_move(x, x->staged, t));
    axe_list_push(out, s);
    if (dst)
        axe_list_push(out, make_move(x, t, x->staged));
}

static bool
change_stmt(void *user, axe_stmt *s, axe_list *out)
{
    staging *x = user;

    if (s != x->at)
        return false;
    rewrite(x, out);
    return true;
}

const axe_kernel *
axe_stage_operand(axe_ctx *cx, const axe_kernel *k, const axe_stmt *at,
                  const axe_node *load)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    staging     x = {.cx = cx, .k = out, .at = at, .load = load};

    *out = *k;
    return axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = change_stmt, .user = &x}, k,
        out);
}
