/* read_mesh.c - reading what the IR's text says of a mesh:
 *
 *     mesh gpu = P
 *     part K.gpu = K @ gpu
 *     out f32 S[M, K.gpu] : (K.gpu, 1) at node = 0 + partial(tp) */
#include <string.h>

#include "base/ctx.h"
#include "ir/mesh.h"
#include "ir/read_int.h"

static axe_status
find_axis(axe_reader *r, int *out)
{
    axe_span    at = axe_read_at(r);
    const char *name;

    AXE_TRY(axe_read_name(r, &name));
    for (int i = 0; i < r->kernel->n_axis; i++)
        if (r->kernel->axis[i].name == name) {
            *out = i;
            return AXE_OK;
        }
    return axe_fail(r->cx, at, AXE_ENAME, "the mesh has no axis `%s`", name);
}

/* NAME { "," NAME } */
static axe_status
read_axes(axe_reader *r, int *n, const int **out)
{
    int *axis = axe_new_array(r->cx, int, r->kernel->n_axis);

    *n = 0;
    do {
        if (*n == r->kernel->n_axis)
            return axe_read_expected(r, "fewer axes: the mesh has not so many");
        AXE_TRY(find_axis(r, &axis[(*n)++]));
    } while (axe_read_take(r, ","));
    *out = axis;
    return AXE_OK;
}

/* A size, or a constant from 1 on. */
static axe_status
check_extent(axe_reader *r, const axe_node *n)
{
    int64_t v;

    if ((n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_SIZE &&
         !n->u.var->part && n->u.var != r->kernel->cores) ||
        (axe_is_iconst(n, &v) && v > 0))
        return AXE_OK;
    return axe_read_expected(r, "a size or a positive constant before this");
}

static axe_status
read_extent(axe_reader *r, const axe_node **out)
{
    AXE_TRY(axe_read_expr(r, out));
    return check_extent(r, *out);
}

/* NAME "=" extent { "," NAME "=" extent } */
axe_status
axe_read_mesh(axe_reader *r)
{
    axe_list     all = {.cx = r->cx};
    axe_axis_of *axis;

    do {
        axe_axis_of *a = axe_new(r->cx, axe_axis_of);
        axe_var     *v;
        const char  *name;

        a->at = axe_read_at(r);
        AXE_TRY(axe_read_name(r, &a->name));
        AXE_TRY(axe_read_need(r, "="));
        AXE_TRY(read_extent(r, &a->size));
        name = axe_textf(r->cx, "%s.at", a->name);
        name = axe_intern(r->cx, name, strlen(name));
        AXE_TRY(axe_read_var(r, AXE_VAR_SIZE, NULL, name, &v));
        v->unit = axe_unit_symbol(r->cx, name);
        v->of_axis = all.n + 1;
        axe_list_push(&r->sizes, v);
        a->place = v;
        axe_list_push(&all, a);
    } while (axe_read_take(r, ","));
    axis = axe_new_array(r->cx, axe_axis_of, all.n);
    for (int i = 0; i < all.n; i++)
        axis[i] = *(const axe_axis_of *)all.item[i];
    r->kernel->n_axis = all.n;
    r->kernel->axis = axis;
    return AXE_OK;
}

/* extent "@" ( NAME | "(" axes ")" ) | "cdiv" "(" SIZE "," extent ")" */
static axe_status
read_part(axe_reader *r, axe_shard *p)
{
    int *one = axe_new_array(r->cx, int, 1);

    AXE_TRY(axe_read_expr(r, &p->whole));
    if (axe_shard_most(r->cx, r->kernel, p->whole, p))
        return AXE_OK;
    AXE_TRY(check_extent(r, p->whole));
    AXE_TRY(axe_read_need(r, "@"));
    if (axe_read_take(r, "(")) {
        AXE_TRY(read_axes(r, &p->n_axis, &p->axis));
        return axe_read_need(r, ")");
    }
    p->n_axis = 1;
    p->axis = one;
    return find_axis(r, one);
}

axe_status
axe_read_parts(axe_reader *r)
{
    if (r->kernel->n_axis == 0)
        return axe_read_expected(r, "a mesh before this");
    do {
        axe_shard  *p = axe_new(r->cx, axe_shard);
        axe_span    at = axe_read_at(r);
        const char *name;
        axe_var    *v;

        AXE_TRY(axe_read_name(r, &name));
        AXE_TRY(axe_read_need(r, "="));
        AXE_TRY(read_part(r, p));
        if (name != axe_shard_name(r->cx, r->kernel, p))
            return axe_fail(r->cx, at, AXE_ENAME, "this part is called `%s`",
                            axe_shard_name(r->cx, r->kernel, p));
        AXE_TRY(axe_read_var(r, AXE_VAR_SIZE, NULL, name, &v));
        v->unit = axe_unit_symbol(r->cx, name);
        p->text = axe_shard_text(r->cx, r->kernel, p);
        v->part = p;
        axe_list_push(&r->sizes, v);
    } while (axe_read_take(r, ","));
    return AXE_OK;
}

axe_status
axe_read_held(axe_reader *r, axe_tensor *t)
{
    axe_held *h = axe_new(r->cx, axe_held);
    int      *at = axe_new_array(r->cx, int, r->kernel->n_axis);
    int64_t  *c = axe_new_array(r->cx, int64_t, r->kernel->n_axis);
    bool      first = true;

    if (axe_read_word(r, "at")) {
        do {
            if (h->n_at == r->kernel->n_axis)
                return axe_read_expected(r, "fewer axes");
            AXE_TRY(find_axis(r, &at[h->n_at]));
            AXE_TRY(axe_read_need(r, "="));
            AXE_TRY(axe_read_int(r, &c[h->n_at++]));
        } while (axe_read_take(r, ","));
        h->at = at;
        h->coordinate = c;
        first = false;
    }
    if (first ? axe_read_word(r, "partial")
              : axe_read_take(r, "+") && axe_read_word(r, "partial")) {
        AXE_TRY(axe_read_need(r, "("));
        AXE_TRY(read_axes(r, &h->n_partial, &h->partial));
        AXE_TRY(axe_read_need(r, ")"));
    }
    t->held = h->n_at + h->n_partial > 0 ? h : NULL;
    return AXE_OK;
}

const axe_tensor *
axe_read_seen(const axe_reader *r, const axe_named *what)
{
    return what->tensor->whole && !r->on_device ? what->tensor->whole
                                                : what->tensor;
}
