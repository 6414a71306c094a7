/* tmem_int.h - tensor memory, between the planners of many threads. */
#ifndef AXE_PLAN_SIMT_TMEM_TMEM_INT_H
#define AXE_PLAN_SIMT_TMEM_TMEM_INT_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ------------------------------------------------------------------- copy.c */

/* The layout of an open shared tile that s copies to tensor memory; and the
 * schedule of such a copy, false if it is none or no row does it. */
AXE_CHECK axe_status axe_simt_tcopy_infer(axe_planner *p, const axe_stmt *s);
bool axe_simt_tcopy_plan(axe_planner *p, const axe_stmt *s, axe_schedule *out);

/* ------------------------------------------------------------------ scale.c */

/* The kernel with the scales of products in tensor memory copied there first,
 * tile by tile:
 *
 *     sa.held[m, s] = sa[m, s]
 *     sb.held[n, s] = sb[n, s]
 *     c[m, n] += sa.held[m, k/B] * a[m, k] * sb.held[n, k/B] * b[n, k] */
const axe_kernel *axe_simt_hold_scales(axe_ctx *cx, const axe_machine *mc,
                                       const axe_kernel *k);

/* ------------------------------------------------------------------- tmem.c */

/* Layouts of open tiles in tensor memory that no contraction gave one, and of
 * open register tiles that s moves to or from it.
 * Errors  EUNSUPPORTED: no row moves it */
AXE_CHECK axe_status axe_simt_tmem_infer(axe_planner *p, const axe_stmt *s);

/* The schedule of such a move, or of a constant; *is: whether it is one.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_simt_tmem_plan(axe_planner *p, axe_request *r,
                                        axe_schedule *out, bool *is);

/* The size of a tile there, and with all sizes known its columns.
 * Errors  ESHAPE, EUNSUPPORTED, ELIMIT */
AXE_CHECK axe_status axe_simt_tmem_size(axe_planner *p, axe_place *pl);
AXE_CHECK axe_status axe_simt_tmem_allocate(axe_planner *p, axe_simt_launch *l);
/* Shared memory, as much as keeps CTAs apart that would wait for columns. */
void axe_simt_tmem_keep(const axe_planner *p, axe_simt_launch *l);

#endif
