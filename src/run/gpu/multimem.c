/* multimem.c - sums over the blocks of all ranks' GPUs by `multimem`. */
#include "run/gpu/multimem.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "run/gpu/gpu_int.h"
#include "run/gpu/nvrtc.h"

enum { THREADS = 256 };

static const struct {
    const char *c, *letter, *type;
    int         lanes; /* 0: no such row */
} rows[AXE_N_NUMBER] = {
#define MULTIMEM(number, c, letter, type, lanes)                               \
    [AXE_NUMBER_##number] = {c, letter, type, lanes},
#include "run/gpu/multimem.def"
};

/* ------------------------------------------------------------------- the text
 */

/* Elements i to i + 3 by one load, where there are so many. */
static void
put_four(axe_buf *b, const char *c, const char *letter, const char *type)
{
    axe_putf(b,
             "    if (i + 4 <= n) {\n"
             "        %s a[4];\n"
             "        asm volatile(\"multimem.ld_reduce.relaxed.sys.global.add"
             ".v4.%s {%%0, %%1, %%2, %%3}, [%%4];\"\n"
             "                     : \"=%s\"(a[0]), \"=%s\"(a[1]), "
             "\"=%s\"(a[2]), \"=%s\"(a[3])\n"
             "                     : \"l\"(all + i)\n"
             "                     : \"memory\");\n"
             "        for (int k = 0; k < 4; k++)\n"
             "            to[i + k] = a[k];\n"
             "        return;\n"
             "    }\n",
             c, type, letter, letter, letter, letter);
}

const char *
axe_gpu_multimem_text(axe_ctx *cx, axe_number type)
{
    const char *c = rows[type].c;
    int         lanes = rows[type].lanes;
    axe_buf     b = {.cx = cx};

    if (lanes == 0)
        return NULL;
    axe_putf(&b,
             "/* to[i] = the sum of all GPUs' elements i; all: a multicast "
             "address */\n"
             "extern \"C\" __global__ void __launch_bounds__(%d, 1)\n"
             "sum_all(%s *to, const %s *all, long long n)\n"
             "{\n"
             "    long long i = ((long long)blockIdx.x * %d + threadIdx.x) * "
             "%d;\n"
             "\n",
             THREADS, c, c, THREADS, lanes);
    if (lanes == 4)
        put_four(&b, c, rows[type].letter, rows[type].type);
    axe_putf(&b,
             "    for (int k = 0; k < %d && i < n; k++, i++) {\n"
             "        %s a;\n"
             "        asm volatile(\"multimem.ld_reduce.relaxed.sys.global.add"
             ".%s %%0, [%%1];\"\n"
             "                     : \"=%s\"(a)\n"
             "                     : \"l\"(all + i)\n"
             "                     : \"memory\");\n"
             "        to[i] = a;\n"
             "    }\n"
             "}\n",
             lanes, c, rows[type].type, rows[type].letter);
    return b.text;
}

/* --------------------------------------------------------------- the launch */

bool
axe_gpu_multimem_can(const axe_gpu_heap *h, const engine_sum *s, uint64_t *at)
{
    uint64_t own = (uint64_t)(uintptr_t)s->from[0];
    int64_t  align = axe_number_bytes(s->type) * rows[s->type].lanes;
    bool can = h->multicast && s->once && s->n_from == h->size && align > 0 &&
               own % (uint64_t)align == 0;

    for (int r = 0; r < s->n_from && can; r++)
        can = (uint64_t)(uintptr_t)s->from[r] == own + h->stride * (uint64_t)r;
    *at = own - h->base;
    return can;
}

/* For the GPU itself: its machine may be an older one, which has no such
 * instruction. */
static axe_status
load(axe_ctx *cx, axe_gpu_multimem *m, const axe_gpu *g, axe_number type)
{
    const axe_cuda *cu = g->cuda;
    axe_bytes       code;
    int             r;

    AXE_TRY(axe_nvrtc_compile(cx, axe_gpu_multimem_text(cx, type),
                              axe_textf(cx, "sm_%d%d", g->major, g->minor),
                              NULL, &code));
    r = cu->ModuleLoadData(&m->module[type], code.data);
    free(code.data);
    if (r == 0)
        r = cu->ModuleGetFunction(&m->function[type], m->module[type],
                                  "sum_all");
    return axe_cuda_check(cx, cu, r, "loading a sum over all GPUs");
}

static int
launch(const axe_gpu *g, void *function, const engine_sum *s, uint64_t all)
{
    int64_t each = THREADS * rows[s->type].lanes;
    int64_t blocks = (s->n + each - 1) / each, n = s->n;
    void   *to = s->to, *arg[] = {&to, &all, &n, NULL};

    return g->cuda->LaunchKernel(function, (unsigned)blocks, 1, 1, THREADS, 1,
                                 1, 0, NULL, arg, NULL);
}

axe_status
axe_gpu_multimem_sum(axe_ctx *cx, axe_gpu_multimem *m, const axe_gpu_heap *h,
                     const engine_sum *s, uint64_t at)
{
    const axe_gpu *g = h->gpu;
    axe_status     st = AXE_OK;
    int            r = 0;

    if (s->n == 0)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(cx, g));
    if (!m->function[s->type])
        st = load(cx, m, g, s->type);
    if (st == AXE_OK)
        r = launch(g, m->function[s->type], s, h->all + at);
    axe_gpu_pop(g);
    return st == AXE_OK
               ? axe_cuda_check(cx, g->cuda, r, "launching a sum over all GPUs")
               : st;
}

void
axe_gpu_multimem_free(axe_gpu_multimem *m, const axe_gpu_heap *h)
{
    const axe_cuda *cu = h ? h->gpu->cuda : NULL;

    if (!h || !axe_gpu_goes_on(h->gpu) ||
        cu->CtxPushCurrent_v2(h->gpu->ctx) != 0)
        return;
    for (int t = 0; t < AXE_N_NUMBER; t++)
        if (m->module[t])
            cu->ModuleUnload(m->module[t]);
    axe_gpu_pop(h->gpu);
}
