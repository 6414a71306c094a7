/* address.h - operands in shared memory as byte addresses. */
#ifndef AXE_LOWER_PASS_ADDRESS_H
#define AXE_LOWER_PASS_ADDRESS_H

#include "lower/lower.h"

/* Gives each operand of the grid in shared memory its place in bytes:
 * arg->byte. */
void axe_place_shared(axe_ctx *cx, axe_grid *g);

#endif
