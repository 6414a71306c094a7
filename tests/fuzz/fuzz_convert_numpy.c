/* fuzz_convert_numpy.c - any text is a view of NumPy, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("numpy", data, len);
}
