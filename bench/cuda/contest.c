/* contest.c - the contenders of a row by turns, in random order. */
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

/* Marsaglia's xorshift64*. */
int
bench_random(uint64_t *seed, int n)
{
    uint64_t x = *seed;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *seed = x;
    return (int)((x * 0x2545f4914f6cdd1du >> 33) % (uint64_t)n);
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

/* Work for the GPU before the first event, which leaves nothing of use in L2.
 */
static bool
fill(bench *b, int times)
{
    for (int i = 0; i < times; i++)
        if (cuMemsetD8Async((CUdeviceptr)(uintptr_t)b->flush, 0, b->flush_bytes,
                            NULL) != CUDA_SUCCESS)
            return false;
    return true;
}

static bool
time_behind(bench *b, test_case *c, start_fn *fn, int n, int times, float *ms,
            bool *host)
{
    if (!fill(b, times) || cuEventRecord(b->begin, NULL) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < n; i++) {
        if (!fn(b, c))
            return false;
        c->set = (c->set + 1) % c->n_set;
    }
    *host = cuEventQuery(b->begin) != CUDA_ERROR_NOT_READY;
    return cuEventRecord(b->end, NULL) == CUDA_SUCCESS &&
           cuEventSynchronize(b->end) == CUDA_SUCCESS &&
           cuEventElapsedTime(ms, b->begin, b->end) == CUDA_SUCCESS;
}

bool
time_calls(bench *b, test_case *c, start_fn *fn, int n, double *out, bool *host)
{
    float ms = 0;

    for (int times = FIRST_FILL; times <= MAX_FILL; times *= 4) {
        if (!time_behind(b, c, fn, n, times, &ms, host))
            return false;
        if (!*host)
            break;
    }
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
turn(bench *b, test_case *c, int i, int n, double *ms, bool *host)
{
    if (i < PYTHON)
        return time_calls(b, c, start[i], n, ms, host);
    if (i - PYTHON >= c->n_python)
        return false;
    *ms = python_time(b, i - PYTHON, n, host);
    return *ms >= 0;
}

/* Fisher and Yates's. */
static void
shuffle(uint64_t *seed, int order[N_PEER])
{
    for (int i = 0; i < N_PEER; i++)
        order[i] = i;
    for (int i = N_PEER - 1; i > 0; i--) {
        int j = bench_random(seed, i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

void
contest(bench *b, test_case *c, result *r)
{
    double warm = 0;
    int    order[N_PEER];

    *r = (result){0};
    for (int i = 0; i < N_PEER; i++) {
        r->has[i] = true;
        r->batch[i] = 1;
    }
    for (int k = -N_WARM; k < N_TURN; k++) {
        if (k >= LEAST_TURN && bench_now() > b->deadline)
            return;
        shuffle(&b->seed, order);
        for (int j = 0; j < N_PEER; j++) {
            int  i = order[j];
            bool host = false;
            r->has[i] = r->has[i] && turn(b, c, i, r->batch[i],
                                          k < 0 ? &warm : &r->ms[i][k], &host);
            r->host[i] |= host && k >= 0;
            if (k < 0 && r->has[i])
                r->batch[i] = batch_of(warm);
        }
        r->n_turn = k < 0 ? 0 : k + 1;
    }
}
