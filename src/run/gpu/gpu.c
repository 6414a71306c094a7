/* gpu.c - one GPU: context, memory, waiting. */
#define _DEFAULT_SOURCE

#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "run/gpu/gpu_int.h"

axe_status
axe_gpu_check(axe_ctx *cx, const char *fn, const axe_gpu *g)
{
    AXE_TRY(axe_tag_check(cx, fn, "g", g ? &g->tag : NULL, AXE_TAG_GPU));
    return axe_forks_check(cx, g->forks);
}

axe_status
axe_gpu_push(axe_ctx *cx, const axe_gpu *g)
{
    return axe_cuda_check(cx, g->cuda, g->cuda->CtxPushCurrent_v2(g->ctx),
                          "using the GPU");
}

void
axe_gpu_pop(const axe_gpu *g)
{
    void *old;

    g->cuda->CtxPopCurrent_v2(&old);
}

/* The newest of our machines whose code this GPU runs: "sm_90a" only on 9.0,
 * "sm_80" on every later one, too. */
static const axe_machine *
machine_for(int major, int minor)
{
    const axe_machine *best = NULL;
    int                have = major * 10 + minor, most = 0;

    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_machine *mc = axe_machine_at(i);
        char              *end;
        if (!mc->arch || strncmp(mc->arch, "sm_", 3) != 0)
            continue;
        int  arch = (int)strtol(mc->arch + 3, &end, 10);
        bool only = *end == 'a';
        if ((only ? arch == have : arch <= have) && arch > most) {
            best = mc;
            most = arch;
        }
    }
    return best;
}

static axe_status
find_device(axe_ctx *cx, axe_gpu *g, int number)
{
    const axe_cuda *cu = g->cuda;
    int             n = 0;

    AXE_TRY(axe_cuda_check(cx, cu, cu->DeviceGetCount(&n), "counting GPUs"));
    if (number < 0 || number >= n)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "there is no GPU %d: the driver knows %d", number, n);
    return axe_cuda_check(cx, cu, cu->DeviceGet(&g->device, number),
                          "finding the GPU");
}

/* The name is in `keep`. */
static axe_status
ask_device(axe_ctx *cx, axe_ctx *keep, const axe_cuda *cu, int device,
           axe_gpu_facts *out)
{
    char               name[128] = "";
    int                r = cu->DeviceGetName(name, sizeof name - 1, device);
    const axe_machine *mc;

    if (r == 0)
        r = cu->DeviceGetAttribute(&out->major,
                                   AXE_CUDA_COMPUTE_CAPABILITY_MAJOR, device);
    if (r == 0)
        r = cu->DeviceGetAttribute(&out->minor,
                                   AXE_CUDA_COMPUTE_CAPABILITY_MINOR, device);
    if (r == 0)
        r = cu->DeviceGetAttribute(&out->n_sm, AXE_CUDA_MULTIPROCESSOR_COUNT,
                                   device);
    AXE_TRY(axe_cuda_check(cx, cu, r, "asking the GPU"));
    mc = machine_for(out->major, out->minor);
    out->name = axe_textf(keep, "%s", name);
    out->machine = mc ? mc->name : NULL;
    return AXE_OK;
}

axe_status
axe_gpu_list(axe_ctx *cx, int *n, const axe_gpu_facts **out)
{
    AXE_NEED(cx, n);
    AXE_NEED(cx, out);
    const axe_cuda *cu;
    axe_gpu_facts  *all;
    int             n_all = 0, device;

    AXE_TRY(axe_cuda_load(cx, &cu));
    AXE_TRY(
        axe_cuda_check(cx, cu, cu->DeviceGetCount(&n_all), "counting GPUs"));
    all = axe_new_array(cx, axe_gpu_facts, n_all + 1);
    for (int i = 0; i < n_all; i++) {
        all[i].number = i;
        AXE_TRY(axe_cuda_check(cx, cu, cu->DeviceGet(&device, i),
                               "finding the GPU"));
        AXE_TRY(ask_device(cx, cx, cu, device, &all[i]));
    }
    *n = n_all;
    *out = all;
    return AXE_OK;
}

static axe_status
read_device(axe_ctx *cx, axe_gpu *g)
{
    axe_gpu_facts f = {0};

    AXE_TRY(ask_device(cx, g->cx, g->cuda, g->device, &f));
    g->name = f.name;
    g->major = f.major;
    g->minor = f.minor;
    g->n_sm = f.n_sm;
    g->machine = machine_for(f.major, f.minor);
    if (g->machine)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s has compute capability %d.%d, which no machine in the "
                    "table runs on",
                    g->name, g->major, g->minor);
}

static axe_status
open_device(axe_ctx *cx, axe_gpu *g, const axe_gpu_spec *spec)
{
    AXE_TRY(axe_cuda_load(cx, &g->cuda));
    AXE_TRY(find_device(cx, g, spec->number));
    AXE_TRY(read_device(cx, g));
    AXE_TRY(axe_cuda_check(cx, g->cuda,
                           g->cuda->DevicePrimaryCtxRetain(&g->ctx, g->device),
                           "opening the GPU"));
    axe_cache_open(cx, g->cx, spec->cache, &g->cache);
    return AXE_OK;
}

axe_status
axe_gpu_new(axe_ctx *cx, const axe_gpu_spec *spec, axe_gpu **out)
{
    AXE_NEED(cx, spec);
    AXE_NEED(cx, out);
    axe_gpu   *g = calloc(1, sizeof *g);
    axe_status st;

    if (g) {
        g->tag = AXE_TAG_GPU;
        g->forks = axe_forks();
        g->cx = axe_ctx_new();
    }
    if (!g || !g->cx) {
        free(g);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a device");
    }
    st = open_device(cx, g, spec);
    if (st == AXE_OK)
        *out = g;
    else
        axe_gpu_free(g);
    return st;
}

void
axe_gpu_free(axe_gpu *g)
{
    if (!g)
        return;
    if (g->ctx && axe_gpu_goes_on(g)) {
        axe_gpu_release(g, g->nothing);
        axe_cache_close(&g->cache);
        g->cuda->DevicePrimaryCtxRelease_v2(g->device);
    }
    axe_tag_drop(&g->tag);
    axe_ctx_free(g->cx);
    free(g);
}

const char *
axe_gpu_name(const axe_gpu *g)
{
    return g ? g->name : NULL;
}

const char *
axe_gpu_machine(const axe_gpu *g)
{
    return g && g->machine ? g->machine->name : NULL;
}

int
axe_gpu_n_sm(const axe_gpu *g)
{
    return g ? g->n_sm : 0;
}

axe_status
axe_gpu_alloc(axe_ctx *cx, axe_gpu *g, size_t bytes, void **out)
{
    AXE_TRY(axe_gpu_check(cx, __func__, g));
    AXE_NEED(cx, out);
    uint64_t p = 0;
    int      r;

    AXE_TRY(axe_gpu_push(cx, g));
    r = g->cuda->MemAlloc_v2(&p, bytes > 0 ? bytes : 1);
    axe_gpu_pop(g);
    AXE_TRY(axe_cuda_check(cx, g->cuda, r,
                           axe_textf(cx, "allocating %zu bytes", bytes)));
    *out = (void *)(uintptr_t)p;
    return AXE_OK;
}

void
axe_gpu_release(axe_gpu *g, void *memory)
{
    if (!g || !memory || !axe_gpu_goes_on(g) ||
        g->cuda->CtxPushCurrent_v2(g->ctx) != 0)
        return;
    g->cuda->MemFree_v2((uint64_t)(uintptr_t)memory);
    axe_gpu_pop(g);
}

axe_status
axe_gpu_put(axe_ctx *cx, axe_gpu *g, void *to, const void *from, size_t bytes)
{
    AXE_TRY(axe_gpu_check(cx, __func__, g));
    if (bytes > 0)
        AXE_NEED(cx, to);
    if (bytes > 0)
        AXE_NEED(cx, from);
    int r = 0;

    AXE_TRY(axe_gpu_push(cx, g));
    if (bytes > 0)
        r = g->cuda->MemcpyHtoD_v2((uint64_t)(uintptr_t)to, from, bytes);
    axe_gpu_pop(g);
    return axe_cuda_check(cx, g->cuda, r, "copying to the GPU");
}

axe_status
axe_gpu_get(axe_ctx *cx, axe_gpu *g, void *to, const void *from, size_t bytes)
{
    AXE_TRY(axe_gpu_check(cx, __func__, g));
    if (bytes > 0)
        AXE_NEED(cx, to);
    if (bytes > 0)
        AXE_NEED(cx, from);
    int r = 0;

    AXE_TRY(axe_gpu_push(cx, g));
    if (bytes > 0)
        r = g->cuda->MemcpyDtoH_v2(to, (uint64_t)(uintptr_t)from, bytes);
    axe_gpu_pop(g);
    return axe_cuda_check(cx, g->cuda, r, "copying from the GPU");
}

axe_status
axe_gpu_wait(axe_ctx *cx, axe_gpu *g, void *stream)
{
    AXE_TRY(axe_gpu_check(cx, __func__, g));
    int r;

    AXE_TRY(axe_gpu_push(cx, g));
    r = g->cuda->StreamSynchronize(stream);
    axe_gpu_pop(g);
    return axe_cuda_check(cx, g->cuda, r, "running on the GPU");
}
