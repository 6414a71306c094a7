/* shapes.c - the shapes of all arrays of a launch, from some of them. */
#include "base/ctx.h"
#include "run/program.h"

/* "K=512, N=512": those that no array and nobody says; "": none. */
static const char *
missing_sizes(axe_ctx *cx, const axe_kernel *k, const axe_bound *b)
{
    axe_buf out = {.cx = cx};

    axe_puts(&out, "");
    for (int i = 0; i < k->n_size; i++)
        if (b->unknown[i])
            axe_putf(&out, "%s%s=512", out.len > 0 ? ", " : "",
                     k->size[i]->name);
    return out.text;
}

/* Where all sizes are known its extent, which may be a sum of multiples of
 * them, leaves int64. */
axe_status
axe_shapes_missing(axe_ctx *cx, const axe_kernel *k, const axe_bound *b,
                   const axe_tensor *t)
{
    const char *missing = missing_sizes(cx, k, b);
    axe_status  st;

    if (*missing == '\0' && t->rank > 0)
        return axe_fail(cx, t->at, AXE_EOVERFLOW,
                        "%s (dimension 0), which is %s, does not fit int64 "
                        "with these sizes",
                        t->name, axe_node_text(cx, t->shape[0]));
    st = axe_fail(cx, t->at, AXE_EARG,
                  "the shape of %s does not follow from the arrays and sizes "
                  "given",
                  t->name);
    axe_help(cx, "give %s", *missing ? missing : "its array");
    return st;
}

axe_status
axe_program_shapes(axe_ctx *cx, const axe_program *p, int n_array,
                   const axe_array *array, int n_size, const axe_size *size,
                   axe_shape *shape)
{
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, shape);
    const axe_kernel *k = p->kernel;
    axe_bound         b;

    AXE_TRY(axe_bind(cx, k, n_array, array, n_size, size, false, &b));
    for (int i = 0; i < k->n_param; i++)
        if (!b.shape[i])
            return axe_shapes_missing(cx, k, &b, k->param[i]);
    for (int i = 0; i < k->n_param; i++)
        shape[i] = (axe_shape){k->param[i]->rank, b.shape[i]};
    return AXE_OK;
}
