/* device.c - what each device of a mesh does alone, as a kernel of its own.
 *
 * Tensors of the kernel over the mesh become arguments, as a device has them;
 * parts of extents, coordinates and variables of loops around are sizes, which
 * are known at each launch.  So nothing behind knows of devices. */
#include <string.h>

#include "base/ctx.h"
#include "ir/mesh.h"
#include "ir/rewrite.h"

typedef struct extraction {
    axe_ctx          *cx;
    const axe_kernel *k;
    axe_list          tensor, written; /* const axe_tensor * of k */
    axe_list          var;             /* const axe_var * that occur */
    axe_list          own;             /* and those that are declared inside */
} extraction;

static void
add(axe_list *l, const void *item)
{
    if (!axe_list_has(l, item))
        axe_list_push(l, item);
}

static void
note(void *user, const axe_node *n)
{
    extraction *x = user;

    if (n->op == AXE_OP_load && n->u.tensor->space == AXE_SPACE_GLOBAL)
        add(&x->tensor, n->u.tensor);
    if (n->op == AXE_OP_var)
        add(&x->var, n->u.var);
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        axe_node_walk(n->u.reduce.extent[i], note, x);
}

static void note_body(extraction *x, int n, axe_stmt *const *body);

static void
note_stmt(extraction *x, const axe_stmt *s)
{
    for (int i = 0; i < s->n_var; i++) {
        axe_node_walk(s->var[i]->extent, note, x);
        add(&x->own, s->var[i]);
    }
    if (s->cond)
        axe_node_walk(s->cond, note, x);
    if (s->kind == AXE_STMT_INDEX) {
        for (int i = 0; i < s->n_dim; i++)
            axe_node_walk(s->dim[i].extent, note, x);
        axe_node_walk(s->dst, note, x);
        axe_node_walk(s->value, note, x);
        if (s->dst->u.tensor->space == AXE_SPACE_GLOBAL)
            add(&x->written, s->dst->u.tensor);
    }
    note_body(x, s->n_body, s->body);
    note_body(x, s->n_other, s->other);
}

static void
note_body(extraction *x, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        note_stmt(x, body[i]);
}

/* Sizes that are values of arguments bring these along. */
static void
note_sources(extraction *x)
{
    for (int i = 0; i < x->var.n; i++) {
        const axe_var    *v = x->var.item[i];
        const axe_tensor *t =
            v->kind == AXE_VAR_SIZE ? axe_size_source(x->k, v) : NULL;

        if (t)
            add(&x->tensor, t);
    }
}

static const axe_tensor *
argument(extraction *x, const axe_tensor *t, bool bounds)
{
    axe_tensor *out = axe_new(x->cx, axe_tensor);

    *out = *t;
    out->whole = out->local = NULL;
    out->held = NULL;
    out->dir = axe_list_has(&x->written, t) || (bounds && t->dir != AXE_DIR_IN)
                   ? AXE_DIR_INOUT
                   : AXE_DIR_IN;
    return out;
}

/* Arguments in the order of k's, then its own tensors in theirs. */
static void
take_arguments(extraction *x, axe_rewriter *w, axe_kernel *out, bool bounds)
{
    axe_list param = {.cx = x->cx};
    int      n = x->k->n_param;

    for (int i = 0; i < n + x->k->n_temp; i++) {
        const axe_tensor *t = i < n ? x->k->param[i] : x->k->temp[i - n], *a;

        if (t->whole && axe_list_has(&x->tensor, t->whole))
            t = t->whole;
        if (!axe_list_has(&x->tensor, t))
            continue;
        a = argument(x, t, bounds);
        axe_list_push(&param, a);
        axe_list_push(&w->tensor, t);
        axe_list_push(&w->tensor_by, a);
        for (int d = 0; d < t->rank; d++)
            axe_node_walk(t->shape[d], note, x);
    }
    out->n_param = param.n;
    out->param = (const axe_tensor *const *)(const void *)param.item;
}

/* A loop around the statement: its number is a size of the launch. */
static const axe_var *
loop_size(extraction *x, axe_rewriter *w, axe_kernel *out, const axe_var *v)
{
    axe_var *size = axe_var_make(x->cx, out, AXE_VAR_SIZE, v->name, v->at);

    size->unit = axe_unit_symbol(x->cx, v->name);
    axe_rewrite_var(w, v, axe_var_node(x->cx, v->at, size));
    return size;
}

static void
take_sizes(extraction *x, axe_rewriter *w, axe_kernel *out)
{
    axe_list size = {.cx = x->cx};

    for (int i = 0; i < x->k->n_size; i++)
        if (axe_list_has(&x->var, x->k->size[i]))
            axe_list_push(&size, x->k->size[i]);
    for (int i = 0; i < x->var.n; i++) {
        const axe_var *v = x->var.item[i];

        if (v->kind == AXE_VAR_LOOP && !axe_list_has(&x->own, v))
            axe_list_push(&size, loop_size(x, w, out, v));
    }
    out->n_size = size.n;
    out->size = (const axe_var *const *)(const void *)size.item;
}

axe_status
axe_device_kernel(axe_ctx *cx, const axe_kernel *k, const axe_stmt *device,
                  int n, bool bounds, const axe_kernel **out)
{
    axe_kernel  *made = axe_new(cx, axe_kernel);
    axe_list     none = {.cx = cx};
    extraction   x = {cx, k, none, none, none, none};
    axe_rewriter w;
    const char  *name = axe_textf(cx, "%s.device%d", k->name, n);

    *made = *k;
    made->name = axe_intern(cx, name, strlen(name));
    made->at = device->at;
    made->n_axis = 0;
    made->axis = NULL;
    made->n_temp = 0;
    made->temp = NULL;
    w = axe_rewriter_of(cx, made);
    note_body(&x, device->n_body, device->body);
    note_sources(&x);
    take_arguments(&x, &w, made, bounds);
    take_sizes(&x, &w, made);
    made->n_body = device->n_body;
    made->body = axe_rewrite_body(&w, device->n_body, device->body);
    axe_kernel_renumber(cx, made);
    AXE_TRY(axe_kernel_verify(cx, made));
    *out = made;
    return AXE_OK;
}

static void
find_devices(axe_list *out, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_DEVICE)
            axe_list_push(out, body[i]);
        find_devices(out, body[i]->n_body, body[i]->body);
        find_devices(out, body[i]->n_other, body[i]->other);
    }
}

int
axe_device_stmts(axe_ctx *cx, const axe_kernel *k, const axe_stmt *const **out)
{
    axe_list all = {.cx = cx};

    find_devices(&all, k->n_body, k->body);
    *out = (const axe_stmt *const *)(const void *)all.item;
    return all.n;
}
