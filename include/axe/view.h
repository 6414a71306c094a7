/* view.h - pictures of layouts: who owns what.
 *
 * The logical grid has a cell for each index, with its coordinates on every
 * axis, all replicas listed; a layout of two dims is drawn as they are, so
 * group first to choose rows and columns.  At most 32 rows and 64 columns are
 * drawn.
 */
#ifndef AXE_VIEW_H
#define AXE_VIEW_H

#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As text for a terminal, lines ended by '\n'.
 * bits   of an element (a power of two), where the layout has a swizzle of
 *        bytes; else of no meaning
 * width  letters in a line, at least those of one column
 * Errors those of axe_layout_apply, and of axe_swizzle_recast for the bits.
 *        ELIMIT: an index has over 256 points */
AXE_CHECK axe_status axe_layout_draw(axe_ctx *cx, const axe_layout *l, int bits,
                                     int width, axe_buf *out);
/* As an SVG, with a grid for each pair of axes, too: places of no index are
 * hatched, those of several framed.  Self-contained; the same layout gives the
 * same bytes.  Errors as above. */
AXE_CHECK axe_status axe_layout_svg(axe_ctx *cx, const axe_layout *l, int bits,
                                    axe_buf *out);

#ifdef __cplusplus
}
#endif
#endif
