/* sim_counters.h - counters in global memory that CTAs of a launch wait by, in
 * grids by hand, and the orders that these run in. */
#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include "sim_check.h"

/* Words that count, and half the CTAs of the largest grid. */
enum { TILES = 5 };

typedef struct things {
    const axe_tensor *x, *y, *r, *ready, *tile, *bar, *word;
    const axe_var    *phase;
} things;

static inline void
count(const things *g, node tile)
{
    atom(&m, "counter.count", 0, 1, (axe_arg[]){at(g->ready, tile)});
}

static inline void
reach(const things *g, node tile, node least)
{
    atom(&m, "counter.reach", 0, 2,
         (axe_arg[]){at(g->ready, tile), integer(least)});
}

/* Counters of this dir, and counts to begin with, in a grid of one thread's. */
static inline void
make_counters(axe_dir dir, axe_type type, things *g)
{
    g->r = one_cta("sm_90a", 32, 1, 2, &g->x, &g->y);
    g->ready = param(&m, "ready", type, dir, 1, TILES);
    g->word = array(&m, "word", type, 1);
}

/* Order i of those that all grids here run in, and one by chance and ahead. */
static inline bool
take_order(int i)
{
    const axe_sim_options first = {.seed = 1};

    with = (axe_sim_options){AXE_SIM_RANDOM, .turns = AXE_SIM_AHEAD, .who = 6};
    return i == 0 || axe_sim_order(&first, 3, 2 * TILES, i - 1, &with);
}

#endif
