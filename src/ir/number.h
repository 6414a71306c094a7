/* number.h - elements of tensors as host numbers, for filling, checking and
 * printing; never on a kernel's path. */
#ifndef AXE_IR_NUMBER_H
#define AXE_IR_NUMBER_H

#include "ir/ir.h"

/* What a floating type can represent: p bits of significand (the leading one
 * included), normal exponents from emin, magnitudes up to max. Beyond max the
 * types of 8 and 4 bits have max itself.  With one bit there are powers of two
 * alone: no zero, no signs. */
typedef struct axe_float_format {
    int    p, emin;
    double max;
} axe_float_format;

/* False for types that are not floating. */
bool axe_float_format_of(axe_type t, axe_float_format *out);

/* Nearest representable, ties to even; beyond max: infinity.  With one bit the
 * least power of two that is not below x. */
double axe_float_round(const axe_float_format *f, double x);

/* Does the type have powers of two alone? */
bool axe_number_is_power(axe_type t);

/* Can elements of this type be read and written here? */
bool axe_number_known(axe_type t);

/* Floating types: exact on reading, rounded as above on writing.  One of 4 bits
 * is in the low half of the byte; writing clears the other. */
double axe_number_get(axe_type t, const void *at);
void   axe_number_put(axe_type t, void *at, double x);
/* Element number `at` of data, where those of 4 bits are two in a byte, the one
 * with the even number in its low half. */
double axe_number_load(axe_type t, const void *data, int64_t at);
void   axe_number_store(axe_type t, void *data, int64_t at, double x);
/* A value of a floating type, finite or not, in as few digits as read back as
 * the same. */
const char *axe_number_digits(axe_ctx *cx, axe_type t, double v);
/* Integer types and bool; writing wraps. */
int64_t axe_number_get_int(axe_type t, const void *at);
void    axe_number_put_int(axe_type t, void *at, int64_t x);

#endif
