/* fuzz_convert_dtensor.c - any text is DTensor's placements, or a diagnostic.
 */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("dtensor", data, len);
}
