/* divisor.h - which code a floating-point division needs, by what is known of
 * its divisor: small and large divisors take extra steps. */
#ifndef AXE_LOWER_PASS_DIVISOR_H
#define AXE_LOWER_PASS_DIVISOR_H

#include "lower/lower.h"

/* What is known of all values of a divisor but NaN. */
typedef enum axe_divisor {
    AXE_DIVISOR_ANY,
    AXE_DIVISOR_LARGE, /* 2^-120 or more */
    AXE_DIVISOR_MID    /* and less than 2^125 */
} axe_divisor;

axe_divisor axe_divisor_of(const axe_node *n);

#endif
