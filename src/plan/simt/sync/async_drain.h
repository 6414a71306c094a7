/* async_drain.h - contractions that are waited for behind where they end.
 *
 * Atoms that are done later form one group a contraction, committed where it is
 * issued.  It is drained before the first statement that touches its sums or
 * its factors in registers, or overwrites what it reads, or cannot be counted
 * across: a loop, a barrier, a stage that these threads fill.  No group is left
 * at the end of a block but that of a ring with a deferred release
 * (ring_protocol.h).  A stage whose last reader it is becomes free where it is
 * drained. */
#ifndef AXE_PLAN_SIMT_SYNC_ASYNC_DRAIN_H
#define AXE_PLAN_SIMT_SYNC_ASYNC_DRAIN_H

#include "plan/simt/simt.h"

/* Before the statement `at` begins, or behind its end, all groups but `left`
 * are done. */
struct axe_drain {
    const axe_stmt        *at;
    bool                   behind;
    int                    left;
    int                    n_done; /* contractions that then are, in order */
    const axe_stmt *const *done;
    int                    n_free; /* CONSUMEs whose stages then are free */
    const axe_stmt *const *free;
};

/* The drain that waits for the contraction s, or that frees the stage of the
 * CONSUME s; NULL: that is done where s ends. */
const axe_drain *axe_simt_drain_of(const axe_simt_plan *sp, const axe_stmt *s);

#endif
