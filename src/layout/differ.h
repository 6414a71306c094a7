/* differ.h - words for indices, points and normal forms, where two layouts are
 * compared. */
#ifndef AXE_LAYOUT_DIFFER_H
#define AXE_LAYOUT_DIFFER_H

#include "axe/layout.h"

/* "(3)", or "no place". */
const char *axe_layout_points_text(axe_ctx *cx, const axe_points *p);
/* "index 5, (1, 2)": an index, and what it is in dims. */
const char *axe_layout_index_text(axe_ctx *cx, axe_shape s, int64_t x);
/* The normal form, or the layout's own text where it has none. */
const char *axe_layout_form_text(axe_ctx *cx, const axe_layout *l);

#endif
