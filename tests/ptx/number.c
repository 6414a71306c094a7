/* number.c - numbers as bits of their types.
 *
 * Narrow formats are a sign, bits of exponent, bits of fraction; rounding is to
 * nearest, ties to even.  e4m3 has no infinity, and NaN is all ones; e2m1 has
 * neither. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

typedef struct format {
    int    exponent, fraction;
    bool   finite; /* no infinities: what is too large is the largest */
    double largest;
} format;

static format
format_of(char kind)
{
    switch (kind) {
    case 'h':
        return (format){5, 10, false, 65504};
    case 'g':
        return (format){8, 7, false, 0x1.fep127};
    case 'e':
        return (format){4, 3, true, 448};
    case 'q':
        return (format){2, 1, true, 6};
    default:
        return (format){5, 2, true, 57344};
    }
}

static int
width(format f)
{
    return 1 + f.exponent + f.fraction;
}

static double
from_narrow(format f, uint64_t b)
{
    int     bias = (1 << (f.exponent - 1)) - 1;
    int     e = (int)(b >> f.fraction) & ((1 << f.exponent) - 1);
    int64_t m = (int64_t)b & ((1 << f.fraction) - 1);
    bool    top = e == (1 << f.exponent) - 1;
    double  v;

    if (top && f.exponent == 2)
        v = ldexp((double)(m + (1 << f.fraction)), e - bias - f.fraction);
    else if (top && f.exponent == 4)
        v = m == (1 << f.fraction) - 1
                ? (double)NAN
                : ldexp((double)(m + (1 << f.fraction)), e - bias - f.fraction);
    else if (top)
        v = m ? (double)NAN : (double)INFINITY;
    else if (e == 0)
        v = ldexp((double)m, 1 - bias - f.fraction);
    else
        v = ldexp((double)(m + (1 << f.fraction)), e - bias - f.fraction);
    return b >> (width(f) - 1) & 1 ? -v : v;
}

/* satfinite: beyond the largest is the largest. */
static uint64_t
to_narrow(format f, double v)
{
    int      bias = (1 << (f.exponent - 1)) - 1, e;
    uint64_t sign = (uint64_t)(signbit(v) != 0) << (width(f) - 1);
    uint64_t most = (UINT64_C(1) << (width(f) - 1)) - 1;
    double   a = fabs(v), step;
    uint64_t bits;

    if (isnan(v))
        return f.finite && f.exponent == 4 ? sign | most : most;
    frexp(a, &e);
    e = a == 0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
    step = ldexp(1, e - f.fraction);
    if (isinf(a) || nearbyint(a / step) * step > f.largest)
        return sign |
               (f.finite ? to_narrow(f, f.largest)
                         : ((UINT64_C(1) << f.exponent) - 1) << f.fraction);
    bits = (uint64_t)nearbyint(a / step);
    return sign | (bits + ((uint64_t)(e + bias - 1) << f.fraction));
}

float
ptx_f32(uint64_t bits)
{
    uint32_t b = (uint32_t)bits;
    float    v;

    memcpy(&v, &b, sizeof v);
    return v;
}

uint64_t
ptx_f32_bits(float v)
{
    uint32_t b;

    memcpy(&b, &v, sizeof b);
    return b;
}

static int64_t
sign_extend(uint64_t v, int bits)
{
    return bits == 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* Each value of a format, made when it is first asked for. */
static double
looked_up(char kind, uint64_t bits)
{
    static double *table[128];
    format         f = format_of(kind);
    uint64_t       n = UINT64_C(1) << width(f);

    if (!table[(int)kind]) {
        double *t = malloc(n * sizeof *t);
        if (!t)
            abort();
        for (uint64_t b = 0; b < n; b++)
            t[b] = from_narrow(f, b);
        table[(int)kind] = t;
    }
    return table[(int)kind][bits & (n - 1)];
}

static uint64_t
mask(uint64_t v, int bits)
{
    return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

double
ptx_number(const ptx_type *t, uint64_t bits)
{
    double v;

    switch (t->kind) {
    case 'f':
        if (t->bits == 32)
            return (double)ptx_f32(bits);
        memcpy(&v, &bits, sizeof v);
        return v;
    case 't': /* the low 13 bits are not looked at */
        return (double)ptx_f32(bits & 0xffffe000);
    case 's':
        return (double)sign_extend(bits, t->bits);
    case 'h':
    case 'g':
    case 'e':
    case 'w':
    case 'q':
        return looked_up(t->kind, bits);
    case 'x':
        bits &= 0xff;
        return bits == 0xff ? (double)NAN : ldexp(1, (int)bits - 127);
    default:
        return (double)mask(bits, t->bits);
    }
}

uint64_t
ptx_bits(const ptx_type *t, double v)
{
    uint64_t b;

    switch (t->kind) {
    case 'f':
        if (t->bits == 32)
            return ptx_f32_bits((float)v);
        memcpy(&b, &v, sizeof b);
        return b;
    case 'h':
    case 'g':
    case 'e':
    case 'w':
        return to_narrow(format_of(t->kind), v);
    default:
        return mask((uint64_t)(int64_t)v, t->bits);
    }
}

/* a + b, element by element where there are two. */
uint64_t
ptx_add(const ptx_type *t, uint64_t a, uint64_t b)
{
    if (t->kind == 'u' || t->kind == 's' || t->kind == 'b')
        return mask(a + b, t->bits);
    if (t->kind == 'h' || t->kind == 'g') {
        uint64_t lo = ptx_bits(t, ptx_number(t, a) + ptx_number(t, b));
        if (t->bits == 16)
            return lo;
        return lo | ptx_bits(t, ptx_number(t, a >> 16) + ptx_number(t, b >> 16))
                        << 16;
    }
    if (t->bits == 32)
        return ptx_f32_bits(ptx_f32(a) + ptx_f32(b));
    return ptx_bits(t, ptx_number(t, a) + ptx_number(t, b));
}
