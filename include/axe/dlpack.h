/* dlpack.h - arrays of other frameworks, by DLPack.
 *
 * What a framework hands over (PyTorch, JAX, CuPy: the tensor inside a
 * `DLManagedTensor`, with or without version) is a description of memory that
 * it keeps.  axe reads the description and copies nothing; whoever got the
 * capsule calls its deleter once the launch is done.
 *
 *     axe_array_of_dlpack(cx, "A", &managed->dl_tensor, AXE_DLPACK_CUDA, &a);
 *
 * Source: DLPack 1.1, dlpack.h: the order and the types of the fields. */
#ifndef AXE_DLPACK_H
#define AXE_DLPACK_H

#include "axe/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where memory is, by DLPack's numbers. */
enum { AXE_DLPACK_CPU = 1, AXE_DLPACK_CUDA = 2, AXE_DLPACK_CUDA_HOST = 3 };

/* DLTensor. */
typedef struct axe_dlpack {
    void *data;
    struct {
        int32_t type, number;
    } device;
    int32_t rank;
    struct {
        uint8_t  code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *stride; /* [rank] [elements]; stride NULL: row-major */
    uint64_t byte_offset;
} axe_dlpack;

/* The tensor as an array named `name`; valid as long as the tensor.
 * device  where it must be: AXE_DLPACK_CPU for axe_launch (memory of the host
 *         that a GPU can read, too, is fine), AXE_DLPACK_CUDA for
 *         axe_gpu_launch
 * Errors  EDEVICE: it is elsewhere.  ETYPE: elements that axe has no type for,
 *         or several in one.  EARG: a negative rank, no shape, an address that
 *         leaves the address space */
AXE_CHECK axe_status axe_array_of_dlpack(axe_ctx *cx, const char *name,
                                         const axe_dlpack *tensor, int device,
                                         axe_array *out);

#ifdef __cplusplus
}
#endif
#endif
