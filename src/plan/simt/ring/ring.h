/* ring.h - pipelines, and tiles that CTAs take dynamically: who fills a stage,
 * who reads it, and by which barriers they wait for each other. */
#ifndef AXE_PLAN_SIMT_RING_RING_H
#define AXE_PLAN_SIMT_RING_RING_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ---------------------------------------------------------- ring_protocol.c */

/* Plans the protocol of each pipeline, from the schedules of all statements:
 * arrivals, expected bytes, and mbarriers, which get shared memory behind what
 * is there so far.
 * Errors  ESHAPE: replicated over other CTAs than the cluster's */
AXE_CHECK axe_status axe_simt_plan_protocols(axe_planner *p);

/* Has the ring a tile in memory s?  And a new variable RING_what of it. */
bool           axe_ring_has_tile_in(const axe_pipeline *ring, axe_space s);
const axe_var *axe_ring_var(axe_planner *p, const axe_pipeline *ring,
                            const char *what);

/* Gives buffers in shared memory to the stores that go through one, as long as
 * there is room. */
void axe_simt_place_staging(axe_planner *p);

/* ------------------------------------------------------------- ring_roles.c */

/* Finds for each pipeline who fills and who reads it, and how its stages are
 * passed on. */
AXE_CHECK axe_status axe_simt_plan_rings(axe_planner *p);

/* --------------------------------------------------------- tile_scheduler.c */

/* Finds the launches whose clusters take tiles dynamically.  On a machine
 * without a row for that, persistent CTAs take turns. */
void axe_simt_plan_queues(axe_planner *p);

#endif
