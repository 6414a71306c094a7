/* stage_operand.c - tiles through shared memory.
 *
 * Where a statement works in other threads than those that hold an operand, the
 * kernel is written anew with a shared tile between:
 *
 *     y[m, n] = f(x[n, m])    becomes    staged[i, j] = x[i, j];
 *                                        y[m, n] = f(staged[n, m]);
 *
 * and is planned again; so are the elements of an argument that is read across
 * (simt/map/transpose_staging.c).  Everything else, widths, banks, meetings and
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

static axe_tensor *
make_tile(staging *x)
{
    const axe_tensor *from = x->load->u.tensor;
    axe_tensor       *t = axe_new(x->cx, axe_tensor);

    *t = (axe_tensor){
        .name = axe_textf(x->cx, "%s.staged", from->name),
        .at = x->load->at,
        .id = x->k->n_tensor++,
        .space = AXE_SPACE_SHARED,
        .type = from->type,
        .rank = from->rank,
        .shape = from->shape,
    };
    return t;
}

static axe_stmt *
make_stmt(staging *x, axe_stmt_kind kind)
{
    axe_stmt *s = axe_new(x->cx, axe_stmt);

    s->kind = kind;
    s->at = x->at->at;
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
static const axe_node *
make_turned(staging *x)
{
    const axe_dim **dim =
        axe_new_array(x->cx, const axe_dim *, x->load->n_arg + 1);
    int              n = walked(x, dim);
    const axe_node **shape = axe_new_array(x->cx, const axe_node *, n + 1);
    const axe_node **sub = axe_new_array(x->cx, const axe_node *, n + 1);
    axe_tensor      *t;

    for (int i = 0; i < n; i++) {
        shape[i] = dim[i]->extent;
        sub[i] = axe_var_node(x->cx, x->load->at, dim[i]->var);
    }
    x->staged = t = make_tile(x);
    t->rank = n;
    t->shape = shape;
    return axe_load(x->cx, x->load->at, t, sub);
}

/* staged[m, n] = the argument's load. */
static axe_stmt *
make_fill(staging *x)
{
    axe_stmt       *s = make_stmt(x, AXE_STMT_INDEX);
    const axe_dim **dim =
        axe_new_array(x->cx, const axe_dim *, x->load->n_arg + 1);
    axe_dim *own = axe_new_array(x->cx, axe_dim, x->load->n_arg + 1);

    s->n_dim = s->n_free = walked(x, dim);
    for (int i = 0; i < s->n_dim; i++)
        own[i] = *dim[i];
    s->id = x->k->n_index_stmt++;
    s->dst = x->inside;
    s->value = x->load;
    s->dim = own;
    return s;
}

/* to[i0, ...] = from[i0, ...], all of it. */
static axe_stmt *
make_move(staging *x, const axe_tensor *to, const axe_tensor *from)
{
    axe_stmt        *s = make_stmt(x, AXE_STMT_INDEX);
    axe_dim         *dim = axe_new_array(x->cx, axe_dim, to->rank + 1);
    const axe_node **sub = axe_new_array(x->cx, const axe_node *, to->rank + 1);

    for (int d = 0; d < to->rank; d++) {
        axe_var *v = axe_new(x->cx, axe_var);
        *v = (axe_var){.kind = AXE_VAR_INDEX,
                       .name = axe_textf(x->cx, "%s.%d", from->name, d),
                       .at = s->at,
                       .id = x->k->n_var++};
        dim[d] = (axe_dim){v, to->shape[d]};
        sub[d] = axe_var_node(x->cx, s->at, v);
    }
    s->id = x->k->n_index_stmt++;
    s->dst = axe_load(x->cx, s->at, to, sub);
    s->value = axe_load(x->cx, s->at, from, sub);
    s->dim = dim;
    s->n_dim = s->n_free = to->rank;
    return s;
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
    axe_stmt         *tile = make_stmt(x, AXE_STMT_TENSOR);
    axe_stmt         *s = axe_new(x->cx, axe_stmt);

    if (t->space == AXE_SPACE_GLOBAL)
        x->inside = make_turned(x);
    else
        x->staged = make_tile(x);
    tile->tensor = x->staged;
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
