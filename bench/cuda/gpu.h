/* gpu.h - the benchmark on a GPU: kernels of kernels/ beside NVIDIA's
 * libraries, PyTorch and Triton, by turns in random order.
 *
 * A row is a kernel at one size; a case is a row made ready: compiled, its
 * arrays in device memory, random, those to be written full of NaN.  Each row
 * runs in a process of its own, so that one that fails, faults or hangs leaves
 * the others.  Python has a process of its own, too, which waits while others
 * have their turn.
 *
 * Times are the GPU's own, between two events.  Before the first one memory is
 * filled that is larger than L2: so caches are cold, and the host has started
 * all calls before the first begins (event_query says whether it had).  What
 * takes less than SHORT is started again and again between the events; the
 * calls take sets of arrays by turns, which together are larger than L2. */
#ifndef AXE_BENCH_GPU_H
#define AXE_BENCH_GPU_H

#include <stdio.h>

#include <cuda.h>

#include "axe/gpu.h"
#include "rows.h"

enum { MAX_ARRAY = 8, MAX_SET = 16, N_TURN = 15, LEAST_TURN = 5, N_WARM = 3 };
enum { SHORT_US = 50, BATCH_US = 200, MAX_BATCH = 200 };
enum { FLUSH_BYTES = 1 << 28, FIRST_FILL = 2, MAX_FILL = 256 };

/* Contenders; those of Python come last. */
enum { AXE, BLAS, LT, PYTHON, MAX_PYTHON = 4, N_PEER = PYTHON + MAX_PYTHON };

typedef struct python {
    FILE *to, *from; /* NULL: there is none */
    int   child;     /* its process */
} python;

typedef struct bench {
    axe_ctx    *cx;
    axe_gpu    *gpu;
    CUevent     begin, end;
    void       *blas, *lt; /* handles, or NULL */
    void       *workspace;
    void       *flush; /* FLUSH_BYTES / shrink */
    size_t      flush_bytes;
    size_t      l2; /* [bytes] */
    python      py;
    double      deadline; /* [s] of bench_now */
    int64_t     shrink;   /* of all sizes; 1: none */
    uint64_t    seed;     /* of the order of turns */
    bool        trust;    /* look at no results */
    const char *only;     /* row; NULL: all */
} bench;

typedef struct test_case {
    const row         *row;
    axe_ctx           *cx;
    const axe_program *program;
    axe_gpu_exec      *exec;
    int                n_array, n_size, n_set;
    int                set;                       /* that the next call takes */
    axe_array          array[MAX_SET][MAX_ARRAY]; /* in device memory */
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
    bool   host[N_PEER]; /* the host's time is in some of them */
} result;

/* What is known of a row's results. */
typedef struct verdict {
    int     n_sample; /* elements computed again, in double precision */
    double  sample;   /* ||axe - them|| / ||them||; -1: none */
    double  beside;   /* the same beside the library's; -1: none */
    int64_t n_nan;    /* that axe has left */
    bool    wrong;
} verdict;

/* [s] on the wall. */
double bench_now(void);
/* From 0 to n - 1. */
int bench_random(uint64_t *seed, int n);

/* problem.c.  case_free is right after a failure, too. */
AXE_CHECK axe_status case_new(bench *b, const row *r, test_case *out);
void                 case_free(bench *b, test_case *c);
int64_t              case_size(const test_case *c, const char *name);
/* Of the set that the next call takes. */
const axe_array *case_array(const test_case *c, const char *name);
/* After a call of axe and one of a library on the first set: how far they are
 * apart over windows of the result. */
void case_compare(bench *b, test_case *c, bool library, verdict *out);

/* routing.c: where a row's tokens go, into the set's index tensors: each to
 * S experts of E, each of them as likely. */
AXE_CHECK axe_status case_route(bench *b, const test_case *c, int set);

/* sample.c: elements of the result of a call on the first set beside what the
 * row means, computed here from the arrays. */
void case_sample(bench *b, const test_case *c, verdict *out);

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
/* After a row that did not end: goes on if Python still answers, else begins
 * it anew. */
void python_again(bench *b);
/* Its contenders for the row, ready; none where there is no PyTorch. */
void python_make(bench *b, test_case *c);
/* [ms] of one of n calls of contender i; negative: it failed. */
double python_time(bench *b, int i, int n, bool *host);
void   python_drop(bench *b);

/* contest.c */
double quantile(int n, const double *t, double share);
/* [ms] of one of n calls; false: one of them failed.  host: the host was
 * slower than the GPU. */
bool time_calls(bench *b, test_case *c, start_fn *fn, int n, double *ms,
                bool *host);
void contest(bench *b, test_case *c, result *out);

/* report.c */
typedef struct summary {
    double  copy; /* [GB/s] of the ceiling */
    reached reached[N_TARGET];
    int     n, n_gemm, n_wrong;
    double  log_gemm; /* of the best library's time / axe's */
    double  estimate[128], measured[128]; /* [s] of n rows */
} summary;

void report_row(FILE *json, const test_case *c, const result *r,
                const verdict *v, summary *sum);
void report_end(FILE *json, const summary *sum);

/* targets.c: the fastest library's time / axe's; 0: none. */
double library_ratio(const result *r);
void   target_add(summary *sum, const test_case *c, const result *r);
/* Each target: met, missed, not measured. */
void report_targets(FILE *json, const summary *sum);

/* child.c: fn in a process of its own, which may change *sum, for at most so
 * many seconds.  NULL, or why it did not end well, in cx. */
typedef int child_fn(bench *b, const row *r, FILE *json, summary *sum);
const char *in_child(bench *b, child_fn *fn, const row *r, FILE *json,
                     double seconds, summary *sum);

#endif
