/* order.c - orders of events that are worth a try. */
#include "sim/sim.h"

/* Orders of clusters that run at the same time: the first and the last are kept
 * back or go first, and so many others are kept back, in turn. */
static const axe_sim_options ends[] = {
    {.policy = AXE_SIM_LAZY, .turns = AXE_SIM_BEHIND, .who = 0},
    {.policy = AXE_SIM_LAZY, .turns = AXE_SIM_BEHIND, .who = -1},
    {.policy = AXE_SIM_EAGER, .turns = AXE_SIM_AHEAD, .who = 0},
    {.policy = AXE_SIM_EAGER, .turns = AXE_SIM_AHEAD, .who = -1},
};

/* Is order i one of these?  Numbers of others are evenly apart. */
static bool
of_clusters(int64_t n_random, int64_t n_together, int64_t *i,
            axe_sim_options *with)
{
    int64_t between = n_together > 2 ? n_together - 2 : 0;
    int64_t n = between < n_random ? between : n_random;

    if (n_together < 2)
        return false;
    if (*i < AXE_LEN(ends)) {
        with->policy = ends[*i].policy;
        with->turns = ends[*i].turns;
        with->who = ends[*i].who;
        return true;
    }
    *i -= AXE_LEN(ends);
    if (*i < n) {
        with->policy = AXE_SIM_LAZY;
        with->turns = AXE_SIM_BEHIND;
        with->who = 1 + *i * between / n;
        return true;
    }
    *i -= n;
    return false;
}

bool
axe_sim_order(const axe_sim_options *first, int64_t n_random,
              int64_t n_together, int64_t i, axe_sim_options *out)
{
    *out = *first;
    out->turns = AXE_SIM_EVEN;
    out->seed = first->seed + (uint64_t)i;
    if (i < AXE_SIM_RANDOM) {
        out->policy = (axe_sim_policy)i;
        return true;
    }
    i -= AXE_SIM_RANDOM;
    if (of_clusters(n_random, n_together, &i, out))
        return true;
    out->policy = AXE_SIM_RANDOM;
    out->seed = first->seed + AXE_SIM_RANDOM + (uint64_t)i;
    return i < n_random;
}
