/* fuzz_convert_einops.c - any text is a rearrangement, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("einops", data, len);
}
