/* rounds.h - elements that change lanes, as rounds of one register
 * each.
 *
 * In a round every lane gives out one of its registers, and gets what one lane
 * of its choice gives out.  Which rounds bring every lane what it wants is a
 * colouring of the edges between lanes that have and lanes that want: no lane
 * gives two registers in a round, none gets two.  Lanes that want the same go
 * together, as what is given out may be taken by many. */
#ifndef AXE_MOVE_ROUNDS_H
#define AXE_MOVE_ROUNDS_H

#include "machine/machine.h"

enum { AXE_ROUND_LANES = AXE_MAX_LANES, AXE_ROUND_SLOTS = 256 };

/* Where a slot of a lane is filled from. */
typedef struct axe_round_from {
    int16_t round; /* -1: the lane's own register; -2: it wants nothing */
    int16_t reg;   /* own */
} axe_round_from;

typedef struct axe_round {
    int16_t reg[AXE_ROUND_LANES];  /* that the lane gives out; -1: any */
    int16_t from[AXE_ROUND_LANES]; /* whose it gets; -1: anybody's */
} axe_round;

typedef struct axe_rounds {
    int                   n, cap;
    axe_round            *round;
    const axe_round_from *slot;  /* [n_lane * n_want] */
    int                   least; /* no fewer rounds will do */
} axe_rounds;

/* have[lane * n_have + reg] is the element that is there, want[lane * n_want +
 * slot] the one to be brought there; -1: none.  Own elements cost no round.
 * n_lane is at most AXE_ROUND_LANES, n_have and n_want AXE_ROUND_SLOTS.  False:
 * no lane has what some lane wants.
 * Cost: rounds times wants. */
bool axe_rounds_find(axe_ctx *cx, int n_lane, int n_have, const int64_t *have,
                     int n_want, const int64_t *want, axe_rounds *out);

/* The same, and where lanes that give have a choice, so that more rounds were
 * found than the busiest lane needs, again with the lanes in other orders. */
enum { AXE_ROUND_TRIES = 24 };
bool axe_rounds_fewest(axe_ctx *cx, int n_lane, int n_have, const int64_t *have,
                       int n_want, const int64_t *want, axe_rounds *out);

#endif
