/* text.c - values with error bounds, the fixed part of every reference.
 *
 * A value R is (v, e): computed in double, v is within e of what any lowering
 * may get that rounds each operation to the node's type.  u is twice that
 * type's roundoff (one half for each side's rounding).  The rules are the usual
 * first-order running error analysis; a sum of n terms in unknown order adds
 *
 *     min(n, 4 sqrt(n)) u sum |x_i|
 *
 * which is the bound for certain at small n, and at larger n fails with
 * vanishing probability (Higham and Mary 2019), while a term that is
 * missing or wrong still sticks out by sqrt(n) or more.  Exact values stay
 * exact: a copy or a cast of what was only copied has the bound 0.
 *
 * An infinity with a finite bound is one for certain, as what is computed from
 * a constant one may be; one that an overflow makes has an infinite bound.
 *
 * Products of bf16 elements may be added by instructions that take subnormal
 * operands and results as zero.
 *
 * Integers are exact, with one exception: where a real number is cast to one,
 * its bound may reach over a half.  `doubt` is by how much the integers of the
 * element at hand may differ: once stored it is the element's bound, and what
 * is computed from such an integer has none (an infinite one).  A comparison
 * that rounding may turn is a `maybe`, which a stored bool keeps.  Behind a
 * branch on what is in doubt nothing is certain: `lost` is infinite from there
 * on. */
#include "run/ref/ref_int.h"

#define LINE(...) #__VA_ARGS__ "\n"

/* clang-format off */
const char axe_ref_text[] =
LINE(typedef long long i64;)
LINE(typedef unsigned long long u64;)
LINE(typedef struct { double v, e; } R;)
LINE(void *malloc(unsigned long);)
LINE(void free(void *);)
LINE(double fabs(double); double sqrt(double); double exp(double);)
LINE(double exp2(double); double log(double); double tanh(double);)
LINE(double rint(double); double frexp(double, int *);)
LINE(double ldexp(double, int); double expm1(double);)

LINE(static int infinite(double v) { return v == v && v - v != 0; })
LINE(static R add(R a, R b, double u)
     { double v = a.v + b.v;
       int sure = infinite(v) && (infinite(a.v) || infinite(b.v));
       return (R){v, a.e + b.e + (sure ? 0 : u * fabs(v))}; })
LINE(static R sub(R a, R b, double u)
     { return add(a, (R){-b.v, b.e}, u); })
LINE(static double times(double a, double b)
     { return a == 0 || b == 0 ? 0 : a * b; })
LINE(static int scales(R a, R b)
     { return infinite(a.v) && a.e - a.e == 0 && fabs(b.v) > b.e; })
LINE(static int nought(R a) { return a.v == 0 && a.e == 0; })
LINE(static R mul(R a, R b, double u)
     { double v = a.v * b.v;
       if (v == 0 && (nought(a) || nought(b))) { return (R){v, 0}; }
       if (scales(a, b) || scales(b, a)) { return (R){v, 0}; }
       return (R){v, times(fabs(a.v), b.e) + times(fabs(b.v), a.e) +
                     times(a.e, b.e) + u * fabs(v)}; })
LINE(static R mul_bf16(R a, R b, double u)
     { R r = mul(a, b, u); double least = 0x1p-126;
       int none = fabs(a.v) < least || fabs(b.v) < least;
       r.e += 2 * least + (none ? fabs(r.v) : 0);
       return r; })
LINE(static R quo(R a, R b, double u)
     { double v = a.v / b.v; double d = fabs(b.v) - b.e;
       return (R){v, (a.e + times(fabs(v), b.e)) / (d > 0 ? d : 0) +
                     4 * u * fabs(v)}; })
LINE(static R neg(R a) { return (R){-a.v, a.e}; })
LINE(static R mag(R a) { return (R){fabs(a.v), a.e}; })
LINE(static R upper(R a, R b)
     { return (R){a.v > b.v ? a.v : b.v, a.e > b.e ? a.e : b.e}; })
LINE(static R lower(R a, R b)
     { return (R){a.v < b.v ? a.v : b.v, a.e > b.e ? a.e : b.e}; })
LINE(static R fexp(R a, double u)
     { double v = exp(a.v);
       return (R){v, v * (expm1(a.e) + 8 * u) + 0x1p-125}; })
LINE(static R fexp2(R a, double u)
     { double v = exp2(a.v);
       return (R){v, v * (expm1(0.6931471805599453 * a.e) + 8 * u) +
                     0x1p-125}; })
LINE(static R flog(R a, double u)
     { double v = log(a.v); double d = a.v - a.e;
       return (R){v, a.e / (d > 0 ? d : 0) + 8 * u * fabs(v) + u}; })
LINE(static R fsqrt(R a, double u)
     { double v = sqrt(a.v);
       return (R){v, v > 0 ? a.e / v + 4 * u * v : sqrt(a.e)}; })
LINE(static R ftanh(R a, double u)
     { double v = tanh(a.v); return (R){v, a.e + 8 * u * fabs(v)}; })

LINE(static R to_f64(R a) { return a; })
LINE(static R to_f32(R a)
     { double v = (float)a.v;
       if (infinite(a.v)) { return a; }
       return (R){v, a.e != 0 ? a.e + fabs(v) * 0x1p-23 + 0x1p-125 : 0}; })
LINE(static R round_to(R a, int p, int emin, double max)
     { int k; double s; double v = a.v;
       if (infinite(v)) { return a; }
       if (v != 0 && v - v == 0) {
         frexp(v, &k);
         s = ldexp(1.0, (k - 1 > emin ? k - 1 : emin) - (p - 1));
         v = rint(v / s) * s;
         if (fabs(v) > max) { v = v > 0 ? 1 / 0.0 : -1 / 0.0; }
       }
       s = ldexp(1.0, emin + 1);
       return (R){v, a.e != 0 ? a.e + fabs(v) * ldexp(1.0, 1 - p) + s : 0}; })
LINE(static R to_f16(R a) { return round_to(a, 11, -14, 65504); })
LINE(static R to_tf32(R a) { return round_to(a, 11, -126, 0x1.ffcp127); })
LINE(static R to_bf16(R a) { return round_to(a, 8, -126, 0x1.fep127); })

LINE(static R finish_sum(R acc, double sum, double n, double u)
     { double g = 4 * sqrt(n); g = n < g ? n : g;
       return (R){acc.v, acc.e + g * u * sum}; })

;

/* Functions, where a bound is widened by what they are at its ends. */
const char axe_ref_text_math[] =
LINE(double sin(double);)
LINE(double cos(double);)
LINE(double tan(double);)
LINE(double asin(double);)
LINE(double acos(double);)
LINE(double atan(double);)
LINE(double sinh(double);)
LINE(double cosh(double);)
LINE(double erf(double);)
LINE(double erfc(double);)
LINE(double log1p(double);)
LINE(double expm1(double);)
LINE(double log2(double);)
LINE(double log10(double);)
LINE(double cbrt(double);)
LINE(double floor(double);)
LINE(double ceil(double);)
LINE(double round(double);)
LINE(double trunc(double);)
LINE(double rint(double);)
LINE(double atan2(double, double);)
LINE(double pow(double, double);)
LINE(double hypot(double, double);)
LINE(double fmod(double, double);)
LINE(double copysign(double, double);)
LINE(double fma(double, double, double);)
LINE(static double doubt; static double maybe;)
LINE(static double apart(double x, double y)
     { return x == y || (x != x && y != y) ? 0 : x - y == x - y ? fabs(x - y)
                                                               : 1 / 0.0; })
LINE(static R wave(double (*f)(double), R a, double u)
     { double v = f(a.v); return (R){v, a.e + u * fabs(v)}; })
LINE(static R pole(double (*f)(double), R a, double u)
     { double v = f(a.v); double d = 2 * a.e * (1 + v * v);
       return (R){v, (d > fabs(v) + 1 ? 1 / 0.0 : d) + u * fabs(v)}; })
LINE(static R steps(double (*f)(double), R a)
     { double v = f(a.v); double x = apart(f(a.v - a.e), v);
       double y = apart(f(a.v + a.e), v);
       return (R){v, a.e == 0 ? 0 : x > y ? x : y}; })
LINE(static R mono(double (*f)(double), R a, double u)
     { R r = steps(f, a); r.e += u * fabs(r.v) + 0x1p-125;
       r.e = r.v - r.v == 0 || a.e > 0 ? r.e : 0; return r; })
LINE(static R even(double (*f)(double), R a, double u)
     { a.v = fabs(a.v); R r = mono(f, a, u);
       return r; })
LINE(static double more(double x, double y) { return x > y || x != x ? x : y; })
LINE(static R four(double (*f)(double, double), R a, R b, double u)
     { double v = f(a.v, b.v); double e = 0;
       if (a.e != 0 || b.e != 0) {
         e = more(e, apart(f(a.v + a.e, b.v + b.e), v));
         e = more(e, apart(f(a.v + a.e, b.v - b.e), v));
         e = more(e, apart(f(a.v - a.e, b.v + b.e), v));
         e = more(e, apart(f(a.v - a.e, b.v - b.e), v)); }
       return (R){v, e + (v - v == 0 ? u * fabs(v) + 0x1p-125 : 0)}; })
LINE(static R rest(R a, R b)
     { return (R){fmod(a.v, b.v), a.e == 0 && b.e == 0 ? 0 : 1 / 0.0}; })
LINE(static R signed_as(R a, R b)
     { return (R){copysign(a.v, b.v),
                  a.e + (b.e > 0 && fabs(b.v) <= b.e ? 2 * fabs(a.v) : 0)}; })
LINE(static R fused(R a, R b, R c, double u)
     { double v = fma(a.v, b.v, c.v);
       return (R){v, mul(a, b, 0).e + c.e + u * fabs(v)}; })
LINE(static double sign_of(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; })
LINE(static int sort(R a, int is)
     { if (a.e > 0 && !(fabs(a.v) + a.e < 0x1p15)) { maybe = 1 / 0.0; }
       return is; })
;

/* Integers, and what is in doubt. */
const char axe_ref_text_whole[] =
LINE(static i64 wrap_add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); })
LINE(static i64 wrap_sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); })
LINE(static i64 wrap_mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); })
LINE(static i64 wrap_neg(i64 a) { return (i64)(0 - (u64)a); })
LINE(static i64 floor_div(i64 a, i64 b)
     { if (b == 0) { return 0; }
       if (b == -1) { return wrap_neg(a); }
       return a / b - (a % b != 0 && (a < 0) != (b < 0)); })
LINE(static i64 floor_mod(i64 a, i64 b)
     { return b == 0 ? a : wrap_sub(a, wrap_mul(floor_div(a, b), b)); })
LINE(static i64 shl(i64 a, i64 n, int w)
     { return 0 <= n && n < w ? (i64)((u64)a << n) : 0; })
LINE(static i64 shr(i64 a, i64 n, int w)
     { return 0 <= n && n < w ? a >> n : a < 0 ? -1 : 0; })
LINE(static i64 bits(i64 a, int w)
     { i64 n = 0; for (int i = 0; i < w; i++) { n += (u64)a >> i & 1; }
       return n; })
LINE(static i64 zeros(i64 a, int w)
     { i64 n = 0; for (int i = w - 1; i >= 0 && !((u64)a >> i & 1); i--) { n++; }
       return n; })
LINE(static double lost;)
LINE(static int test(R a, R b, int holds)
     { if (fabs(a.v - b.v) <= a.e + b.e && a.e + b.e > 0) maybe = 1 / 0.0;
       return holds; })
LINE(static i64 whole(double v, double lo, double end)
     { v = rint(v);
       return v != v ? 0 : v < lo ? (i64)lo
            : v >= end ? (end < 0x1p64 ? (i64)((u64)end - 1) : -1)
            : v < 0x1p63 ? (i64)v : (i64)(u64)v; })
LINE(static i64 to_whole(R a, double lo, double end)
     { i64 l = whole(a.v - a.e, lo, end); i64 h = whole(a.v + a.e, lo, end);
       double d = (double)(u64)(h - l);
       d = a.e - a.e == 0 ? d : 1 / 0.0;
       doubt = d > doubt ? d : doubt;
       return whole(a.v, lo, end); })
LINE(static void recall(double e) { doubt = e > doubt ? e : doubt; })
LINE(static double widen(double e) { return e > 0 ? 1 / 0.0 : 0; })
LINE(static i64 bits_f64(R a)
     { union { double v; i64 i; } x = {a.v}; if (a.e != 0) { doubt = 1 / 0.0; }
       return x.i; })
LINE(static i64 bits_f32(R a)
     { union { float v; int i; } x = {(float)a.v};
       if (a.e != 0) { doubt = 1 / 0.0; }
       return x.i; })
LINE(static R of_bits_f64(i64 i)
     { union { i64 i; double v; } x = {i}; return (R){x.v, widen(doubt)}; })
LINE(static R of_bits_f32(i64 i)
     { union { int i; float v; } x = {(int)i};
       return (R){x.v, widen(doubt)}; })
LINE(static i64 bits_bf16(R a) { return bits_f32(a) >> 16; })
LINE(static R of_bits_bf16(i64 i) { return of_bits_f32((i64)((u64)i << 16)); })
LINE(static R of_bits_small(i64 i, int p, int emin, int top)
     { int m = (int)(i & ((1 << (p - 1)) - 1)); int e = (int)(i >> (p - 1)) & top;
       double v = e ? ldexp(m + (1 << (p - 1)), emin + e - p) : ldexp(m, emin + 1 - p);
       if (e == top && top == 31) { v = m ? 0 / 0.0 : 1 / 0.0; }
       if (top == 15 && e == 15 && m == 7) { v = 0 / 0.0; }
       return (R){i >> (p == 11 ? 15 : 7) & 1 ? -v : v, widen(doubt)}; })
LINE(static R of_bits_f16(i64 i) { return of_bits_small(i, 11, -14, 31); })
LINE(static R of_bits_f8e4m3(i64 i) { return of_bits_small(i, 4, -6, 15); })
LINE(static R of_bits_f8e5m2(i64 i) { return of_bits_small(i, 3, -14, 31); })
LINE(static i64 bits_small(R a, int n, R (*of)(i64))
     { i64 s = 1; s <<= n - 1; i64 k = 0; double c = of(s).v;
       union { double v; i64 i; } x = {a.v}, y = {c};
       if (a.e != 0) { doubt = 1 / 0.0; }
       if (a.v != a.v) { return (x.i < 0 ? s : 0) | (n == 16 ? 0x7e00 : 0x7f); }
       while (k < s - 1 && of(k).v != fabs(a.v)) { k++; }
       return k | (x.i < 0 ? s : 0); })
LINE(static i64 bits_f16(R a) { return bits_small(a, 16, of_bits_f16); })
LINE(static i64 bits_f8e4m3(R a) { return bits_small(a, 8, of_bits_f8e4m3); })
LINE(static i64 bits_f8e5m2(R a) { return bits_small(a, 8, of_bits_f8e5m2); })
LINE(static R of_bits_f8e8m0(i64 i)
     { return (R){(i & 255) == 255 ? 0 / 0.0 : ldexp(1.0, (int)(i & 255) - 127),
                  widen(doubt)}; })
LINE(static i64 bits_f8e8m0(R a)
     { int k; if (a.e != 0) { doubt = 1 / 0.0; }
       if (a.v != a.v) { return 255; }
       frexp(a.v, &k); return k + 126; })
;

/* Types of 8 and 4 bits have no more than their largest finite value, and that of 4
 * bits has it for NaN. */
const char axe_ref_text_8[] =
LINE(static R round_within(R a, int p, int emin, double max)
     { a.v = a.v > max ? max : a.v < -max ? -max : a.v;
       return round_to(a, p, emin, max); })
LINE(static R to_f8e4m3(R a) { return round_within(a, 4, -6, 448); })
LINE(static R to_f8e5m2(R a) { return round_within(a, 3, -14, 57344); })
LINE(static R to_f4e2m1(R a)
     { a.v = a.v != a.v ? 6 : a.v; return round_within(a, 2, 0, 6); })
LINE(static double power_up(double x)
     { int k; double m;
       if (x != x || x >= 0x1p127) { return x != x ? x : 0x1p127; }
       m = frexp(x > 0x1p-127 ? x : 0x1p-127, &k);
       return ldexp(1.0, m > 0.5 ? k : k - 1); })
LINE(static R to_f8e8m0(R a)
     { double v = power_up(a.v), lo = v - power_up(a.v - a.e);
       double hi = power_up(a.v + a.e) - v;
       return (R){v, a.e - a.e == 0 ? (hi > lo ? hi : lo) : a.e}; })
;
/* clang-format on */
