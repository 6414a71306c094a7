/* table.h - the benchmark table: kernels of kernels/ and what a user would call
 * instead, side by side in one process.
 *
 * A row is a kernel at one size, a problem is a row made ready for a number of
 * threads: compiled, its arrays filled.  A peer makes a job of a problem, or
 * says that it has no such operation; a limit of the machine (peak, bandwidth)
 * is a peer too, so that it is measured in the very turns of the others. */
#ifndef AXE_BENCH_TABLE_H
#define AXE_BENCH_TABLE_H

#include <stdio.h>

#include "axe/run.h"
#include "ir/ir.h"

enum { MAX_ARRAY = 8, MAX_SIZE = 8, MAX_PEER = 12, MAX_TURN = 61 };

typedef struct row {
    const char *file, *kernel; /* kernels/FILE.axe */
    const char *set, *sizes;   /* "T=bf16", "M=64 N=64" */
    bool        quick;         /* also in --quick */
} row;

extern const row rows[];
extern const int n_rows;

typedef struct problem {
    const row         *row;
    int                n_thread;
    axe_ctx           *cx;
    axe_device        *device;
    const axe_program *program;
    axe_exec          *exec;
    axe_call          *call; /* arrays checked once, as pointers are to peers */
    int                n_array, n_size;
    axe_array          array[MAX_ARRAY]; /* axe's */
    axe_array          peer[MAX_ARRAY];  /* the same, but written ones apart */
    axe_size           size[MAX_SIZE];
    void              *block[2 * MAX_ARRAY];
    double             flops;          /* of its contractions, or 0 */
    double             bytes, written; /* of its arrays, each counted once */
} problem;

/* problem.c.  problem_free is right after a failure, too. */
AXE_CHECK axe_status problem_new(axe_ctx *cx, const row *r, int n_thread,
                                 problem *out);
void                 problem_free(problem *p);
AXE_CHECK axe_status problem_launch(problem *p);
int64_t              problem_size(const problem *p, const char *name);
/* As peers see it; NULL if there is none. */
const axe_array *problem_array(const problem *p, const char *name);
/* Largest difference between axe's results and the peer's, as a share of the
 * largest value. */
double problem_difference(const problem *p);

typedef struct peer {
    const char *name;
    bool        limit; /* of the machine, no library */
    /* Is the library here?  Asked once. */
    bool (*open)(axe_ctx *cx);
    /* A job, or NULL. */
    void *(*prepare)(const problem *p);
    /* One call, or, for peers with a clock of their own, n of them: returns
     * seconds.  One of the two is NULL. */
    void (*call)(void *job);
    double (*timed)(void *job, int n);
    void (*done)(void *job);
    /* Of a limit: flops or bytes of one call; else the problem's. */
    double (*work)(void *job);
} peer;

extern const peer axe_peer, openblas_peer, blis_peer, dnnl_peer, numpy_peer,
    torch_peer, peak_peer, copy_peer, stream_peer, read_peer;

/* measure.c: times in seconds a call, by turns. */
typedef struct contest {
    int    n_peer, n_turn[MAX_PEER];
    double time[MAX_PEER][MAX_TURN]; /* in order of turns */
    double work[MAX_PEER];
    void  *job[MAX_PEER];
    double difference; /* largest of axe's results from a library's */
} contest;

/* All take turns, in rotating order, until the budget [s] is used up. */
void contest_run(const problem *p, int n, const peer *const *list,
                 double budget, contest *out);

/* Median of a peer's times; 0 if it has none. */
double contest_median(const contest *c, int i);
/* Median and half the interquartile range of time[b] / time[a] by turns. */
void contest_ratio(const contest *c, int a, int b, double *median,
                   double *spread);

/* Seconds: processor time of this thread for one thread, else the wall's. */
double seconds_now(int n_thread);

/* report.c */
typedef struct report {
    bool  json;   /* lines of JSON instead of a table */
    FILE *record; /* to which they also go, or NULL */
} report;

void report_head(const report *to, int n, const peer *const *list);
void report_row(const report *to, const problem *p, int n,
                const peer *const *list, const contest *c);

#endif
