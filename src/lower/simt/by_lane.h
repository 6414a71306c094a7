/* by_lane.h - what differs from lane to lane, as expressions of the lane. */
#ifndef AXE_LOWER_SIMT_BY_LANE_H
#define AXE_LOWER_SIMT_BY_LANE_H

#include "lower/simt/simt_int.h"

/* A condition that holds in those lanes of `care` that are in `set`, and in no
 * other one of `care`; anything elsewhere.  NULL: it holds in all. */
const axe_node *axe_by_lane_set(axe_simt_lowering *sl, axe_lane_set set,
                                axe_lane_set care);

/* A value and the lanes that want it. */
typedef struct axe_lane_choice {
    const axe_node *value;
    axe_lane_set    lanes;
} axe_lane_choice;

/* The value of each lane, n - 1 selects; anything in lanes that want none.  n
 * is at least 1; no lane is in two choices. */
const axe_node *axe_by_lane_choose(axe_simt_lowering *sl, int n,
                                   const axe_lane_choice *choice);

/* An integer in each lane of `care`; anything elsewhere. */
const axe_node *axe_by_lane_number(axe_simt_lowering *sl, const int16_t *value,
                                   axe_lane_set care);

#endif
