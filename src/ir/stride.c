/* stride.c - how an argument lies in memory, where its shape says so. */
#include "ir/ir.h"

/* at = the stride of the next slower dimension */
static bool
step_over(axe_ctx *cx, axe_stride *at, const axe_node *extent)
{
    if (extent->op == AXE_OP_var) {
        at->unit = axe_unit_mul(cx, at->unit, extent->u.var->unit);
        return true;
    }
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
