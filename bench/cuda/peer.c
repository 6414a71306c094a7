/* peer.c - the contenders: axe, cublasGemmEx, the best of cublasLt's guesses.
 */
#include <stdlib.h>

#include <cublasLt.h>
#include <cublas_v2.h>

#include "gpu.h"

enum { WORKSPACE = 64 << 20, N_GUESS = 8 };

bool
blas_open(bench *b)
{
    cublasHandle_t   h;
    cublasLtHandle_t lt;

    if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS)
        return false;
    b->blas = h;
    if (cublasLtCreate(&lt) == CUBLAS_STATUS_SUCCESS)
        b->lt = lt;
    if (axe_gpu_alloc(b->cx, b->gpu, WORKSPACE, &b->workspace) != AXE_OK)
        return false;
    return cublasSetWorkspace(h, b->workspace, WORKSPACE) ==
           CUBLAS_STATUS_SUCCESS;
}

bool
start_axe(bench *b, test_case *c)
{
    axe_mark m = axe_ctx_mark(b->cx);
    bool ok = axe_gpu_launch(b->cx, c->exec, c->n_array, c->array, c->n_size,
                             c->size, NULL) == AXE_OK;

    if (ok)
        axe_ctx_release(b->cx, m);
    return ok;
}

/* Column-major: the row-major product is B times A there. */
bool
start_blas(bench *b, test_case *c)
{
    float one = 1, zero = 0;
    int   m = (int)case_size(c, "M"), n = (int)case_size(c, "N"),
        k = (int)case_size(c, "K");

    if (!b->blas || !c->row->gemm)
        return false;
    return cublasGemmEx(b->blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one,
                        case_array(c, "B")->data, CUDA_R_16BF, k,
                        case_array(c, "A")->data, CUDA_R_16BF, k, &zero,
                        c->peer_out, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

typedef struct plan {
    cublasLtMatmulDesc_t   desc;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t   algo;
} plan;

static bool
start_plan(bench *b, test_case *c, const plan *p,
           const cublasLtMatmulAlgo_t *algo)
{
    float one = 1, zero = 0;

    return cublasLtMatmul(b->lt, p->desc, &one, case_array(c, "B")->data, p->a,
                          case_array(c, "A")->data, p->b, &zero, c->peer_out,
                          p->c, c->peer_out, p->c, algo, b->workspace,
                          WORKSPACE, NULL) == CUBLAS_STATUS_SUCCESS;
}

bool
start_lt(bench *b, test_case *c)
{
    const plan *p = c->lt;

    return p && start_plan(b, c, p, &p->algo);
}

static bool
describe(test_case *c, plan *p)
{
    uint64_t          m = (uint64_t)case_size(c, "M");
    uint64_t          n = (uint64_t)case_size(c, "N");
    uint64_t          k = (uint64_t)case_size(c, "K");
    cublasOperation_t t = CUBLAS_OP_T;

    return cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_TRANSA,
                                          &t,
                                          sizeof t) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&p->a, CUDA_R_16BF, k, n, (int64_t)k) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&p->b, CUDA_R_16BF, k, m, (int64_t)k) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&p->c, CUDA_R_16BF, n, m, (int64_t)n) ==
               CUBLAS_STATUS_SUCCESS;
}

static int
guess(bench *b, const plan *p, cublasLtMatmulHeuristicResult_t *out)
{
    cublasLtMatmulPreference_t pref;
    uint64_t                   most = WORKSPACE;
    int                        n = 0;

    if (cublasLtMatmulPreferenceCreate(&pref) != CUBLAS_STATUS_SUCCESS)
        return 0;
    cublasLtMatmulPreferenceSetAttribute(
        pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most);
    if (cublasLtMatmulAlgoGetHeuristic(b->lt, p->desc, p->a, p->b, p->c, p->c,
                                       pref, N_GUESS, out,
                                       &n) != CUBLAS_STATUS_SUCCESS)
        n = 0;
    cublasLtMatmulPreferenceDestroy(pref);
    return n;
}

/* Milliseconds of one call; negative: it fails. */
static float
time_guess(bench *b, test_case *c, const plan *p,
           const cublasLtMatmulAlgo_t *algo)
{
    float ms = -1;

    for (int i = 0; i < 2; i++) {
        cuEventRecord(b->begin, NULL);
        if (!start_plan(b, c, p, algo))
            return -1;
        cuEventRecord(b->end, NULL);
        cuEventSynchronize(b->end);
        cuEventElapsedTime(&ms, b->begin, b->end);
    }
    return ms;
}

void *
lt_job(bench *b, test_case *c)
{
    cublasLtMatmulHeuristicResult_t g[N_GUESS];
    plan                           *p = calloc(1, sizeof *p);
    float                           best = -1;

    if (!b->lt || !c->row->gemm || !p || !describe(c, p)) {
        lt_done(p);
        return NULL;
    }
    for (int i = 0, n = guess(b, p, g); i < n; i++) {
        float ms = time_guess(b, c, p, &g[i].algo);
        if (ms >= 0 && (best < 0 || ms < best)) {
            best = ms;
            p->algo = g[i].algo;
        }
    }
    if (best >= 0)
        return p;
    lt_done(p);
    return NULL;
}

void
lt_done(void *job)
{
    plan *p = job;

    if (!p)
        return;
    if (p->desc)
        cublasLtMatmulDescDestroy(p->desc);
    if (p->a)
        cublasLtMatrixLayoutDestroy(p->a);
    if (p->b)
        cublasLtMatrixLayoutDestroy(p->b);
    if (p->c)
        cublasLtMatrixLayoutDestroy(p->c);
    free(p);
}
