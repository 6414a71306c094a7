/* bench_team.c - what it costs to begin and end a piece of work, and a barrier
 * inside one: medians of rounds, for teams of 1, 2, 4 ... up to the
 * processors. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "run/pool.h"

enum { N_ROUND = 41, N_TURN = 2000 };

typedef void barrier_fn(void *team, int64_t worker);

static void
nothing(void *user, int worker)
{
    (void)user;
    (void)worker;
}

static void
wait_often(void *user, int worker)
{
    void *team = axe_pool_team(user);

    for (int i = 0; i < N_TURN; i++)
        (*(barrier_fn **)team)(team, worker);
}

/* [ns] of one start and end, or of one barrier. */
static double
median(axe_pool *p, bool barrier)
{
    double ns[N_ROUND];

    for (int r = 0; r < N_ROUND; r++) {
        double begin = 1e9 * clock_seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < (barrier ? 1 : N_TURN); i++)
            axe_pool_run(p, barrier ? wait_often : nothing, p);
        ns[r] = (1e9 * clock_seconds(CLOCK_MONOTONIC) - begin) / N_TURN;
    }
    return median_of(ns, N_ROUND);
}

int
main(void)
{
    axe_ctx  *cx = axe_ctx_new();
    axe_pool *all;
    int       most;

    if (!cx || axe_pool_new(cx, 0, &all) != AXE_OK)
        return 1;
    most = axe_pool_size(all);
    axe_pool_free(all);
    printf("%7s  %14s  %7s\n", "workers", "fork + join ns", "meet ns");
    for (int n = 1; n <= most; n *= 2) {
        axe_pool *p;
        if (axe_pool_new(cx, n, &p) != AXE_OK)
            return 1;
        printf("%7d  %14.0f  %7.0f\n", n, median(p, false), median(p, true));
        axe_pool_free(p);
    }
    axe_ctx_free(cx);
    return 0;
}
