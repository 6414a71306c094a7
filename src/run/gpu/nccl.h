/* nccl.h - NCCL, opened at run time where it is asked for: collectives of all
 * ranks' GPUs that plans are exactly. */
#ifndef AXE_RUN_GPU_NCCL_H
#define AXE_RUN_GPU_NCCL_H

#include <limits.h>

#include "axe/gpu.h"
#include "engine/memory.h"

typedef struct axe_nccl_id {
    char bytes[128];
} axe_nccl_id;

/* How a communicator is made, as NCCL 2.14 has it; later ones go by the
 * version, and take what is not here as not said. */
typedef struct axe_nccl_config {
    size_t   size;
    uint32_t magic, version;
    int      blocks, unset;
} axe_nccl_config;

enum {
    AXE_NCCL_SUM = 0,
    AXE_NCCL_IN_PROGRESS = 7,
    AXE_NCCL_VERSION = 21400,
    AXE_NCCL_UNSET = INT_MIN
};
#define AXE_NCCL_MAGIC 0xcafebeefu

typedef struct axe_nccl axe_nccl;

/* All ranks; each has a GPU of its own.
 * Errors  ETOOL: there is no library ($AXE_NCCL_LIBRARY, else libnccl.so.2).
 *         EDEVICE: its words, or the engine's time is over */
AXE_CHECK axe_status axe_nccl_new(axe_ctx *cx, axe_engine *e, axe_gpu *g,
                                  axe_nccl **out);
/* st: how this rank ends; where it failed the others are not waited for. */
void axe_nccl_free(axe_nccl *c, axe_status st);

bool axe_nccl_has(const engine_collective *c);
/* One that it has, in the default stream.  The order of addends is NCCL's. */
AXE_CHECK axe_status axe_nccl_go(axe_nccl *n, const engine_collective *c);

#endif
