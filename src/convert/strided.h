/* strided.h - views of memory by a stride for each dimension. */
#ifndef AXE_CONVERT_STRIDED_H
#define AXE_CONVERT_STRIDED_H

#include "axe/layout.h"

/* stride and offset count units of `item`, 1 or the bytes of an element. */
typedef struct axe_view {
    int            n;
    const int64_t *extent, *stride;
    int64_t        item, offset;
    bool           broadcast; /* a stride of 0 is meant */
} axe_view;

/* A dim for each dimension; those of extent 1 are empty.  ESHAPE: strides that
 * are no multiples of the item; a stride of 0 that is not meant, since it is no
 * replica: many indices share one address. */
AXE_CHECK axe_status axe_view_to_axe(axe_ctx *cx, const char *what,
                                     const axe_view *v, const axe_layout **out);

/* And back, in units of `item`.  ESHAPE: replicas, a swizzle, a dimension that
 * no single stride walks. */
AXE_CHECK axe_status axe_view_from_axe(axe_ctx *cx, const char *what,
                                       const axe_layout *l, int64_t item,
                                       axe_view *out);

#endif
