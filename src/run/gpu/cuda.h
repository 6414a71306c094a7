/* cuda.h - NVIDIA's driver, opened when a GPU is first asked for. */
#ifndef AXE_RUN_GPU_CUDA_H
#define AXE_RUN_GPU_CUDA_H

#include "axe/base.h"

/* How a kernel is launched, as the driver's questions take it. */
typedef struct axe_cuda_attribute {
    int      id, pad;
    unsigned value[16];
} axe_cuda_attribute;

typedef struct axe_cuda_launch {
    unsigned            grid[3], block[3], shared;
    void               *stream;
    axe_cuda_attribute *attribute;
    unsigned            n_attribute;
} axe_cuda_launch;

/* A block of memory that is made apart from its addresses, and who may access
 * addresses. */
typedef struct axe_cuda_memory {
    int           type, handle_type; /* pinned; how others get it */
    int           place, device;     /* a device's, which */
    void         *of_windows;
    unsigned char flags[8];
} axe_cuda_memory;

typedef struct axe_cuda_access {
    int place, device, how;
} axe_cuda_access;

/* An address that is one of each of several GPUs. */
typedef struct axe_cuda_multicast {
    unsigned           n_device;
    size_t             bytes;
    unsigned long long handle_types, flags;
} axe_cuda_multicast;

typedef struct axe_cuda {
#define SYMBOL(name, type, args) type(*name) args;
#define OPTIONAL(name, type, args) type(*name) args;
#include "run/gpu/cuda.def"
} axe_cuda;

enum {
#define ATTRIBUTE(name, number) AXE_CUDA_##name = number,
#include "run/gpu/cuda.def"
    AXE_CUDA_FUNC_MAX_SHARED = 8, /* of FuncSetAttribute: dynamic, bytes */
    AXE_CUDA_LAUNCH_TOGETHER = 2, /* of a launch: all its CTAs are resident at
                                     once, or it fails */
    AXE_CUDA_LAUNCH_CLUSTER = 4,  /* extents of a cluster */
    AXE_CUDA_LAUNCH_EARLY = 6,    /* it may begin when the one before says so */
    AXE_CUDA_MEMORY_PINNED = 1,   /* of a block of memory */
    AXE_CUDA_MEMORY_OF_DEVICE = 1,
    AXE_CUDA_HANDLE_DESCRIPTOR = 1, /* it goes to others as an open file */
    AXE_CUDA_ACCESS_READ_WRITE = 3,
    AXE_CUDA_GRANULARITY_MINIMUM = 0,
    AXE_CUDA_STREAM_APART = 1, /* a stream that the default one waits not for */
    AXE_CUDA_EVENT_NO_TIME = 2, /* an event that only keeps an order */
    AXE_CUDA_WRITE_BEHIND = 0,  /* a word is written behind all before it */
    AXE_CUDA_WAIT_REACHED = 0,  /* until word - value, as int32_t, is not
                                   negative */
    AXE_CUDA_NOT_READY = 600,
    AXE_CUDA_NOT_SUPPORTED = 801 /* an answer */
};

/* A tensor map as the hardware reads it. */
enum { AXE_CUDA_MAP_BYTES = 128, AXE_CUDA_MAP_ALIGN = 128 };

/* Is there a driver?  It is not started: a process that forks ranks must not
 * have done so.  Errors  EDEVICE */
AXE_CHECK axe_status axe_cuda_find(axe_ctx *cx);
bool                 axe_cuda_started(void);
/* The process's one copy, initialised; it stays open.  $AXE_CUDA names another
 * library than libcuda.so.1.
 * Errors  EDEVICE: there is no driver, or it does not start */
AXE_CHECK axe_status axe_cuda_load(axe_ctx *cx, const axe_cuda **out);

/* AXE_OK for 0; else EDEVICE, "what: CUDA_ERROR_NAME, its text". */
AXE_CHECK axe_status axe_cuda_check(axe_ctx *cx, const axe_cuda *cu, int result,
                                    const char *what);

#endif
