/* set.h - sets of integers as runs of neighbours, and solving sums of
 * progressions for one summand. */
#ifndef AXE_LAYOUT_SET_H
#define AXE_LAYOUT_SET_H

#include "layout/layout_int.h"

/* lo, lo + 1, ..., hi. */
typedef struct axe_run {
    int64_t lo, hi;
} axe_run;

/* Sorted, disjoint, no two adjacent. */
typedef struct axe_runs {
    int      n, cap;
    axe_run *run;
} axe_runs;

/* The sum of r[0..n), strides divided by g.  false after AXE_SET_MAX runs. */
bool axe_runs_of_sums(axe_ctx *cx, int n, const axe_iter *r, int64_t g,
                      axe_runs *out);
/* Of n > 0 points, ascending. */
void axe_runs_of_points(axe_ctx *cx, int64_t n, const int64_t *point,
                        axe_runs *out);

/* out = { x + k stride : x in a, 0 <= k < extent }.  false after AXE_SET_MAX
 * runs. */
bool axe_runs_add(axe_ctx *cx, const axe_runs *a, int64_t extent,
                  int64_t stride, axe_runs *out);

bool axe_runs_same(const axe_runs *a, const axe_runs *b);
bool axe_runs_within(const axe_runs *a, const axe_runs *b); /* a in b? */

typedef enum axe_found { AXE_FOUND, AXE_NONE, AXE_UNDECIDED } axe_found;

enum { AXE_SUMMANDS = 48 };

/* Find iters x (extents and strides; strides ascending) with
 * fixed + sum x = target; both sets begin at 0.  Complete: AXE_NONE is a proof.
 * AXE_UNDECIDED after AXE_SET_MAX steps or beyond AXE_SUMMANDS iters. */
axe_found axe_sums_solve(axe_ctx *cx, const axe_runs *fixed,
                         const axe_runs *target, axe_iter x[AXE_SUMMANDS],
                         int *n);

#endif
