/* memory_int.h - the insides of memory that GPUs share: memory.c moves what is
 * there, queues.c says when. */
#ifndef AXE_RUN_GPU_MEMORY_INT_H
#define AXE_RUN_GPU_MEMORY_INT_H

#include "run/gpu/gpu_int.h"
#include "run/gpu/memory.h"
#include "run/gpu/multimem.h"

typedef enum gpu_move {
#define MOVE(id, order, text) MOVE_##id,
#include "run/gpu/move.def"
    N_MOVE
} gpu_move;

struct axe_gpu_memory {
    engine_memory    m;   /* the first: what engines know of it */
    axe_ctx         *own; /* where its kernels are */
    axe_gpu         *gpu;
    axe_gpu_heap    *heap;
    int64_t          used; /* [bytes] */
    axe_gpu_exec    *exec[AXE_N_NUMBER][N_MOVE];
    axe_gpu_multimem all;
    axe_nccl        *library; /* or NULL */
    void            *stream;  /* that things go into; NULL: the default one */
    /* Of queues.c: streams that move and that end waits, what joins two; where
     * in each rank's block the words are. */
    void    *moves, *helps, *event;
    uint64_t words;
    bool     rehearses; /* programs are loaded, and nothing is done */
};

/* What words take of a rank's block. */
int64_t axe_gpu_words_bytes(const axe_engine *e);
/* All ranks: x->m.queues where all of them can, else NULL.
 * Errors  EDEVICE: the driver's words */
AXE_CHECK axe_status axe_gpu_queues_open(axe_ctx *cx, axe_gpu_memory *x);
/* Also where that failed, or was not asked for. */
void axe_gpu_queues_close(axe_gpu_memory *x);

#endif
