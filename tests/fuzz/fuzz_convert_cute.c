/* fuzz_convert_cute.c - any text is a CuTe layout, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("cute", data, len);
}
