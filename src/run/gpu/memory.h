/* memory.h - buffers of plans in GPUs' memory that ranks share, moved by
 * the driver and by kernels of our own. */
#ifndef AXE_RUN_GPU_MEMORY_H
#define AXE_RUN_GPU_MEMORY_H

#include "engine/memory.h"
#include "run/gpu/heap.h"
#include "run/gpu/nccl.h"

typedef struct axe_gpu_memory axe_gpu_memory;

/* All ranks; from here on plans of the engine are carried out there.
 * bytes      of each rank, for all buffers that there are at a time
 * multicast  where it can be, sums over all ranks that one of them alone makes
 *            are made on the way, in the hardware's order
 * Errors  as axe_gpu_heap_new */
AXE_CHECK axe_status axe_gpu_memory_new(axe_ctx *cx, axe_engine *e, axe_gpu *g,
                                        int64_t bytes, bool multicast,
                                        axe_gpu_memory **out);
void                 axe_gpu_memory_free(axe_gpu_memory *m);
/* Collectives that it has are the library's from here on. */
void axe_gpu_memory_use(axe_gpu_memory *m, axe_nccl *library);

/* A box, whose last dimension is in tiles, of more tasks than `most`: how many
 * of its dimension *dim go at a time; part by part until none has more.
 * *dim -1: it has not more */
int64_t axe_gpu_box_step(int n, const int64_t *shape, int64_t most, int *dim);
enum { AXE_GPU_BOX_TILE = 512 /* of move.def */ };

#endif
