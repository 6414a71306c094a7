/* rows.h - rounds of shuffles by rows of a machine's table, and what they cost
 * besides. */
#ifndef AXE_MOVE_ROWS_H
#define AXE_MOVE_ROWS_H

#include "machine/machine.h"
#include "move/rounds.h"

/* [cycles of an SM] of a select for one warp: 64 lanes a clock. */
#define AXE_SELECT_CYCLES 0.5

/* How one round is done. */
typedef struct axe_shuffle_step {
    const axe_atom *atom;
    int             param;
    bool            index; /* lanes say whose; else the row does */
} axe_shuffle_step;

/* A row for each round of words of `bits`, in *step[r->n]; adds what they cost
 * for one warp.  False: the machine has none. */
bool axe_rounds_rows(axe_ctx *cx, const axe_machine *mc, int bits,
                     const axe_rounds *r, axe_shuffle_step **step,
                     double *cost);
/* Selects by lane, where lanes give different registers or fill a slot in
 * different ways. */
int axe_rounds_selects(int lanes, int n_want, const axe_rounds *r);

/* Different values among n beyond the first, those below 0 apart: selects that
 * choose among them by lane. */
int axe_n_more(int n, const int64_t *value);

#endif
