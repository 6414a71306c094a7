/* team.h - who the threads are, and what they have. */
#ifndef AXE_PLAN_SIMT_TEAM_TEAM_H
#define AXE_PLAN_SIMT_TEAM_TEAM_H

#include "plan/simt/simt.h"
#include "plan/target.h"

/* --------------------------------------------------------------- cta_pair.c */

/* Of tiles in parts, does the statement touch its CTA's alone?
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_parts(axe_planner *p, const axe_schedule *s);

/* -------------------------------------------------------------- registers.c */

/* Registers and barriers of all thread groups.
 * Errors  ELIMIT; EUNSUPPORTED: registers of others than warp groups */
AXE_CHECK axe_status axe_simt_check_groups(axe_planner *p);
const axe_atom      *axe_simt_find_budget(const axe_machine *mc, bool more);

/* --------------------------------------------------------------- resident.c */

/* Registers that a thread is thought to hold for the statement. */
double axe_simt_held(const axe_simt_plan *sp, int n_place,
                     const axe_place *place, const axe_schedule *s);

/* CTAs that an SM holds, at least 1: by threads, registers of each as they are
 * thought to be, or as its roles ask for them, and shared memory. */
double axe_simt_resident(const axe_machine *mc, const axe_thread_group *cta,
                         double held, bool asks, int64_t shared);

/* ---------------------------------------------------------------- storage.c */

/* The constant extents of a tile. */
axe_shape axe_shape_of_tile(axe_ctx *cx, const axe_tensor *t);

/* Give an open tile its layout. */
void axe_simt_settle(axe_planner *p, const axe_tensor *t, const axe_layout *l,
                     const char *why);

/* Is it a tile without a layout yet? */
bool axe_simt_is_open(const axe_planner *p, const axe_tensor *t);

/* Places [elements] that a step on the axis is in the tile's memory, or a
 * thread's registers. */
int64_t axe_simt_places(const axe_planner *p, const axe_tensor *t, axe_axis a);

/* The layout of a tile there, on m: thread axes do not move. */
AXE_CHECK axe_status axe_simt_storage(axe_planner *p, const axe_tensor *t,
                                      const axe_layout **out);

/* Is the tile in partitions of shared memory, each of which its thread alone
 * reaches? */
bool axe_simt_is_parted(const axe_planner *p, const axe_tensor *t);

/* The first index on partitions, as far as they go; the rest in each. */
AXE_CHECK axe_status axe_simt_lay_parts(axe_planner *p, const axe_tensor *t,
                                        const axe_layout **out);

/* Shared memory of the launch behind all that is taken: where. */
int64_t axe_simt_take_shared(axe_simt_launch *l, int64_t bytes, int64_t align);
/* The same for mbarriers, which those of other parts of a launch keep clear of
 * from its begin to its end. */
int64_t axe_simt_take_barriers(axe_simt_plan *sp, axe_simt_launch *l,
                               int64_t n);

/* Functions of plan/target.h: the axes that an element's place is on; the
 * entity whose copy of a tile it is; why a hint is not taken. */
int             axe_simt_places_of(const axe_planner *p, const axe_tensor *t,
                                   axe_axis axis[AXE_PLACE_AXES],
                                   int64_t  by[AXE_PLACE_AXES]);
const axe_node *axe_simt_entity_of(axe_planner *p, const axe_tensor *t);
const char     *axe_simt_why_no_hint(axe_planner *p, const axe_schedule *s,
                                     const axe_attr *a);

/* ----------------------------------------------------------- thread_group.c */

/* Thread groups, launches, who runs and holds what.
 * Errors  EUNSUPPORTED, ESHAPE, ELIMIT: scopes that a CTA cannot have */
AXE_CHECK axe_status axe_simt_find_groups(axe_planner *p);
/* The axes by which the machine's threads and memories are counted. */
AXE_CHECK axe_status axe_simt_find_axes(axe_ctx *cx, const axe_machine *mc,
                                        axe_simt_plan *sp);

#endif
