/* mesh_hoist.c - sums between devices that are a part of a value, as statements
 * of their own.
 *
 *     mean[n] = sum[m](X[m, n]) / f32(M)
 *
 * is T[n] = sum[m](X[m, n]) and mean[n] = T[n] / f32(M), where X is cut along
 * m: as all of a value a sum may be cut, and goes by addends
 * (run/dist/between.c); as a part of one, all that it is over would come to
 * each device.  T is held as the left side is, without its addends.
 *
 * A sum in a branch of `?:` stays, since it may be there not to be computed,
 * and so does one within another fold, whose indices it depends on. */
#include <string.h>

#include "base/ctx.h"
#include "ir/list.h"
#include "ir/mesh.h"
#include "ir/rewrite.h"

typedef struct hoist {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *s;      /* the one that is looked at */
    axe_list       *out;    /* statements before it */
    axe_list        tensor; /* axe_stmt *: those that were made */
    axe_list        was;    /* axe_node *: sums of s, */
    axe_list        by;     /* and loads of what they are now */
    axe_status      status;
} hoist;

/* ------------------------------------------------------------ which of them */

typedef struct search {
    const axe_node *reduce;
    const axe_var  *var;
    bool            cut, found;
} search;

/* A load that has a dimension over which devices share its elements, and the
 * sum goes along that. */
static void
look_for_cut(void *user, const axe_node *n)
{
    search           *s = user;
    const axe_tensor *t;

    if (n->op != AXE_OP_load || !n->u.tensor->local)
        return;
    t = n->u.tensor->local;
    for (int k = 0; k < t->rank; k++)
        for (int i = 0; i < s->reduce->u.reduce.n_over; i++)
            s->cut = s->cut ||
                     (axe_is_cut(t->shape[k]) && n->arg[k]->op == AXE_OP_var &&
                      n->arg[k]->u.var == s->reduce->u.reduce.over[i]);
}

static void
look_for_var(void *user, const axe_node *n)
{
    search *s = user;

    s->found = s->found || (n->op == AXE_OP_var && n->u.var == s->var);
}

static bool
has_var(const axe_node *n, const axe_var *v)
{
    search s = {.var = v};

    axe_node_walk(n, look_for_var, &s);
    return s.found;
}

/* Addends are added in the sum's own type. */
static bool
pays(const axe_node *n)
{
    search s = {.reduce = n};

    if (n->u.reduce.fold != AXE_FOLD_SUM || axe_type_table[n->type].bits < 32)
        return false;
    axe_node_walk(n->arg[0], look_for_cut, &s);
    return s.cut;
}

/* ------------------------------------------------------- into a tensor of its
 * own */

/* The left side's dimensions whose index the sum has; if it has none, one of
 * one element. */
typedef struct place {
    int             n;
    const axe_node *sub[AXE_RANK_MAX], *at[AXE_RANK_MAX];
    const axe_node *shape[AXE_RANK_MAX];
    axe_dim         dim[AXE_RANK_MAX];
} place;

/* The left side's tensor, as a device has it. */
static const axe_tensor *
local_of(const axe_stmt *s)
{
    const axe_tensor *t = s->dst->u.tensor;

    return t->local ? t->local : t;
}

static void
put_dim(place *p, const axe_node *sub, const axe_node *at,
        const axe_node *shape, axe_dim dim)
{
    p->sub[p->n] = sub;
    p->at[p->n] = at;
    p->shape[p->n] = shape;
    p->dim[p->n++] = dim;
}

static place
find_place(hoist *h, const axe_node *sum)
{
    const axe_stmt   *s = h->s;
    const axe_tensor *t = local_of(s);
    const axe_node   *one = axe_index_const(h->cx, 1), *sub;
    place             p = {0};

    for (int k = 0; k < s->dst->n_arg; k++)
        for (int i = 0; i < s->n_free; i++)
            if (s->dim[i].var == s->dst->arg[k]->u.var &&
                has_var(sum, s->dim[i].var))
                put_dim(&p, s->dst->arg[k], s->dst->arg[k], t->shape[k],
                        s->dim[i]);
    if (p.n == 0) {
        axe_var *v = axe_var_make(h->cx, h->k, AXE_VAR_INDEX,
                                  axe_intern(h->cx, "one", 3), s->at);

        sub = axe_var_node(h->cx, s->at, v);
        put_dim(&p, sub, axe_index_const(h->cx, 0), one, (axe_dim){v, one});
    }
    return p;
}

static axe_status
finish_tensor(axe_ctx *cx, axe_tensor *t)
{
    axe_stride *stride = axe_new_array(cx, axe_stride, t->rank);

    AXE_TRY(axe_tensor_strides(cx, t, false, stride));
    t->stride = stride;
    return axe_tensor_join(cx, t);
}

static const axe_tensor *
make_tensor(hoist *h, const axe_node *sum, const place *p)
{
    const axe_tensor *like = local_of(h->s);
    axe_tensor       *t = axe_new(h->cx, axe_tensor);
    axe_held         *held = axe_new(h->cx, axe_held);
    const axe_node  **shape = axe_new_array(h->cx, const axe_node *, p->n);
    const char *name = axe_textf(h->cx, "%s.sum%d", like->name, h->tensor.n);
    axe_stmt   *s = axe_stmt_make(h->cx, AXE_STMT_TENSOR, sum->at);

    memcpy(shape, p->shape, (size_t)p->n * sizeof(*shape));
    *t = (axe_tensor){.name = axe_intern(h->cx, name, strlen(name)),
                      .at = sum->at,
                      .id = h->k->n_tensor++,
                      .space = like->space,
                      .type = sum->type,
                      .dir = AXE_DIR_LOCAL,
                      .rank = p->n,
                      .shape = shape};
    if (like->held && like->held->n_at > 0) {
        *held = *like->held;
        held->n_partial = 0;
        t->held = held;
    }
    s->tensor = t;
    axe_list_push(&h->tensor, s);
    if (h->status == AXE_OK)
        h->status = finish_tensor(h->cx, t);
    return t->whole;
}

static const axe_node *
move_out(hoist *h, const axe_node *sum)
{
    place             p = find_place(h, sum);
    const axe_tensor *t = make_tensor(h, sum, &p);
    axe_dim          *dim = axe_new_array(h->cx, axe_dim, p.n);
    const axe_node  **sub = axe_new_array(h->cx, const axe_node *, p.n);
    const axe_node  **at = axe_new_array(h->cx, const axe_node *, p.n);
    const axe_node   *by;

    if (h->status != AXE_OK)
        return sum;
    memcpy(dim, p.dim, (size_t)p.n * sizeof *dim);
    memcpy(sub, p.sub, (size_t)p.n * sizeof *sub);
    memcpy(at, p.at, (size_t)p.n * sizeof *at);
    axe_list_push(h->out, axe_index_make(h->cx, h->k, h->s->at,
                                         axe_load(h->cx, sum->at, t, sub), sum,
                                         p.n, dim));
    by = axe_load(h->cx, sum->at, t, at);
    axe_list_push(&h->was, sum);
    axe_list_push(&h->by, by);
    return by;
}

/* Are they sums of the same, whatever their indices are called? */
static bool
is_same_sum(axe_ctx *cx, const axe_node *a, const axe_node *b)
{
    const axe_node *value = b->arg[0];

    if (a->type != b->type || a->u.reduce.n_over != b->u.reduce.n_over)
        return false;
    for (int i = 0; i < a->u.reduce.n_over; i++) {
        if (!axe_node_same(a->u.reduce.extent[i], b->u.reduce.extent[i]))
            return false;
        value = axe_node_with(cx, value, b->u.reduce.over[i],
                              axe_var_node(cx, b->at, a->u.reduce.over[i]));
    }
    return axe_node_same(a->arg[0], value);
}

/* The same sum twice is one. */
static const axe_node *
moved(const hoist *h, const axe_node *sum)
{
    for (int i = 0; i < h->was.n; i++)
        if (is_same_sum(h->cx, h->was.item[i], sum))
            return h->by.item[i];
    return NULL;
}

static const axe_node *
change(void *user, const axe_node *n)
{
    hoist          *h = user;
    const axe_node *by;

    if (n->op == AXE_OP_reduce) {
        by = pays(n) ? moved(h, n) : n;
        return by ? by : move_out(h, n);
    }
    if (n->op != AXE_OP_select)
        return NULL;
    by = axe_node_map(h->cx, n->arg[0], change, h);
    return by == n->arg[0]
               ? n
               : axe_node_new(h->cx, n->op, n->type, n->at, 3,
                              (const axe_node *[]){by, n->arg[1], n->arg[2]});
}

/* -------------------------------------------------------------- statements */

/* What is between devices alone. */
static bool
before(void *user, axe_stmt *s, axe_list *out)
{
    hoist          *h = user;
    axe_stmt       *c;
    const axe_node *value;

    if (s->kind == AXE_STMT_DEVICE) {
        axe_list_push(out, s);
        return true;
    }
    if (s->kind != AXE_STMT_INDEX || s->value->op == AXE_OP_reduce)
        return false;
    h->s = s;
    h->out = out;
    h->was.n = h->by.n = 0;
    value = axe_node_map(h->cx, s->value, change, h);
    if (value == s->value)
        return false;
    c = axe_new(h->cx, axe_stmt);
    *c = *s;
    c->value = value;
    axe_list_push(out, c);
    return true;
}

axe_status
axe_mesh_hoist(axe_ctx *cx, const axe_kernel *k, const axe_kernel **out)
{
    axe_kernel     *made = axe_new(cx, axe_kernel);
    hoist           h = {.cx = cx,
                         .k = made,
                         .tensor = {.cx = cx},
                         .was = {.cx = cx},
                         .by = {.cx = cx}};
    axe_body_change c = {cx, before, NULL, &h};
    axe_stmt      **all;

    *made = *k;
    *out = k;
    axe_kernel_map(&c, k, made);
    AXE_TRY(h.status);
    if (h.tensor.n == 0)
        return AXE_OK;
    all = axe_new_array(cx, axe_stmt *, h.tensor.n + made->n_body);
    for (int i = 0; i < h.tensor.n + made->n_body; i++)
        all[i] = i < h.tensor.n ? (axe_stmt *)h.tensor.item[i]
                                : made->body[i - h.tensor.n];
    made->body = all;
    made->n_body += h.tensor.n;
    axe_kernel_find_temps(cx, made);
    axe_kernel_renumber(cx, made);
    *out = made;
    return axe_kernel_verify(cx, made);
}
