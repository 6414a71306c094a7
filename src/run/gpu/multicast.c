/* multicast.c - one address for the blocks of all ranks' GPUs: what is read
 * there may be a sum over all of them, made on the way (multimem). */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <unistd.h>

#include "base/ctx.h"
#include "engine/swap.h"
#include "run/gpu/gpu_heap_int.h"

static axe_cuda_multicast
object_of(const axe_gpu_heap *h)
{
    return (axe_cuda_multicast){.n_device = (unsigned)h->size,
                                .bytes = h->stride,
                                .handle_types = AXE_CUDA_HANDLE_DESCRIPTOR};
}

bool
axe_gpu_can_multicast(const axe_gpu *g)
{
    const axe_cuda *cu = g->cuda;
    int             has = 0;

    return cu->MulticastCreate && cu->MulticastAddDevice &&
           cu->MulticastBindMem && cu->MulticastUnbind &&
           cu->MulticastGetGranularity &&
           cu->DeviceGetAttribute(&has, AXE_CUDA_MULTICAST_SUPPORTED,
                                  g->device) == 0 &&
           has;
}

axe_status
axe_gpu_multicast_grain(axe_ctx *cx, const axe_gpu_heap *h, size_t bytes,
                        size_t *out)
{
    axe_cuda_multicast what = object_of(h);

    what.bytes = bytes;
    return axe_cuda_check(cx, h->gpu->cuda,
                          h->gpu->cuda->MulticastGetGranularity(
                              out, &what, AXE_CUDA_GRANULARITY_MINIMUM),
                          "asking how multicast memory is divided");
}

/* Rank 0 makes the object, and all others get it. */
static axe_status
make(axe_ctx *cx, axe_engine *e, axe_gpu_heap *h)
{
    const axe_cuda    *cu = h->gpu->cuda;
    axe_cuda_multicast what = object_of(h);
    int               *all = axe_new_array(cx, int, h->size), fd = -1, r = 0;
    axe_status         st;

    if (h->rank == 0)
        r = cu->MulticastCreate(&h->cast, &what);
    if (h->rank == 0 && r == 0)
        r = cu->MemExportToShareableHandle(&fd, h->cast,
                                           AXE_CUDA_HANDLE_DESCRIPTOR, 0);
    st = axe_cuda_check(cx, cu, r, "a multicast object");
    if (st == AXE_OK)
        st = engine_swap_descriptors(e, fd, all);
    if (fd >= 0)
        close(fd);
    AXE_TRY(st);
    if (h->rank > 0) {
        r = cu->MemImportFromShareableHandle(&h->cast, (void *)(intptr_t)all[0],
                                             AXE_CUDA_HANDLE_DESCRIPTOR);
        close(all[0]);
    }
    return axe_cuda_check(cx, cu, r, "rank 0's multicast object");
}

/* All GPUs are in it before the first block is bound. */
static axe_status
bind_block(axe_ctx *cx, axe_engine *e, axe_gpu_heap *h)
{
    const axe_cuda *cu = h->gpu->cuda;
    int             r = cu->MulticastAddDevice(h->cast, h->gpu->device);

    AXE_TRY(axe_cuda_check(cx, cu, r, "joining a multicast object"));
    AXE_TRY(axe_engine_barrier(e));
    r = cu->MulticastBindMem(h->cast, 0, h->handle[h->rank], 0, h->stride, 0);
    h->bound = r == 0;
    return axe_cuda_check(cx, cu, r, "binding memory to a multicast object");
}

static axe_status
map(axe_ctx *cx, axe_gpu_heap *h)
{
    const axe_cuda *cu = h->gpu->cuda;
    axe_cuda_access own = {AXE_CUDA_MEMORY_OF_DEVICE, h->gpu->device,
                           AXE_CUDA_ACCESS_READ_WRITE};
    int r = cu->MemAddressReserve(&h->all, h->stride, h->grain, 0, 0);

    if (r == 0) {
        r = cu->MemMap(h->all, h->stride, 0, h->cast, 0);
        h->all_mapped = r == 0;
    }
    if (r == 0)
        r = cu->MemSetAccess(h->all, h->stride, &own, 1);
    return axe_cuda_check(cx, cu, r, "mapping a multicast object");
}

axe_status
axe_gpu_multicast_join(axe_ctx *cx, axe_engine *e, axe_gpu_heap *h)
{
    AXE_TRY(make(cx, e, h));
    AXE_TRY(bind_block(cx, e, h));
    AXE_TRY(map(cx, h));
    return axe_engine_barrier(e); /* all are bound */
}

void
axe_gpu_multicast_leave(axe_gpu_heap *h)
{
    const axe_cuda *cu = h->gpu->cuda;

    if (h->all_mapped)
        cu->MemUnmap(h->all, h->stride);
    if (h->all)
        cu->MemAddressFree(h->all, h->stride);
    if (h->bound)
        cu->MulticastUnbind(h->cast, h->gpu->device, 0, h->stride);
    if (h->cast)
        cu->MemRelease(h->cast);
}
