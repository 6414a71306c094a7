/* opencl.h - kernels for devices of OpenCL ahead of time: a C file that holds
 * their text, or their SPIR-V, builds it and launches it, and its header.
 *
 * For each kernel the file defines
 *
 *     int gemm(void *A, void *B, void *C, int64_t M, int64_t K, int64_t N,
 *              void *queue);
 *
 * as axe_print_aot does, but arrays are cl_mem, it is put into the queue, which
 * is one in order, and returns.  A program is built when it is first asked for
 * in a context, and kept to the end of the process.  The file is compiled by
 * any C11 compiler and needs nothing but libOpenCL and threads; no header of
 * OpenCL's. */
#ifndef AXE_PRINT_AOT_OPENCL_H
#define AXE_PRINT_AOT_OPENCL_H

#include "lower/lower.h"

typedef struct axe_opencl_image {
    const axe_lowered *lowered;
    const char        *text;    /* OpenCL C */
    const void        *code;    /* SPIR-V in its place, or NULL */
    size_t             bytes;   /* of the code */
    const char        *options; /* of the driver's compiler */
    bool               wide;    /* takes sizes above AXE_SIZE_MOST */
} axe_opencl_image;

/* All for one machine.
 * name   of the header, "k.h"
 * Errors as axe_print_aot */
AXE_CHECK axe_status axe_print_aot_opencl(axe_ctx *cx, int n,
                                          const axe_opencl_image *image,
                                          const char *name, axe_buf *c,
                                          axe_buf *h);

#endif
