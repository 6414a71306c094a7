/* shapes.c - the shapes of all arrays of a launch, from some of them. */
#include "base/ctx.h"
#include "run/program.h"

/* "K=512, N=512": those that no array and nobody says. */
static const char *
missing_sizes(axe_ctx *cx, const axe_kernel *k, const axe_bound *b)
{
    axe_buf out = {.cx = cx};

    axe_puts(&out, "");
    for (int i = 0; i < k->n_size; i++)
        if (b->unknown[i])
            axe_putf(&out, "%s%s=512", out.len > 0 ? ", " : "",
                     k->size[i]->name);
    return out.len > 0 ? out.text : "its array";
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
    for (int i = 0; i < k->n_param; i++) {
        if (b.shape[i])
            continue;
        axe_status st = axe_fail(cx, k->param[i]->at, AXE_EARG,
                                 "the shape of %s does not follow from the "
                                 "arrays and sizes given",
                                 k->param[i]->name);
        axe_help(cx, "give %s", missing_sizes(cx, k, &b));
        return st;
    }
    for (int i = 0; i < k->n_param; i++)
        shape[i] = (axe_shape){k->param[i]->rank, b.shape[i]};
    return AXE_OK;
}
