/* measure.c - peers by turns.
 *
 * In a turn each peer makes untimed calls, so that none runs in another's
 * cache or on threads that sleep, and then as many timed ones as make the
 * clock's error small.  Who begins rotates.  Whoever is far behind the fastest
 * takes part in a few turns only. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "table.h"

enum { MIN_TURN = 7, FEW_TURNS = 3, FAR_BEHIND = 3, MAX_CALL = 2000 };
#define BATCH 1e-4        /* seconds of timed calls in a turn, at least */
#define WARM_THREADS 2e-3 /* of untimed ones where threads must wake */
#define LONG_CALL 0.1     /* warms itself */

double
seconds_now(int n_thread)
{
    return clock_seconds(n_thread == 1 ? CLOCK_THREAD_CPUTIME_ID
                                       : CLOCK_MONOTONIC);
}

/* Seconds that n calls take. */
static double
time_calls(const peer *pr, void *job, int n_thread, int n)
{
    double start = seconds_now(n_thread);

    if (pr->timed)
        return pr->timed(job, n);
    for (int i = 0; i < n; i++)
        pr->call(job);
    return seconds_now(n_thread) - start;
}

static void
warm_up(const peer *pr, void *job, int n_thread, double one)
{
    double spent = one > LONG_CALL ? WARM_THREADS : 0;

    while (one <= LONG_CALL &&
           (spent == 0 || (n_thread > 1 && spent < WARM_THREADS)))
        spent += time_calls(pr, job, n_thread, 1) + 1e-9;
}

static double
turn(const peer *pr, void *job, int n_thread, double one)
{
    int n = one > 0 && one < BATCH ? (int)(BATCH / one) + 1 : 1;

    n = n < MAX_CALL ? n : MAX_CALL;
    warm_up(pr, job, n_thread, one);
    return time_calls(pr, job, n_thread, n) / n;
}

/* The value that a share of n sorted ones lies below. */
static double
quantile(const double *t, int n, double share)
{
    double sorted[MAX_TURN];

    memcpy(sorted, t, (size_t)n * sizeof *t);
    sort_numbers(sorted, n);
    return sorted[(int)(share * (n - 1) + 0.5)];
}

double
contest_median(const contest *c, int i)
{
    return c->n_turn[i] > 0 ? quantile(c->time[i], c->n_turn[i], 0.5) : 0;
}

void
contest_ratio(const contest *c, int a, int b, double *median, double *spread)
{
    double ratio[MAX_TURN];
    int    n = c->n_turn[a] < c->n_turn[b] ? c->n_turn[a] : c->n_turn[b];

    for (int i = 0; i < n; i++)
        ratio[i] = c->time[b][i] / c->time[a][i];
    *median = n > 0 ? quantile(ratio, n, 0.5) : 0;
    *spread =
        n > 0 ? (quantile(ratio, n, 0.75) - quantile(ratio, n, 0.25)) / 2 : 0;
}

static double
fastest(const contest *c, const peer *const *list)
{
    double best = 0;

    for (int i = 0; i < c->n_peer; i++) {
        double t = contest_median(c, i);
        if (!list[i]->limit && t > 0 && (best == 0 || t < best))
            best = t;
    }
    return best;
}

/* axe, the first, always does, and so do limits, whose work is another. */
static bool
takes_part(const contest *c, const peer *const *list, int i)
{
    return c->job[i] && (i == 0 || list[i]->limit || c->n_turn[i] < FEW_TURNS ||
                         contest_median(c, i) < FAR_BEHIND * fastest(c, list));
}

/* Jobs of those that have the operation; axe, the first, has written its
 * results when the others are compared with it. */
static void
prepare(const problem *p, int n, const peer *const *list, double *one,
        contest *out)
{
    for (int i = 0; i < n; i++) {
        void *job = out->job[i] = list[i]->prepare(p);
        if (!job)
            continue;
        out->work[i] = list[i]->work  ? list[i]->work(job)
                       : p->flops > 0 ? p->flops
                                      : p->bytes;
        (void)time_calls(list[i], job, p->n_thread, 1);
        one[i] = time_calls(list[i], job, p->n_thread, 1);
        if (i > 0 && list[i]->call && !list[i]->limit)
            out->difference = fmax(out->difference, problem_difference(p));
    }
}

void
contest_run(const problem *p, int n, const peer *const *list, double budget,
            contest *out)
{
    double one[MAX_PEER] = {0}, begin;

    *out = (contest){.n_peer = n};
    prepare(p, n, list, one, out);
    begin = seconds_now(2);
    for (int k = 0;
         k < MAX_TURN && (k < MIN_TURN || seconds_now(2) - begin < budget); k++)
        for (int j = 0; j < n; j++) {
            int i = (j + k) % n;
            if (takes_part(out, list, i))
                out->time[i][out->n_turn[i]++] =
                    turn(list[i], out->job[i], p->n_thread, one[i]);
        }
    for (int i = 0; i < n; i++)
        if (out->job[i])
            list[i]->done(out->job[i]);
}
