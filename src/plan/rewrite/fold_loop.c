/* fold_loop.c - folds that depend on the fold around them become a loop.
 *
 *     id[m] = min[k:K](sum[d](abs(X[m, d] - C[k, d])));
 *
 * Threads share out all indices at once, so the sum would have to be done for
 * each k by the threads that have that k.  Instead k is counted in order, and
 * each iteration has one fold:
 *
 *     min.k[m] = inf;
 *     for (k : K) {
 *         sum.d[m] = sum[d](abs(X[m, d] - C[k, d]));
 *         min.k[m] min= sum.d[m];
 *     }
 *     id[m] = min.k[m];
 *
 * The tiles have the statement's indices that the folds know; where one runs
 * over what is known at launch only, the statement stays as it is. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

typedef struct looping {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *s;
    const axe_node *outer;     /* the fold that becomes a loop */
    const axe_node *from, *by; /* what is replaced, by what */
    int             n_dim;     /* indices of s that outer knows */
    axe_dim        *dim;       /* [n_dim] */
} looping;

/* A fold in n that mentions a variable of `around`; or NULL.  Of a value that
 * is not always taken, only if `all`. */
static const axe_node *
find_dependent(const axe_node *n, const axe_node *around)
{
    const axe_node *found = NULL;

    for (int i = 0; n->op == AXE_OP_reduce && i < around->u.reduce.n_over; i++)
        if (axe_mentions(n, around->u.reduce.over[i]))
            return n;
    for (int i = 0; i < n->n_arg && !found; i++)
        found = find_dependent(n->arg[i], around);
    return found;
}

/* The outermost fold in n that another one in it depends on, or NULL. */
static const axe_node *
find_outer(const axe_node *n)
{
    if (n->op == AXE_OP_reduce && find_dependent(n->arg[0], n))
        return n;
    for (int i = 0; i < n->n_arg; i++) {
        const axe_node *found = find_outer(n->arg[i]);
        if (found)
            return found;
    }
    return NULL;
}

/* Are the folds of one expression, over the same indices? */
static bool
same_fold(const axe_node *a, const axe_node *b)
{
    bool same = a->op == AXE_OP_reduce && b->op == AXE_OP_reduce &&
                a->u.reduce.fold == b->u.reduce.fold &&
                a->u.reduce.n_over == b->u.reduce.n_over &&
                axe_node_same(a->arg[0], b->arg[0]);

    for (int i = 0; same && i < a->u.reduce.n_over; i++)
        same = a->u.reduce.over[i] == b->u.reduce.over[i] &&
               axe_node_same(a->u.reduce.extent[i], b->u.reduce.extent[i]);
    return same;
}

static void
note_tile(void *tile, const axe_node *n)
{
    bool *any = tile;

    *any = *any ||
           (n->op == AXE_OP_load && n->u.tensor->space != AXE_SPACE_GLOBAL);
}

/* May each fold that depends on the outer one be computed in every iteration?
 * One that a condition guards, if it reads outside of no tile. */
static bool
may_hoist(const looping *x, const axe_node *n, bool always)
{
    bool lazy =
        n->op == AXE_OP_select || n->op == AXE_OP_and || n->op == AXE_OP_or;
    bool tile = false, ok = true;

    if (n->op == AXE_OP_reduce) {
        axe_node_walk(n, note_tile, &tile);
        return always || !tile;
    }
    for (int i = 0; i < n->n_arg; i++)
        ok = ok && may_hoist(x, n->arg[i], always && !(lazy && i > 0));
    return ok;
}

/* The statement's indices that the fold knows, which are the tiles' dimensions;
 * false: one of them runs over what is known at launch only. */
static bool
find_dims(looping *x)
{
    int64_t e;

    x->n_dim = 0;
    x->dim = axe_new_array(x->cx, axe_dim, x->s->n_free + 1);
    for (int i = 0; i < x->s->n_free; i++) {
        if (!axe_mentions(x->outer, x->s->dim[i].var))
            continue;
        if (!axe_is_iconst(x->s->dim[i].extent, &e))
            return false;
        x->dim[x->n_dim++] = x->s->dim[i];
    }
    return true;
}

/* A tile for the fold's values, declared in `out`: its load. */
static const axe_node *
make_tile(const looping *x, const axe_node *fold, axe_list *out)
{
    const axe_node **shape =
        axe_new_array(x->cx, const axe_node *, x->n_dim + 1);
    const axe_node **at = axe_new_array(x->cx, const axe_node *, x->n_dim + 1);
    axe_stmt        *s;

    for (int i = 0; i < x->n_dim; i++) {
        shape[i] = x->dim[i].extent;
        at[i] = axe_var_node(x->cx, fold->at, x->dim[i].var);
    }
    s = axe_tile_make(
        x->cx, x->k,
        &(axe_tensor){.name = axe_textf(x->cx, "%s.%s",
                                        axe_fold_name(fold->u.reduce.fold),
                                        fold->u.reduce.over[0]->name),
                      .at = fold->at,
                      .space = AXE_SPACE_REG,
                      .type = fold->type,
                      .rank = x->n_dim,
                      .shape = shape});
    axe_list_push(out, s);
    return axe_load(x->cx, fold->at, s->tensor, at);
}

/* tile[m] op= value */
static axe_stmt *
make_assign(const looping *x, const axe_node *tile, axe_fold fold,
            const axe_node *value)
{
    axe_stmt *s = axe_index_make(x->cx, x->k, x->outer->at, tile, value,
                                 x->n_dim, x->dim);

    s->fold = fold;
    return s;
}

static const axe_node *
replaced(void *user, const axe_node *n)
{
    const looping *x = user;

    return same_fold(n, x->from) ? x->by : NULL;
}

static const axe_node *
with(looping *x, const axe_node *n, const axe_node *from, const axe_node *by)
{
    x->from = from;
    x->by = by;
    return axe_node_map(x->cx, n, replaced, x);
}

/* A loop around the body in place of an index of the fold, whose value has the
 * loop's variable from now on. */
static axe_stmt *
make_loop(const looping *x, int over, const axe_node **value)
{
    const axe_var  *index = x->outer->u.reduce.over[over];
    const axe_var **var = axe_new_array(x->cx, const axe_var *, 1);
    axe_stmt       *s = axe_stmt_make(x->cx, AXE_STMT_FOR, x->outer->at);
    axe_var        *v =
        axe_var_make(x->cx, x->k, AXE_VAR_LOOP, index->name, x->outer->at);

    v->extent = x->outer->u.reduce.extent[over];
    var[0] = v;
    s->n_var = 1;
    s->var = var;
    *value = axe_node_with(x->cx, *value, index,
                           axe_var_node(x->cx, x->outer->at, v));
    return s;
}

static void push_stmt(axe_ctx *cx, axe_kernel *k, axe_stmt *s, axe_list *out);

/* The iterations' body: the folds that depend on the outer one, one by one, and
 * what is made of them, which goes into acc. */
static void
fill_body(looping *x, const axe_node *value, const axe_node *acc,
          const axe_list *inner, axe_list *out)
{
    for (int i = 0; i < inner->n; i++) {
        const axe_node *fold = inner->item[i];
        const axe_node *tile = make_tile(x, fold, out);
        push_stmt(x->cx, x->k, make_assign(x, tile, AXE_FOLD_NONE, fold), out);
        value = with(x, value, fold, tile);
    }
    axe_list_push(out, make_assign(x, acc, x->outer->u.reduce.fold, value));
}

/* The folds in n, each once. */
static void
list_folds(const axe_node *n, axe_list *out)
{
    bool old = false;

    if (n->op != AXE_OP_reduce) {
        for (int i = 0; i < n->n_arg; i++)
            list_folds(n->arg[i], out);
        return;
    }
    for (int i = 0; i < out->n; i++)
        old = old || same_fold(out->item[i], n);
    if (!old)
        axe_list_push(out, n);
}

/* What stands for the outer fold, in `out`: the load of its value. */
static const axe_node *
unfold(looping *x, axe_list *out)
{
    const axe_node *value = x->outer->arg[0];
    axe_list        folds = {.cx = x->cx}, body = {.cx = x->cx};
    int             n = x->outer->u.reduce.n_over;
    axe_stmt      **loop = axe_new_array(x->cx, axe_stmt *, n);
    const axe_node *acc = make_tile(x, x->outer, out);

    axe_list_push(out, make_assign(x, acc, AXE_FOLD_NONE,
                                   axe_fold_unit(x->cx, x->outer->u.reduce.fold,
                                                 x->outer->type)));
    for (int i = 0; i < n; i++)
        loop[i] = make_loop(x, i, &value);
    list_folds(value, &folds);
    fill_body(x, value, acc, &folds, &body);
    for (int i = n - 1; i >= 0; i--) {
        axe_list one = {.cx = x->cx};
        loop[i]->n_body = body.n;
        loop[i]->body = axe_stmt_list(&body);
        axe_list_push(&one, loop[i]);
        body = one;
    }
    axe_list_push(out, loop[0]);
    return acc;
}

/* The fold of the statement itself, over what it folds, is one of the value. */
static axe_stmt *
spelled(axe_ctx *cx, const axe_stmt *s)
{
    axe_stmt *out = axe_new(cx, axe_stmt);

    *out = *s;
    if (s->n_dim == s->n_free)
        return out;
    out->value = axe_reduce(cx, s->value->at, s->fold, s->n_dim - s->n_free,
                            s->dim + s->n_free, s->value);
    if (!find_outer(out->value)) {
        *out = *s;
        return out;
    }
    out->n_dim = s->n_free;
    return out;
}

/* The statement, by loops where folds depend on one another. */
static void
push_stmt(axe_ctx *cx, axe_kernel *k, axe_stmt *s, axe_list *out)
{
    looping   x = {.cx = cx, .k = k, .s = spelled(cx, s)};
    axe_stmt *less;

    x.outer = find_outer(x.s->value);
    if (!x.outer || !find_dims(&x) || !may_hoist(&x, x.outer->arg[0], true)) {
        axe_list_push(out, s);
        return;
    }
    less = axe_new(cx, axe_stmt);
    *less = *x.s;
    const axe_node *acc = unfold(&x, out);
    less->value = with(&x, less->value, x.outer, acc);
    push_stmt(cx, k, less, out);
}

static bool
loop_stmt(void *user, axe_stmt *s, axe_list *out)
{
    looping *x = user;

    if (s->kind != AXE_STMT_INDEX || !find_outer(spelled(x->cx, s)->value))
        return false;
    push_stmt(x->cx, x->k, s, out);
    return true;
}

const axe_kernel *
axe_simt_fold_loops(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    looping     x = {.cx = cx, .k = out};

    *out = *k;
    return axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = loop_stmt, .user = &x}, k, out);
}
