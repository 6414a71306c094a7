/* target_opencl.c - grids as OpenCL C, and a simulator of them. */
#include "print/opencl/opencl.h"
#include "run/target.h"

static axe_status
print(axe_ctx *cx, const axe_lowered *l, bool wide, axe_buf *out)
{
    (void)wide; /* all indices have 64 bits */
    return axe_print_opencl(cx, l, out);
}

const axe_target axe_opencl_target = {
    .print = print,
    .simulate = axe_simulate,
};
