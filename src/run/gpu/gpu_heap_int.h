/* gpu_heap_int.h - the part of a heap that all GPUs answer together. */
#ifndef AXE_RUN_GPU_GPU_HEAP_INT_H
#define AXE_RUN_GPU_GPU_HEAP_INT_H

#include "run/gpu/gpu_int.h"
#include "run/gpu/heap.h"

/* Which GPU of the host it is, whatever number a process knows it by. */
enum { AXE_GPU_ID_BYTES = 32 };
typedef struct axe_gpu_id {
    char bytes[AXE_GPU_ID_BYTES];
} axe_gpu_id;

/* A UUID, of an instance where the driver is of MIG; else where it is on the
 * bus, and with older drivers its number among those that the process sees. */
AXE_CHECK axe_status axe_gpu_id_of(axe_ctx *cx, const axe_cuda *cu, int device,
                                   int n_device, axe_gpu_id *out);
bool                 axe_gpu_id_same(const axe_gpu_id *a, const axe_gpu_id *b);

bool                 axe_gpu_can_multicast(const axe_gpu *g);
AXE_CHECK axe_status axe_gpu_multicast_grain(axe_ctx *cx, const axe_gpu_heap *h,
                                             size_t bytes, size_t *out);
/* All ranks; blocks are made and mapped. */
AXE_CHECK axe_status axe_gpu_multicast_join(axe_ctx *cx, axe_engine *e,
                                            axe_gpu_heap *h);
/* Also where that failed, or was not asked for. */
void axe_gpu_multicast_leave(axe_gpu_heap *h);

#endif
