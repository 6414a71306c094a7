/* radix.h - coordinates read as digits, and functions found again from tables.
 *
 * Both are ways to follow one layout by another: C(x) = A(B(x)).  The radix is
 * quick and says no too often; the table is exact and costs every point.
 */
#ifndef AXE_LAYOUT_RADIX_H
#define AXE_LAYOUT_RADIX_H

#include "axe/layout.h"

/* A coordinate v >= 0 read in a mixed radix: digit j, fast to slow, has
 * digit[j].extent values and goes to digit[j].stride on its own axis.  The last
 * digit is unbounded. */
typedef struct axe_radix {
    int             n; /* >= 1 */
    const axe_iter *digit;
} axe_radix;

/* l with every iter, replica and offset on `axis` replaced by what the radix
 * makes of it; the rest, the dims and the swizzle stay.  Unit iters vanish from
 * what is replaced.
 * Errors  ESHAPE: digits carry (sufficient for "no layout", not necessary), or
 *         a coordinate is negative.  EUNSUPPORTED: a unit on `axis`.
 * cost    O(iters of l * n) */
AXE_CHECK axe_status axe_radix_follow(axe_ctx *cx, const char *what,
                                      const axe_layout *l, axe_axis axis,
                                      axe_radix r, const axe_layout **out);

/* A function of n indices into n_slot coordinates: f[x * n_slot + k]. */
typedef struct axe_table {
    int64_t        n;
    int            n_slot;
    const int64_t *f;
} axe_table;

/* The iters, slow to fast and canonical, of the one list with
 * f(x) - f(0) = D(x); iter.axis is the slot, and stride 0 has slot 0.
 * Returns their number, at most 62; or -1, with *at the first index that no
 * list agrees with.  Exact, O(n * n_slot).
 *
 * Why it is exact: in a canonical list the lowest iter (e : s@k) is seen in
 * f(1) - f(0), which is s on slot k alone; it ends where f first leaves the
 * line, for there the next iter begins, which would have been fused did it
 * stay on the line.  The rest is the same question about every e-th index. */
int axe_table_iters(axe_table t, axe_iter out[62], int64_t *at);

#endif
