/* gpu.h - kernels of a GPU ahead of time: a C file that holds their machine
 * code and launches it, and its header.
 *
 * For each kernel the file defines
 *
 *     int gemm(const float *A, const float *B, float *C,
 *              int64_t M, int64_t K, int64_t N, void *stream);
 *
 * as axe_print_aot does, but the arrays are in device memory, it starts on the
 * stream and returns.  It is compiled by any C11 compiler and needs nothing but
 * the driver's library (-lcuda) and threads; no header of CUDA's.  Sizes whose
 * rows no tensor map can hold are AXE_AOT_EARG. */
#ifndef AXE_PRINT_AOT_GPU_H
#define AXE_PRINT_AOT_GPU_H

#include "lower/lower.h"

typedef struct axe_gpu_image {
    const axe_lowered *lowered;
    const void        *code; /* a cubin */
    size_t             bytes;
    bool               wide; /* takes sizes above AXE_CUDA_MOST */
} axe_gpu_image;

/* All for one machine.
 * name   of the header, "k.h"
 * Errors as axe_print_aot */
AXE_CHECK axe_status axe_print_aot_gpu(axe_ctx *cx, int n,
                                       const axe_gpu_image *code,
                                       const char *name, axe_buf *c,
                                       axe_buf *h);

/* CUtensorMapDataType, as a number, of elements that are moved as they are. */
int axe_map_type(axe_type t);
/* CUtensorMapSwizzle of a swizzle of so many bytes. */
int axe_map_swizzle(int bytes);

#endif
