/* pack.c - finding a packed kernel. */
#include <stddef.h>
#include <string.h>

#include "run/pack.h"

const axe_pack_entry *
axe_pack_find(const unsigned char digest[AXE_SHA256_BYTES])
{
    for (int i = 0; i < axe_n_pack; i++)
        if (memcmp(axe_pack[i].digest, digest, AXE_SHA256_BYTES) == 0)
            return &axe_pack[i];
    return NULL;
}
