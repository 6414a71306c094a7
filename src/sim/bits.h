/* bits.h - elements as bits and as numbers, fast for what GPUs compute with.
 *
 * Rounding is to nearest, ties to even, as ir/number.h has it, which serves the
 * types that are rare here. */
#ifndef AXE_SIM_BITS_H
#define AXE_SIM_BITS_H

#include <math.h>
#include <string.h>

#include "ir/number.h"

static inline float
axe_sim_float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t
axe_sim_bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float
axe_sim_half(uint16_t h)
{
    uint32_t w = (uint32_t)(h & 0x7fff) << 13, sign = (h & 0x8000u) << 16;
    float    v = axe_sim_float_of(w) * 0x1p112f;

    if ((h & 0x7c00) == 0x7c00)
        v = axe_sim_float_of(w | 0x7f800000);
    return axe_sim_float_of(axe_sim_bits_of(v) | sign);
}

/* The nearest f16. */
static inline float
axe_sim_round_half(float v)
{
    uint32_t u = axe_sim_bits_of(v);
    float    a = fabsf(v);

    if (!(a < 65520))
        return a >= 65520 ? copysignf(HUGE_VALF, v) : v;
    if (a < 0x1p-14f)
        return copysignf((float)rint((double)a * 0x1p24) * 0x1p-24f, v);
    return axe_sim_float_of((u + 0xfff + (u >> 13 & 1)) & ~0x1fffu);
}

/* Of a value that is one. */
static inline uint16_t
axe_sim_half_bits(float v)
{
    uint32_t u = axe_sim_bits_of(v), sign = u >> 16 & 0x8000;
    float    a = fabsf(v);

    if (isnan(v))
        return (uint16_t)(sign | 0x7e00);
    if (a >= 65536)
        return (uint16_t)(sign | 0x7c00);
    if (a < 0x1p-14f)
        return (uint16_t)(sign | (uint32_t)(a * 0x1p24f));
    return (uint16_t)(sign | (((u & 0x7fffffff) - (112u << 23)) >> 13));
}

/* The nearest bf16, as bits. */
static inline uint16_t
axe_sim_brain_bits(float v)
{
    uint32_t u = axe_sim_bits_of(v);

    if (isnan(v))
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* The nearest value of the type. */
static inline double
axe_sim_round(axe_type t, double v)
{
    float            f = (float)v;
    axe_float_format format;

    if (t == AXE_TYPE_f64)
        return v;
    if (t == AXE_TYPE_f32)
        return (double)f;
    if (t == AXE_TYPE_f16 && (double)f == v)
        return (double)axe_sim_round_half(f);
    if (t == AXE_TYPE_bf16 && (double)f == v)
        return (double)axe_sim_float_of((uint32_t)axe_sim_brain_bits(f) << 16);
    return axe_float_format_of(t, &format) ? axe_float_round(&format, v) : v;
}

static inline double
axe_sim_get(axe_type t, const void *at)
{
    uint16_t h;
    float    f;

    switch (t) {
    case AXE_TYPE_f16:
        memcpy(&h, at, sizeof h);
        return (double)axe_sim_half(h);
    case AXE_TYPE_bf16:
        memcpy(&h, at, sizeof h);
        return (double)axe_sim_float_of((uint32_t)h << 16);
    case AXE_TYPE_f32:
        memcpy(&f, at, sizeof f);
        return (double)f;
    default:
        return axe_number_get(t, at);
    }
}

/* A value of the type. */
static inline void
axe_sim_put(axe_type t, void *at, double v)
{
    uint16_t h;
    float    f = (float)v;

    switch (t) {
    case AXE_TYPE_f16:
        h = axe_sim_half_bits(f);
        memcpy(at, &h, sizeof h);
        return;
    case AXE_TYPE_bf16:
        h = axe_sim_brain_bits(f);
        memcpy(at, &h, sizeof h);
        return;
    case AXE_TYPE_f32:
        memcpy(at, &f, sizeof f);
        return;
    default:
        axe_number_put(t, at, v);
    }
}

#endif
