/* width.h - which integers of a grid fit 32 bits. */
#ifndef AXE_LOWER_PASS_WIDTH_H
#define AXE_LOWER_PASS_WIDTH_H

#include "lower/lower.h"

/* The largest size whose indices may be ints, and how many CTAs that stay there
 * are at most: from there to INT32_MAX is room for what goes beyond the end to
 * fill up a tile. */
enum { AXE_SIZE_MOST = INT32_MAX - (1 << 20), AXE_STAY_MOST = 1 << 20 };

typedef struct axe_grid_widths axe_grid_widths;

/* Of the variables of a grid: what each may be at any launch whose sizes are at
 * most AXE_SIZE_MOST, or, `wide`, whatever they are.  A launch has at most
 * INT32_MAX CTAs, one of CTAs that stay AXE_STAY_MOST of them for at most
 * INT32_MAX - AXE_STAY_MOST tiles; a machine has at most AXE_STAY_MOST cores.
 */
const axe_grid_widths *axe_widths_make(axe_ctx *cx, const axe_lowered *l,
                                       const axe_grid *g, bool wide);
/* Between which values an integer expression of the grid's code lies. */
axe_interval axe_width_range(const axe_grid_widths *w, const axe_node *n);
/* What l->has_cores is to be. */
bool axe_lowered_has_cores(const axe_lowered *l);
/* May the interval leave int32? */
bool axe_interval_is_long(axe_interval r);

#endif
