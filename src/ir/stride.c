/* stride.c - global tensors: how one lies in memory where its shape says so,
 * which ones a kernel makes for itself, and sizes that are the values of
 * others. */
#include <string.h>

#include "ir/ir.h"

/* at = the stride of the next slower dimension */
static bool
step_over(axe_ctx *cx, axe_stride *at, const axe_node *extent)
{
    if (extent->op == AXE_OP_var) {
        at->unit = axe_unit_mul(cx, at->unit, extent->u.var->unit);
        return true;
    }
    if (extent->op != AXE_OP_iconst)
        return true; /* of a first dimension, which no stride is made of */
    return axe_mul(at->coef, extent->u.i, &at->coef);
}

axe_status
axe_tensor_strides(axe_ctx *cx, const axe_tensor *t, bool column_major,
                   axe_stride *s)
{
    axe_stride at = {1, AXE_UNIT_ONE};

    for (int i = 0; i < t->rank; i++) {
        int k = column_major ? i : t->rank - 1 - i;
        s[k] = at;
        if (!step_over(cx, &at, t->shape[k]))
            return axe_fail(cx, t->at, AXE_EOVERFLOW,
                            "`%s` has too many elements for 64-bit addresses",
                            t->name);
    }
    return AXE_OK;
}

const axe_tensor *
axe_size_source(const axe_kernel *k, const axe_var *size)
{
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        size_t            n = strlen(t->name);
        if (axe_is_scalar(t) && strncmp(size->name, t->name, n) == 0 &&
            strcmp(size->name + n, AXE_OF_VALUE) == 0)
            return t;
    }
    return NULL;
}

void
axe_kernel_find_temps(axe_ctx *cx, axe_kernel *k)
{
    const axe_tensor **temp =
        axe_new_array(cx, const axe_tensor *, k->n_body + 1);

    k->n_temp = 0;
    for (int i = 0; i < k->n_body; i++)
        if (k->body[i]->kind == AXE_STMT_TENSOR &&
            k->body[i]->tensor->space == AXE_SPACE_GLOBAL)
            temp[k->n_temp++] = k->body[i]->tensor;
    k->temp = temp;
}
