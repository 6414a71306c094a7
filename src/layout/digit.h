/* digit.h - the iters of one axis seen as digits of its coordinate.
 *
 * Every coordinate of a layout on one axis is
 *
 *     lowest + sum d_k * step_k,   0 <= d_k < extent_k,  step_k > 0
 *
 * an iter of negative stride runs backwards (reversed: its index is
 * extent - 1 - d).  Injectivity, inverses and complements are questions about
 * these sums alone.
 */
#ifndef AXE_LAYOUT_DIGIT_H
#define AXE_LAYOUT_DIGIT_H

#include "axe/layout.h"

typedef struct axe_digit {
    int64_t extent, step;
    int64_t weight; /* of one step in the flat index; 0: a replica */
    bool    reversed;
} axe_digit;

typedef struct axe_digits {
    int        n;
    axe_digit *digit;           /* by step, ascending; then by weight */
    int64_t    lowest, highest; /* coordinate, offset counted */
} axe_digits;

/* The digits of l, which must be canonical, on `axis`; iters of stride 0 are
 * left out.
 * Errors  EUNSUPPORTED: a stride or offset there has a unit.  EOVERFLOW.
 * what    names the operation in diagnostics. */
AXE_CHECK axe_status axe_digits_of(axe_ctx *cx, const char *what,
                                   const axe_layout *l, axe_axis axis,
                                   axe_digits *out);

/* The axes that l (canonical) uses: those of an iter of nonzero stride or of an
 * offset; ascending, in ctx memory. */
int axe_axes_used(axe_ctx *cx, const axe_layout *l, axe_axis **out);

/* The one axis that l (canonical) uses, m if none; ESHAPE if several. */
AXE_CHECK axe_status axe_axis_only(axe_ctx *cx, const char *what,
                                   const axe_layout *l, axe_axis *out);

/* EUNSUPPORTED if l carries a swizzle. */
AXE_CHECK axe_status axe_no_swizzle(axe_ctx *cx, const char *what,
                                    const axe_layout *l);

/* Is a relation sum delta_k * step_k = 0, |delta_k| < extent_k, possible that
 * moves some digit which is not a replica?  Then the indices x < y that it
 * joins are in witness.  Exact; ELIMIT after 2^22 points. */
AXE_CHECK axe_status axe_digits_collide(axe_ctx *cx, const axe_digits *g,
                                        bool *out, int64_t witness[2]);

#endif
