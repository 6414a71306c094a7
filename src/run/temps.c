/* temps.c - memory for the global tensors that a kernel makes for itself. */
#define _DEFAULT_SOURCE

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "run/array/values.h"
#include "run/device.h"

enum { LINE_BYTES = 64, HUGE_BYTES = 2 << 20 };

/* Large blocks are advised to be of huge pages, as scratch is: they fault in
 * 512 times less often, and rows far apart find their pages in the TLB. */
static axe_status
grow(axe_ctx *cx, axe_device *d, int64_t bytes)
{
    size_t align = bytes >= HUGE_BYTES ? HUGE_BYTES : LINE_BYTES;
    void  *block = NULL;

    if (bytes <= d->temp_bytes)
        return AXE_OK;
    free(d->temp);
    d->temp = NULL;
    d->temp_bytes = 0;
    if ((uint64_t)bytes > SIZE_MAX / 2 ||
        posix_memalign(&block, align, (size_t)bytes) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for %" PRId64
                        " bytes of the kernel's own tensors",
                        bytes);
    if (align == HUGE_BYTES)
        madvise(block, (size_t)bytes, MADV_HUGEPAGE);
    d->temp = block;
    d->temp_bytes = bytes;
    return AXE_OK;
}

axe_status
axe_device_temps(axe_ctx *cx, axe_device *d, const axe_kernel *k,
                 const int64_t *size, void **out)
{
    axe_values in = {k, size, axe_pool_size(d->pool), NULL};
    int64_t   *at = axe_new_array(cx, int64_t, k->n_temp + 1), all = 0, n;

    for (int i = 0; i < k->n_temp; i++) {
        at[i] = all;
        if (!axe_temp_bytes(&in, k->temp[i], &n) || !axe_add(all, n, &all))
            return axe_fail(cx, k->temp[i]->at, AXE_EOVERFLOW,
                            "%s has more elements than int64 counts",
                            k->temp[i]->name);
    }
    AXE_TRY(grow(cx, d, all));
    for (int i = 0; i < k->n_temp; i++)
        out[i] = (char *)d->temp + at[i];
    return AXE_OK;
}
