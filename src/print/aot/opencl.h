/* opencl.h - kernels for devices of OpenCL ahead of time: a C file that holds
 * their text, or their SPIR-V, builds it and launches it, and its header.
 *
 * For each kernel the file defines
 *
 *     int gemm(void *A, void *B, void *C, int64_t M, int64_t K, int64_t N,
 *              void *queue);
 *
 * as axe_print_aot does, but arrays are cl_mem, it is put into the queue, which
 * is one in order, and returns.  A device that lacks what the text needs is
 * refused before the program is built, which is when it is first asked for in a
 * context; it is kept until
 *
 *     void axe_release_gemm(void *context);
 *
 * gives it back.  The file is compiled by
 * any C11 compiler and needs nothing but libOpenCL and threads; no header of
 * OpenCL's. */
#ifndef AXE_PRINT_AOT_OPENCL_H
#define AXE_PRINT_AOT_OPENCL_H

#include "lower/lower.h"

/* One way of having what a device must have; ways of the same stand together
 * and have the same number. */
typedef struct axe_opencl_way {
    int         number;
    const char *extension; /* ""; none */
    unsigned    question;  /* of clGetDeviceInfo; 0: none */
    int64_t     bits;      /* of its answer */
} axe_opencl_way;

/* What a device must have: all numbers of the list, and sub-groups of so many
 * lanes, 0: any. */
typedef struct axe_opencl_must {
    int                   n, lanes;
    const axe_opencl_way *way;
} axe_opencl_must;

typedef struct axe_opencl_image {
    const axe_lowered *lowered;
    const char        *text;     /* OpenCL C */
    const void        *code;     /* SPIR-V in its place, or NULL */
    size_t             bytes;    /* of the code */
    const char *options, *exact; /* of the driver's compiler; of one whose
                                    quotients are correctly rounded if asked */
    bool wide;                   /* takes sizes above AXE_SIZE_MOST */
} axe_opencl_image;

/* All for one machine.
 * name   of the header, "k.h"
 * Errors as axe_print_aot */
AXE_CHECK axe_status axe_print_aot_opencl(axe_ctx *cx, int n,
                                          const axe_opencl_image *image,
                                          const axe_opencl_must  *must,
                                          const char *name, axe_buf *c,
                                          axe_buf *h);

#endif
