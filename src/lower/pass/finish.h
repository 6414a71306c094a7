/* finish.h - the last passes over a grid.  What they leave is what the
 * simulator executes and what is printed; nothing is decided behind them. */
#ifndef AXE_LOWER_PASS_FINISH_H
#define AXE_LOWER_PASS_FINISH_H

#include "lower/lower.h"

void axe_finish_grid(axe_ctx *cx, const axe_machine *mc, axe_grid *g);

/* Operations on short floating types become those of the types in which the
 * machine does them, all through a block. */
void axe_compute_in_type(axe_ctx *cx, const axe_machine *mc,
                         const axe_lblock *b);

/* Branches of a CTA's threads that have a barrier in them get another one at
 * their end and behind them, and have no `else`, all through a block. */
void axe_reconverge(axe_ctx *cx, axe_lblock *b);

#endif
