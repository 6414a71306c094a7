/* scale.h - scales of factors, in tensor memory. */
#ifndef AXE_PLAN_SIMT_TMEM_SCALE_H
#define AXE_PLAN_SIMT_TMEM_SCALE_H

#include "plan/access/scaled.h"
#include "plan/simt/contract/product.h"

/* Of the tiles in tensor memory that hold the scales of a and of b: which are
 * open; the open ones laid out as the candidate reads them, or open again
 * without one, false: it reads none such; and at last, for good. */
void axe_scales_open(const axe_product *j, bool open[2]);
bool axe_scales_put(const axe_product *j, const bool open[2],
                    const axe_candidate *by);
void axe_scales_settle(const axe_product *j, const bool open[2],
                       const axe_candidate *by);

/* The layout of the tile in tensor memory that has the scales of side 1 or 2,
 * over (row, block of the sum), as the candidate reads it; NULL: none. */
const axe_layout *axe_scale_layout(const axe_product   *j,
                                   const axe_candidate *by, int side);

/* Where each repetition of the candidate's atom finds the scales of side 1 or 2
 * in the tile as it lies; shown element by element.  false: it does not, *why.
 */
bool axe_scale_fit(const axe_product *j, const axe_candidate *by, int side,
                   axe_scale *out, const char **why);

/* Of a product of scaled factors that no row does: why. */
void axe_scale_reject(axe_planner *p, axe_request *r);

#endif
