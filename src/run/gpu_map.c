/* gpu_map.c - tensor maps: what copies see of a global tensor.
 *
 * Limits are those of cuTensorMapEncodeTiled (CUDA Driver API 13.0): strides
 * are multiples of 16 bytes below 2^40, extents below 2^32, the address is on
 * 16 bytes. */
#include <inttypes.h>

#include "lower/lower.h"
#include "run/gpu_int.h"

/* CUtensorMapDataType of elements that are moved as they are. */
static int
type_of(axe_type t)
{
    static const struct {
        axe_type type;
        int      number;
    } row[] = {{AXE_TYPE_f16, 6},  {AXE_TYPE_f32, 7},  {AXE_TYPE_f64, 8},
               {AXE_TYPE_bf16, 9}, {AXE_TYPE_tf32, 7}, {AXE_TYPE_i32, 3},
               {AXE_TYPE_i64, 5},  {AXE_TYPE_u32, 2}};

    for (int i = 0; i < AXE_LEN(row); i++)
        if (row[i].type == t)
            return row[i].number;
    return axe_type_table[t].bits == 16 ? 1 : 0;
}

static axe_status
refuse(axe_ctx *cx, const axe_map *m, const char *what, int64_t value,
       const char *need)
{
    return axe_fail(cx, m->tensor->at, AXE_EUNSUPPORTED,
                    "%s: %s %" PRId64 " has no tensor map, which needs %s",
                    m->tensor->name, what, value, need);
}

static int
swizzle_of(int bytes)
{
    return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3;
}

static axe_status
measure(axe_ctx *cx, const axe_map *m, const axe_values *values,
        uint64_t size[5], uint64_t stride[5])
{
    int64_t bytes = axe_type_table[m->tensor->type].bits / 8, v;

    for (int i = 0; i < m->rank; i++) {
        if (!axe_value_of(values, m->size[i], &v) || v < 1 || v > UINT32_MAX)
            return refuse(cx, m, "extent", v, "1 to 2^32 - 1");
        size[i] = (uint64_t)v;
        if (!axe_value_of(values, m->stride[i], &v) || !axe_mul(v, bytes, &v) ||
            v < 0 || v >= INT64_C(1) << 40 || (i > 0 && v % 16 != 0))
            return refuse(cx, m, "a step of bytes", v,
                          "a multiple of 16 bytes below 2^40");
        stride[i] = (uint64_t)v;
    }
    return AXE_OK;
}

axe_status
axe_gpu_map(axe_ctx *cx, const axe_gpu *g, const axe_map *m,
            const axe_values *values, void *data,
            unsigned char out[AXE_CUDA_MAP_BYTES])
{
    uint64_t size[5], stride[5];
    uint32_t box[5], step[5];

    AXE_TRY(measure(cx, m, values, size, stride));
    if ((uintptr_t)data % 16 != 0)
        return refuse(cx, m, "the address", (int64_t)(uintptr_t)data,
                      "one on 16 bytes");
    for (int i = 0; i < m->rank; i++) {
        box[i] = (uint32_t)m->box[i];
        step[i] = 1;
    }
    return axe_cuda_check(
        cx, g->cuda,
        g->cuda->TensorMapEncodeTiled(
            out, type_of(m->tensor->type), (uint32_t)m->rank, data, size,
            stride + 1, box, step, 0, swizzle_of(m->swizzle), 2, 0),
        axe_textf(cx, "the tensor map of %s", m->tensor->name));
}
