/* gpu.h - the benchmark on a GPU: kernels of kernels/ beside NVIDIA's
 * libraries, PyTorch and Triton, by turns.
 *
 * A row is a kernel at one size; a case is a row made ready: compiled, its
 * arrays in device memory, random, those to be written full of NaN.  Times are
 * the GPU's own, between two events; what takes less than SHORT is started
 * again and again between them, so that the events' own time does not count.
 * The arrays stay: what fits in L2 is read from there.  Python has a process of
 * its own, which waits while others have their turn. */
#ifndef AXE_BENCH_GPU_H
#define AXE_BENCH_GPU_H

#include <stdio.h>

#include <cuda.h>

#include "axe/gpu.h"
#include "rows.h"

enum { MAX_ARRAY = 8, N_TURN = 15, LEAST_TURN = 5, N_WARM = 3 };
enum { SHORT_US = 50, BATCH_US = 200, MAX_BATCH = 200 };

/* Contenders; those of Python come last. */
enum { AXE, BLAS, LT, PYTHON, MAX_PYTHON = 4, N_PEER = PYTHON + MAX_PYTHON };

typedef struct python {
    FILE *to, *from; /* NULL: there is none */
} python;

typedef struct bench {
    axe_ctx *cx;
    axe_gpu *gpu;
    CUevent  begin, end;
    void    *blas, *lt; /* handles, or NULL */
    void    *workspace;
    python   py;
    double   deadline; /* [s] of bench_now */
    int64_t  shrink;   /* of all sizes; 1: none */
} bench;

typedef struct test_case {
    const row         *row;
    axe_ctx           *cx;
    const axe_program *program;
    axe_gpu_exec      *exec;
    int                n_array, n_size;
    axe_array          array[MAX_ARRAY]; /* in device memory */
    size_t             bytes[MAX_ARRAY];
    axe_size           size[MAX_SIZE];
    void              *peer_out;     /* where libraries write */
    double             flops, moved; /* moved: bytes, each array once */
    axe_estimate       estimate;     /* before it was run */
    const char        *machine;      /* "sm_90a" */
    void              *lt;           /* its plan, or NULL */
    const char        *no_lt;        /* why, where cuBLASLt could have it */
    int                n_python;
    const char        *python[MAX_PYTHON]; /* names */
} test_case;

/* What a contest found. */
typedef struct result {
    int    n_turn;
    int    batch[N_PEER];      /* calls between two events */
    double ms[N_PEER][N_TURN]; /* of one call */
    bool   has[N_PEER];
} result;

/* [s] on the wall. */
double bench_now(void);

/* problem.c.  case_free is right after a failure, too. */
AXE_CHECK axe_status case_new(bench *b, const row *r, test_case *out);
void                 case_free(bench *b, test_case *c);
int64_t              case_size(const test_case *c, const char *name);
const axe_array     *case_array(const test_case *c, const char *name);
/* ||axe - library|| / ||library|| over windows of the result, and how many NaN
 * axe has left there. */
double case_difference(bench *b, const test_case *c, int64_t *n_nan);

/* peer.c: a call is started on the default stream; false: no such. */
typedef bool start_fn(bench *b, test_case *c);
bool         blas_open(bench *b);
start_fn     start_axe, start_blas, start_lt;
/* The fastest of cublasLt's eight best guesses, or NULL, and c->no_lt why.
 * Products of e4m3 are with scales of blocks: cuBLAS 12.9. */
void *lt_job(bench *b, test_case *c);
void  lt_done(void *job);

/* python.c */
void python_open(bench *b);
void python_close(bench *b);
/* Its contenders for the row, ready; none where there is no PyTorch. */
void python_make(bench *b, test_case *c);
/* [ms] of one of n calls of contender i; negative: it failed. */
double python_time(bench *b, int i, int n);
void   python_drop(bench *b);

/* contest.c */
double quantile(int n, const double *t, double share);
/* [ms] of one of n calls; false: one of them failed. */
bool time_calls(bench *b, test_case *c, start_fn *fn, int n, double *ms);
void contest(bench *b, test_case *c, result *out);

/* report.c */
typedef struct summary {
    double  copy; /* [GB/s] of the ceiling */
    reached reached[N_TARGET];
    int     n, n_gemm;
    double  log_gemm; /* of the best library's time / axe's */
    double  estimate[128], measured[128]; /* [s] of n rows */
} summary;

void report_row(FILE *json, const test_case *c, const result *r, double error,
                int64_t n_nan, summary *sum);
void report_end(FILE *json, const summary *sum);

/* targets.c: the fastest library's time / axe's; 0: none. */
double library_ratio(const result *r);
void   target_add(summary *sum, const test_case *c, const result *r);
/* Each target: met, missed, not measured. */
void report_targets(FILE *json, const summary *sum);

#endif
