/* pack.h - kernels that are part of the library, for hosts without a C
 * compiler: found by the digest of the C text that they would be compiled from,
 * so a packed kernel is exactly what would have been made.
 *
 * The table is written by pack/make.c when the library is built. */
#ifndef AXE_RUN_PACK_H
#define AXE_RUN_PACK_H

#include <stdint.h>

#include "run/cache/sha256.h"

typedef void axe_entry_fn(void *const *ptr, const int64_t *size, int64_t worker,
                          int64_t n_worker, void *scratch, void *team);

typedef struct axe_pack_entry {
    unsigned char digest[AXE_SHA256_BYTES];
    const char   *name; /* "gemm<T = f32> for cpu-avx2" */
    axe_entry_fn *entry;
} axe_pack_entry;

extern const axe_pack_entry axe_pack[];
extern const int            axe_n_pack;

/* NULL: it is not in the pack. */
const axe_pack_entry *
axe_pack_find(const unsigned char digest[AXE_SHA256_BYTES]);

#endif
