/* map.c - tensor maps: what copies see of a global tensor.
 *
 * Limits are those of cuTensorMapEncodeTiled (CUDA Driver API 13.0): strides
 * are multiples of 16 bytes below 2^40, extents below 2^32 (2^31, as
 * coordinates of boxes are signed), the address is on 16 bytes. */
#include <inttypes.h>
#include <string.h>

#include "print/aot/gpu.h"
#include "run/gpu/gpu_int.h"

static axe_status
refuse(axe_ctx *cx, const axe_map *m, const char *what, int64_t value,
       const char *need)
{
    return axe_fail(cx, m->tensor->at, AXE_EUNSUPPORTED,
                    "%s: %s %" PRId64 " has no tensor map, which needs %s",
                    m->tensor->name, what, value, need);
}

enum { NOTHING_BYTES = 32, WRITTEN_AT = 16 };

static bool
is_empty(const axe_map *m, const axe_values *values)
{
    int64_t v;

    for (int i = 0; i < m->rank; i++)
        if (axe_value_of(values, m->size[i], &v) && v == 0)
            return true;
    return false;
}

/* No map has an extent of 0: one zero, or two of which a byte is made, and
 * where it is written another place, so that it stays one. */
static axe_status
take_nothing(axe_ctx *cx, axe_gpu *g, const axe_map *m, void **data,
             uint64_t size[5], uint64_t stride[5])
{
    static const char zero[NOTHING_BYTES];

    if (!g->nothing) {
        void *p;
        AXE_TRY(axe_gpu_alloc(cx, g, sizeof zero, &p));
        axe_status st = axe_gpu_put(cx, g, p, zero, sizeof zero);
        if (st != AXE_OK) {
            axe_gpu_release(g, p);
            return st;
        }
        g->nothing = p;
    }
    *data = g->nothing;
    if (m->stored)
        *data = (char *)g->nothing + WRITTEN_AT;
    for (int i = 0; i < m->rank; i++) {
        size[i] = 1;
        stride[i] = WRITTEN_AT;
    }
    if (axe_type_table[m->tensor->type].bits < 8)
        size[0] = 2;
    return AXE_OK;
}

static axe_status
measure(axe_ctx *cx, const axe_map *m, const axe_values *values,
        uint64_t size[5], uint64_t stride[5])
{
    int64_t bits = axe_type_table[m->tensor->type].bits, v;

    for (int i = 0; i < m->rank; i++) {
        if (!axe_value_of(values, m->size[i], &v) || v < 1 || v > INT32_MAX)
            return refuse(cx, m, "extent", v,
                          "one below 2^31, as coordinates have 32 bits");
        size[i] = (uint64_t)v;
        if (!axe_value_of(values, m->stride[i], &v) || !axe_mul(v, bits, &v) ||
            v < 0 || v / 8 >= INT64_C(1) << 40 || (i > 0 && v / 8 % 16 != 0))
            return refuse(cx, m, "a step of bytes", v / 8,
                          "a multiple of 16 bytes below 2^40");
        stride[i] = (uint64_t)v / 8;
    }
    return AXE_OK;
}

axe_status
axe_gpu_map(axe_ctx *cx, axe_gpu *g, const axe_map *m, const axe_values *values,
            void *data, axe_gpu_made *made,
            unsigned char out[AXE_CUDA_MAP_BYTES])
{
    uint64_t size[5] = {0}, stride[5] = {0};
    uint32_t box[5], step[5];

    if (is_empty(m, values))
        AXE_TRY(take_nothing(cx, g, m, &data, size, stride));
    else
        AXE_TRY(measure(cx, m, values, size, stride));
    if ((uintptr_t)data % 16 != 0)
        return refuse(cx, m, "the address", (int64_t)(uintptr_t)data,
                      "one on 16 bytes");
    if (made->is && made->data == data &&
        memcmp(made->size, size, sizeof size) == 0 &&
        memcmp(made->stride, stride, sizeof stride) == 0) {
        memcpy(out, made->map, sizeof made->map);
        return AXE_OK;
    }
    for (int i = 0; i < m->rank; i++) {
        box[i] = (uint32_t)m->box[i];
        step[i] = 1;
    }
    AXE_TRY(axe_cuda_check(
        cx, g->cuda,
        g->cuda->TensorMapEncodeTiled(
            out, axe_map_type(m->tensor->type), (uint32_t)m->rank, data, size,
            stride + 1, box, step, 0, axe_map_swizzle(m->swizzle), 2, 0),
        axe_textf(cx, "the tensor map of %s", m->tensor->name)));
    *made = (axe_gpu_made){.is = true, .data = data};
    memcpy(made->size, size, sizeof size);
    memcpy(made->stride, stride, sizeof stride);
    memcpy(made->map, out, sizeof made->map);
    return AXE_OK;
}

int
axe_gpu_n_maps(const axe_lowered *lw, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += lw->grid[i].n_map;
    return sum;
}
