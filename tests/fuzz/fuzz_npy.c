/* fuzz_npy.c - any bytes are a .npy file or a diagnostic, and what is accepted
 * has its data inside the bytes. */
#include <assert.h>

#include "fuzz.h"
#include "run/array/npy.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx     *cx = axe_ctx_new();
    axe_npy_head h;

    if (axe_npy_parse(cx, "fuzz.npy", data, len, &h) == AXE_OK)
        assert(h.data_at + h.n_bytes == len && h.rank <= AXE_NPY_MAX_RANK);
    else
        assert(axe_n_error(cx) > 0);
    axe_ctx_free(cx);
    return 0;
}
