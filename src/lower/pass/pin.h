/* pin.h - registers of which no use may be moved past an atom. */
#ifndef AXE_LOWER_PASS_PIN_H
#define AXE_LOWER_PASS_PIN_H

#include "lower/lower.h"

/* What the atoms of a grid that order registers pin. */
void axe_pin_registers(axe_ctx *cx, axe_grid *g);

#endif
