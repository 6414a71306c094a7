/* heap.h - memory of GPUs that all ranks of a host see: the block of rank r
 * is at base + r * stride in every rank.  docs/design/gpu_mesh.md */
#ifndef AXE_RUN_GPU_HEAP_H
#define AXE_RUN_GPU_HEAP_H

#include "axe/gpu.h"
#include "engine/engine.h"

typedef struct axe_gpu_heap {
    axe_gpu  *gpu;
    int64_t   rank, size;
    size_t    stride; /* [bytes] of a block, and between blocks */
    size_t    grain;  /* [bytes] that addresses and sizes are multiples of */
    uint64_t  base;   /* 0: no addresses so far */
    uint64_t *handle; /* [size] of blocks; 0: none */
    int       n_mapped;
    /* Where all GPUs can answer together (multicast.c): */
    bool     multicast;
    uint64_t all, cast; /* address, handle; 0: none */
    bool     bound, all_mapped;
} axe_gpu_heap;

/* The GPU of this rank among those that it sees: the rank's number, by turns.
 * Errors  EDEVICE: no driver, no GPU */
AXE_CHECK axe_status axe_gpu_of_rank(axe_ctx *cx, const axe_engine *e,
                                     const char *cache, axe_gpu **out);

/* All ranks.
 * bytes      the same on all
 * multicast  ask for an address that is all blocks, where GPUs have it and each
 *            rank has one of its own
 * Errors  EUNSUPPORTED: the GPU or its driver cannot, two GPUs do not reach one
 *         another.  EDEVICE: the driver's words.  Nothing stays then. */
AXE_CHECK axe_status axe_gpu_heap_new(axe_ctx *cx, axe_engine *e, axe_gpu *g,
                                      int64_t bytes, bool multicast,
                                      axe_gpu_heap **out);
/* Others may still see this rank's block; this one sees none any more. */
void axe_gpu_heap_free(axe_gpu_heap *h);

#endif
