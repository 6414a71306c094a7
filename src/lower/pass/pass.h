/* pass.h - what is done to code that is there. */
#ifndef AXE_LOWER_PASS_PASS_H
#define AXE_LOWER_PASS_PASS_H

#include "lower/lower_int.h"

/* ------------------------------------------------------------------ bases.c */

/* Of addresses and limits in loops that are written out, what their iterations
 * have in common is computed before; all through a block. */
void axe_name_bases(axe_lowering *lw, axe_lblock *b);

/* ------------------------------------------------------------------ hoist.c */

/* Take divisions apart and out of loops, all through a block. */
void axe_hoist(axe_lowering *lw, axe_lblock *b);

/* ------------------------------------------------------------------- tidy.c */

/* Drops integers that nothing mentions. */
void axe_tidy(axe_lowering *lw, axe_lblock *b);

/* ------------------------------------------------------------------- join.c */

/* Iterations that are done at once, all through a block of a grid. */
void axe_join_iterations(axe_ctx *cx, axe_lblock *b);

#endif
