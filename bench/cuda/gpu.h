/* gpu.h - the benchmark on a GPU: kernels of kernels/ beside NVIDIA's
 * libraries, in one process, by turns.
 *
 * A row is a kernel at one size; a case is a row made ready: compiled, its
 * arrays in device memory, random, those to be written full of NaN.  Times are
 * the GPU's own, between two events. */
#ifndef AXE_BENCH_GPU_H
#define AXE_BENCH_GPU_H

#include <stdio.h>

#include <cuda.h>

#include "axe/gpu.h"

enum { MAX_ARRAY = 8, MAX_SIZE = 8, N_TURN = 15, N_WARM = 3, N_PEER = 3 };

typedef struct row {
    const char *group;         /* of the table */
    const char *name;          /* "qwen3-8b.up" */
    const char *file, *kernel; /* kernels/FILE.axe */
    const char *otherwise;     /* where FILE is for another machine */
    const char *set, *sizes;   /* "T=bf16", "M=64 N=64" */
    bool        gemm; /* C[M, N] = A[M, K] B[N, K]^T: libraries have it */
} row;

extern const row rows[];
extern const int n_rows;

typedef struct bench {
    axe_ctx *cx;
    axe_gpu *gpu;
    CUevent  begin, end;
    void    *blas, *lt; /* handles, or NULL */
    void    *workspace;
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
} test_case;

/* problem.c.  case_free is right after a failure, too. */
AXE_CHECK axe_status case_new(bench *b, const row *r, test_case *out);
void                 case_free(bench *b, test_case *c);
int64_t              case_size(const test_case *c, const char *name);
const axe_array     *case_array(const test_case *c, const char *name);
/* ||axe - library|| / ||library|| over windows of the result, and how many NaN
 * axe has left there. */
double case_difference(bench *b, const test_case *c, int64_t *n_nan);

/* peer.c: a call is started on the default stream; false: no such. */
typedef bool start_fn(bench *b, test_case *c, void *job);
bool         blas_open(bench *b);
start_fn     start_axe, start_blas, start_lt;
/* The fastest of cublasLt's eight best guesses, or NULL. */
void *lt_job(bench *b, test_case *c);
void  lt_done(void *job);

#endif
