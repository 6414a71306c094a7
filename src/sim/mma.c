/* mma.c - the inner loops of contractions: d += a b in f32, in order of k.
 *
 * Products of what tensor cores multiply (f16, bf16, tf32, f8) are exact in
 * f32, so whether the host fuses them with the sum makes no difference, and all
 * hosts give the same bits. */
#include "sim/sim_int.h"

enum { ROWS = 4, COLS = 32 };

#if defined(__GNUC__)
typedef float floats __attribute__((vector_size(64), aligned(4)));
#define INLINE static inline __attribute__((always_inline))

/* ROWS rows of d, COLS columns. */
INLINE void
mma_tile(int k, int64_t ld, const float *a, const float *b, float *d)
{
    floats acc[ROWS][2];

    for (int i = 0; i < ROWS; i++) {
        acc[i][0] = *(const floats *)(d + i * ld);
        acc[i][1] = *(const floats *)(d + i * ld + 16);
    }
    for (int j = 0; j < k; j++) {
        floats lo = *(const floats *)(b + j * ld);
        floats hi = *(const floats *)(b + j * ld + 16);
        for (int i = 0; i < ROWS; i++) {
            acc[i][0] += a[i * k + j] * lo;
            acc[i][1] += a[i * k + j] * hi;
        }
    }
    for (int i = 0; i < ROWS; i++) {
        *(floats *)(d + i * ld) = acc[i][0];
        *(floats *)(d + i * ld + 16) = acc[i][1];
    }
}
#else
#define INLINE static inline

INLINE void
mma_tile(int k, int64_t ld, const float *a, const float *b, float *d)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < k; j++)
            for (int c = 0; c < COLS; c++)
                d[i * ld + c] += a[i * k + j] * b[j * ld + c];
}
#endif

/* Rows beyond a multiple of ROWS are the caller's to pad. */
INLINE void
mma(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    for (int i = 0; i < m; i += ROWS)
        for (int64_t c = 0; c < ld; c += COLS)
            mma_tile(k, ld, a + i * k, b + c, d + i * ld + c);
}

typedef void mma_fn(int m, int k, int64_t ld, const float *a, const float *b,
                    float *d);

static void
mma_plain(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    mma(m, k, ld, a, b, d);
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void
mma_avx2(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    mma(m, k, ld, a, b, d);
}

__attribute__((target("avx512f"))) static void
mma_avx512(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    mma(m, k, ld, a, b, d);
}

static mma_fn *
choose(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return mma_avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? mma_avx2
               : mma_plain;
}
#else
static mma_fn *
choose(void)
{
    return mma_plain;
}
#endif

void
axe_sim_mma(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    choose()(m, k, ld, a, b, d);
}
