/* array.h - does an array suit the parameter that it is given for? */
#ifndef AXE_RUN_ARRAY_ARRAY_H
#define AXE_RUN_ARRAY_ARRAY_H

#include "run/program.h"

/* Its type, rank, extents and strides.
 * stride  out, [rank, elements]: those of the array, or where it has none those
 *         of elements that lie close, the last dimension fastest
 * Errors  EUNSUPPORTED, ETYPE, ESHAPE, EARG, EOVERFLOW */
AXE_CHECK axe_status axe_array_check(axe_ctx *cx, const axe_tensor *t,
                                     const axe_array *a,
                                     const int64_t  **stride);
/* Is its memory there, and aligned to its elements?
 * Errors  EARG */
AXE_CHECK axe_status axe_array_check_data(axe_ctx *cx, const axe_tensor *t,
                                          const axe_array *a);
/* Has it no elements? */
bool axe_array_is_empty(const axe_array *a);

#endif
