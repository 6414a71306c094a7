/* blas.c - OpenBLAS and BLIS, opened at run time.
 *
 * OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are taken out of the environment: set
 * for another machine they halve its speed, and a peer is worth comparing with
 * only at its best. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef void gemm32_fn(int order, int trans_a, int trans_b, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b,
                       int ldb, float beta, float *c, int ldc);
typedef void gemm64_fn(int order, int trans_a, int trans_b, int m, int n, int k,
                       double alpha, const double *a, int lda, const double *b,
                       int ldb, double beta, double *c, int ldc);
typedef void gemv32_fn(int order, int trans, int m, int n, float alpha,
                       const float *a, int lda, const float *x, int incx,
                       float beta, float *y, int incy);
/* OpenBLAS's own: b = alpha * op(a). */
typedef void copy32_fn(int order, int trans, int rows, int cols, float alpha,
                       const float *a, int lda, float *b, int ldb);
typedef void threads_fn(int n);

typedef struct blas {
    const char *lib[3], *threads;
    gemm32_fn  *sgemm;
    gemm64_fn  *dgemm;
    gemv32_fn  *sgemv;
    copy32_fn  *somatcopy; /* or NULL */
    threads_fn *set_threads;
} blas;

static blas openblas = {.lib = {"libopenblas.so.0"},
                        .threads = "openblas_set_num_threads"},
            blis = {.lib = {"libblis.so.4", "libblis.so.3", "libblis.so"},
                    .threads = "bli_thread_set_num_threads"};

static bool
open_blas(blas *b)
{
    void *h = NULL;
    struct {
        const char *name;
        void       *to;
    } symbol[] = {{"cblas_sgemm", &b->sgemm},
                  {"cblas_dgemm", &b->dgemm},
                  {"cblas_sgemv", &b->sgemv},
                  {"cblas_somatcopy", &b->somatcopy},
                  {b->threads, &b->set_threads}};

    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    for (int i = 0; i < AXE_LEN(b->lib) && b->lib[i] && !h; i++)
        h = dlopen(b->lib[i], RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; h && i < AXE_LEN(symbol); i++) {
        void *f = dlsym(h, symbol[i].name);
        memcpy(symbol[i].to, &f, sizeof f);
    }
    return b->sgemm && b->dgemm && b->sgemv && b->set_threads;
}

static bool
open_openblas(axe_ctx *cx)
{
    (void)cx;
    return open_blas(&openblas);
}

static bool
open_blis(axe_ctx *cx)
{
    (void)cx;
    return open_blas(&blis);
}

/* ------------------------------------------------------------------- jobs */

typedef struct job {
    const blas *lib;
    void (*call)(const struct job *j);
    int         trans_a, trans_b, m, n, k, lda, ldb;
    int         times; /* of a batch */
    const void *a, *b;
    void       *c;
} job;

static void
call_sgemm(const job *j)
{
    size_t       mk = (size_t)j->m * (size_t)j->k;
    size_t       nk = (size_t)j->n * (size_t)j->k;
    size_t       mn = (size_t)j->m * (size_t)j->n;
    const float *a = j->a, *b = j->b;
    float       *c = j->c;

    for (size_t i = 0; i < (size_t)j->times; i++)
        j->lib->sgemm(ROW_MAJOR, j->trans_a, j->trans_b, j->m, j->n, j->k, 1,
                      a + i * mk, j->lda, b + i * nk, j->ldb, 0, c + i * mn,
                      j->n);
}

static void
call_dgemm(const job *j)
{
    j->lib->dgemm(ROW_MAJOR, j->trans_a, j->trans_b, j->m, j->n, j->k, 1, j->a,
                  j->lda, j->b, j->ldb, 0, j->c, j->n);
}

static void
call_sgemv(const job *j)
{
    j->lib->sgemv(ROW_MAJOR, j->trans_a, j->m, j->n, 1, j->a, j->n, j->b, 1, 0,
                  j->c, 1);
}

static void
call_somatcopy(const job *j)
{
    j->lib->somatcopy(ROW_MAJOR, TRANS, j->m, j->n, 1, j->a, j->n, j->c, j->m);
}

/* c = op(a) op(b) for the kernels of that name; false if it is none. */
static bool
matrix_product(const problem *p, job *j)
{
    static const struct {
        const char *kernel;
        int         trans_a, trans_b;
    } form[] = {{"gemm", NO_TRANS, TRANS},
                {"gemm_batched", NO_TRANS, TRANS},
                {"gemm_nn", NO_TRANS, NO_TRANS},
                {"gemm_tn", TRANS, NO_TRANS},
                {"gemm_tt", TRANS, TRANS}};
    const char *type = p->array[0].type;

    for (int i = 0; i < AXE_LEN(form); i++) {
        if (strcmp(p->row->kernel, form[i].kernel) != 0)
            continue;
        j->m = (int)problem_size(p, "M");
        j->n = (int)problem_size(p, "N");
        j->k = (int)problem_size(p, "K");
        j->times = problem_size(p, "P") ? (int)problem_size(p, "P") : 1;
        j->trans_a = form[i].trans_a;
        j->trans_b = form[i].trans_b;
        j->lda = j->trans_a == TRANS ? j->m : j->k;
        j->ldb = j->trans_b == TRANS ? j->k : j->n;
        j->call = strcmp(type, "f32") == 0   ? call_sgemm
                  : strcmp(type, "f64") == 0 ? call_dgemm
                                             : NULL;
        return j->call && (j->call == call_sgemm || j->times == 1);
    }
    return false;
}

static bool
other(const problem *p, job *j)
{
    const char *k = p->row->kernel;
    int64_t     m = problem_size(p, "M"), n = problem_size(p, "N");

    if (strcmp(p->array[0].type, "f32") != 0)
        return false;
    if (strcmp(k, "gemv") == 0 || strcmp(k, "gemv_t") == 0) {
        j->call = call_sgemv;
        j->trans_a = strcmp(k, "gemv") == 0 ? NO_TRANS : TRANS;
        j->m = (int)(m ? m : problem_size(p, "K"));
        j->n = (int)(m ? problem_size(p, "K") : n);
        return true;
    }
    if (strcmp(k, "transpose") == 0 && j->lib->somatcopy) {
        j->call = call_somatcopy;
        j->m = (int)m;
        j->n = (int)n;
        return true;
    }
    return false;
}

static void *
prepare_blas(const blas *lib, const problem *p)
{
    job  j = {.lib = lib};
    job *copy;

    if (!matrix_product(p, &j) && !other(p, &j))
        return NULL;
    j.a = p->peer[0].data;
    j.b = p->peer[1].data;
    j.c = p->peer[p->n_array - 1].data;
    lib->set_threads(p->n_thread);
    copy = malloc(sizeof *copy);
    if (copy)
        *copy = j;
    return copy;
}

static void *
prepare_openblas(const problem *p)
{
    return prepare_blas(&openblas, p);
}

static void *
prepare_blis(const problem *p)
{
    return prepare_blas(&blis, p);
}

static void
call_job(void *j)
{
    ((job *)j)->call(j);
}

const peer openblas_peer = {.name = "openblas",
                            .open = open_openblas,
                            .prepare = prepare_openblas,
                            .call = call_job,
                            .done = free};

const peer blis_peer = {.name = "blis",
                        .open = open_blis,
                        .prepare = prepare_blis,
                        .call = call_job,
                        .done = free};
