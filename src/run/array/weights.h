/* weights.h - packed arguments of a launch. */
#ifndef AXE_RUN_ARRAY_WEIGHTS_H
#define AXE_RUN_ARRAY_WEIGHTS_H

#include "run/program.h"

#define AXE_PACKED_AS " packed as "

/* Arrays are packed where the program takes them so, as it takes them, and
 * nowhere else.  Names must be known.
 * Errors  ESHAPE with both layouts. */
AXE_CHECK axe_status axe_check_packing(axe_ctx *cx, const axe_program *p, int n,
                                       const axe_array *array);

#endif
