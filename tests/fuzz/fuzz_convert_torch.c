/* fuzz_convert_torch.c - any text is a view of PyTorch, or a diagnostic. */
#include "fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return fuzz_format("torch", data, len);
}
