/* descriptor.c - making descriptors of matrices in shared memory. */
#include "machine/descriptor.h"

#include <assert.h>

enum { N_SWIZZLE = 4 }; /* none, and of 32, 64 and 128 bytes */

static const struct {
    uint64_t version;
    int      at;
    uint64_t swizzle[N_SWIZZLE];
} forms[AXE_N_DESC] = {
    [AXE_DESC_none] = {0, 0, {0}},
#define FORM(id, version, at, none, w32, w64, w128)                            \
    [AXE_DESC_##id] = {version, at, {none, w32, w64, w128}},
#include "machine/nvidia/descriptors.def"
};

uint64_t
axe_desc_make(axe_desc_form form, int swizzle, int64_t lead, int64_t stride)
{
    assert(form != AXE_DESC_none && swizzle >= 0 && swizzle < N_SWIZZLE);
    return (uint64_t)lead / AXE_DESC_UNIT << AXE_DESC_LEAD_AT |
           (uint64_t)stride / AXE_DESC_UNIT << AXE_DESC_STRIDE_AT |
           forms[form].version << AXE_DESC_VERSION_AT |
           forms[form].swizzle[swizzle] << forms[form].at;
}

uint64_t
axe_desc_start(int64_t at)
{
    return ((uint64_t)at / AXE_DESC_UNIT << AXE_DESC_START_AT) &
           AXE_DESC_MASK(START);
}
