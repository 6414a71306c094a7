/* mesh.c - tensors over the devices of a mesh: parts of extents, and a tensor
 * as one device has it beside the same as all have it together. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/mesh.h"

static void
put_axes(axe_buf *out, const axe_kernel *k, int n, const int *axis,
         const char *between)
{
    for (int i = 0; i < n; i++)
        axe_putf(out, "%s%s", i ? between : "", k->axis[axis[i]].name);
}

const char *
axe_shard_name(axe_ctx *cx, const axe_kernel *k, const axe_shard *p)
{
    axe_buf out = {.cx = cx};
    int64_t v;

    if (axe_is_iconst(p->whole, &v))
        axe_putf(&out, "n%" PRId64 ".", v);
    else
        axe_putf(&out, "%s.", p->whole->u.var->name);
    put_axes(&out, k, p->n_axis, p->axis, ".");
    axe_puts(&out, p->most ? ".most" : "");
    return axe_intern(cx, out.text, out.len);
}

const char *
axe_shard_text(axe_ctx *cx, const axe_kernel *k, const axe_shard *p)
{
    axe_buf out = {.cx = cx};

    if (p->most)
        return axe_textf(cx, "cdiv(%s, %s)", axe_node_text(cx, p->whole),
                         axe_node_text(cx, k->axis[p->axis[0]].size));
    axe_putf(&out, "%s@%s", axe_node_text(cx, p->whole),
             p->n_axis > 1 ? "(" : "");
    put_axes(&out, k, p->n_axis, p->axis, ", ");
    axe_puts(&out, p->n_axis > 1 ? ")" : "");
    return out.text;
}

bool
axe_shard_most(axe_ctx *cx, const axe_kernel *k, const axe_node *n,
               axe_shard *out)
{
    int *axis = axe_new_array(cx, int, 1);

    if (n->op != AXE_OP_cdiv || n->arg[0]->op != AXE_OP_var ||
        n->arg[0]->u.var->kind != AXE_VAR_SIZE || n->arg[0]->u.var == k->cores)
        return false;
    for (; *axis < k->n_axis; ++*axis)
        if (axe_node_same(k->axis[*axis].size, n->arg[1])) {
            *out = (axe_shard){
                .whole = n->arg[0], .n_axis = 1, .axis = axis, .most = true};
            out->text = axe_shard_text(cx, k, out);
            return !n->arg[0]->u.var->part && n->arg[0]->u.var->of_axis == 0;
        }
    return false;
}

const axe_var *
axe_shard_find(int n, const axe_var *const *size, const axe_shard *p)
{
    for (int i = 0; i < n; i++) {
        const axe_shard *q = size[i]->part;

        if (q && q->first == p->first && q->most == p->most &&
            q->n_axis == p->n_axis && axe_node_same(q->whole, p->whole) &&
            memcmp(q->axis, p->axis, (size_t)p->n_axis * sizeof *p->axis) == 0)
            return size[i];
    }
    return NULL;
}

bool
axe_is_cut(const axe_node *n)
{
    return n->op == AXE_OP_var && n->u.var->part && !n->u.var->part->most;
}

const axe_node *
axe_extent_whole(const axe_node *n)
{
    return axe_is_cut(n) ? n->u.var->part->whole : n;
}

const char *
axe_held_text(axe_ctx *cx, const axe_kernel *k, const axe_held *h)
{
    axe_buf out = {.cx = cx};

    for (int i = 0; h && i < h->n_at; i++)
        axe_putf(&out, "%s%s = %" PRId64, i ? ", " : " at ",
                 k->axis[h->at[i]].name, h->coordinate[i]);
    if (h && h->n_partial > 0) {
        axe_puts(&out, h->n_at > 0 ? " + partial(" : " partial(");
        put_axes(&out, k, h->n_partial, h->partial, ", ");
        axe_puts(&out, ")");
    }
    return out.text ? out.text : "";
}

axe_status
axe_tensor_join(axe_ctx *cx, axe_tensor *t)
{
    axe_tensor      *w = axe_new(cx, axe_tensor);
    const axe_node **shape = axe_new_array(cx, const axe_node *, t->rank);
    axe_stride      *stride = axe_new_array(cx, axe_stride, t->rank);

    *w = *t;
    for (int i = 0; i < t->rank; i++)
        shape[i] = axe_extent_whole(t->shape[i]);
    w->shape = shape;
    AXE_TRY(axe_tensor_strides(cx, w, false, stride));
    w->stride = stride;
    w->local = t;
    t->whole = w;
    return AXE_OK;
}
