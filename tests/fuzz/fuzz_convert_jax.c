/* fuzz_convert_jax.c - any text is a PartitionSpec, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("jax", data, len);
}
