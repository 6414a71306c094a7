/* tile_scheduler.h - how CTAs that stay take tiles as they come.
 *
 * The launch has a CTA for every tile.  One that runs takes, with its cluster,
 * the tile of a cluster that has not begun, which then never does; when there
 * is none left it ends.  At the begin of a tile one thread of the cluster asks
 * for the next one.  The answer comes into the shared memory of all its CTAs,
 * told at `full` there, and all who run a loop over the tiles read it at the
 * end of theirs: every role, or the whole CTA.  `empty` of the first CTA has an
 * arrival of each of them when they have read, and is waited for before the
 * answer's room is used again. */
#ifndef AXE_PLAN_SIMT_RING_TILE_SCHEDULER_H
#define AXE_PLAN_SIMT_RING_TILE_SCHEDULER_H

#include "plan/simt/simt.h"

/* Answers that may be unread by somebody.  2 would let nobody begin a tile
 * before all have begun the one before. */
enum { AXE_QUEUE_ANSWERS = 3, AXE_ANSWER_BYTES = 16 };

struct axe_simt_queue {
    const axe_atom *take, *taken;
    const axe_stmt *issuer; /* the role whose first thread asks; NULL: the CTA's
                               first */
    int64_t answers, full, empty; /* where in shared memory */
    int64_t bytes;                /* of all of them, from `answers` on */
};

#endif
