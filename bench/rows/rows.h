/* rows.h - the rows of the benchmark on a GPU, and their programs. */
#ifndef AXE_BENCH_ROWS_H
#define AXE_BENCH_ROWS_H

#include "axe/run.h"

enum { MAX_SIZE = 8 };

/* C[M, N] = A[M, K] B[N, K]^T in bf16; the same of e4m3 with a scale SA[Q, M]
 * for 128 of K of a row, and SB[P, Q] for 128 x 128 of B. */
enum { NO_LIBRARY, LIBRARY_BF16, LIBRARY_FP8_BLOCKS };

/* What rows are to reach: see targets.def. */
enum {
    NO_TARGET,
#define TARGET(id, what, least, of, name, how) TARGET_##id,
#include "targets.def"
    N_TARGET
};
/* What a row means: see meanings.def. */
enum {
#define MEANING(id, name) MEANS_##id,
#include "meanings.def"
    N_MEANING
};
enum { OF_LIBRARY, OF_CUDNN, OF_COPY };
enum { BY_MEAN, BY_EACH };

typedef struct target {
    const char *what; /* NULL: none */
    double      least;
    int         of;
    const char *name; /* of the other */
    int         how;
} target;

/* What rows of a target have reached so far. */
typedef struct reached {
    int    n;
    double log, least; /* of n ratios: the sum of logarithms, the least */
    bool   other;      /* some are beside others than the target names */
} reached;

typedef struct row {
    const char *group;         /* of the table; NULL: not in it */
    const char *name;          /* "qwen3-8b.up" */
    const char *file, *kernel; /* kernels/FILE.axe */
    const char *otherwise;     /* where FILE is for another machine; "": none */
    const char *set, *sizes;   /* "T=bf16", "M=64 N=64" */
    bool        apart;         /* scopes that overlap have a launch each */
    const char *peer;          /* what peers.py calls it, or "" */
    int         vendor;        /* what cuBLAS has of it */
    int         target;        /* TARGET_GEMM, or NO_TARGET */
    int         means;         /* MEANS_PRODUCT */
} row;

extern const row    rows[];
extern const int    n_rows;
extern const target targets[N_TARGET];

/* verdict.c: one ratio more, above 0; the geometric mean, 0 of none. */
void   reached_add(reached *x, double q);
double reached_mean(const reached *x);
/* Of a target that `all` rows have.  One that is too slow is enough where each
 * counts; of a mean all are needed. */
const char *target_verdict(const target *t, const reached *x, int all);

/* The row's kernel, or what it is otherwise, for a machine. */
AXE_CHECK axe_status row_compile(axe_ctx *cx, const row *r, const char *machine,
                                 const axe_program **out);
/* list.c: the programs of a list like tests/sim.list, for each of their types,
 * added to out, which has *n of at most `most`; *all counts those without a
 * plan, too.  Errors  EIO */
AXE_CHECK axe_status list_compile(axe_ctx *cx, const char *path,
                                  const char *machine, int most,
                                  const axe_program **out, int *n, int *all);
/* A parameter that the row sets to a number, or 0. */
int64_t row_param(const row *r, const char *name);
/* Its sizes, divided by `shrink`, but what is below 64 then; how many. */
int row_sizes(axe_ctx *cx, const row *r, int64_t shrink, axe_size *out);

#endif
