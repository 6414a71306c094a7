/* ring.h - stages of pipelines, and tiles as they come: who fills, who reads,
 * and how one tells the other. */
#ifndef AXE_PLAN_SIMT_RING_RING_H
#define AXE_PLAN_SIMT_RING_RING_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ---------------------------------------------------------- ring_protocol.c */

/* With all schedules made: bytes, arrivals, and barriers behind what is in
 * shared memory so far.
 * Errors  ESHAPE: replicated over other CTAs than the cluster's */
AXE_CHECK axe_status axe_simt_plan_protocols(axe_planner *p);

/* Has the ring a tile there?  A new counter. */
bool           axe_ring_has_tile_in(const axe_pipeline *ring, axe_space s);
const axe_var *axe_ring_var(axe_planner *p, const axe_pipeline *ring,
                            const char *what);

/* Rooms of statements that go by way of staging, as far as shared memory goes.
 */
void axe_simt_place_staging(axe_planner *p);

/* ------------------------------------------------------------- ring_roles.c */

/* Stages of pipelines, and the stage as axe_stage_of. */
AXE_CHECK axe_status axe_simt_plan_rings(axe_planner *p);

/* --------------------------------------------------------- tile_scheduler.c */

/* Launches whose tiles are taken as they come; where no row says how, CTAs that
 * stay take every n-th. */
void axe_simt_plan_queues(axe_planner *p);

#endif
