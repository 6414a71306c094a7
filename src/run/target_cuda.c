/* target_cuda.c - grids as CUDA C, and a simulator of them. */
#include <stdlib.h>

#include "axe/gpu.h"
#include "base/ctx.h"
#include "print/aot/gpu.h"
#include "print/cuda/cuda.h"
#include "run/dist/run.h"
#include "run/program.h"
#include "run/target.h"

static axe_status
print_aot(axe_ctx *cx, int n, const axe_program *const *p, const char *name,
          axe_buf *c, axe_buf *h)
{
    axe_gpu_image *image = axe_new_array(cx, axe_gpu_image, n);
    void         **code = axe_new_array(cx, void *, n);
    axe_status     st = AXE_OK;

    for (int i = 0; i < n && st == AXE_OK; i++) {
        st = axe_gpu_code(cx, p[i], NULL, &code[i], &image[i].bytes);
        image[i].lowered = p[i]->lowered;
        image[i].code = code[i];
        image[i].wide = p[i]->wide;
    }
    if (st == AXE_OK)
        st = axe_print_aot_gpu(cx, n, image, name, c, h);
    for (int i = 0; i < n; i++)
        free(code[i]);
    return st;
}

const axe_target axe_cuda_target = {
    .print = axe_print_cuda,
    .print_aot = print_aot,
    .simulate = axe_simulate,
    .on_mesh = true,
    .dist = &axe_dist_on_gpu,
};
