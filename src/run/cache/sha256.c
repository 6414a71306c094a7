/* sha256.c - SHA-256 as FIPS 180-4 writes it, about 200 MB/s. */
#include <string.h>

#include "run/cache/sha256.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes, and for `init` of the square roots of the first 8. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t
load_word(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* The message schedule of one block. */
static void
expand(const unsigned char *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = load_word(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* v holds a..h; a round moves each one place down. */
static void
mix(uint32_t h[8], const unsigned char *block)
{
    uint32_t w[64], v[8];

    expand(block, w);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                      ((e & v[5]) ^ (~e & v[6])) + round_constant[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

void
axe_sha256_init(axe_sha256 *s)
{
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };

    memcpy(s->h, start, sizeof start);
    s->n_bytes = 0;
}

void
axe_sha256_add(axe_sha256 *s, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n > 0) {
        size_t at = s->n_bytes % 64, take = n < 64 - at ? n : 64 - at;
        memcpy(s->block + at, p, take);
        s->n_bytes += take;
        p += take;
        n -= take;
        if (at + take == 64)
            mix(s->h, s->block);
    }
}

void
axe_sha256_end(axe_sha256 *s, unsigned char out[AXE_SHA256_BYTES])
{
    static const unsigned char pad[64] = {0x80};
    unsigned char              length[8];
    uint64_t                   n_bits = 8 * s->n_bytes;
    size_t                     at = s->n_bytes % 64;

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(n_bits >> (56 - 8 * i));
    axe_sha256_add(s, pad, at < 56 ? 56 - at : 120 - at);
    axe_sha256_add(s, length, sizeof length);
    for (int i = 0; i < AXE_SHA256_BYTES; i++)
        out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void
axe_sha256_of(const void *bytes, size_t n, unsigned char out[AXE_SHA256_BYTES])
{
    axe_sha256 s;

    axe_sha256_init(&s);
    axe_sha256_add(&s, bytes, n);
    axe_sha256_end(&s, out);
}

void
axe_sha256_text(const unsigned char hash[AXE_SHA256_BYTES],
                char                out[AXE_SHA256_TEXT])
{
    static const char digit[] = "0123456789abcdef";

    for (int i = 0; i < AXE_SHA256_BYTES; i++) {
        out[2 * i] = digit[hash[i] >> 4];
        out[2 * i + 1] = digit[hash[i] & 15];
    }
    out[AXE_SHA256_TEXT - 1] = '\0';
}
