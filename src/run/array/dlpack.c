/* dlpack.c - reading descriptions of other frameworks' tensors. */
#include <inttypes.h>

#include "axe/dlpack.h"
#include "base/ctx.h"
#include "ir/ir.h"

static const struct {
    int      code;
    axe_type type;
} rows[] = {
#define DTYPE(number, name) {number, AXE_TYPE_##name},
#include "run/array/dlpack.def"
};

static const char *
type_of(const axe_dlpack *t)
{
    for (int i = 0; i < AXE_LEN(rows); i++)
        if (rows[i].code == t->dtype.code && t->dtype.lanes == 1 &&
            axe_type_table[rows[i].type].bits == t->dtype.bits)
            return axe_type_table[rows[i].type].name;
    return NULL;
}

static bool
is_there(const axe_dlpack *t, int device)
{
    if (t->rank == 0)
        device = AXE_DLPACK_CPU;
    return t->device.type == device ||
           (device == AXE_DLPACK_CPU && t->device.type == AXE_DLPACK_CUDA_HOST);
}

axe_status
axe_array_of_dlpack(axe_ctx *cx, const char *name, const axe_dlpack *t,
                    int device, axe_array *out)
{
    AXE_NEED(cx, name);
    AXE_NEED(cx, t);
    AXE_NEED(cx, out);
    const char *type = type_of(t);
    uintptr_t   at = (uintptr_t)t->data;

    if (!is_there(t, device))
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "%s is on a device of DLPack's type %d, not %d", name,
                        t->device.type, t->rank == 0 ? AXE_DLPACK_CPU : device);
    if (!type) {
        axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                 "%s: no type for %d elements of DLPack's code %d with %d bits",
                 name, t->dtype.lanes, t->dtype.code, t->dtype.bits);
        axe_help(cx,
                 "convert it to one of f64 f32 f16 bf16 f8, integers, bool");
        return AXE_ETYPE;
    }
    if (t->rank < 0 || t->rank > AXE_RANK_MAX || (t->rank > 0 && !t->shape))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: rank %d with%s a shape; ranks are 0 to %d", name,
                        t->rank, t->shape ? "" : "out", AXE_RANK_MAX);
    if (t->byte_offset > UINTPTR_MAX - at)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: offset %" PRIu64 " leaves the address space", name,
                        t->byte_offset);
    *out = (axe_array){.name = name,
                       .type = type,
                       .rank = t->rank,
                       .shape = t->shape,
                       .stride = t->stride,
                       .data = (void *)(at + (uintptr_t)t->byte_offset)};
    return AXE_OK;
}
