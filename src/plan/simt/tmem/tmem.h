/* tmem.h - tiles in tensor memory.
 *
 * Its layouts are over lanes and columns; planners count places as one number,
 * as axe_atom_operand does.  A contraction fills a tile as one thread asks for
 * it; all else are moves between it and the registers of a thread group, by
 * rows whose layouts say which lanes a thread reaches. */
#ifndef AXE_PLAN_SIMT_TMEM_TMEM_H
#define AXE_PLAN_SIMT_TMEM_TMEM_H

#include "plan/simt/simt.h"
#include "plan/simt/team/fragment.h"

/* A move of all of a tile in registers to or from places in tensor memory, or a
 * constant put there. */
struct axe_simt_tmem {
    bool able; /* else the thread group cannot: what a constant is for then has
                  to be done otherwise */
    bool              in; /* to registers */
    axe_reg_move      move;
    int               operand; /* of the schedule: that in tensor memory */
    const axe_tensor *array;   /* the tile in registers; NULL: */
    const axe_node   *filled;  /* the constant */
};

/* Elements of a type from a place of one lane to the next lane's. */
int64_t axe_tmem_lane(axe_type t);

/* A step from place to place, counted in elements of the type as m, as one over
 * lanes or columns. */
axe_iter axe_tmem_iter(const axe_simt_plan *sp, axe_type t, axe_iter it);
/* The same of any space of two axes, whose slow one's steps are `slow` elements
 * apart. */
axe_iter axe_iter_on(const axe_simt_plan *sp, axe_space s, int64_t slow,
                     axe_iter it);

/* Does the atom complete by an arrival at an mbarrier, after its thread has
 * said COMMIT? */
bool axe_atom_commits(const axe_machine *mc, const axe_atom *a);

#endif
