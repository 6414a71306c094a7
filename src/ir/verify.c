/* verify.c - is a kernel well formed? */
#include "ir/ir.h"

axe_status
axe_kernel_verify(axe_ctx *cx, const axe_kernel *k)
{
    (void)cx;
    (void)k;
    return AXE_OK;
}
