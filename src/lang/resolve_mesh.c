/* resolve_mesh.c - the mesh of a file's kernels, parts of extents, and what
 * each device does. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/mesh.h"
#include "lang/resolve_int.h"

/* ------------------------------------------------------------------- axes */

/* The coordinate of a device along the axis, gpu.at. */
static const axe_var *
declare_place(axe_resolver *r, axe_word axis, int number)
{
    const char *name = axe_textf(r->cx, "%s.at", axis.name);
    axe_word    w = {axe_intern(r->cx, name, strlen(name)), axis.at};
    axe_var    *v = axe_resolve_var(r, AXE_VAR_SIZE, w, NULL);

    v->unit = axe_unit_symbol(r->cx, w.name);
    v->of_axis = number + 1;
    axe_list_push(&r->sizes, v);
    return v;
}

void
axe_resolve_mesh(axe_resolver *r)
{
    int          n = r->module->n_axis;
    axe_axis_of *axis = axe_new_array(r->cx, axe_axis_of, n);

    r->kernel->beside_mesh = n > 0 && !r->decl->meshed;
    if (!r->decl->meshed)
        return;
    if (n == 0) {
        axe_resolve_fail(r, axe_fail(r->cx, r->decl->word.at, AXE_ENAME,
                                     "kernel `%s` names devices, and the file "
                                     "has no mesh",
                                     r->decl->word.name));
        axe_help(r->cx, "declare its axes before the kernel, as in "
                        "`mesh gpu[P];`");
        return;
    }
    for (int i = 0; i < n; i++) {
        const axe_axis_decl *d = r->module->axis[i];
        axe_entry           *e;

        axis[i].name = d->word.name;
        axis[i].at = d->word.at;
        axis[i].size = axe_resolve_global_extent(r, d->size, d->text, -1);
        axis[i].place = declare_place(r, d->word, i);
        e = axe_names_add(r, axis[i].size ? AXE_ENTRY_AXIS : AXE_ENTRY_BAD,
                          d->word);
        e->value = axis[i].size;
    }
    r->kernel->n_axis = n;
    r->kernel->axis = axis;
}

static bool
find_axis(axe_resolver *r, axe_word w, int *out)
{
    int          n = r->kernel->n_axis;
    const char **known = axe_new_array(r->cx, const char *, n);
    const char  *near;

    for (int i = 0; i < n; i++) {
        known[i] = r->kernel->axis[i].name;
        if (known[i] == w.name) {
            *out = i;
            return true;
        }
    }
    if (n == 0) /* said where the mesh is missing */
        return axe_resolve_fail(r, AXE_ENAME);
    axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ENAME,
                                 "the mesh has no axis `%s`", w.name));
    near = axe_nearest(w.name, n, known);
    if (near)
        axe_help(r->cx, "did you mean `%s`?", near);
    else
        axe_note(r->cx, r->kernel->axis[0].at, "it is declared here");
    return false;
}

static bool
find_axes(axe_resolver *r, int n, const axe_word *const *w, const int **out)
{
    int *axis = axe_new_array(r->cx, int, n);
    bool ok = true;

    for (int i = 0; i < n; i++)
        ok = find_axis(r, *w[i], &axis[i]) && ok;
    *out = axis;
    return ok;
}

/* ------------------------------------------------------------------ parts */

static bool
is_whole(const axe_resolver *r, const axe_node *n)
{
    int64_t v;

    return axe_is_iconst(n, &v) ||
           (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_SIZE &&
            !n->u.var->part && n->u.var->of_axis == 0 &&
            n->u.var != r->kernel->cores);
}

const axe_node *
axe_resolve_part(axe_resolver *r, const axe_expr *e, const axe_node *whole)
{
    axe_shard     *p = axe_new(r->cx, axe_shard);
    const axe_var *v;
    axe_var       *made;
    axe_word       w;

    p->whole = whole;
    p->n_axis = e->n_over;
    if (!find_axes(r, e->n_over, e->over, &p->axis) || !whole)
        return NULL;
    if (!is_whole(r, whole)) {
        axe_resolve_fail(r, axe_fail(r->cx, e->arg[0]->at, AXE_ESHAPE,
                                     "`%s` is neither a size nor a constant, "
                                     "and devices have parts of those alone",
                                     axe_node_text(r->cx, whole)));
        return NULL;
    }
    v = axe_shard_find(r->sizes.n,
                       (const axe_var *const *)(const void *)r->sizes.item, p);
    if (v)
        return axe_var_node(r->cx, e->at, v);
    w = (axe_word){axe_shard_name(r->cx, r->kernel, p), e->at};
    made = axe_resolve_var(r, AXE_VAR_SIZE, w, NULL);
    made->unit = axe_unit_symbol(r->cx, w.name);
    p->text = axe_shard_text(r->cx, r->kernel, p);
    made->part = p;
    axe_list_push(&r->sizes, made);
    return axe_var_node(r->cx, e->at, made);
}

const axe_node *
axe_resolve_most(axe_resolver *r, const axe_expr *e, const axe_node *n)
{
    axe_shard     *p = axe_new(r->cx, axe_shard);
    const axe_var *v;
    axe_var       *made;

    if (!n || !axe_shard_most(r->cx, r->kernel, n, p))
        return n;
    v = axe_shard_find(r->sizes.n,
                       (const axe_var *const *)(const void *)r->sizes.item, p);
    if (v)
        return axe_var_node(r->cx, e->at, v);
    made = axe_resolve_var(
        r, AXE_VAR_SIZE, (axe_word){axe_shard_name(r->cx, r->kernel, p), e->at},
        NULL);
    made->unit = axe_unit_symbol(r->cx, made->name);
    made->part = p;
    axe_list_push(&r->sizes, made);
    return axe_var_node(r->cx, e->at, made);
}

/* ---------------------------------------------------------------- tensors */

bool
axe_resolve_held(axe_resolver *r, const axe_tensor_decl *d, axe_tensor *t)
{
    axe_held  *h = axe_new(r->cx, axe_held);
    int64_t   *c = axe_new_array(r->cx, int64_t, d->n_at);
    bool       ok = true;
    axe_status st;

    if (r->kernel->n_axis == 0 || t->rank == 0)
        return true;
    h->n_partial = d->n_partial;
    h->n_at = d->n_at;
    h->coordinate = c;
    ok = find_axes(r, d->n_partial, d->partial, &h->partial);
    ok = find_axes(r, d->n_at, d->at, &h->at) && ok;
    for (int i = 0; i < d->n_at; i++)
        ok = axe_resolve_int(r, d->coordinate[i], "a coordinate", &c[i]) && ok;
    t->held = h->n_partial + h->n_at > 0 ? h : NULL;
    st = axe_tensor_join(r->cx, t);
    return (st == AXE_OK || axe_resolve_fail(r, st)) && ok;
}

const axe_tensor *
axe_resolve_seen(const axe_resolver *r, const axe_tensor *t)
{
    return t->whole && !r->on_device ? t->whole : t;
}

/* ---------------------------------------------------------------- devices */

/* `g : gpu`: the coordinate along the axis. */
static void
name_place(axe_resolver *r, const axe_range *g)
{
    axe_entry *e;
    int        axis = 0;
    bool plain = g->count && g->count->kind == AXE_EXPR_NAME && !g->from &&
                 !g->by && !g->step;
    bool ok = plain;

    if (!plain) {
        axe_resolve_fail(r, axe_fail(r->cx, g->word.at, AXE_ESYNTAX,
                                     "`device` names coordinates along axes of "
                                     "the mesh: `g : gpu`"));
        axe_help(r->cx, "all devices do what stands in it; for some of them "
                        "write `if (g == 0) ...`");
    } else
        ok = find_axis(r, g->count->word, &axis);
    if (!g->word.name)
        return;
    e = axe_names_add(r, ok ? AXE_ENTRY_VAR : AXE_ENTRY_BAD, g->word);
    e->var = ok ? r->kernel->axis[axis].place : NULL;
}

void
axe_resolve_device(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    int       mark = r->names.n;
    axe_stmt *s = axe_new(r->cx, axe_stmt);
    axe_list  body = {.cx = r->cx};
    bool      around = r->on_device;

    if (r->inside)
        axe_resolve_fail(r, axe_fail(r->cx, x->at, AXE_ESHAPE,
                                     "`device` stands in a `%s`",
                                     axe_scope_name(r->inside->scope)));
    for (int i = 0; i < x->n_range; i++)
        name_place(r, x->range[i]);
    r->on_device = true;
    axe_resolve_inner(r, x->n_body, x->body, &body);
    r->on_device = around;
    axe_names_leave(r, mark);
    s->kind = AXE_STMT_DEVICE;
    s->at = x->at;
    s->n_body = body.n;
    s->body = (axe_stmt *const *)(const void *)body.item;
    axe_list_push(out, s);
}
