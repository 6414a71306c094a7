/* scalar.c - what a lane does with its own registers. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "ptx.h"

static uint64_t
mask(uint64_t v, int bits)
{
    return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static int64_t
as_signed(uint64_t v, int bits)
{
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* ------------------------------------------------------------------- floats */

static double
flush(double v)
{
    return fabs(v) < 0x1p-126 ? copysign(0, v) : v;
}

/* One float operation, in double: of f32 the result is rounded once more, which
 * is right for + - * / and sqrt, and for fma but for ties beyond belief. */
static double
float_op(const char *op, double a, double b, double c)
{
    switch (op[0]) {
    case 'a':
        return op[1] == 'd' ? a + b : fabs(a);
    case 's':
        return op[1] == 'u' ? a - b : sqrt(a);
    case 'm':
        if (op[1] == 'u')
            return a * b;
        if (op[1] == 'a' && op[2] == 'd')
            return a * b + c;
        return op[1] == 'i' ? fmin(a, b) : fmax(a, b);
    case 'f':
        return fma(a, b, c);
    case 'd':
        return a / b;
    case 'n':
        return -a;
    case 'e':
        return exp2(a);
    case 'l':
        return log2(a);
    case 't':
        return tanh(a);
    default: /* rcp, rsqrt */
        return op[1] == 'c' ? 1 / a : 1 / sqrt(a);
    }
}

/* Rounded as .rm and .rp say, from a double that was rounded so, too. */
static uint64_t
direct(const ptx_insn *i, double a, double b, double c)
{
    volatile double x = a, y = b, z = c;
    volatile float  r;

    fesetround(ptx_has(i, W_RM)   ? FE_DOWNWARD
               : ptx_has(i, W_RP) ? FE_UPWARD
                                  : FE_TOWARDZERO);
    r = (float)float_op(i->op->name, x, y, z);
    fesetround(FE_TONEAREST);
    return ptx_f32_bits(r);
}

static uint64_t
of_floats(const ptx_insn *i, const ptx_type *t, const uint64_t x[3])
{
    double v[3], r;
    bool   ftz = ptx_has(i, W_FTZ);

    if (i->op->name[0] == 'f' && t->bits == 32 && !ptx_has(i, W_RM) &&
        !ptx_has(i, W_RP) && !ptx_has(i, W_RZ)) {
        r = (double)fmaf(ptx_f32(x[0]), ptx_f32(x[1]), ptx_f32(x[2]));
        return ptx_bits(t, ftz ? flush(r) : r);
    }
    for (int k = 0; k < 3; k++) {
        v[k] = ptx_number(t, x[k]);
        v[k] = ftz ? flush(v[k]) : v[k];
    }
    if (ptx_has(i, W_RM) || ptx_has(i, W_RP) || ptx_has(i, W_RZ))
        return direct(i, v[0], v[1], v[2]);
    r = float_op(i->op->name, v[0], v[1], v[2]);
    r = ftz ? flush((double)(float)r) : r;
    if (ptx_has(i, W_SAT))
        r = isnan(r) ? 0 : fmin(fmax(r, 0), 1);
    return ptx_bits(t, r);
}

/* ----------------------------------------------------------------- integers */

static uint64_t
divide(bool is_signed, int bits, bool rest, uint64_t a, uint64_t b)
{
    int64_t x = as_signed(a, bits), y = as_signed(b, bits);

    if (mask(b, bits) == 0)
        return rest ? a : UINT64_MAX;
    if (!is_signed) {
        a = mask(a, bits);
        b = mask(b, bits);
        return rest ? a % b : a / b;
    }
    if (y == -1)
        return rest ? 0 : 0 - a;
    return (uint64_t)(rest ? x % y : x / y);
}

static uint64_t
product(const ptx_insn *i, bool is_signed, int bits, uint64_t a, uint64_t b)
{
    __extension__ typedef __int128 wide;
    wide r = is_signed ? (wide)as_signed(a, bits) * as_signed(b, bits)
                       : (wide)mask(a, bits) * (wide)mask(b, bits);

    if (ptx_has(i, W_HI))
        return mask((uint64_t)(r >> bits), bits);
    return (uint64_t)r;
}

static uint64_t
shift(const ptx_insn *i, bool is_signed, int bits, uint64_t a, uint64_t n)
{
    n = mask(n, 32);
    if (i->op->name[2] == 'l')
        return n >= (unsigned)bits ? 0 : a << n;
    if (is_signed)
        return (uint64_t)(as_signed(a, bits) >>
                          (n >= (unsigned)bits ? (unsigned)bits - 1 : n));
    return n >= (unsigned)bits ? 0 : mask(a, bits) >> n;
}

static uint64_t
smaller(bool is_signed, int bits, bool least, uint64_t a, uint64_t b)
{
    bool less = is_signed ? as_signed(a, bits) < as_signed(b, bits)
                          : mask(a, bits) < mask(b, bits);

    return less == least ? a : b;
}

static uint64_t
permute(uint64_t a, uint64_t b, uint64_t which)
{
    uint64_t both = mask(a, 32) | b << 32, r = 0;

    for (int k = 0; k < 4; k++) {
        uint64_t s = which >> 4 * k & 15;
        uint64_t byte = both >> 8 * (s & 7) & 255;
        if (s & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * k;
    }
    return r;
}

static uint64_t
of_integers(const ptx_insn *i, const ptx_type *t, const uint64_t x[4])
{
    const char *op = i->op->name;
    bool        s = t->kind == 's';

    switch (op[0]) {
    case 'a':
        if (op[1] == 'b')
            return as_signed(x[0], t->bits) < 0 ? 0 - x[0] : x[0];
        return op[1] == 'd' ? x[0] + x[1] : x[0] & x[1];
    case 's':
        return op[1] == 'u' ? x[0] - x[1] : shift(i, s, t->bits, x[0], x[1]);
    case 'm':
        if (op[1] == 'u')
            return product(i, s, t->bits, x[0], x[1]);
        if (op[1] == 'a' && op[2] == 'd')
            return product(i, s, t->bits, x[0], x[1]) + x[2];
        return smaller(s, t->bits, op[1] == 'i', x[0], x[1]);
    case 'd':
        return divide(s, t->bits, false, x[0], x[1]);
    case 'r':
        return divide(s, t->bits, true, x[0], x[1]);
    case 'n':
        return op[1] == 'e' ? 0 - x[0] : t->bits == 1 ? !x[0] : ~x[0];
    case 'o':
        return x[0] | x[1];
    case 'x':
        return x[0] ^ x[1];
    case 'p':
        return permute(x[0], x[1], x[2]);
    default: /* bfe: x from bit [1], [2] bits; bfi: into [1] from bit [2], [3]
              */
        if (op[2] == 'e')
            return x[2] == 0 ? 0
                   : s       ? (uint64_t)as_signed(x[0] >> x[1], (int)x[2])
                             : mask(x[0] >> x[1], (int)x[2]);
        return (x[1] & ~(mask(UINT64_MAX, (int)x[3]) << x[2])) |
               mask(x[0], (int)x[3]) << x[2];
    }
}

/* -------------------------------------------------------------- comparisons */

static bool
compare(const ptx_insn *i, const ptx_type *t, uint64_t a, uint64_t b)
{
    static const struct {
        ptx_word word;
        int      when; /* 1 less, 2 equal, 4 greater, 8 unordered */
    } row[] = {{W_EQ, 2},   {W_NE, 5},   {W_LT, 1},   {W_LE, 3},  {W_GT, 4},
               {W_GE, 6},   {W_EQU, 10}, {W_NEU, 13}, {W_LTU, 9}, {W_LEU, 11},
               {W_GTU, 12}, {W_GEU, 14}, {W_NAN, 8},  {W_NUM, 7}};
    int is;

    if (t->kind == 'f' || t->kind == 'h' || t->kind == 'g') {
        double x = ptx_number(t, a), y = ptx_number(t, b);
        is = x < y ? 1 : x == y ? 2 : x > y ? 4 : 8;
    } else if (t->kind == 's') {
        int64_t x = as_signed(a, t->bits), y = as_signed(b, t->bits);
        is = x < y ? 1 : x == y ? 2 : 4;
    } else {
        a = mask(a, t->bits);
        b = mask(b, t->bits);
        is = a < b ? 1 : a == b ? 2 : 4;
    }
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++)
        if (ptx_has(i, row[k].word))
            return (row[k].when & is) != 0;
    return false;
}

typedef enum what { SELECT, COMPARE, FLOATS, INTEGERS } what;

static what
what_of(const ptx_insn *i, const ptx_type *t)
{
    const char *op = i->op->name;

    if (op[0] == 's' && op[1] == 'e')
        return op[2] == 'l' ? SELECT : COMPARE;
    if (t->kind == 'f' || t->kind == 'h' || t->kind == 'g')
        return FLOATS;
    return INTEGERS;
}

ptx_result
ptx_scalar(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_type *t = i->n_type > 0 ? i->type[i->n_type - 1] : NULL;
    what            do_what;

    if (!t || i->n_arg < 2 || i->n_arg > 5)
        return ptx_wrong(w, i, "this form is not known");
    do_what = what_of(i, t);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t x[4] = {0}, r;
        for (int a = 1; a < i->n_arg; a++)
            x[a - 1] = ptx_get(w, i->arg[a].op, l);
        r = do_what == SELECT    ? (x[2] & 1 ? x[0] : x[1])
            : do_what == COMPARE ? compare(i, t, x[0], x[1])
            : do_what == FLOATS  ? of_floats(i, t, x)
                                 : of_integers(i, t, x);
        ptx_put(w, i->arg[0].op, l, r);
    }
    return PTX_DONE;
}

/* ---------------------------------------------------------- moves, converts */

/* `mov.b64 {x, y}, z` and back; else one to one. */
ptx_result
ptx_move(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_arg *d = &i->arg[0], *s = &i->arg[1];

    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t v = 0;
        for (int k = s->n - 1; k >= 0; k--)
            v = s->n == 1 ? ptx_get(w, s->op, l)
                          : v << s->op[k].bits |
                                mask(ptx_get(w, &s->op[k], l), s->op[k].bits);
        for (int k = 0; k < d->n; k++) {
            ptx_put(w, &d->op[k], l, v);
            v = d->op[k].bits < 64 ? v >> d->op[k].bits : 0;
        }
    }
    return PTX_DONE;
}

static double
to_integer(const ptx_insn *i, double v)
{
    return ptx_has(i, W_RNI)   ? nearbyint(v)
           : ptx_has(i, W_RMI) ? floor(v)
           : ptx_has(i, W_RPI) ? ceil(v)
                               : trunc(v);
}

/* What does not fit is the nearest that does; NaN is 0. */
static uint64_t
clamp(const ptx_type *t, double v)
{
    double least = t->kind == 's' ? -ldexp(1, t->bits - 1) : 0;
    double most = ldexp(1, t->kind == 's' ? t->bits - 1 : t->bits);

    if (isnan(v))
        return 0;
    if (v <= least)
        return (uint64_t)(int64_t)least;
    if (v >= most)
        return t->kind == 's' ? (UINT64_C(1) << (t->bits - 1)) - 1
                              : mask(UINT64_MAX, t->bits);
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static bool
is_real(const ptx_type *t)
{
    return strchr("fthgew", t->kind) != NULL;
}

static uint64_t
converted(const ptx_insn *i, const ptx_type *d, const ptx_type *s, uint64_t v)
{
    double x;

    if (!is_real(d) && !is_real(s)) {
        v = s->kind == 's' ? (uint64_t)as_signed(v, s->bits) : mask(v, s->bits);
        return d->kind == 's' ? (uint64_t)as_signed(v, d->bits)
                              : mask(v, d->bits);
    }
    x = ptx_number(s, v);
    if (!is_real(d))
        return clamp(d, to_integer(i, x));
    if (ptx_has(i, W_RNI) || ptx_has(i, W_RZI) || ptx_has(i, W_RMI) ||
        ptx_has(i, W_RPI))
        x = to_integer(i, x);
    if (ptx_has(i, W_FTZ))
        x = flush(x);
    if (ptx_has(i, W_SAT))
        x = isnan(x) ? 0 : fmin(fmax(x, 0), 1);
    if (ptx_has(i, W_RZ)) {
        volatile double y = x;
        volatile float  r;
        fesetround(FE_TOWARDZERO);
        r = (float)y;
        fesetround(FE_TONEAREST);
        return ptx_f32_bits(r);
    }
    return ptx_bits(d, x);
}

/* Of two elements the first operand becomes the upper. */
ptx_result
ptx_convert(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_type *d = i->type[0], *s = i->type[1];
    int             half;

    if (i->n_type != 2 || i->n_arg < 2)
        return ptx_wrong(w, i, "this form is not known");
    half = d->bits / 2;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t r = converted(i, d, s, ptx_get(w, i->arg[1].op, l));
        if (i->n_arg == 3)
            r = mask(r, half) << half |
                mask(converted(i, d, s, ptx_get(w, i->arg[2].op, l)), half);
        ptx_put(w, i->arg[0].op, l, r);
    }
    return PTX_DONE;
}
