/* clock.h - seconds and medians, for all benchmarks. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdlib.h>
#include <time.h>

/* [s] */
static inline double
clock_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int
compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline void
sort_numbers(double *t, int n)
{
    qsort(t, (size_t)n, sizeof t[0], compare_numbers);
}

/* Sorts them. */
static inline double
median_of(double *t, int n)
{
    sort_numbers(t, n);
    return t[n / 2];
}

#endif
