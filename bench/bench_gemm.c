/* bench_gemm.c - kernels/gemm.axe in f32 beside OpenBLAS.
 *
 * C = A B^T at square sizes, by one thread and by two.  The two libraries take
 * turns within one process; each turn is one untimed call and one timed, so
 * that neither runs in the other's cache.  Medians of the turns; the results
 * are compared.  Without OpenBLAS its columns are empty.
 *
 * OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are taken out of the environment: set
 * for another machine they halve its speed, and a peer is worth comparing with
 * only at its best.  The table's title says which kernels it chose. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "axe/run.h"
#include "run/file.h"

enum { N_MAX = 2048, MAX_TURN = 101, MIN_TURN = 7, ROW_MAJOR = 101 };
enum { NO_TRANS = 111, TRANS = 112 };
#define BUDGET 1.5 /* seconds for one row */

typedef void  sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b,
                       int ldb, float beta, float *c, int ldc);
typedef void  set_threads_fn(int n);
typedef char *corename_fn(void);

typedef struct peer {
    sgemm_fn       *sgemm; /* NULL: not on this machine */
    set_threads_fn *set_threads;
    const char     *kernels; /* "SkylakeX" */
} peer;

typedef struct bench {
    axe_ctx           *cx;
    const axe_program *program;
    peer               blas;
    float             *a, *b, *c, *d; /* [N_MAX * N_MAX] */
} bench;

typedef struct result {
    int    n, n_thread, n_turn;
    double axe, blas; /* [GFLOP/s]; blas 0: none */
    double error;     /* largest difference of the two results */
} result;

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof t[0], by_value);
    return t[n / 2];
}

static peer
find_blas(void)
{
    corename_fn *name;
    peer         p = {0};

    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    void *h = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *f = h ? dlsym(h, "cblas_sgemm") : NULL;
    void *g = h ? dlsym(h, "openblas_set_num_threads") : NULL;
    void *k = h ? dlsym(h, "openblas_get_corename") : NULL;

    if (f && g && k) {
        memcpy(&p.sgemm, &f, sizeof f);
        memcpy(&p.set_threads, &g, sizeof g);
        memcpy(&name, &k, sizeof k);
        p.kernels = name();
    }
    return p;
}

/* ------------------------------------------------------------------- a row */

static axe_status
run_axe(bench *b, axe_exec *e, int n)
{
    const int64_t shape[] = {n, n};

    return axe_launch(b->cx, e, 3,
                      (axe_array[]){
                          {.name = "A",
                           .type = "f32",
                           .rank = 2,
                           .shape = shape,
                           .data = b->a},
                          {.name = "B",
                           .type = "f32",
                           .rank = 2,
                           .shape = shape,
                           .data = b->b},
                          {.name = "C",
                           .type = "f32",
                           .rank = 2,
                           .shape = shape,
                           .data = b->c},
                      },
                      0, NULL);
}

static void
run_blas(bench *b, int n)
{
    b->blas.sgemm(ROW_MAJOR, NO_TRANS, TRANS, n, n, n, 1, b->a, n, b->b, n, 0,
                  b->d, n);
}

static double
difference(const bench *b, int n)
{
    double worst = 0;

    for (size_t i = 0; i < (size_t)n * (size_t)n && b->blas.sgemm; i++)
        worst = fmax(worst, fabs((double)b->c[i] - (double)b->d[i]));
    return worst;
}

static axe_status
turn(bench *b, axe_exec *e, int n, double *axe, double *blas)
{
    double start;

    AXE_TRY(run_axe(b, e, n));
    start = now();
    AXE_TRY(run_axe(b, e, n));
    *axe = now() - start;
    if (!b->blas.sgemm)
        return AXE_OK;
    run_blas(b, n);
    start = now();
    run_blas(b, n);
    *blas = now() - start;
    return AXE_OK;
}

static axe_status
measure(bench *b, axe_exec *e, result *r)
{
    double axe[MAX_TURN], blas[MAX_TURN] = {0}, begin = now();
    double work = 2e-9 * r->n * r->n * r->n;

    while (r->n_turn < MAX_TURN &&
           (r->n_turn < MIN_TURN || now() - begin < BUDGET)) {
        AXE_TRY(turn(b, e, r->n, &axe[r->n_turn], &blas[r->n_turn]));
        r->n_turn++;
    }
    r->axe = work / median(axe, r->n_turn);
    if (b->blas.sgemm)
        r->blas = work / median(blas, r->n_turn);
    r->error = difference(b, r->n);
    return AXE_OK;
}

static axe_status
measure_row(bench *b, result *r)
{
    axe_device_spec spec = {.n_thread = r->n_thread};
    axe_device     *d;
    axe_exec       *e = NULL;
    axe_status      st;

    AXE_TRY(axe_device_new(b->cx, &spec, &d));
    if (b->blas.set_threads)
        b->blas.set_threads(r->n_thread);
    st = axe_exec_new(b->cx, d, b->program, &e);
    if (st == AXE_OK)
        st = measure(b, e, r);
    axe_exec_free(e);
    axe_device_free(d);
    return st;
}

/* --------------------------------------------------------------- the table */

static void
print_row(const result *r, bool json)
{
    double ratio = r->blas > 0 ? r->axe / r->blas : 0;

    if (json)
        printf("{\"bench\": \"gemm_f32\", \"n\": %d, \"threads\": %d, "
               "\"axe_gflops\": %.2f, \"openblas_gflops\": %.2f, "
               "\"ratio\": %.3f, \"turns\": %d, \"max_difference\": %.3g}\n",
               r->n, r->n_thread, r->axe, r->blas, ratio, r->n_turn, r->error);
    else if (r->blas > 0)
        printf("%6d %8d %10.1f %10.1f %7.2f %6d %12.2g\n", r->n, r->n_thread,
               r->axe, r->blas, ratio, r->n_turn, r->error);
    else
        printf("%6d %8d %10.1f %10s %7s %6d %12s\n", r->n, r->n_thread, r->axe,
               "-", "-", r->n_turn, "-");
    fflush(stdout);
}

static axe_status
run_all(bench *b, bool json)
{
    static const int size[] = {256, 512, 1024, 1536, 2048};

    if (!json)
        printf("C = A B^T in f32 [GFLOP/s], kernels/gemm.axe and OpenBLAS "
               "(%s kernels)\n"
               "%6s %8s %10s %10s %7s %6s %12s\n",
               b->blas.kernels ? b->blas.kernels : "not here: no", "n",
               "threads", "axe", "openblas", "ratio", "turns", "difference");
    for (int threads = 1; threads <= 2; threads++)
        for (int i = 0; i < AXE_LEN(size); i++) {
            result r = {.n = size[i], .n_thread = threads};
            AXE_TRY(measure_row(b, &r));
            print_row(&r, json);
        }
    return AXE_OK;
}

static axe_status
compile(bench *b)
{
    static const char path[] = AXE_SOURCE_DIR "/kernels/gemm.axe";
    axe_bytes         text;
    int32_t           source;

    AXE_TRY(axe_file_read(b->cx, path, &text));
    source = axe_source_add(b->cx, path, (const char *)text.data, text.len);
    free(text.data);
    return axe_compile(b->cx, source, &(axe_compile_spec){0}, AXE_STAGE_C,
                       &b->program);
}

static float *
make_matrix(unsigned seed)
{
    size_t n = (size_t)N_MAX * N_MAX;
    float *m = aligned_alloc(64, n * sizeof *m);

    for (size_t i = 0; m && i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        m[i] = (float)(seed >> 8) * 0x1p-23f - 1;
    }
    return m;
}

int
main(int argc, char **argv)
{
    bool    json = argc > 1 && strcmp(argv[1], "--json") == 0;
    bench   b = {.cx = axe_ctx_new()};
    axe_buf said = {.cx = b.cx};
    int     code = 0;

    b.blas = find_blas();
    b.a = make_matrix(1);
    b.b = make_matrix(2);
    b.c = make_matrix(3);
    b.d = make_matrix(4);
    if (!b.a || !b.b || !b.c || !b.d || compile(&b) != AXE_OK ||
        run_all(&b, json) != AXE_OK)
        code = 1;
    axe_diags_print(b.cx, &said, false);
    if (said.len > 0)
        fputs(said.text, stderr);
    free(b.a);
    free(b.b);
    free(b.c);
    free(b.d);
    axe_ctx_free(b.cx);
    return code;
}
