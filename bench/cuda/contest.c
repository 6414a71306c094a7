/* contest.c - the contenders of a row by turns, in rotating order. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"

static start_fn *const start[PYTHON] = {start_axe, start_blas, start_lt};

double
bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double
quantile(int n, const double *t, double share)
{
    double s[N_TURN];

    memcpy(s, t, (size_t)n * sizeof s[0]);
    qsort(s, (size_t)n, sizeof s[0], by_value);
    return s[(int)(share * (n - 1) + 0.5)];
}

bool
time_calls(bench *b, test_case *c, start_fn *fn, int n, double *out)
{
    float ms;

    if (cuEventRecord(b->begin, NULL) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < n; i++)
        if (!fn(b, c))
            return false;
    if (cuEventRecord(b->end, NULL) != CUDA_SUCCESS ||
        cuEventSynchronize(b->end) != CUDA_SUCCESS ||
        cuEventElapsedTime(&ms, b->begin, b->end) != CUDA_SUCCESS)
        return false;
    *out = (double)ms / n;
    return true;
}

/* How many calls of so long are timed as one. */
static int
batch_of(double ms)
{
    double n = BATCH_US / (ms * 1e3);

    if (ms * 1e3 >= SHORT_US)
        return 1;
    return n < MAX_BATCH ? (int)(n + 0.5) : MAX_BATCH;
}

static bool
turn(bench *b, test_case *c, int i, int n, double *ms)
{
    if (i < PYTHON)
        return time_calls(b, c, start[i], n, ms);
    if (i - PYTHON >= c->n_python)
        return false;
    *ms = python_time(b, i - PYTHON, n);
    return *ms >= 0;
}

void
contest(bench *b, test_case *c, result *r)
{
    double warm = 0;

    *r = (result){0};
    for (int i = 0; i < N_PEER; i++) {
        r->has[i] = true;
        r->batch[i] = 1;
    }
    for (int k = -N_WARM; k < N_TURN; k++) {
        if (k >= LEAST_TURN && bench_now() > b->deadline)
            return;
        for (int j = 0; j < N_PEER; j++) {
            int i = (j + k + N_WARM) % N_PEER;
            r->has[i] = r->has[i] && turn(b, c, i, r->batch[i],
                                          k < 0 ? &warm : &r->ms[i][k]);
            if (k < 0 && r->has[i])
                r->batch[i] = batch_of(warm);
        }
        r->n_turn = k < 0 ? 0 : k + 1;
    }
}
