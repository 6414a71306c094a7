/* fuzz_convert.c - the formats together: the first line names one, as in "tv
 * 16,8" and "dtensor 8,8 2,2"; those with a reader worth it have a target of
 * their own, too. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format(NULL, data, len);
}
