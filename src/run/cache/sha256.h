/* sha256.h - FIPS 180-4, for names of cached files.
 *
 * A cache entry is code that will be run, found by the hash of what it was
 * made from: a collision would run the wrong kernel without a word.  At 256
 * bits of a cryptographic hash that needs no further thought, not even about
 * texts made to collide; a compilation costs 10,000 times as much. */
#ifndef AXE_RUN_CACHE_SHA256_H
#define AXE_RUN_CACHE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { AXE_SHA256_BYTES = 32, AXE_SHA256_TEXT = 2 * AXE_SHA256_BYTES + 1 };

typedef struct axe_sha256 {
    uint32_t      h[8];
    uint64_t      n_bytes;
    unsigned char block[64];
} axe_sha256;

void axe_sha256_init(axe_sha256 *s);
void axe_sha256_add(axe_sha256 *s, const void *bytes, size_t n);
void axe_sha256_end(axe_sha256 *s, unsigned char out[AXE_SHA256_BYTES]);

/* All of it in one call. */
void axe_sha256_of(const void *bytes, size_t n,
                   unsigned char out[AXE_SHA256_BYTES]);

/* Lower-case hexadecimal with a NUL. */
void axe_sha256_text(const unsigned char hash[AXE_SHA256_BYTES],
                     char                out[AXE_SHA256_TEXT]);

#endif
