/* rewrite.c - see rewrite.h. */
#include <string.h>

#include "ir/rewrite.h"

/* --------------------------------------------------------------------- maps
 */

const axe_node *
axe_node_map(axe_ctx *cx, const axe_node *n, axe_node_change *change,
             void *user)
{
    const axe_node *by = change(user, n);
    axe_node       *copy = NULL;

    for (int i = 0; !by && i < n->n_arg; i++) {
        const axe_node *arg = axe_node_map(cx, n->arg[i], change, user);
        if (arg == n->arg[i])
            continue;
        if (!copy) {
            copy = axe_new_flex(cx, axe_node, arg, n->n_arg);
            *copy = *n;
            memcpy(copy->arg, n->arg, (size_t)n->n_arg * sizeof n->arg[0]);
        }
        copy->arg[i] = arg;
    }
    return by ? by : copy ? copy : n;
}

typedef struct one_var {
    const axe_var  *v;
    const axe_node *by;
} one_var;

static const axe_node *
change_var(void *user, const axe_node *n)
{
    const one_var *x = user;

    return n->op == AXE_OP_var && n->u.var == x->v ? x->by : NULL;
}

const axe_node *
axe_node_with(axe_ctx *cx, const axe_node *n, const axe_var *v,
              const axe_node *by)
{
    return axe_node_map(cx, n, change_var, &(one_var){v, by});
}

static axe_stmt *
map_inside(const axe_body_change *c, axe_stmt *s)
{
    axe_stmt inside = *s, *out = s;

    axe_body_map(c, &inside.n_body, &inside.body);
    axe_body_map(c, &inside.n_other, &inside.other);
    if (inside.body != s->body || inside.other != s->other) {
        out = axe_new(c->cx, axe_stmt);
        *out = inside;
    }
    return c->after ? c->after(c->user, out) : out;
}

void
axe_body_map(const axe_body_change *c, int *n, axe_stmt *const **body)
{
    axe_list out = {.cx = c->cx};
    bool     same = true;

    for (int i = 0; i < *n; i++) {
        axe_stmt *s = (*body)[i];
        if (!c->before || !c->before(c->user, s, &out))
            axe_list_push(&out, map_inside(c, s));
        same = same && out.n == i + 1 && out.item[i] == s;
    }
    if (same)
        return;
    *n = out.n;
    *body = (axe_stmt *const *)out.item;
}

const axe_kernel *
axe_kernel_map(const axe_body_change *c, const axe_kernel *k, axe_kernel *out)
{
    axe_body_map(c, &out->n_body, &out->body);
    return out->body == k->body ? k : out;
}

/* -------------------------------------------------------------------- parts
 */

axe_stmt *
axe_stmt_make(axe_ctx *cx, axe_stmt_kind kind, axe_span at)
{
    axe_stmt *s = axe_new(cx, axe_stmt);

    s->kind = kind;
    s->at = at;
    return s;
}

axe_var *
axe_var_make(axe_ctx *cx, axe_kernel *k, axe_var_kind kind, const char *name,
             axe_span at)
{
    axe_var *v = axe_new(cx, axe_var);

    *v = (axe_var){.kind = kind, .name = name, .at = at, .id = k->n_var++};
    return v;
}

axe_stmt *
axe_tile_make(axe_ctx *cx, axe_kernel *k, const axe_tensor *like)
{
    axe_tensor *t = axe_new(cx, axe_tensor);
    axe_stmt   *s = axe_stmt_make(cx, AXE_STMT_TENSOR, like->at);

    *t = *like;
    t->id = k->n_tensor++;
    s->tensor = t;
    return s;
}

axe_stmt *
axe_index_make(axe_ctx *cx, axe_kernel *k, axe_span at, const axe_node *dst,
               const axe_node *value, int n, const axe_dim *dim)
{
    axe_stmt *s = axe_stmt_make(cx, AXE_STMT_INDEX, at);

    s->id = k->n_index_stmt++;
    s->dst = dst;
    s->value = value;
    s->dim = dim;
    s->n_dim = s->n_free = n;
    return s;
}

/* ------------------------------------------------------------------- copies
 */

axe_rewriter
axe_rewriter_of(axe_ctx *cx, axe_kernel *k)
{
    axe_list none = {.cx = cx};

    return (axe_rewriter){.cx = cx,
                          .k = k,
                          .suffix = "",
                          .var = none,
                          .value = none,
                          .tensor = none,
                          .tensor_by = none,
                          .scalar = none,
                          .scalar_by = none,
                          .ring = none,
                          .ring_by = none};
}

/* What `it` is replaced by, or NULL. */
static const void *
replacement(const axe_list *of, const axe_list *by, const void *it)
{
    for (int i = of->n - 1; i >= 0; i--)
        if (of->item[i] == it)
            return by->item[i];
    return NULL;
}

void
axe_rewrite_var(axe_rewriter *w, const axe_var *v, const axe_node *value)
{
    axe_list_push(&w->var, v);
    axe_list_push(&w->value, value);
}

void
axe_rewrite_scalar(axe_rewriter *w, const axe_tensor *t, const axe_node *value)
{
    axe_list_push(&w->scalar, t);
    axe_list_push(&w->scalar_by, value);
}

/* The operation on operands that have been replaced. */
static const axe_node *
rebuilt(axe_rewriter *w, const axe_node *n, const axe_node *const *arg)
{
    const axe_tensor *t;
    axe_node         *copy;

    if (n->op != AXE_OP_load && n->op != AXE_OP_reduce)
        return axe_node_new(w->cx, n->op, n->type, n->at, n->n_arg, arg);
    copy = axe_new_flex(w->cx, axe_node, arg, n->n_arg);
    *copy = *n;
    for (int i = 0; i < n->n_arg; i++)
        copy->arg[i] = arg[i];
    t = n->op == AXE_OP_load
            ? replacement(&w->tensor, &w->tensor_by, n->u.tensor)
            : NULL;
    if (t)
        copy->u.tensor = t;
    if (n->op == AXE_OP_reduce) {
        int              k = n->u.reduce.n_over;
        const axe_node **e = axe_new_array(w->cx, const axe_node *, k);
        for (int i = 0; i < k; i++)
            e[i] = axe_rewrite_node(w, n->u.reduce.extent[i]);
        copy->u.reduce.extent = e;
    }
    return copy;
}

const axe_node *
axe_rewrite_node(axe_rewriter *w, const axe_node *n)
{
    const axe_node **arg;

    if (n->op == AXE_OP_var) {
        const axe_node *by = replacement(&w->var, &w->value, n->u.var);
        return by ? by : n;
    }
    if (n->op == AXE_OP_load && n->n_arg == 0) {
        const axe_node *by =
            replacement(&w->scalar, &w->scalar_by, n->u.tensor);
        return by ? by : rebuilt(w, n, NULL);
    }
    if (n->n_arg == 0)
        return n;
    arg = axe_new_array(w->cx, const axe_node *, n->n_arg + 1);
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = axe_rewrite_node(w, n->arg[i]);
    return rebuilt(w, n, arg);
}

const axe_var *
axe_rewrite_loop_var(axe_rewriter *w, const axe_var *v)
{
    axe_var *out = axe_new(w->cx, axe_var);

    *out = *v;
    out->id = w->k->n_var++;
    if (v->extent)
        out->extent = axe_rewrite_node(w, v->extent);
    axe_rewrite_var(w, v, axe_var_node(w->cx, v->at, out));
    return out;
}

static const axe_tensor *
copy_tensor(axe_rewriter *w, const axe_tensor *t, const axe_pipeline *ring)
{
    axe_tensor *out = axe_new(w->cx, axe_tensor);

    *out = *t;
    out->name = axe_textf(w->cx, "%s%s", t->name, w->suffix);
    out->id = w->k->n_tensor++;
    out->pipeline = ring;
    axe_list_push(&w->tensor, t);
    axe_list_push(&w->tensor_by, out);
    return out;
}

static const axe_pipeline *
copy_ring(axe_rewriter *w, const axe_pipeline *p)
{
    axe_pipeline      *out = axe_new(w->cx, axe_pipeline);
    const axe_tensor **t =
        axe_new_array(w->cx, const axe_tensor *, p->n_tensor);

    *out = *p;
    out->name = axe_textf(w->cx, "%s%s", p->name, w->suffix);
    for (int i = 0; i < p->n_tensor; i++)
        t[i] = copy_tensor(w, p->tensor[i], out);
    out->tensor = t;
    axe_list_push(&w->ring, p);
    axe_list_push(&w->ring_by, out);
    return out;
}

/* The declarations of a statement, before what is inside it. */
static void
copy_heads(axe_rewriter *w, axe_stmt *s)
{
    if (s->kind == AXE_STMT_TENSOR)
        s->tensor = copy_tensor(w, s->tensor, NULL);
    if (s->kind == AXE_STMT_PIPELINE)
        s->pipeline = copy_ring(w, s->pipeline);
    if (s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) {
        const axe_pipeline *p = replacement(&w->ring, &w->ring_by, s->pipeline);
        s->pipeline = p ? p : s->pipeline;
    }
    if (s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_SCOPE) {
        const axe_var **v = axe_new_array(w->cx, const axe_var *, s->n_var + 1);
        for (int i = 0; i < s->n_var; i++)
            v[i] = axe_rewrite_loop_var(w, s->var[i]);
        s->var = v;
    }
}

static void
copy_index(axe_rewriter *w, axe_stmt *s)
{
    axe_dim *dim = axe_new_array(w->cx, axe_dim, s->n_dim + 1);

    for (int i = 0; i < s->n_dim; i++)
        dim[i] =
            (axe_dim){s->dim[i].var, axe_rewrite_node(w, s->dim[i].extent)};
    s->id = w->k->n_index_stmt++;
    s->dim = dim;
    s->dst = axe_rewrite_node(w, s->dst);
    s->value = axe_rewrite_node(w, s->value);
}

axe_stmt *
axe_rewrite_stmt(axe_rewriter *w, const axe_stmt *s)
{
    axe_stmt *out = axe_new(w->cx, axe_stmt);

    *out = *s;
    copy_heads(w, out);
    if (s->kind == AXE_STMT_INDEX)
        copy_index(w, out);
    if (s->cond)
        out->cond = axe_rewrite_node(w, s->cond);
    out->body = axe_rewrite_body(w, s->n_body, s->body);
    out->other = axe_rewrite_body(w, s->n_other, s->other);
    return out;
}

axe_stmt *const *
axe_rewrite_body(axe_rewriter *w, int n, axe_stmt *const *body)
{
    axe_stmt **out = axe_new_array(w->cx, axe_stmt *, n + 1);

    for (int i = 0; i < n; i++)
        out[i] = axe_rewrite_stmt(w, body[i]);
    return out;
}

static axe_stmt *const *
renumbered(axe_ctx *cx, axe_kernel *k, int n, axe_stmt *const *body)
{
    axe_stmt **out = axe_new_array(cx, axe_stmt *, n + 1);

    for (int i = 0; i < n; i++) {
        out[i] = axe_new(cx, axe_stmt);
        *out[i] = *body[i];
        if (body[i]->kind == AXE_STMT_INDEX)
            out[i]->id = k->n_index_stmt++;
        out[i]->body = renumbered(cx, k, body[i]->n_body, body[i]->body);
        out[i]->other = renumbered(cx, k, body[i]->n_other, body[i]->other);
    }
    return out;
}

void
axe_kernel_renumber(axe_ctx *cx, axe_kernel *k)
{
    k->n_index_stmt = 0;
    k->body = renumbered(cx, k, k->n_body, k->body);
}
