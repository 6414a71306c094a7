/* local.c - what a device computes of a statement between devices, as a
 * kernel of its own: on operands as it has them, in tasks. */
#include <string.h>

#include "base/ctx.h"
#include "ir/rewrite.h"
#include "machine/machine.h"
#include "run/dist/dist_int.h"

typedef struct localizer {
    axe_chooser        *c;
    const axe_operands *o;
} localizer;

static const axe_node *localize(localizer *l, const axe_node *n);

/* A subscript of a window: less what it is more than where the element is in
 * the window; or, where that is no one number, that modulo the dimension. */
static const axe_node *
local_near(localizer *l, const axe_halo *h, const axe_node *load, int dim)
{
    axe_ctx               *cx = l->c->cx;
    const axe_dist_window *w = h->window[dim], *place = w;
    const axe_node        *whole = w->whole, *sub = load->arg[dim];
    bool                   around = axe_dist_goes_around(w);

    if (around)
        place = axe_halo_place(l->c, h, load, dim);
    if (axe_dist_is_around(l->c->d, sub,
                           axe_dist_value(l->c->d, NULL, 0, whole)))
        sub = sub->arg[0];
    sub = localize(l, sub);
    if (place && place->rounds > 0)
        sub = axe_node2(cx, AXE_OP_add, sub,
                        axe_node2(cx, AXE_OP_mul, whole,
                                  axe_index_const(cx, place->rounds)));
    sub = axe_node2(cx, AXE_OP_sub, sub,
                    axe_halo_extent(l->c, h, place ? place : w, true));
    return place ? sub : axe_node2(cx, AXE_OP_mod, sub, whole);
}

static const axe_node *
local_load(localizer *l, const axe_node *n)
{
    axe_chooser      *c = l->c;
    axe_turning      *turning;
    const axe_halo   *h = axe_halo_of(c, n);
    const axe_tensor *need = axe_needed(c, n, &turning);
    const axe_node  **sub = axe_new_array(c->cx, const axe_node *, n->n_arg);
    const axe_between_arg *a = axe_operand_needed(
        l->o, axe_dist_find(c->d, n->u.tensor->name), need, turning);

    for (int k = 0; k < n->n_arg; k++) {
        axe_dist_turn turn;
        int           i = axe_load_index(c, n, k, &turn);

        sub[k] = h && h->window[k] ? local_near(l, h, n, k)
                 : i < 0           ? localize(l, n->arg[k])
                 : turn.index ? axe_var_node(c->cx, n->arg[k]->at, turn.index)
                              : n->arg[k];
    }
    return axe_load(c->cx, n->at, a->local, sub);
}

/* The variable of a loop around: a size of the launch, of its name. */
static const axe_node *
loop_size(axe_chooser *c, const axe_node *n)
{
    axe_var *v;

    for (int i = 0; i < c->made.n; i++) {
        v = (axe_var *)c->made.item[i];
        if (!v->part && v->name == n->u.var->name)
            return axe_var_node(c->cx, n->at, v);
    }
    v = axe_new(c->cx, axe_var);
    v->kind = AXE_VAR_SIZE;
    v->name = n->u.var->name;
    v->at = n->at;
    v->unit = axe_unit_symbol(c->cx, v->name);
    v->id = -1;
    axe_list_push(&c->made, v);
    return axe_var_node(c->cx, n->at, v);
}

/* An index that is cut, as the number that it is in the whole. */
static const axe_node *
local_var(localizer *l, const axe_node *n)
{
    if (n->u.var->kind == AXE_VAR_LOOP)
        return loop_size(l->c, n);
    for (int i = 0; i < l->c->n_index; i++)
        if (n->u.var == l->c->index[i]) {
            const axe_node *first = axe_cut_extent(l->c, i, true);
            return first ? axe_node2(l->c->cx, AXE_OP_add, n, first) : n;
        }
    return n;
}

static const axe_node *
local_reduce(localizer *l, const axe_node *n)
{
    int      k = n->u.reduce.n_over;
    axe_dim *dim = axe_new_array(l->c->cx, axe_dim, k);

    for (int i = 0; i < k; i++) {
        dim[i] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
        for (int x = 0; x < l->c->n_index; x++)
            if (l->c->index[x] == dim[i].var)
                dim[i].extent = axe_cut_extent(l->c, x, false);
    }
    return axe_reduce(l->c->cx, n->at, n->u.reduce.fold, k, dim,
                      localize(l, n->arg[0]));
}

static const axe_node *
change(void *user, const axe_node *n)
{
    localizer *l = user;

    if (n->op == AXE_OP_load)
        return local_load(l, n);
    if (n->op == AXE_OP_var)
        return local_var(l, n);
    return n->op == AXE_OP_reduce ? local_reduce(l, n) : NULL;
}

static const axe_node *
localize(localizer *l, const axe_node *n)
{
    return axe_node_map(l->c->cx, n, change, l);
}

static axe_stmt *
local_stmt(localizer *l, const axe_between_arg *result)
{
    axe_chooser *c = l->c;
    axe_stmt    *s = axe_new(c->cx, axe_stmt);
    axe_dim     *dim = axe_new_array(c->cx, axe_dim, c->s->n_dim);

    *s = *c->s;
    s->slow = true; /* how it is done is nobody's to say */
    for (int i = 0; i < s->n_dim; i++)
        dim[i] = (axe_dim){c->s->dim[i].var, axe_cut_extent(c, i, false)};
    s->dim = dim;
    s->dst = axe_load(c->cx, c->s->dst->at, result->local, c->s->dst->arg);
    s->value = localize(l, c->s->value);
    return s;
}

/* --------------------------------------------------- as tasks of a device */

/* Of the first and the last index of the left side. */
enum { TILE_FIRST = 32, TILE_LAST = 128 };

typedef struct tiling {
    axe_ctx        *cx;
    const axe_var  *index;
    const axe_node *by; /* tile * size + index */
} tiling;

static const axe_node *
shift_index(void *user, const axe_node *n)
{
    const tiling *t = user;

    return n->op == AXE_OP_var && n->u.var == t->index ? t->by : NULL;
}

/* An index runs within tiles, each of which is a value of a new variable; NULL:
 * one tile is all. */
static const axe_var *
tile_index(axe_ctx *cx, axe_kernel *k, axe_stmt *s, axe_dim *dim, int i,
           int64_t size)
{
    const axe_var *m = dim[i].var;
    const char    *name = axe_textf(cx, "%s.tile", m->name);
    tiling         t = {cx, m, NULL};
    axe_var       *v;
    int64_t        all;

    if (axe_is_iconst(dim[i].extent, &all) && all <= size)
        return NULL;
    v = axe_var_make(cx, k, AXE_VAR_SCOPE, axe_intern(cx, name, strlen(name)),
                     m->at);
    v->extent =
        axe_node2(cx, AXE_OP_cdiv, dim[i].extent, axe_index_const(cx, size));
    t.by = axe_node2(cx, AXE_OP_add,
                     axe_node2(cx, AXE_OP_mul, axe_var_node(cx, m->at, v),
                               axe_index_const(cx, size)),
                     axe_var_node(cx, m->at, m));
    dim[i].extent = axe_index_const(cx, size);
    s->dst = axe_node_map(cx, s->dst, shift_index, &t);
    s->value = axe_node_map(cx, s->value, shift_index, &t);
    return v;
}

/* The statement as a scope of tasks; what is beyond the tensors at their ends
 * is read as zero and not written. */
static axe_stmt *
as_tasks(axe_ctx *cx, axe_kernel *k, axe_stmt *s)
{
    axe_stmt       *scope = axe_stmt_make(cx, AXE_STMT_SCOPE, s->at);
    const axe_var **var = axe_new_array(cx, const axe_var *, 2);
    axe_stmt      **body = axe_new_array(cx, axe_stmt *, 1);
    axe_dim        *dim = axe_new_array(cx, axe_dim, s->n_dim);
    const axe_var  *v;

    for (int i = 0; i < s->n_dim; i++)
        dim[i] = s->dim[i];
    s->dim = dim;
    for (int i = 0; i<s->n_free; i += s->n_free> 1 ? s->n_free - 1 : 1) {
        v = tile_index(cx, k, s, dim, i, i > 0 ? TILE_LAST : TILE_FIRST);
        if (v)
            var[scope->n_var++] = v;
    }
    if (scope->n_var == 0) {
        axe_var *one = axe_var_make(cx, k, AXE_VAR_SCOPE, "task", s->at);

        one->extent = axe_index_const(cx, 1);
        var[scope->n_var++] = one;
    }
    scope->scope = AXE_SCOPE_CTA;
    scope->var = var;
    scope->n_body = 1;
    scope->body = body;
    body[0] = s;
    return scope;
}

/* Operands get names of their own, where one tensor is needed in two ways or is
 * the result as well. */
static axe_status
name_arguments(axe_chooser *c, const axe_operands *o, axe_between_arg *result,
               axe_kernel *k)
{
    const axe_tensor **param =
        axe_new_array(c->cx, const axe_tensor *, o->arg.n + 1);

    for (int i = 0; i <= o->arg.n; i++) {
        const axe_between_arg *a = i < o->arg.n ? o->arg.item[i] : result;
        axe_tensor            *t = (axe_tensor *)a->local;
        axe_stride *stride = axe_new_array(c->cx, axe_stride, t->rank);
        bool        twice = false;

        for (int j = 0; j < i; j++)
            twice =
                twice ||
                ((const axe_between_arg *)o->arg.item[j])->tensor == a->tensor;
        if (twice)
            t->name = axe_intern(c->cx, axe_textf(c->cx, "%s.%d", t->name, i),
                                 strlen(axe_textf(c->cx, "%s.%d", t->name, i)));
        t->id = i;
        t->dir = i < o->arg.n ? AXE_DIR_IN : AXE_DIR_OUT;
        AXE_TRY(axe_tensor_strides(c->cx, t, false, stride));
        t->stride = t->rank > 0 ? stride : NULL;
        param[i] = t;
    }
    k->n_param = o->arg.n + 1;
    k->param = param;
    k->n_tensor = k->n_param;
    return AXE_OK;
}

typedef struct size_list {
    axe_list    all;
    axe_kernel *k;
    axe_ctx    *cx;
} size_list;

static void
note_size(void *user, const axe_node *n)
{
    size_list *l = user;

    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_SIZE &&
        n->u.var != l->k->cores && !axe_list_has(&l->all, n->u.var))
        axe_list_push(&l->all, n->u.var);
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        axe_node_walk(n->u.reduce.extent[i], note_size, user);
}

axe_status
axe_between_compile(axe_chooser *c, const axe_operands *o,
                    axe_between_arg *result, int number,
                    const axe_program **out)
{
    axe_kernel *k = axe_new(c->cx, axe_kernel);
    localizer   l = {c, o};
    axe_stmt  **body = axe_new_array(c->cx, axe_stmt *, 1);
    size_list   size = {{.cx = c->cx}, k, c->cx};
    const char *name = axe_textf(c->cx, "%s.between%d", c->d->k->name, number);

    *k = *c->d->program->kernel;
    k->name = axe_intern(c->cx, name, strlen(name));
    k->n_var = c->d->k->n_var;
    body[0] = local_stmt(&l, result);
    AXE_TRY(name_arguments(c, o, result, k));
    k->n_body = 1;
    k->body = body;
    axe_node_walk(body[0]->value, note_size, &size);
    for (int i = 0; i < body[0]->n_dim; i++)
        axe_node_walk(body[0]->dim[i].extent, note_size, &size);
    body[0] = as_tasks(c->cx, k, body[0]);
    for (int i = 0; i < k->n_param; i++)
        for (int d = 0; d < k->param[i]->rank; d++)
            axe_node_walk(k->param[i]->shape[d], note_size, &size);
    for (int i = 0; i < size.all.n; i++) {
        axe_var *v = (axe_var *)size.all.item[i];
        if (v->id < 0)
            v->id = k->n_var++;
    }
    k->n_size = size.all.n;
    k->size = (const axe_var *const *)(const void *)size.all.item;
    axe_kernel_renumber(c->cx, k);
    return axe_compile_kernel(c->cx, k, c->d->program->machine->name,
                              AXE_STAGE_C, out);
}
