/* fuzz_convert_tv.c - any text is a thread-value layout, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("tv", data, len);
}
