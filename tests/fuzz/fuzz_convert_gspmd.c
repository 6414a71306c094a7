/* fuzz_convert_gspmd.c - any text is an HloSharding, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("gspmd", data, len);
}
