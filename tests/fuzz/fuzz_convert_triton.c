/* fuzz_convert_triton.c - any text is a layout of Triton or Gluon, or a
 * diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("triton", data, len);
}
