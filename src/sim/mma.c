/* mma.c - the inner loops of contractions: d += a b in f32, in order of k, and
 * operands to f32.
 *
 * Products of what tensor cores multiply (f16, bf16, tf32, f8) are exact in
 * f32, so whether the host fuses them with the sum makes no difference, and all
 * hosts give the same bits. */
#include "sim/bits.h"
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

typedef uint16_t halves __attribute__((vector_size(32), aligned(2)));
typedef uint32_t words __attribute__((vector_size(64), aligned(4)));

/* Sixteen at once; returns how many there were. */
INLINE int
widen_most(bool half, const uint8_t *bits, int n, float *out)
{
    int i;

    for (i = 0; i + 16 <= n; i += 16) {
        halves h = *(const halves *)(const void *)(bits + 2 * i);
        words  w = __builtin_convertvector(h, words), mag = (w & 0x7fff) << 13;
        words  odd = (words)((w & 0x7c00) == 0x7c00);
        words  v = (words)((floats)mag * 0x1p112f);
        v = (v & ~odd) | ((mag | 0x7f800000) & odd) | (w & 0x8000) << 16;
        *(words *)(void *)(out + i) = half ? v : w << 16;
    }
    return i;
}
#else
#define INLINE static inline

INLINE int
widen_most(bool half, const uint8_t *bits, int n, float *out)
{
    (void)half;
    (void)bits;
    (void)n;
    (void)out;
    return 0;
}

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
typedef int  widen_fn(bool half, const uint8_t *bits, int n, float *out);

typedef struct kernels {
    mma_fn   *mma;
    widen_fn *widen;
} kernels;

static void
mma_plain(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    mma(m, k, ld, a, b, d);
}

static int
widen_plain(bool half, const uint8_t *bits, int n, float *out)
{
    return widen_most(half, bits, n, out);
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

__attribute__((target("avx2"))) static int
widen_avx2(bool half, const uint8_t *bits, int n, float *out)
{
    return widen_most(half, bits, n, out);
}

static kernels
choose(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return (kernels){mma_avx512, widen_avx2};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (kernels){mma_avx2, widen_avx2};
    return (kernels){mma_plain, widen_plain};
}
#else
static kernels
choose(void)
{
    return (kernels){mma_plain, widen_plain};
}
#endif

void
axe_sim_mma(int m, int k, int64_t ld, const float *a, const float *b, float *d)
{
    choose().mma(m, k, ld, a, b, d);
}

void
axe_sim_widen(axe_type t, axe_type as, const uint8_t *bits, int n, float *out)
{
    int i = 0, size = axe_type_table[t].bits / 8;

    if (t == AXE_TYPE_f16 || t == AXE_TYPE_bf16)
        i = choose().widen(t == AXE_TYPE_f16, bits, n, out);
    for (; i < n && size == 0; i++)
        out[i] = (float)axe_number_load(t, bits, i);
    for (; i < n && axe_type_is_float(t); i++)
        out[i] = (float)axe_sim_get(t, bits + i * size);
    for (; i < n; i++)
        out[i] = (float)axe_number_get_int(t, bits + i * size);
    for (i = 0; i < n && as == AXE_TYPE_tf32; i++)
        out[i] = axe_sim_float_of(axe_sim_bits_of(out[i]) & ~0x1fffu);
}
