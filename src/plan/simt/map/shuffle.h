/* shuffle.h - an operand in other lanes' registers, brought to those that
 * ask for it by PERMUTE rows. */
#ifndef AXE_PLAN_SIMT_MAP_SHUFFLE_H
#define AXE_PLAN_SIMT_MAP_SHUFFLE_H

#include "move/rows.h"
#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* Registers and slots count words of `pack` elements.  Slots are the iterations
 * of the work in which the operand differs, the last digit fastest. */
typedef struct axe_simt_shuffle {
    axe_type   type; /* what travels: the tile's own, or a wider one */
    int        pack; /* elements of the tile that travel as one */
    int        n_reg, n_slot;
    axe_rounds rounds;
    const axe_shuffle_step *step;     /* [rounds.n] */
    int                     n_select; /* among registers, by lane */
    double                  cost;     /* [cycles of an SM] for one warp */
    double trip; /* likewise by way of shared memory, at the least */
} axe_simt_shuffle;

/* The operand, a tile in registers that lie elsewhere than the work wants
 * them, by way of shuffles; *out NULL where that cannot be, or shared memory
 * costs less.  Every register of every thread is compared: *n_proved. */
void axe_simt_shuffle_plan(axe_planner *p, const axe_request *r,
                           const axe_work *w, const axe_operand *op,
                           const axe_simt_shuffle **out, int64_t *n_proved);

#endif
