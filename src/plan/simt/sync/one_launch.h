/* one_launch.h - scopes that overlap, as one launch of CTAs that stay.
 *
 *     overlap {                          each CTA:
 *         cta (i : M by 64) A              for each of its tiles of A: A, count
 *         cta (j : N by 64) B              for each of its tiles of B: wait, B
 *     }
 *
 * All CTAs are resident at once, and each takes its tiles in the order of the
 * list: those of A, then those of B.  A tile waits for tiles in front of it
 * alone (plan/access/relation.h).  So of the tiles that are not done the first
 * one waits for nothing, and whoever has it has done all that it has in front
 * of it: it is done next, with any number of CTAs.
 *
 * Who counts: the threads of each role that writes what others touch, when what
 * they wrote is seen by one of them, which adds one.  Who waits: one thread of
 * each role that touches what others write; then the role's threads meet. */
#ifndef AXE_PLAN_SIMT_SYNC_ONE_LAUNCH_H
#define AXE_PLAN_SIMT_SYNC_ONE_LAUNCH_H

#include "plan/access/relation.h"
#include "plan/simt/simt.h"
#endif
