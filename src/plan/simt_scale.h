/* simt_scale.h - scales of factors, in tensor memory. */
#ifndef AXE_SIMT_SCALE_H
#define AXE_SIMT_SCALE_H

#include "plan/scaled.h"
#include "plan/simt_option.h"

/* The layout of the tile in tensor memory that has the scales of side 1 or 2,
 * over (row, block of the sum), as the option reads it; NULL: none. */
const axe_layout *axe_scale_layout(const job *j, const option *o, int side);

/* Where each repetition of the option's atom finds the scales of side 1 or 2 in
 * the tile as it lies; shown element by element.  false: it does not, *why. */
bool axe_scale_fit(const job *j, const option *o, int side, axe_scale *out,
                   const char **why);

#endif
