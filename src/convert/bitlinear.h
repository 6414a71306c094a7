/* bitlinear.h - is a layout linear over bits, f(x ^ y) = f(x) ^ f(y)? */
#ifndef AXE_CONVERT_BITLINEAR_H
#define AXE_CONVERT_BITLINEAR_H

#include "axe/layout.h"

/* One bit of the index: 2^k steps of it go to `stride` on `axis`. */
typedef struct axe_bit {
    axe_axis axis;
    int64_t  stride;
} axe_bit;

/* Decided for D of l, replicas apart: true, with a bit for each power of two of
 * the index in ctx memory; or false, with x < y where the law does not hold,
 * or, where the size is no power of two and it holds as far as it can be asked,
 * x ^ y is no index. Errors  EUNSUPPORTED: a size known only at run time. */
AXE_CHECK axe_status axe_bit_linear(axe_ctx *cx, const axe_layout *l, bool *yes,
                                    int *n, axe_bit **bit, int64_t witness[2]);

#endif
