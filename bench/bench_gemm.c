/* bench_gemm.c - kernels/gemm.axe in f32 beside OpenBLAS, BLIS and oneDNN.
 *
 * C = A B^T at square sizes, by one thread and by two.  All take turns within
 * one process; each turn is one untimed call and one timed, so that none runs
 * in another's cache.  Medians of the turns; results are compared with the
 * first peer's.  A library that is not here has no column entry.  The ratio is
 * to the best peer of the row.
 *
 * OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are taken out of the environment: set
 * for another machine they halve its speed, and a peer is worth comparing with
 * only at its best. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/run.h"
#include "clock.h"
#include "run/array/file.h"

enum { N_MAX = 2048, MAX_TURN = 101, MIN_TURN = 7, ROW_MAJOR = 101 };
enum { NO_TRANS = 111, TRANS = 112 };
#define BUDGET 1.5 /* seconds for one row */

typedef void  sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b,
                       int ldb, float beta, float *c, int ldc);
typedef void  set_threads_fn(int n);
typedef char *corename_fn(void);

/* oneDNN's, row-major, transposes by letter; returns a status. */
typedef int dnnl_fn(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b,
                    int64_t ldb, float beta, float *c, int64_t ldc);

enum { N_PEER = 3, N_NAME = 3 };

typedef struct peer {
    const char     *name, *lib[N_NAME], *gemm, *threads;
    sgemm_fn       *sgemm; /* one of these, or neither: not on this machine */
    dnnl_fn        *dnnl;
    set_threads_fn *set_threads;
} peer;

typedef struct bench {
    axe_ctx           *cx;
    const axe_program *program;
    peer               peer[N_PEER];
    float             *a, *b, *c, *d; /* [N_MAX * N_MAX] */
} bench;

typedef struct result {
    int    n, n_thread, n_turn;
    double axe, peer[N_PEER]; /* [GFLOP/s]; 0: not here */
    double error;             /* largest difference from the first peer */
} result;

static const peer peers[N_PEER] = {
    {.name = "openblas",
     .lib = {"libopenblas.so.0"},
     .gemm = "cblas_sgemm",
     .threads = "openblas_set_num_threads"},
    {.name = "blis",
     .lib = {"libblis.so.4", "libblis.so.3", "libblis.so"},
     .gemm = "cblas_sgemm",
     .threads = "bli_thread_set_num_threads"},
    {.name = "onednn",
     .lib = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"},
     .gemm = "dnnl_sgemm",
     .threads = "omp_set_num_threads"},
};

static void
find_peer(peer *p)
{
    void *h = NULL;

    for (int i = 0; i < N_NAME && p->lib[i] && !h; i++)
        h = dlopen(p->lib[i], RTLD_NOW | RTLD_LOCAL);
    void *f = h ? dlsym(h, p->gemm) : NULL;
    void *g = h ? dlsym(h, p->threads) : NULL;
    if (!f || !g)
        return;
    memcpy(&p->set_threads, &g, sizeof g);
    if (strcmp(p->gemm, "dnnl_sgemm") == 0)
        memcpy(&p->dnnl, &f, sizeof f);
    else
        memcpy(&p->sgemm, &f, sizeof f);
}

static void
find_peers(bench *b)
{
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    memcpy(b->peer, peers, sizeof peers);
    for (int i = 0; i < N_PEER; i++)
        find_peer(&b->peer[i]);
}

static bool
is_here(const peer *p)
{
    return p->sgemm || p->dnnl;
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
run_peer(bench *b, const peer *p, int n)
{
    if (p->sgemm)
        p->sgemm(ROW_MAJOR, NO_TRANS, TRANS, n, n, n, 1, b->a, n, b->b, n, 0,
                 b->d, n);
    if (p->dnnl)
        (void)p->dnnl('N', 'T', n, n, n, 1, b->a, n, b->b, n, 0, b->d, n);
}

/* Of axe's result from that of the first peer that is here. */
static double
difference(bench *b, int n)
{
    double worst = 0;
    int    i = 0;

    while (i < N_PEER && !is_here(&b->peer[i]))
        i++;
    if (i == N_PEER)
        return 0;
    run_peer(b, &b->peer[i], n);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
        worst = fmax(worst, fabs((double)b->c[k] - (double)b->d[k]));
    return worst;
}

typedef struct times {
    double axe[MAX_TURN], peer[N_PEER][MAX_TURN];
} times;

static axe_status
turn(bench *b, axe_exec *e, int n, times *t, int k)
{
    double start;

    AXE_TRY(run_axe(b, e, n));
    start = clock_seconds(CLOCK_MONOTONIC);
    AXE_TRY(run_axe(b, e, n));
    t->axe[k] = clock_seconds(CLOCK_MONOTONIC) - start;
    for (int i = 0; i < N_PEER; i++) {
        if (!is_here(&b->peer[i]))
            continue;
        run_peer(b, &b->peer[i], n);
        start = clock_seconds(CLOCK_MONOTONIC);
        run_peer(b, &b->peer[i], n);
        t->peer[i][k] = clock_seconds(CLOCK_MONOTONIC) - start;
    }
    return AXE_OK;
}

static axe_status
measure(bench *b, axe_exec *e, result *r)
{
    times  t;
    double begin = clock_seconds(CLOCK_MONOTONIC),
           work = 2e-9 * r->n * r->n * r->n;

    while (r->n_turn < MAX_TURN &&
           (r->n_turn < MIN_TURN ||
            clock_seconds(CLOCK_MONOTONIC) - begin < BUDGET)) {
        AXE_TRY(turn(b, e, r->n, &t, r->n_turn));
        r->n_turn++;
    }
    r->axe = work / median_of(t.axe, r->n_turn);
    for (int i = 0; i < N_PEER; i++)
        if (is_here(&b->peer[i]))
            r->peer[i] = work / median_of(t.peer[i], r->n_turn);
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
    for (int i = 0; i < N_PEER; i++)
        if (b->peer[i].set_threads)
            b->peer[i].set_threads(r->n_thread);
    st = axe_exec_new(b->cx, d, b->program, &e);
    if (st == AXE_OK)
        st = measure(b, e, r);
    axe_exec_free(e);
    axe_device_free(d);
    return st;
}

/* --------------------------------------------------------------- the table */

static double
ratio(const result *r)
{
    double best = 0;

    for (int i = 0; i < N_PEER; i++)
        best = fmax(best, r->peer[i]);
    return best > 0 ? r->axe / best : 0;
}

static void
print_json(const result *r)
{
    printf("{\"bench\": \"gemm_f32\", \"n\": %d, \"threads\": %d, "
           "\"axe_gflops\": %.2f, ",
           r->n, r->n_thread, r->axe);
    for (int i = 0; i < N_PEER; i++)
        printf("\"%s_gflops\": %.2f, ", peers[i].name, r->peer[i]);
    printf("\"ratio\": %.3f, \"turns\": %d, \"max_difference\": %.3g}\n",
           ratio(r), r->n_turn, r->error);
}

static void
print_row(const result *r)
{
    printf("%6d %8d %10.1f", r->n, r->n_thread, r->axe);
    for (int i = 0; i < N_PEER; i++)
        if (r->peer[i] > 0)
            printf(" %10.1f", r->peer[i]);
        else
            printf(" %10s", "-");
    printf(" %7.2f %6d %12.2g\n", ratio(r), r->n_turn, r->error);
}

static void
print_head(void)
{
    printf("C = A B^T in f32 [GFLOP/s], kernels/gemm.axe and its peers\n"
           "%6s %8s %10s",
           "n", "threads", "axe");
    for (int i = 0; i < N_PEER; i++)
        printf(" %10s", peers[i].name);
    printf(" %7s %6s %12s\n", "ratio", "turns", "difference");
}

static axe_status
run_all(bench *b, bool json)
{
    static const int size[] = {64, 128, 256, 384, 512, 1000, 1024, 1536, 2048};

    if (!json)
        print_head();
    for (int threads = 1; threads <= 2; threads++)
        for (int i = 0; i < AXE_LEN(size); i++) {
            result r = {.n = size[i], .n_thread = threads};
            AXE_TRY(measure_row(b, &r));
            if (json)
                print_json(&r);
            else
                print_row(&r);
            fflush(stdout);
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

    find_peers(&b);
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
