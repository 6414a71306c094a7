/* target_opencl.c - grids as OpenCL C, and a simulator of them. */
#include "base/ctx.h"
#include "print/aot/opencl.h"
#include "print/opencl/opencl.h"
#include "run/opencl/must.h"
#include "run/program.h"
#include "run/target.h"

static axe_status
print_aot(axe_ctx *cx, int n, const axe_program *const *p, const char *name,
          axe_buf *c, axe_buf *h)
{
    axe_opencl_image *image = axe_new_array(cx, axe_opencl_image, n);
    axe_opencl_must   must;

    for (int i = 0; i < n; i++) {
        if (!p[i]->c_text)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "kernel %s was not compiled so far",
                            p[i]->kernel->name);
        const char *options = axe_opencl_options(p[i]->lowered);
        image[i] = (axe_opencl_image){.lowered = p[i]->lowered,
                                      .text = p[i]->c_text,
                                      .code = p[i]->spirv,
                                      .bytes = p[i]->spirv_bytes,
                                      .options = options,
                                      .exact = axe_textf(cx, "%s%s%s", options,
                                                         *options ? " " : "",
                                                         AXE_OPENCL_EXACT),
                                      .wide = p[i]->wide};
    }
    axe_cl_must(cx, p[0]->plan->machine, &must);
    return axe_print_aot_opencl(cx, n, image, &must, name, c, h);
}

const axe_target axe_opencl_target = {
    .print = axe_print_opencl,
    .print_aot = print_aot,
    .simulate = axe_simulate,
    .on_mesh = true,
};
