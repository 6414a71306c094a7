/* heap.c - memory of GPUs that all ranks of a host see, by the driver's
 * virtual memory: blocks are made, given to others as descriptors of files, and
 * mapped at one stride. */
#define _POSIX_C_SOURCE 200809L

#include "run/gpu/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ctx.h"
#include "engine/swap.h"
#include "run/gpu/gpu_heap_int.h"

/* What ranks say of their GPUs. */
typedef struct gpu_word {
    axe_gpu_id id;
    int64_t    grain; /* [bytes] */
    int64_t    multicast;
} gpu_word;

axe_status
axe_gpu_of_rank(axe_ctx *cx, const axe_engine *e, const char *cache,
                axe_gpu **out)
{
    axe_gpu_spec    spec = {.cache = cache};
    const axe_cuda *cu;
    int             n = 0;

    AXE_TRY(axe_cuda_load(cx, &cu));
    AXE_TRY(axe_cuda_check(cx, cu, cu->DeviceGetCount(&n), "counting GPUs"));
    spec.number = n > 0 ? (int)(e->rank % n) : 0;
    return axe_gpu_new(cx, &spec, out);
}

/* -------------------------------------------------------------- what there is
 */

static bool
has_calls(const axe_cuda *cu)
{
    return cu->MemGetAllocationGranularity && cu->MemCreate && cu->MemRelease &&
           cu->MemExportToShareableHandle && cu->MemImportFromShareableHandle &&
           cu->MemAddressReserve && cu->MemAddressFree && cu->MemMap &&
           cu->MemUnmap && cu->MemSetAccess && cu->DeviceCanAccessPeer &&
           cu->MemcpyDtoDAsync_v2 && cu->MemsetD8Async && cu->StreamQuery;
}

static axe_status
need(axe_ctx *cx, const axe_gpu *g, int attribute, const char *what)
{
    int        has = 0;
    axe_status st;

    AXE_TRY(axe_cuda_check(
        cx, g->cuda, g->cuda->DeviceGetAttribute(&has, attribute, g->device),
        "asking the GPU"));
    if (has)
        return AXE_OK;
    st = axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                  "%s has no %s, by which ranks share GPUs' memory", g->name,
                  what);
    axe_help(cx, "run the kernel on CPUs: --target cpu");
    return st;
}

static axe_status
check_gpu(axe_ctx *cx, const axe_gpu *g)
{
    axe_status st;

    if (!has_calls(g->cuda)) {
        st = axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                      "the driver has no memory that ranks can share");
        axe_help(cx, "install one of CUDA 11 or later, or run the kernel on "
                     "CPUs: --target cpu");
        return st;
    }
    AXE_TRY(need(cx, g, AXE_CUDA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                 "virtual memory"));
    return need(cx, g, AXE_CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                "memory as descriptors of files");
}

/* The number that this process knows it by; -1: it does not see it. */
static axe_status
number_of(axe_ctx *cx, const axe_cuda *cu, int n_device, const axe_gpu_id *id,
          int *out)
{
    *out = -1;
    for (int i = 0; i < n_device && *out < 0; i++) {
        axe_gpu_id is;
        int        device;

        AXE_TRY(axe_cuda_check(cx, cu, cu->DeviceGet(&device, i),
                               "opening the GPU"));
        AXE_TRY(axe_gpu_id_of(cx, cu, device, n_device, &is));
        *out = axe_gpu_id_same(&is, id) ? device : -1;
    }
    return AXE_OK;
}

/* Those that this process sees; else mapping says it. */
static axe_status
check_peers(axe_ctx *cx, const axe_gpu_heap *h, int n_device,
            const gpu_word *all)
{
    const axe_gpu *g = h->gpu;

    for (int64_t r = 0; r < h->size; r++) {
        int        can = 1, other;
        axe_status st;

        if (axe_gpu_id_same(&all[r].id, &all[h->rank].id))
            continue;
        AXE_TRY(number_of(cx, g->cuda, n_device, &all[r].id, &other));
        if (other < 0)
            continue;
        AXE_TRY(axe_cuda_check(
            cx, g->cuda, g->cuda->DeviceCanAccessPeer(&can, g->device, other),
            "asking what GPUs reach one another"));
        if (can)
            continue;
        st = axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                      "GPU %d does not reach the memory of GPU %d", g->device,
                      other);
        axe_help(cx, "leave such GPUs out with CUDA_VISIBLE_DEVICES; `nvidia-"
                     "smi topo -p2p rw` says which reach one another");
        return st;
    }
    return AXE_OK;
}

static axe_cuda_memory
block_of(const axe_gpu *g)
{
    return (axe_cuda_memory){.type = AXE_CUDA_MEMORY_PINNED,
                             .handle_type = AXE_CUDA_HANDLE_DESCRIPTOR,
                             .place = AXE_CUDA_MEMORY_OF_DEVICE,
                             .device = g->device};
}

/* Can all of them, and does each rank have a GPU of its own? */
static bool
all_multicast(const axe_gpu_heap *h, const gpu_word *all)
{
    bool can = h->size > 1;

    for (int64_t r = 0; r < h->size; r++) {
        can = can && all[r].multicast;
        for (int64_t q = 0; q < r; q++)
            can = can && !axe_gpu_id_same(&all[q].id, &all[r].id);
    }
    return can;
}

/* All ranks' GPUs, and the stride that suits all of them. */
static axe_status
meet(axe_ctx *cx, axe_engine *e, axe_gpu_heap *h, int64_t bytes)
{
    const axe_gpu  *g = h->gpu;
    gpu_word       *all = axe_new_array(cx, gpu_word, h->size);
    gpu_word        own = {0};
    axe_cuda_memory what = block_of(g);
    size_t          grain = 1;
    int             n = 0;

    AXE_TRY(axe_cuda_check(cx, g->cuda,
                           g->cuda->MemGetAllocationGranularity(
                               &grain, &what, AXE_CUDA_GRANULARITY_MINIMUM),
                           "asking how memory is divided"));
    AXE_TRY(axe_cuda_check(cx, g->cuda, g->cuda->DeviceGetCount(&n),
                           "counting GPUs"));
    own.grain = (int64_t)grain;
    AXE_TRY(axe_gpu_id_of(cx, g->cuda, g->device, n, &own.id));
    own.multicast = h->multicast && h->size > 1 && axe_gpu_can_multicast(g);
    if (own.multicast) {
        AXE_TRY(axe_gpu_multicast_grain(cx, h, (size_t)bytes, &grain));
        own.grain = (int64_t)grain > own.grain ? (int64_t)grain : own.grain;
    }
    AXE_TRY(axe_engine_gather(e, &own, sizeof own, all));
    for (int64_t r = 0; r < h->size; r++)
        own.grain = all[r].grain > own.grain ? all[r].grain : own.grain;
    h->multicast = all_multicast(h, all);
    h->grain = (size_t)own.grain;
    h->stride = (size_t)((bytes + own.grain - 1) / own.grain * own.grain);
    return check_peers(cx, h, n, all);
}

/* -------------------------------------------------------------------- mapping
 */

/* This rank's block, as a descriptor too. */
static axe_status
make(axe_ctx *cx, axe_gpu_heap *h, int *fd)
{
    const axe_cuda *cu = h->gpu->cuda;
    axe_cuda_memory what = block_of(h->gpu);
    int             r = cu->MemCreate(&h->handle[h->rank], h->stride, &what, 0);

    AXE_TRY(axe_cuda_check(
        cx, cu, r, axe_textf(cx, "%zu bytes that ranks share", h->stride)));
    r = cu->MemExportToShareableHandle(fd, h->handle[h->rank],
                                       AXE_CUDA_HANDLE_DESCRIPTOR, 0);
    return axe_cuda_check(cx, cu, r, "sharing memory with other ranks");
}

static axe_status
import(axe_ctx *cx, axe_gpu_heap *h, const int *fd)
{
    const axe_cuda *cu = h->gpu->cuda;

    for (int64_t r = 0; r < h->size; r++)
        if (r != h->rank)
            AXE_TRY(axe_cuda_check(
                cx, cu,
                cu->MemImportFromShareableHandle(&h->handle[r],
                                                 (void *)(intptr_t)fd[r],
                                                 AXE_CUDA_HANDLE_DESCRIPTOR),
                axe_textf(cx, "the memory of rank %" PRId64, r)));
    return AXE_OK;
}

static axe_status
map(axe_ctx *cx, axe_gpu_heap *h)
{
    const axe_cuda *cu = h->gpu->cuda;
    axe_cuda_access own = {AXE_CUDA_MEMORY_OF_DEVICE, h->gpu->device,
                           AXE_CUDA_ACCESS_READ_WRITE};
    size_t          all = h->stride * (size_t)h->size;

    AXE_TRY(axe_cuda_check(cx, cu,
                           cu->MemAddressReserve(&h->base, all, h->grain, 0, 0),
                           axe_textf(cx, "%zu bytes of addresses", all)));
    for (; h->n_mapped < h->size; h->n_mapped++)
        AXE_TRY(axe_cuda_check(
            cx, cu,
            cu->MemMap(h->base + h->stride * (size_t)h->n_mapped, h->stride, 0,
                       h->handle[h->n_mapped], 0),
            axe_textf(cx, "mapping the memory of rank %d", h->n_mapped)));
    return axe_cuda_check(cx, cu, cu->MemSetAccess(h->base, all, &own, 1),
                          "accessing the memory of all ranks");
}

static axe_status
share(axe_ctx *cx, axe_engine *e, axe_gpu_heap *h)
{
    int       *all = axe_new_array(cx, int, h->size), fd = -1;
    axe_status st = make(cx, h, &fd);

    if (st == AXE_OK)
        st = engine_swap_descriptors(e, fd, all);
    if (fd >= 0)
        close(fd);
    AXE_TRY(st);
    st = import(cx, h, all);
    for (int64_t r = 0; r < h->size; r++)
        if (all[r] >= 0)
            close(all[r]);
    AXE_TRY(st);
    AXE_TRY(map(cx, h));
    return h->multicast ? axe_gpu_multicast_join(cx, e, h) : AXE_OK;
}

axe_status
axe_gpu_heap_new(axe_ctx *cx, axe_engine *e, axe_gpu *g, int64_t bytes,
                 bool multicast, axe_gpu_heap **out)
{
    axe_gpu_heap *h = calloc(1, sizeof *h);
    axe_status    st;

    if (h)
        h->handle = calloc((size_t)e->size, sizeof *h->handle);
    if (!h || !h->handle) {
        free(h);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a heap");
    }
    h->gpu = g;
    h->rank = e->rank;
    h->size = e->size;
    h->multicast = multicast;
    st = check_gpu(cx, g);
    if (st == AXE_OK)
        st = axe_gpu_push(cx, g);
    if (st == AXE_OK) {
        st = meet(cx, e, h, bytes > 0 ? bytes : 1);
        if (st == AXE_OK)
            st = share(cx, e, h);
        axe_gpu_pop(g);
    }
    if (st == AXE_OK)
        *out = h;
    else
        axe_gpu_heap_free(h);
    return st;
}

void
axe_gpu_heap_free(axe_gpu_heap *h)
{
    const axe_cuda *cu = h ? h->gpu->cuda : NULL;

    if (!h)
        return;
    if (axe_gpu_goes_on(h->gpu) && cu->CtxPushCurrent_v2(h->gpu->ctx) == 0) {
        cu->StreamSynchronize(NULL);
        axe_gpu_multicast_leave(h);
        while (h->n_mapped > 0)
            cu->MemUnmap(h->base + h->stride * (size_t)--h->n_mapped,
                         h->stride);
        if (h->base)
            cu->MemAddressFree(h->base, h->stride * (size_t)h->size);
        for (int64_t r = h->size - 1; r >= 0; r--)
            if (h->handle[r])
                cu->MemRelease(h->handle[r]);
        axe_gpu_pop(h->gpu);
    }
    free(h->handle);
    free(h);
}
