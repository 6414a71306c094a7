/* fuzz_convert_blockcyclic.c - any text is ScaLAPACK's blocks, or a diagnostic.
 */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("blockcyclic", data, len);
}
