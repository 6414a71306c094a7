/* tma_box_join.c - the last two dimensions of a tensor as one in its map.
 *
 * If they are contiguous and the copy takes both completely, the tensor map may
 * describe them as one dimension, whose digits are those of both. */
#include <string.h>

#include "plan/simt/copy/tma_box.h"

enum { MIN_ROW = 128 }; /* [bits] of a box */

/* Does the walk that is number k from the end take all of dimension d? */
static bool
walks_whole(const axe_box_copy *c, int k, int d)
{
    const axe_box_walk *w = &c->walk[c->n_walk - 1 - k];
    int64_t             n = 1, e;

    for (int i = 0; i < w->n_iter; i++)
        n *= w->iter[i].extent;
    return w->dim == d && axe_is_iconst(c->tensor->shape[d], &e) && e == n;
}

/* Joins the last two dimensions; false if that cannot be done. */
static bool
join_last(axe_ctx *cx, axe_box_copy *c, axe_box_walk *walk)
{
    const axe_tensor *t = c->tensor;
    axe_tensor       *seen = axe_new(cx, axe_tensor);
    axe_box_walk     *w = &walk[c->n_walk - 2];
    const axe_node  **shape;
    axe_stride       *stride;
    axe_iter         *it;
    int               n = t->rank - 1;
    int64_t           slow, fast;

    if (n < 1 || c->n_walk < 2 || !walks_whole(c, 0, n) ||
        !walks_whole(c, 1, n - 1) || !axe_is_iconst(t->shape[n], &fast) ||
        !axe_is_iconst(t->shape[n - 1], &slow) ||
        t->stride[n].unit != AXE_UNIT_ONE ||
        t->stride[n - 1].unit != AXE_UNIT_ONE ||
        t->stride[n - 1].coef != fast * t->stride[n].coef)
        return false;
    shape = axe_new_array(cx, const axe_node *, n);
    stride = axe_new_array(cx, axe_stride, n);
    memcpy(shape, t->shape, (size_t)n * sizeof *shape);
    memcpy(stride, t->stride, (size_t)n * sizeof *stride);
    shape[n - 1] = axe_index_const(cx, slow * fast);
    stride[n - 1] = t->stride[n];
    *seen = *t;
    seen->rank = n;
    seen->shape = shape;
    seen->stride = stride;
    it = axe_new_array(cx, axe_iter, w[0].n_iter + w[1].n_iter);
    memcpy(it, w[0].iter, (size_t)w[0].n_iter * sizeof *it);
    memcpy(it + w[0].n_iter, w[1].iter, (size_t)w[1].n_iter * sizeof *it);
    w->iter = it;
    w->n_iter += w[1].n_iter;
    c->n_walk--;
    c->tensor = seen;
    return true;
}

void
axe_box_join(axe_ctx *cx, axe_box_copy *c)
{
    int64_t       e, bits = axe_type_table[c->tensor->type].bits;
    axe_box_walk *walk = axe_new_array(cx, axe_box_walk, c->n_walk + 1);

    memcpy(walk, c->walk, (size_t)c->n_walk * sizeof *walk);
    c->walk = walk;
    while (axe_is_iconst(c->tensor->shape[c->tensor->rank - 1], &e) &&
           e * bits < MIN_ROW && join_last(cx, c, walk))
        ;
}
