/* id.c - which GPU it is.  Processes number those that CUDA_VISIBLE_DEVICES
 * leaves them, so that a number says nothing to another process. */
#include <string.h>

#include "run/gpu/gpu_heap_int.h"

axe_status
axe_gpu_id_of(axe_ctx *cx, const axe_cuda *cu, int device, int n_device,
              axe_gpu_id *out)
{
    axe_gpu_id id = {{0}};
    int        number[] = {device, n_device}, r = 0;

    if (cu->DeviceGetUuid_v2)
        r = cu->DeviceGetUuid_v2(id.bytes, device);
    else if (cu->DeviceGetUuid)
        r = cu->DeviceGetUuid(id.bytes, device);
    else if (cu->DeviceGetPCIBusId)
        r = cu->DeviceGetPCIBusId(id.bytes, AXE_GPU_ID_BYTES, device);
    else
        memcpy(id.bytes, number, sizeof number);
    AXE_TRY(axe_cuda_check(cx, cu, r, "asking which GPU it is"));
    *out = id;
    return AXE_OK;
}

bool
axe_gpu_id_same(const axe_gpu_id *a, const axe_gpu_id *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
