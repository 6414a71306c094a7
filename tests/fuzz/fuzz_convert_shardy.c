/* fuzz_convert_shardy.c - any text is a sharding of Shardy, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("shardy", data, len);
}
