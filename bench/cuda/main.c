/* main.c - `bench_gpu [-s SECONDS] [-l SECONDS] [-r SEED] [-d SHRINK] [-n]
 * [-o ROW] [RESULTS]`: ceilings first, then row by row, each for at most -l
 * seconds, until the clock says stop; rows that are left are named.  Fails if a
 * row did, or is wrong; -n looks at no results, -o takes one row. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"

static const double usual_seconds = 420, usual_row = 60;
static const double MOST_ERROR = 2e-2; /* of bf16 results, of e4m3 factors */

/* --------------------------------------------------------- the driver, opened
 */

static bool
open_driver(bench *b)
{
    CUcontext ctx;
    CUdevice  device;
    int       l2 = 0;

    if (cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&ctx, device) != CUDA_SUCCESS ||
        cuCtxSetCurrent(ctx) != CUDA_SUCCESS ||
        cuEventCreate(&b->begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        cuEventCreate(&b->end, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
        return false;
    (void)cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
    b->l2 = (size_t)l2;
    b->flush_bytes = FLUSH_BYTES / (size_t)b->shrink;
    return axe_gpu_alloc(b->cx, b->gpu, b->flush_bytes, &b->flush) == AXE_OK;
}

/* In a child: a GPU, or why not. */
static bool
open_gpu(bench *b)
{
    if (axe_gpu_new(b->cx, &(axe_gpu_spec){0}, &b->gpu) == AXE_OK &&
        open_driver(b)) {
        (void)blas_open(b);
        return true;
    }
    printf("no GPU was measured: %s\n", axe_last_error(b->cx));
    return false;
}

/* ---------------------------------------------------------------------- a row
 */

/* What a call on the first arrays leaves, before any is timed. */
static bool
judge(bench *b, test_case *c, verdict *v)
{
    bool library;

    *v = (verdict){.sample = -1, .beside = -1};
    if (!start_axe(b, c) || axe_gpu_wait(b->cx, b->gpu, NULL) != AXE_OK) {
        printf("%-14s  FAILED: %s\n", c->row->name, axe_last_error(b->cx));
        return false;
    }
    library = start_blas(b, c) || start_lt(b, c);
    if (library && axe_gpu_wait(b->cx, b->gpu, NULL) != AXE_OK) {
        printf("%-14s  FAILED: the library's: %s\n", c->row->name,
               axe_last_error(b->cx));
        return false;
    }
    if (b->trust)
        return true;
    case_compare(b, c, library, v);
    case_sample(b, c, v);
    v->wrong = v->n_nan > 0 || v->sample > MOST_ERROR;
    return true;
}

static int
run_row(bench *b, const row *r, FILE *json, summary *sum)
{
    static result    res;
    static test_case c;
    verdict          v;

    if (!open_gpu(b))
        return 1;
    if (case_new(b, r, &c) != AXE_OK) {
        printf("%-14s  not run: %s\n", r->name, axe_last_error(b->cx));
        return 0;
    }
    c.lt = lt_job(b, &c);
    if (!judge(b, &c, &v))
        return 1;
    python_make(b, &c);
    contest(b, &c, &res);
    report_row(json, &c, &res, &v, sum);
    python_drop(b);
    lt_done(c.lt);
    case_free(b, &c);
    return 0;
}

/* ----------------------------------------------------------------- ceilings */

/* GB/s of a copy within the GPU's memory, read and written. */
static double
copy_rate(bench *b)
{
    size_t bytes = ((size_t)1 << 31) / (size_t)b->shrink;
    void  *from, *to;
    double best = 0;

    if (axe_gpu_alloc(b->cx, b->gpu, bytes, &from) != AXE_OK)
        return 0;
    if (axe_gpu_alloc(b->cx, b->gpu, bytes, &to) == AXE_OK) {
        for (int i = 0; i < 9; i++) {
            float ms = 0;
            cuEventRecord(b->begin, NULL);
            cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)to,
                              (CUdeviceptr)(uintptr_t)from, bytes, NULL);
            cuEventRecord(b->end, NULL);
            cuEventSynchronize(b->end);
            if (cuEventElapsedTime(&ms, b->begin, b->end) == CUDA_SUCCESS)
                best = fmax(best, 2.0 * (double)bytes / ms * 1e-6);
        }
        axe_gpu_release(b->gpu, to);
    }
    axe_gpu_release(b->gpu, from);
    return best;
}

/* TFLOP/s of cuBLAS on the arrays as they are; 0: none. */
static double
product_rate(bench *b, test_case *c)
{
    double ms[N_TURN];
    bool   host;

    for (int i = -N_WARM; i < N_TURN; i++)
        if (!time_calls(b, c, start_blas, 1, &ms[i < 0 ? 0 : i], &host))
            return 0;
    return c->flops / quantile(N_TURN, ms, 0.5) * 1e-9;
}

/* Random numbers and zeros differ by what power allows. */
static int
ceilings(bench *b, const row *r, FILE *json, summary *sum)
{
    static test_case c;
    double           full = 0, zero = 0;

    if (!open_gpu(b))
        return 1;
    printf("%s, %d SMs, %s, %zu MiB of L2%s\n", axe_gpu_name(b->gpu),
           axe_gpu_n_sm(b->gpu), axe_gpu_machine(b->gpu), b->l2 >> 20,
           b->blas ? "" : "; no cuBLAS: not beside it");
    sum->copy = copy_rate(b);
    if (b->blas && case_new(b, r, &c) == AXE_OK) {
        full = product_rate(b, &c);
        for (int k = 0; k < c.n_array; k++)
            cuMemsetD8((CUdeviceptr)(uintptr_t)c.array[0][k].data, 0,
                       c.bytes[k]);
        zero = product_rate(b, &c);
        case_free(b, &c);
    }
    printf("copy: %.0f GB/s; cuBLAS 8192^3: %.0f TFLOP/s of random numbers, "
           "%.0f of zeros\n",
           sum->copy, full, zero);
    fprintf(json,
            "{\"gpu\": \"%s\", \"copy\": %.5g, \"random\": %.5g, \"zeros\": "
            "%.5g, \"seed\": %llu}\n",
            axe_gpu_name(b->gpu), sum->copy, full, zero,
            (unsigned long long)b->seed);
    return 0;
}

/* --------------------------------------------------------------------- rows */

static const row *
find_row(const char *name)
{
    int i = 0;

    while (i + 1 < n_rows && strcmp(rows[i].name, name) != 0)
        i++;
    return &rows[i];
}

/* A row that does not end well is told of, and takes nothing along. */
static void
try_row(bench *b, const row *r, FILE *json, double seconds, summary *sum)
{
    double      left = b->deadline + 10 - bench_now();
    const char *why =
        in_child(b, run_row, r, json, left < seconds ? left : seconds, sum);

    if (!why)
        return;
    printf("%-14s  %s\n", r->name, why);
    fprintf(json, "{\"row\": \"%s\", \"failed\": \"%s\"}\n", r->name, why);
    sum->n_wrong++;
    python_again(b);
}

static int
run_all(bench *b, FILE *json, double seconds)
{
    static summary sum;
    const char    *group = "", *why;
    int            left = 0;

    why = in_child(b, ceilings, find_row("square 8192"), json, seconds, &sum);
    if (why) {
        printf("the ceilings: %s\n", why);
        return 1;
    }
    for (int i = 0; i < n_rows; i++) {
        if (b->only && strcmp(b->only, rows[i].name) != 0)
            continue;
        if (bench_now() > b->deadline) {
            printf("%s%s", left++ ? ", " : "\nno time for: ", rows[i].name);
            continue;
        }
        if (strcmp(group, rows[i].group) != 0)
            printf("\n%s (rates: TFLOP/s of products, else GB/s)\n",
                   group = rows[i].group);
        (void)bench_random(&b->seed, 2);
        try_row(b, &rows[i], json, seconds, &sum);
    }
    printf("%s", left ? "\n" : "");
    report_end(json, &sum);
    return sum.n_wrong > 0;
}

static int
run(bench *b, const char *results, double seconds)
{
    FILE *json = results ? fopen(results, "w") : stderr;
    int   code;

    if (!json) {
        perror(results);
        return 1;
    }
    printf("each row in a process of its own, for at most %.0f s; contenders "
           "in random order, seed %llu\n"
           "caches are cold; times below %d us are of as many calls in a row "
           "as fill %d us (xN), on arrays by turns\n",
           seconds, (unsigned long long)b->seed, SHORT_US, BATCH_US);
    python_open(b);
    code = run_all(b, json, seconds);
    python_close(b);
    if (json != stderr && fclose(json) != 0) {
        perror(results);
        code = 1;
    }
    return code;
}

int
main(int argc, char **argv)
{
    bench  b = {.cx = axe_ctx_new(), .shrink = 1, .seed = 20261122};
    double seconds = usual_seconds, each = usual_row;
    int    c, code;

    while ((c = getopt(argc, argv, "s:l:d:r:o:n")) != -1) {
        if (c == 's')
            seconds = strtod(optarg, NULL);
        else if (c == 'l')
            each = strtod(optarg, NULL);
        else if (c == 'd')
            b.shrink = strtoll(optarg, NULL, 10);
        else if (c == 'o')
            b.only = optarg;
        else if (c == 'n')
            b.trust = true;
        else if (c == 'r')
            b.seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    b.shrink = b.shrink < 1 ? 1 : b.shrink;
    b.seed += b.seed == 0;
    b.deadline = bench_now() + seconds;
    code = run(&b, optind < argc ? argv[optind] : NULL, each);
    axe_ctx_free(b.cx);
    return code;
}
