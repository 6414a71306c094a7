/* peer.c - the contenders: axe, cublasGemmEx, the best of cublasLt's guesses.
 */
#include <stdlib.h>

#include <cublasLt.h>
#include <cublas_v2.h>

#include "gpu.h"

enum { WORKSPACE = 64 << 20, N_GUESS = 8, SCALES_ALIGN = 4 };

/* Of cublasLt.h from 12.9 on: CUBLASLT_MATMUL_DESC_A_SCALE_MODE, B's,
 * CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, BLK128x128_32F.  By number, so that
 * earlier headers do; a library that does not know them says so. */
enum {
    A_SCALE_MODE = 31,
    B_SCALE_MODE = 32,
    BLOCKS_128 = 4,
    BLOCKS_128_128 = 5
};

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
    bool     ok = axe_gpu_launch(b->cx, c->exec, c->n_array, c->array[c->set],
                                 c->n_size, c->size, NULL) == AXE_OK;

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

    if (!b->blas || c->row->vendor != LIBRARY_BF16)
        return false;
    return cublasGemmEx(b->blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one,
                        case_array(c, "B")->data, CUDA_R_16BF, k,
                        case_array(c, "A")->data, CUDA_R_16BF, k, &zero,
                        c->peer_out, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

/* K, which kernels in blocks have as Q of 128. */
static int64_t
case_depth(const test_case *c)
{
    int64_t k = case_size(c, "K");

    return k ? k : 128 * case_size(c, "Q");
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
    bool              fp8 = c->row->vendor == LIBRARY_FP8_BLOCKS;
    cudaDataType      type = fp8 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
    uint64_t          m = (uint64_t)case_size(c, "M");
    uint64_t          n = (uint64_t)case_size(c, "N");
    uint64_t          k = (uint64_t)case_depth(c);
    cublasOperation_t t = CUBLAS_OP_T;

    return cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_TRANSA,
                                          &t,
                                          sizeof t) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&p->a, type, k, n, (int64_t)k) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&p->b, type, k, m, (int64_t)k) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutCreate(&p->c, CUDA_R_16BF, n, m, (int64_t)n) ==
               CUBLAS_STATUS_SUCCESS;
}

static bool
set_scale(plan *p, cublasLtMatmulDescAttributes_t mode, int32_t blocks,
          cublasLtMatmulDescAttributes_t pointer, const axe_array *scale)
{
    return cublasLtMatmulDescSetAttribute(p->desc, mode, &blocks,
                                          sizeof blocks) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(p->desc, pointer, &scale->data,
                                          sizeof scale->data) ==
               CUBLAS_STATUS_SUCCESS;
}

/* Scales as the arrays have them: a row's run along M; those of the weights
 * along K, and the library wants a multiple of 4 of them there.  Its A is our
 * B. */
static bool
set_scales(test_case *c, plan *p)
{
    if (c->row->vendor != LIBRARY_FP8_BLOCKS)
        return true;
    if (case_size(c, "Q") % SCALES_ALIGN != 0) {
        c->no_lt = "K / 128 is no multiple of 4, as it wants scales of blocks";
        return false;
    }
    c->no_lt = "it knows no scales of blocks (cuBLAS 12.9 does)";
    return set_scale(p, (cublasLtMatmulDescAttributes_t)A_SCALE_MODE,
                     BLOCKS_128_128, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                     case_array(c, "SB")) &&
           set_scale(p, (cublasLtMatmulDescAttributes_t)B_SCALE_MODE,
                     BLOCKS_128, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                     case_array(c, "SA"));
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

    int n;

    c->no_lt = c->row->vendor && b->lt ? "it refuses types or sizes" : NULL;
    if (!b->lt || !c->row->vendor || !p || !describe(c, p) ||
        !set_scales(c, p)) {
        lt_done(p);
        return NULL;
    }
    n = guess(b, p, g);
    c->no_lt = n > 0 ? "none of its guesses runs" : "its heuristic has none";
    for (int i = 0; i < n; i++) {
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
