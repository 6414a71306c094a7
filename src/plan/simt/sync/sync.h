/* sync.h - what waits for what, with all schedules made. */
#ifndef AXE_PLAN_SIMT_SYNC_SYNC_H
#define AXE_PLAN_SIMT_SYNC_SYNC_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"
#include "plan/simt/sync/sync_list.h"

/* ------------------------------------------------------------ async_drain.c */

/* p->simt->drain, with schedules, rings, meetings and zeros known. */
void axe_simt_plan_flights(planner *p);

/* ---------------------------------------------------------------- hazards.c */

/* p->simt->meet, with all schedules made.
 * Errors  EUNSUPPORTED: what nothing can order */
AXE_CHECK axe_status axe_simt_plan_sync(planner *p);

/* -------------------------------------------------------------- lifetimes.c */

/* Offsets of shared tiles, with all of their sizes known. */
void axe_simt_place_tiles(planner *p);

/* ---------------------------------------------------------------- overlap.c */

/* Which launches of a call may begin while the one before still runs. */
void axe_simt_plan_overlap(planner *p);

/* ---------------------------------------------------------- ring_protocol.c */

/* With all schedules made: bytes, arrivals, and barriers behind what is in
 * shared memory so far.
 * Errors  ESHAPE: replicated over other CTAs than the cluster's */
AXE_CHECK axe_status axe_simt_plan_protocols(planner *p);

/* Has the ring a tile there?  A new counter. */
bool           axe_ring_has_tile_in(const axe_pipeline *ring, axe_space s);
const axe_var *axe_ring_var(planner *p, const axe_pipeline *ring,
                            const char *what);

/* Rooms of statements that go by way of staging, as far as shared memory goes.
 */
void axe_simt_place_staging(planner *p);

/* ------------------------------------------------------------- ring_roles.c */

/* Stages of pipelines, and the stage as axe_stage_of. */
AXE_CHECK axe_status axe_simt_plan_rings(planner *p);

/* ------------------------------------------------------------ same_thread.c */

/* Does each thread, of what b touches of the tile, find only elements that it
 * touched itself in a? */
bool axe_simt_is_own(planner *p, const axe_stmt *a, const axe_stmt *b,
                     const axe_tensor *tile);

/* -------------------------------------------------------------- sync_item.c */

/* Behind all items of p->simt->sync so far: one; with the machine's row; with
 * one that orders what was done in tensor memory.
 * Errors  EUNSUPPORTED: the machine has no such row */
void                 axe_sync_push(planner *p, axe_sync_item item);
AXE_CHECK axe_status axe_sync_push_row(planner *p, axe_sync_item item,
                                       axe_sync_kind kind, axe_scope_kind by,
                                       const char *group);
AXE_CHECK axe_status axe_sync_push_sums(planner *p, axe_sync_item item,
                                        axe_sync_kind kind);

/* ------------------------------------------------------------ sync_launch.c */

/* What is done before all else, and behind all else. */
AXE_CHECK axe_status axe_sync_open(planner *p, const axe_simt_launch *l);
AXE_CHECK axe_status axe_sync_close(planner *p, const axe_simt_launch *l);

/* -------------------------------------------------------------- sync_list.c */

/* p->simt->sync, with all else planned.
 * Errors  EUNSUPPORTED: the machine has no row for it */
AXE_CHECK axe_status axe_simt_list_sync(planner *p);

/* --------------------------------------------------------- tile_scheduler.c */

/* Launches whose tiles are taken as they come; where no row says how, CTAs that
 * stay take every n-th. */
void axe_simt_plan_queues(planner *p);

/* ------------------------------------------------------------------ touch.c */

/* p->simt->tied, before schedules are made. */
void axe_simt_tie_globals(planner *p);

/* -------------------------------------------------------------- zero_init.c */

/* Accumulators that contractions overwrite; with all schedules made. */
void axe_simt_take_zeros(planner *p);

/* zero_init.c: a copy of the statement's contraction, which is the plan's from
 * now on, to change. */
axe_simt_contract *axe_simt_own_contract(planner *p, const axe_stmt *s);

#endif
