/* gpu_heap_int.h - the part of a heap that all GPUs answer together. */
#ifndef AXE_RUN_GPU_GPU_HEAP_INT_H
#define AXE_RUN_GPU_GPU_HEAP_INT_H

#include "run/gpu/gpu_int.h"
#include "run/gpu/heap.h"

bool                 axe_gpu_can_multicast(const axe_gpu *g);
AXE_CHECK axe_status axe_gpu_multicast_grain(axe_ctx *cx, const axe_gpu_heap *h,
                                             size_t bytes, size_t *out);
/* All ranks; blocks are made and mapped. */
AXE_CHECK axe_status axe_gpu_multicast_join(axe_ctx *cx, axe_engine *e,
                                            axe_gpu_heap *h);
/* Also where that failed, or was not asked for. */
void axe_gpu_multicast_leave(axe_gpu_heap *h);

#endif
