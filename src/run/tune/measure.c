/* measure.c - taking turns.
 *
 * The defaults and the first of the ranking form a group whose members take
 * turns, so that what else the machine does meets all alike; after each turn
 * those that are clearly behind leave.  Groups follow one another, each with
 * the best so far in it, until a group brings next to nothing or time is up. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/device.h"
#include "run/tune/tune_int.h"

enum { GROUP = 8, TURNS = 25, MIN_TURNS = 4 };

static const double sample_s = 1e-4, /* least length of a sample */
    behind = 1.15,                   /* of the best: leaves */
    worth_it = 0.99;                 /* a group must come below this */

/* One that is being measured. */
typedef struct runner {
    int           number; /* in result->each */
    axe_exec     *exec;   /* or, on a GPU: */
    axe_gpu_exec *gpu_exec;
    double        sample[TURNS];
    int           n_sample, batch;
    bool          out;
} runner;

static axe_status
launch(axe_tuner *t, runner *r, int times)
{
    for (int i = 0; i < times; i++)
        AXE_TRY(axe_launch(t->cx, r->exec, t->n_array, t->array, t->n_size,
                           t->size));
    return AXE_OK;
}

static void
set_batch(runner *r, double s_each)
{
    r->batch = s_each >= sample_s ? 1 : (int)(sample_s / (s_each + 1e-7)) + 1;
}

/* [s] of one launch, by the GPU's own clock: the mean of n. */
static axe_status
time_gpu(axe_tuner *t, const runner *r, int n, double *out)
{
    double *s = axe_new_array(t->cx, double, n), sum = 0;

    AXE_TRY(axe_gpu_time(t->cx, r->gpu_exec, axe_program_n_param(t->program),
                         t->device_array, t->n_size, t->size, n, s));
    for (int i = 0; i < n; i++)
        sum += s[i];
    *out = sum / n;
    return AXE_OK;
}

static axe_status
start_gpu(axe_tuner *t, const axe_program *p, runner *out)
{
    double s_each;

    AXE_TRY(axe_gpu_exec_new(t->cx, t->spec->gpu, p, &out->gpu_exec));
    AXE_TRY(time_gpu(t, out, 1, &s_each));
    set_batch(out, s_each);
    return AXE_OK;
}

/* Compile, load, and run until warm. */
static axe_status
start(axe_tuner *t, int number, runner *out)
{
    axe_compile_spec   s = axe_tuner_spec(t, t->result->each[number].value);
    const axe_program *p;
    double             begin;

    *out = (runner){.number = number};
    AXE_TRY(axe_compile(t->cx, t->source, &s, AXE_STAGE_C, &p));
    if (t->on_gpu)
        return start_gpu(t, p, out);
    AXE_TRY(axe_exec_new(t->cx, t->device, p, &out->exec));
    AXE_TRY(launch(t, out, 1));
    begin = axe_tuner_now();
    AXE_TRY(launch(t, out, 1));
    set_batch(out, axe_tuner_now() - begin);
    return AXE_OK;
}

static void
end(runner *r)
{
    axe_exec_free(r->exec);
    axe_gpu_exec_free(r->gpu_exec);
}

/* Start it or rule it out; one that does not compile is no error, unless it is
 * what the caller would have got anyway. */
static axe_status
try_start(axe_tuner *t, int number, runner *out, bool *started)
{
    axe_mark   m = axe_ctx_mark(t->cx);
    axe_status st = start(t, number, out);

    t->tried[number] = true;
    *started = st == AXE_OK;
    if (st == AXE_OK)
        return st;
    end(out);
    if (number == t->result->standard || axe_tuner_stopped(t))
        return axe_tuner_stopped(t) ? AXE_OK : st;
    axe_ctx_release(t->cx, m);
    t->result->n_refused++;
    return AXE_OK;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The lower quartile: what else the machine does only ever adds. */
static double
typical(const runner *r)
{
    double s[TURNS];

    memcpy(s, r->sample, (size_t)r->n_sample * sizeof s[0]);
    qsort(s, (size_t)r->n_sample, sizeof s[0], by_value);
    return s[r->n_sample / 4];
}

/* One thread is timed by its processor's clock, which stands still while
 * others have the processor. */
static double
tick(const axe_tuner *t)
{
    struct timespec s;

    clock_gettime(t->result->n_worker == 1 ? CLOCK_THREAD_CPUTIME_ID
                                           : CLOCK_MONOTONIC,
                  &s);
    return (double)s.tv_sec + 1e-9 * (double)s.tv_nsec;
}

static axe_status
time_cpu(axe_tuner *t, runner *r, double *out)
{
    double begin = tick(t);

    AXE_TRY(launch(t, r, r->batch));
    *out = (tick(t) - begin) / r->batch;
    return AXE_OK;
}

static axe_status
sample(axe_tuner *t, runner *r)
{
    axe_tune_try *c = &t->result->each[r->number];
    axe_mark      m = axe_ctx_mark(t->cx);
    double       *s = &r->sample[r->n_sample];

    AXE_TRY(t->on_gpu ? time_gpu(t, r, r->batch, s) : time_cpu(t, r, s));
    axe_ctx_release(t->cx, m);
    r->n_sample++;
    c->time_s = typical(r);
    c->n_time = r->n_sample;
    return AXE_OK;
}

static double
best_of(int n, const runner *r)
{
    double best = 1e300;

    for (int i = 0; i < n; i++)
        if (r[i].n_sample > 0 && typical(&r[i]) < best)
            best = typical(&r[i]);
    return best;
}

/* Turns until time is up or one is left; the rest of a turn is finished. */
static axe_status
take_turns(axe_tuner *t, int n, runner *r, const char *doing)
{
    int left = n;

    for (int turn = 0; turn < TURNS && left > 0; turn++) {
        if (axe_tuner_stopped(t) || (turn >= MIN_TURNS && axe_tuner_over(t, 1)))
            return AXE_OK;
        for (int i = 0; i < n; i++)
            if (!r[(i + turn) % n].out)
                AXE_TRY(sample(t, &r[(i + turn) % n]));
        double best = best_of(n, r);
        for (int i = 0; i < n && turn + 1 >= MIN_TURNS; i++)
            if (!r[i].out && typical(&r[i]) > behind * best) {
                r[i].out = true;
                left--;
            }
        axe_tuner_report(t, doing);
        if (left == 1 && turn >= 2 * MIN_TURNS)
            break;
    }
    return AXE_OK;
}

/* The next of the ranking that was not tried; -1: none. */
static int
next(const axe_tuner *t)
{
    int n = t->on_gpu ? axe_tuner_best(t) : t->result->n_try;

    for (int i = 0; i < n; i++)
        if (!t->tried[i])
            return i;
    return -1;
}

/* The fastest so far. */
static int
leader(const axe_tuner *t)
{
    int best = -1;

    for (int i = 0; i < t->result->n_try; i++)
        if (t->result->each[i].time_s > 0 &&
            (best < 0 ||
             t->result->each[i].time_s < t->result->each[best].time_s))
            best = i;
    return best;
}

/* Compile the next of the ranking side by side, so that start() finds them in
 * the cache.  What fails here is told there. */
static void
prefetch(axe_tuner *t, int n_most)
{
    const axe_program *p[GROUP];
    axe_exec          *e[GROUP];
    axe_mark           m = axe_ctx_mark(t->cx);
    int                n = 0;

    for (int i = 0; i < t->result->n_try && n < n_most; i++) {
        axe_compile_spec s = axe_tuner_spec(t, t->result->each[i].value);
        if (!t->tried[i] &&
            axe_compile(t->cx, t->source, &s, AXE_STAGE_C, &p[n]) == AXE_OK)
            n++;
    }
    axe_gpu_prepared done;
    axe_status       st = n < 2       ? AXE_EARG
                          : t->on_gpu ? axe_tuner_prepare(t, n, p, &done)
                                      : axe_exec_new_all(t->cx, t->device, n, p, e);
    for (int i = 0; i < n && st == AXE_OK && !t->on_gpu; i++)
        axe_exec_free(e[i]);
    axe_ctx_release(t->cx, m);
}

static axe_status
fill_group(axe_tuner *t, runner *r, int *n)
{
    int first = leader(t) >= 0 ? leader(t) : t->result->standard;

    for (int k = first >= 0 ? first : next(t); k >= 0 && *n < GROUP;
         k = next(t)) {
        bool ok;
        if (*n > 0 && (axe_tuner_stopped(t) || axe_tuner_over(t, 1)))
            break;
        if (*n == 1 && (t->on_gpu || t->device->cache.dir))
            prefetch(t, GROUP - 1);
        AXE_TRY(try_start(t, k, &r[*n], &ok));
        *n += ok;
        axe_tuner_report(t, "compiling");
    }
    return AXE_OK;
}

/* One group; *gain is the new best as a share of the old. */
static axe_status
measure_group(axe_tuner *t, double *gain)
{
    runner     r[GROUP];
    int        n = 0, was = leader(t);
    double     old = was >= 0 ? t->result->each[was].time_s : 0;
    axe_status st = fill_group(t, r, &n);

    if (st == AXE_OK && n > 0)
        st = take_turns(t, n, r, "measuring");
    for (int i = 0; i < n; i++)
        end(&r[i]);
    int is = leader(t);
    *gain = was < 0 || is < 0 || is == was ? (was < 0 ? 0 : 1)
                                           : t->result->each[is].time_s / old;
    return st;
}

axe_status
axe_tuner_measure(axe_tuner *t)
{
    double gain = 0;

    t->tried = axe_new_array(t->cx, bool, t->result->n_try + 1);
    while (gain < worth_it && next(t) >= 0 && !axe_tuner_stopped(t) &&
           !axe_tuner_over(t, 1))
        AXE_TRY(measure_group(t, &gain));
    return AXE_OK;
}
