/* number.c - conversion between elements and host numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"

static const axe_float_format format[AXE_N_TYPE] = {
    [AXE_TYPE_f64] = {53, -1022, 0x1.fffffffffffffp1023},
    [AXE_TYPE_f32] = {24, -126, 0x1.fffffep127},
    [AXE_TYPE_tf32] = {11, -126, 0x1.ffcp127},
    [AXE_TYPE_f16] = {11, -14, 0x1.ffcp15},
    [AXE_TYPE_bf16] = {8, -126, 0x1.fep127},
    [AXE_TYPE_f8e4m3] = {4, -6, 448},
    [AXE_TYPE_f8e5m2] = {3, -14, 57344},
    [AXE_TYPE_f8e8m0] = {1, -127, 0x1p127},
    [AXE_TYPE_f4e2m1] = {2, 0, 6},
};

bool
axe_float_format_of(axe_type t, axe_float_format *out)
{
    *out = format[t];
    return format[t].p > 0;
}

/* Up to a power of two between the ends of the format. */
static double
round_up(const axe_float_format *f, double x)
{
    int    e;
    double half;

    if (isnan(x) || x >= f->max)
        return isnan(x) ? x : f->max;
    if (x <= ldexp(1.0, f->emin))
        return ldexp(1.0, f->emin);
    half = frexp(x, &e);
    return ldexp(1.0, half > 0.5 ? e : e - 1);
}

double
axe_float_round(const axe_float_format *f, double x)
{
    int    e;
    double unit, y;

    if (f->p == 1)
        return round_up(f, x);
    if (isinf(x) && f->p <= 4)
        return copysign(f->max, x);
    if (x == 0 || !isfinite(x) || f->p == 53)
        return x;
    (void)frexp(x, &e);
    unit = ldexp(1.0, (e - 1 > f->emin ? e - 1 : f->emin) - (f->p - 1));
    y = nearbyint(x / unit) * unit;
    if (fabs(y) <= f->max)
        return y;
    return copysign(f->p <= 4 ? f->max : HUGE_VAL, x);
}

bool
axe_number_is_power(axe_type t)
{
    return format[t].p == 1;
}

bool
axe_number_known(axe_type t)
{
    return axe_type_is_float(t) ? format[t].p > 0
                                : axe_type_table[t].bits % 8 == 0;
}

static double
get_half(uint16_t h)
{
    int    e = h >> 10 & 31, m = h & 1023;
    double v = e == 0 ? ldexp(m, -24) : ldexp(m + 1024, e - 25);

    if (e == 31)
        v = m ? (double)NAN : HUGE_VAL;
    return h >> 15 ? -v : v;
}

static uint16_t
put_half(double x)
{
    unsigned sign = signbit(x) ? 0x8000 : 0;
    double   v = fabs(axe_float_round(&format[AXE_TYPE_f16], x));
    int      e;

    if (isnan(x))
        return (uint16_t)(sign | 0x7e00);
    if (isinf(v))
        return (uint16_t)(sign | 0x7c00);
    if (v < 0x1p-14)
        return (uint16_t)(sign | (unsigned)ldexp(v, 24));
    (void)frexp(v, &e);
    return (uint16_t)(sign | (unsigned)(e + 14) << 10 |
                      ((unsigned)ldexp(v, 11 - e) & 1023));
}

static float
get_float(const void *at)
{
    float v;

    memcpy(&v, at, sizeof v);
    return v;
}

static float
get_bfloat(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;

    return get_float(&bits);
}

static uint16_t
put_bfloat(double x)
{
    float    v = (float)axe_float_round(&format[AXE_TYPE_bf16], x);
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static uint16_t
get_u16(const void *at)
{
    uint16_t v;

    memcpy(&v, at, sizeof v);
    return v;
}

/* The value of an 8-bit code with m bits of mantissa and this bias. */
static double
get_eighth(axe_type t, uint8_t h)
{
    int m = t == AXE_TYPE_f8e4m3 ? 3 : 2, bias = t == AXE_TYPE_f8e4m3 ? 7 : 15;
    int e = (h & 127) >> m, f = h & ((1 << m) - 1);
    double v =
        e == 0 ? ldexp(f, 1 - bias - m) : ldexp(f + (1 << m), e - bias - m);

    if (t == AXE_TYPE_f8e4m3 && (h & 127) == 127)
        v = (double)NAN;
    if (t == AXE_TYPE_f8e5m2 && e == 31)
        v = f ? (double)NAN : HUGE_VAL;
    return h >> 7 ? -v : v;
}

/* The code of the rounded value: codes are in the order of their values. */
static uint8_t
put_eighth(axe_type t, double x)
{
    unsigned sign = signbit(x) ? 0x80 : 0, lo = 0, hi = 0x7f;
    double   v = fabs(axe_float_round(&format[t], x));

    if (isnan(x))
        return (uint8_t)(sign | 0x7f);
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (get_eighth(t, (uint8_t)mid) < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint8_t)(sign | lo);
}

/* Powers of two from 2^-127 on; the last code is NaN. */
static double
get_power(uint8_t h)
{
    return h == 255 ? (double)NAN : ldexp(1.0, h - 127);
}

static uint8_t
put_power(double x)
{
    int e;

    if (isnan(x))
        return 255;
    (void)frexp(round_up(&format[AXE_TYPE_f8e8m0], x), &e);
    return (uint8_t)(e + 126);
}

/* 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; the other half of the byte
 * means nothing here. */
static double
get_fourth(unsigned h)
{
    int    e = h >> 1 & 3, f = h & 1;
    double v = e == 0 ? 0.5 * f : ldexp(2 + f, e - 2);

    return h & 8 ? -v : v;
}

/* NaN, which the format lacks, becomes the largest, as instructions have it. */
static unsigned
put_fourth(double x)
{
    unsigned lo = 0;
    double   v = fabs(axe_float_round(&format[AXE_TYPE_f4e2m1], x));

    if (isnan(x))
        return 7;
    while (get_fourth(lo) < v)
        lo++;
    return lo | (signbit(x) ? 8 : 0);
}

double
axe_number_get(axe_type t, const void *at)
{
    double v;

    switch (t) {
    case AXE_TYPE_f4e2m1:
        return get_fourth(*(const uint8_t *)at & 15);
    case AXE_TYPE_f16:
        return get_half(get_u16(at));
    case AXE_TYPE_bf16:
        return get_bfloat(get_u16(at));
    case AXE_TYPE_f8e4m3:
    case AXE_TYPE_f8e5m2:
        return get_eighth(t, *(const uint8_t *)at);
    case AXE_TYPE_f8e8m0:
        return get_power(*(const uint8_t *)at);
    case AXE_TYPE_f64:
        memcpy(&v, at, sizeof v);
        return v;
    default:
        return get_float(at);
    }
}

void
axe_number_put(axe_type t, void *at, double x)
{
    uint16_t h;
    float    f;

    if (t == AXE_TYPE_f64) {
        memcpy(at, &x, sizeof x);
    } else if (t == AXE_TYPE_f4e2m1) {
        *(uint8_t *)at = (uint8_t)put_fourth(x);
    } else if (axe_type_table[t].bits == 8) {
        *(uint8_t *)at = t == AXE_TYPE_f8e8m0 ? put_power(x) : put_eighth(t, x);
    } else if (axe_type_table[t].bits == 16) {
        h = t == AXE_TYPE_f16 ? put_half(x) : put_bfloat(x);
        memcpy(at, &h, sizeof h);
    } else {
        f = (float)axe_float_round(&format[t], x);
        memcpy(at, &f, sizeof f);
    }
}

double
axe_number_load(axe_type t, const void *data, int64_t at)
{
    const uint8_t *from = (const uint8_t *)data + axe_type_bytes(t, at);
    uint8_t        h;

    if (axe_type_per_byte(t) == 1)
        return axe_number_get(t, from);
    h = (uint8_t)(*from >> at % 2 * 4);
    return axe_number_get(t, &h);
}

void
axe_number_store(axe_type t, void *data, int64_t at, double x)
{
    uint8_t *to = (uint8_t *)data + axe_type_bytes(t, at), h;
    int      up = (int)(at % 2 * 4);

    if (axe_type_per_byte(t) == 1) {
        axe_number_put(t, to, x);
        return;
    }
    axe_number_put(t, &h, x);
    *to = (uint8_t)((*to & ~(15 << up)) | h << up);
}

const char *
axe_number_digits(axe_ctx *cx, axe_type t, double v)
{
    enum { MOST_DIGITS = 17 };
    const char *text = "";

    for (int n = 1; n <= MOST_DIGITS; n++) {
        double back;

        text = axe_textf(cx, "%.*g", n, v);
        axe_number_put(t, &back, strtod(text, NULL));
        if (axe_number_get(t, &back) == v)
            break;
    }
    return text;
}

int64_t
axe_number_get_int(axe_type t, const void *at)
{
    int      bits = axe_type_table[t].bits;
    uint64_t v = 0, sign = UINT64_C(1) << (bits - 1);

    memcpy(&v, at, (size_t)bits / 8); /* little endian, as .npy */
    if (axe_type_table[t].cls == AXE_CLASS_INT)
        v = (v ^ sign) - sign;
    return (int64_t)v;
}

void
axe_number_put_int(axe_type t, void *at, int64_t x)
{
    memcpy(at, &x, (size_t)axe_type_table[t].bits / 8);
}
