/* fill.c - numbers to measure with. */
#include <math.h>
#include <stdlib.h>

#include "axe/gpu.h"
#include "ir/ir.h"
#include "ir/number.h"
#include "run/gpu/gpu_int.h"

/* Elements; a prime, so that rows and tiles of a tensor differ. */
enum { BLOCK = 1048573 };

/* (0, 1] */
static double
uniform(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)((*s >> 11) + 1) * 0x1p-53;
}

static void
make_block(axe_type t, uint64_t seed, char *block, size_t n)
{
    const axe_type_info *info = &axe_type_table[t];
    uint64_t             state = 88172645463325252u + seed;

    for (int64_t i = 0; axe_type_bytes(t, i) < (int64_t)n; i++) {
        double u = uniform(&state), v = uniform(&state);
        if (axe_number_is_power(t))
            axe_number_store(t, block, i, u);
        else if (info->cls == AXE_CLASS_FLOAT)
            axe_number_store(t, block, i,
                             sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
        else
            axe_number_put_int(t, block + axe_type_bytes(t, i),
                               info->cls == AXE_CLASS_BOOL ? u < 0.5
                                                           : (int64_t)(u * 8));
    }
}

axe_status
axe_gpu_fill(axe_ctx *cx, axe_gpu *g, const char *type, uint64_t seed, void *to,
             size_t bytes)
{
    AXE_TRY(axe_gpu_check(cx, __func__, g));
    AXE_NEED(cx, type);
    if (bytes > 0)
        AXE_NEED(cx, to);
    axe_status st = AXE_OK;
    axe_type   t;
    char      *block;
    size_t     n;

    if (!axe_type_find(type, &t) || !axe_number_known(t))
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                        "there are no random numbers of type %s", type);
    n = (size_t)BLOCK * (size_t)axe_type_table[t].bits / 8;
    n = n < bytes ? n : bytes;
    block = malloc(n + 8);
    if (!block)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for %zu bytes",
                        n);
    make_block(t, seed, block, n);
    for (size_t done = 0; done < bytes && st == AXE_OK; done += n)
        st = axe_gpu_put(cx, g, (char *)to + done, block,
                         bytes - done < n ? bytes - done : n);
    free(block);
    return st;
}
