/* multimem.h - sums over the blocks of all ranks' GPUs by `multimem`: each
 * element is loaded once, and added up on the way. */
#ifndef AXE_RUN_GPU_MULTIMEM_H
#define AXE_RUN_GPU_MULTIMEM_H

#include "engine/memory.h"
#include "run/gpu/heap.h"

typedef struct axe_gpu_multimem {
    void *module[AXE_N_NUMBER], *function[AXE_N_NUMBER];
} axe_gpu_multimem;

/* Are these all ranks' blocks at one place, of a type that there is?  *at: from
 * the multicast address on. */
bool axe_gpu_multimem_can(const axe_gpu_heap *h, const engine_sum *s,
                          uint64_t *at);
/* In the default stream.  The order of addends is the hardware's. */
AXE_CHECK axe_status axe_gpu_multimem_sum(axe_ctx *cx, axe_gpu_multimem *m,
                                          const axe_gpu_heap *h,
                                          const engine_sum *s, uint64_t at);
void axe_gpu_multimem_free(axe_gpu_multimem *m, const axe_gpu_heap *h);

/* The kernel's text; NULL: there is none for the type. */
const char *axe_gpu_multimem_text(axe_ctx *cx, axe_number type);

#endif
