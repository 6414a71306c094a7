/* cuda_abi.c - the numbers that run/gpu/cuda.def and gpu/map.c take from cuda.h
 * are those of the header that is installed.  Compiling it is the test. */
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#define ATTRIBUTE(name, number)                                                \
    _Static_assert(CU_DEVICE_ATTRIBUTE_##name == (number), #name);
#include "run/gpu/cuda.def"

_Static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8, "shared");
_Static_assert(sizeof(CUlaunchAttribute) == 72 &&
                   offsetof(CUlaunchAttribute, value) == 8 &&
                   CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == 4 &&
                   CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == 6,
               "attributes of a launch");
_Static_assert(offsetof(CUlaunchConfig, sharedMemBytes) == 24 &&
                   offsetof(CUlaunchConfig, hStream) == 32 &&
                   offsetof(CUlaunchConfig, attrs) == 40 &&
                   offsetof(CUlaunchConfig, numAttrs) == 48 &&
                   sizeof(CUlaunchConfig) == 56,
               "launches");
_Static_assert(sizeof(CUtensorMap) == 128, "map");
_Static_assert(_Alignof(CUtensorMap) == 128, "map");
_Static_assert(CU_TENSOR_MAP_DATA_TYPE_UINT8 == 0 &&
                   CU_TENSOR_MAP_DATA_TYPE_UINT16 == 1 &&
                   CU_TENSOR_MAP_DATA_TYPE_UINT32 == 2 &&
                   CU_TENSOR_MAP_DATA_TYPE_INT32 == 3 &&
                   CU_TENSOR_MAP_DATA_TYPE_INT64 == 5 &&
                   CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == 6 &&
                   CU_TENSOR_MAP_DATA_TYPE_FLOAT32 == 7 &&
                   CU_TENSOR_MAP_DATA_TYPE_FLOAT64 == 8 &&
                   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9,
               "types");
_Static_assert(CU_TENSOR_MAP_SWIZZLE_32B == 1 &&
                   CU_TENSOR_MAP_SWIZZLE_64B == 2 &&
                   CU_TENSOR_MAP_SWIZZLE_128B == 3,
               "swizzles");
_Static_assert(CU_TENSOR_MAP_L2_PROMOTION_L2_128B == 2, "promotion");
_Static_assert(sizeof(CUdeviceptr) == 8, "device memory");
_Static_assert(sizeof(CUmemAllocationProp) == 32 &&
                   offsetof(CUmemAllocationProp, requestedHandleTypes) == 4 &&
                   offsetof(CUmemAllocationProp, location) == 8 &&
                   offsetof(CUmemAllocationProp, win32HandleMetaData) == 16 &&
                   offsetof(CUmemAllocationProp, allocFlags) == 24 &&
                   CU_MEM_ALLOCATION_TYPE_PINNED == 1 &&
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR == 1 &&
                   CU_MEM_ALLOC_GRANULARITY_MINIMUM == 0,
               "a block of memory");
_Static_assert(sizeof(CUmemLocation) == 8 && offsetof(CUmemLocation, id) == 4 &&
                   CU_MEM_LOCATION_TYPE_DEVICE == 1,
               "where memory is");
_Static_assert(sizeof(CUmemAccessDesc) == 12 &&
                   offsetof(CUmemAccessDesc, flags) == 8 &&
                   CU_MEM_ACCESS_FLAGS_PROT_READWRITE == 3,
               "access to memory");
_Static_assert(sizeof(CUmemGenericAllocationHandle) == 8, "handles of memory");
_Static_assert(sizeof(CUmulticastObjectProp) == 32 &&
                   offsetof(CUmulticastObjectProp, size) == 8 &&
                   offsetof(CUmulticastObjectProp, handleTypes) == 16 &&
                   CU_MULTICAST_GRANULARITY_MINIMUM == 0,
               "multicast");
_Static_assert(CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2 &&
                   CU_EVENT_WAIT_DEFAULT == 0,
               "streams and events");
_Static_assert(CU_STREAM_WRITE_VALUE_DEFAULT == 0 &&
                   CU_STREAM_WAIT_VALUE_GEQ == 0,
               "words that streams write and wait for");

/* They take what run/gpu/cuda.def gives them. */
int axe_cuda_abi_calls(void **out, void *stream, void *event, uint64_t at,
                       uint32_t value);
int
axe_cuda_abi_calls(void **out, void *stream, void *event, uint64_t at,
                   uint32_t value)
{
    int r[] = {
        (int)cuStreamCreate((CUstream *)out, 1u),
        (int)cuStreamDestroy_v2(stream),
        (int)cuStreamWaitEvent(stream, event, 0u),
        (int)cuStreamWriteValue32(stream, at, value, 0u),
        (int)cuStreamWaitValue32(stream, at, value, 0u),
    };

    return r[0] | r[1] | r[2] | r[3] | r[4];
}
