/* sync.h - what waits for what, with all schedules made. */
#ifndef AXE_PLAN_SIMT_SYNC_SYNC_H
#define AXE_PLAN_SIMT_SYNC_SYNC_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"
#include "plan/simt/sync/sync_list.h"

/* ------------------------------------------------------------ async_drain.c */

/* p->simt->drain, with schedules, rings, sync points and zeros known. */
void axe_simt_plan_drains(axe_planner *p);

/* ------------------------------------------------------------- one_launch.c */

/* k with counters for groups of scopes that can be one launch, whose CTAs stay;
 * k itself if there are none. */
const axe_kernel *axe_simt_one_launch(axe_ctx *cx, const axe_machine *mc,
                                      const axe_kernel *k);
/* `overlap` of the plan's launches, or why they are apart. */
void axe_simt_find_overlaps(axe_planner *p);

/* ---------------------------------------------------------------- overlap.c */

/* Which launches of a call may begin while the one before still runs. */
void axe_simt_plan_overlap(axe_planner *p);

/* -------------------------------------------------------------- sync_item.c */

/* Behind all items of p->simt->sync so far: one; with the machine's row; with
 * one that orders what was done in tensor memory.
 * Errors  EUNSUPPORTED: the machine has no such row */
void                 axe_sync_push(axe_planner *p, axe_sync_item item);
AXE_CHECK axe_status axe_sync_push_row(axe_planner *p, axe_sync_item item,
                                       axe_sync_kind kind, axe_scope_kind by,
                                       const char *group);
AXE_CHECK axe_status axe_sync_push_sums(axe_planner *p, axe_sync_item item,
                                        axe_sync_kind kind);

/* ------------------------------------------------------------ sync_launch.c */

/* What is done before all else, and behind all else. */
AXE_CHECK axe_status axe_sync_open(axe_planner *p, const axe_simt_launch *l);
AXE_CHECK axe_status axe_sync_close(axe_planner *p, const axe_simt_launch *l);

/* -------------------------------------------------------------- sync_list.c */

/* p->simt->sync, with all else planned.
 * Errors  EUNSUPPORTED: the machine has no row for it */
AXE_CHECK axe_status axe_simt_list_sync(axe_planner *p);

/* ------------------------------------------------------------- sync_queue.c */

/* A role of one thread, where tiles are taken as they come; and who runs a loop
 * over the launch's tiles, a role or, NULL, all: where one begins, and ends. */
AXE_CHECK axe_status axe_sync_begin_alone(axe_planner           *p,
                                          const axe_simt_launch *l,
                                          const axe_stmt        *role);
AXE_CHECK axe_status axe_sync_ask_tile(axe_planner *p, const axe_simt_launch *l,
                                       const axe_stmt *role);
AXE_CHECK axe_status axe_sync_next_tile(axe_planner           *p,
                                        const axe_simt_launch *l,
                                        const axe_stmt        *role);

/* ----------------------------------------------------------- sync_overlap.c */

/* Where a tile of a scope that overlaps has begun, and where it ends, of a role
 * or, NULL, all; and where such a scope goes on with the memory of the one
 * before it; meets: the CTA's threads meet behind that anyway.
 * Errors  EUNSUPPORTED: the machine has no row for it */
AXE_CHECK axe_status axe_sync_begin_tile(axe_planner           *p,
                                         const axe_simt_launch *l,
                                         const axe_stmt        *role);
AXE_CHECK axe_status axe_sync_end_tile(axe_planner *p, const axe_simt_launch *l,
                                       const axe_stmt *role);
AXE_CHECK axe_status axe_sync_go_on(axe_planner *p, const axe_simt_launch *l,
                                    bool meets);
/* How often a tile of the scope, of the group of `one`, is counted. */
int64_t axe_sync_count_tellers(axe_planner *p, const axe_simt_launch *one,
                               const axe_stmt *scope);

/* -------------------------------------------------------------- sync_gate.c */

/* What becomes of the gate of a group's counters where a launch opens, in front
 * of all else and behind it; where tiles of the scope begin, of the role, or
 * end, of all; and where it closes. Errors  EUNSUPPORTED: the machine has no
 * row for it */
AXE_CHECK axe_status axe_sync_pass_gate(axe_planner           *p,
                                        const axe_simt_launch *l);
AXE_CHECK axe_status axe_sync_open_gate(axe_planner           *p,
                                        const axe_simt_launch *l);
AXE_CHECK axe_status axe_sync_know_gate(axe_planner           *p,
                                        const axe_simt_launch *l,
                                        const axe_stmt        *role);
AXE_CHECK axe_status axe_sync_shut_gate(axe_planner           *p,
                                        const axe_simt_launch *l);

/* -------------------------------------------------------------- sync_ring.c */

/* Where statements stand. */
typedef struct axe_sync_where {
    axe_planner           *p;
    const axe_simt_launch *launch;
    const axe_thread_group
        *threads; /* of the scope around in the CTA, or NULL */
    bool alone;   /* one thread runs the role around */
} axe_sync_where;

/* In front of a PRODUCE's statements, and behind them; so of a CONSUME that
 * `loop` overlaps with others, or NULL. */
AXE_CHECK axe_status axe_sync_fill(const axe_sync_where *w,
                                   const axe_stmt       *produce);
AXE_CHECK axe_status axe_sync_filled(const axe_sync_where *w,
                                     const axe_stmt       *produce);
AXE_CHECK axe_status axe_sync_read(const axe_sync_where *w,
                                   const axe_stmt       *consume,
                                   const axe_stmt       *loop);
AXE_CHECK axe_status axe_sync_free(const axe_sync_where *w,
                                   const axe_stmt       *consume,
                                   const axe_stmt       *loop);
/* The stage of a CONSUME is free at another statement. */
AXE_CHECK axe_status axe_sync_release(const axe_sync_where *w,
                                      const axe_stmt       *consume,
                                      const axe_stmt *at, axe_sync_place place);
/* Behind such a loop; at the end of a role, and of a launch. */
AXE_CHECK axe_status axe_sync_leave_loop(const axe_sync_where *w,
                                         const axe_stmt       *loop);
AXE_CHECK axe_status axe_sync_end_role(const axe_sync_where *w,
                                       const axe_stmt       *role);
AXE_CHECK axe_status axe_sync_end_rings(axe_planner           *p,
                                        const axe_simt_launch *l);

/* -------------------------------------------------------------- sync_turn.c */

/* Around all that a scope or role does, and one TURN in it; `c`: whose turns;
 * nothing where they take none. */
AXE_CHECK axe_status axe_sync_begin_turns(axe_planner *p, const axe_stmt *at,
                                          const axe_thread_group *c);
AXE_CHECK axe_status axe_sync_end_turns(axe_planner *p, const axe_stmt *at,
                                        const axe_thread_group *c);
AXE_CHECK axe_status axe_sync_enter_turn(axe_planner *p, const axe_stmt *turn,
                                         const axe_thread_group *c);
AXE_CHECK axe_status axe_sync_leave_turn(axe_planner *p, const axe_stmt *turn,
                                         const axe_thread_group *c);

#endif
