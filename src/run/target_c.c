/* target_c.c - kernels for one core as C. */
#include "base/ctx.h"
#include "print/aot/aot.h"
#include "print/c/c.h"
#include "run/dist/run.h"
#include "run/program.h"
#include "run/target.h"

static axe_status
print(axe_ctx *cx, const axe_lowered *l, bool wide, axe_buf *out)
{
    (void)wide;
    return axe_print_c(cx, l, out);
}

static axe_status
print_aot(axe_ctx *cx, int n, const axe_program *const *p, const char *name,
          axe_buf *c, axe_buf *h)
{
    const axe_lowered **l = axe_new_array(cx, const axe_lowered *, n + 1);

    for (int i = 0; i < n; i++)
        l[i] = p[i]->lowered;
    return axe_print_aot(cx, n, l, name, c, h);
}

const axe_target axe_c_target = {
    .print = print,
    .print_side = axe_print_c_side,
    .print_aot = print_aot,
    .on_mesh = true,
    .dist = &axe_dist_on_cpu,
};
