/* hazard.h - what must be waited for, with all schedules made: where threads
 * wait for one another, whose bytes are whose, which zeros nobody needs. */
#ifndef AXE_PLAN_SIMT_HAZARD_HAZARD_H
#define AXE_PLAN_SIMT_HAZARD_HAZARD_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ---------------------------------------------------------------- hazards.c */

/* p->simt->sync_point, with all schedules made.
 * Errors  EUNSUPPORTED: what nothing can order */
AXE_CHECK axe_status axe_simt_plan_sync(axe_planner *p);

/* -------------------------------------------------------------- lifetimes.c */

/* Offsets of shared tiles, with all of their sizes known. */
void axe_simt_place_tiles(axe_planner *p);

/* ------------------------------------------------------------ same_thread.c */

/* Does each thread, of what b touches of the tile, find only elements that it
 * touched itself in a? */
bool axe_simt_is_own(axe_planner *p, const axe_stmt *a, const axe_stmt *b,
                     const axe_tensor *tile);

/* ------------------------------------------------------------- sync_point.c */

/* The one before the statement, or a new one; `threads`, `why` of a new one. */
axe_sync_point *axe_sync_point_at(axe_planner *p, const axe_stmt *at,
                                  const axe_thread_group *threads,
                                  const char             *why);
/* It waits for what the first thread of `issuer` asked of the group, too. */
void axe_sync_point_issuer(axe_planner *p, axe_sync_point *m,
                           const axe_thread_group *issuer, const char *group);

/* ------------------------------------------------------------------ touch.c */

/* p->simt->threads_only, before schedules are made. */
void axe_simt_find_threads_only(axe_planner *p);

/* -------------------------------------------------------------- zero_init.c */

/* Accumulators that contractions overwrite; with all schedules made. */
void axe_simt_take_zeros(axe_planner *p);

/* zero_init.c: a copy of the statement's contraction, which is the plan's from
 * now on, to change. */
axe_simt_contract *axe_simt_own_contract(axe_planner *p, const axe_stmt *s);

#endif
