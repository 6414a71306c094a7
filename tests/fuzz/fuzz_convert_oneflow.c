/* fuzz_convert_oneflow.c - any text is OneFlow's SBP, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("oneflow", data, len);
}
