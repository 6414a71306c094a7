/* main.c - `bench_gpu [-s SECONDS] [-d SHRINK] [RESULTS]`: ceilings first, then
 * row by row, until the clock says stop; rows that are left are named. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"

static const double usual_seconds = 420;

static void
run_row(bench *b, const row *r, FILE *json, summary *sum)
{
    static result res;
    test_case     c;
    int64_t       n_nan = 0;
    double        error = 0;

    if (case_new(b, r, &c) != AXE_OK) {
        printf("%-14s  not run: %s\n", r->name, axe_last_error(b->cx));
        case_free(b, &c);
        return;
    }
    c.lt = lt_job(b, &c);
    python_make(b, &c);
    contest(b, &c, &res);
    if (res.has[AXE] && (res.has[BLAS] || res.has[LT]))
        error = case_difference(b, &c, &n_nan);
    report_row(json, &c, &res, error, n_nan, sum);
    python_drop(b);
    lt_done(c.lt);
    case_free(b, &c);
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

    for (int i = -N_WARM; i < N_TURN; i++)
        if (!time_calls(b, c, start_blas, 1, &ms[i < 0 ? 0 : i]))
            return 0;
    return c->flops / quantile(N_TURN, ms, 0.5) * 1e-9;
}

/* Random numbers and zeros differ by what power allows.  Returns the copy's
 * rate [GB/s]. */
static double
ceilings(bench *b, FILE *json)
{
    double    copy = copy_rate(b), full = 0, zero = 0;
    test_case c;
    int       i = 0;

    while (i + 1 < n_rows && strcmp(rows[i].name, "square 8192") != 0)
        i++;
    if (b->blas && case_new(b, &rows[i], &c) == AXE_OK) {
        full = product_rate(b, &c);
        for (int k = 0; k < c.n_array; k++)
            cuMemsetD8((CUdeviceptr)(uintptr_t)c.array[k].data, 0, c.bytes[k]);
        zero = product_rate(b, &c);
        case_free(b, &c);
    }
    printf("copy: %.0f GB/s; cuBLAS 8192^3: %.0f TFLOP/s of random numbers, "
           "%.0f of zeros\n",
           copy, full, zero);
    fprintf(json,
            "{\"gpu\": \"%s\", \"copy\": %.5g, \"random\": %.5g, \"zeros\": "
            "%.5g}\n",
            axe_gpu_name(b->gpu), copy, full, zero);
    return copy;
}

/* --------------------------------------------------------------------- rows */

static void
run_all(bench *b, FILE *json)
{
    static summary sum;
    const char    *group = "";
    int            left = 0;

    sum.copy = ceilings(b, json);
    for (int i = 0; i < n_rows; i++) {
        if (!rows[i].group)
            continue;
        if (bench_now() > b->deadline) {
            printf("%s%s", left++ ? ", " : "\nno time for: ", rows[i].name);
            continue;
        }
        if (strcmp(group, rows[i].group) != 0)
            printf("\n%s (rates: TFLOP/s of products, else GB/s)\n",
                   group = rows[i].group);
        run_row(b, &rows[i], json, &sum);
    }
    printf("%s", left ? "\n" : "");
    report_end(json, &sum);
}

static bool
open_driver(bench *b)
{
    CUcontext ctx;
    CUdevice  device;

    return cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
           cuDevicePrimaryCtxRetain(&ctx, device) == CUDA_SUCCESS &&
           cuCtxSetCurrent(ctx) == CUDA_SUCCESS &&
           cuEventCreate(&b->begin, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
           cuEventCreate(&b->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS;
}

static int
run(bench *b, const char *results)
{
    FILE   *json = results ? fopen(results, "w") : stderr;
    axe_buf said = {.cx = b->cx};

    if (axe_gpu_new(b->cx, &(axe_gpu_spec){0}, &b->gpu) != AXE_OK) {
        axe_diags_print(b->cx, &said, false);
        printf("no GPU was measured:\n%s", said.text);
        return 0;
    }
    if (!json || !open_driver(b)) {
        fprintf(stderr, "bench_gpu: no results file, or no context\n");
        return 1;
    }
    printf("%s, %d SMs, %s\n", axe_gpu_name(b->gpu), axe_gpu_n_sm(b->gpu),
           axe_gpu_machine(b->gpu));
    if (!blas_open(b))
        printf("no cuBLAS: not beside it\n");
    printf(
        "times below %d us are of as many calls in a row as fill %d us (xN); "
        "L2 is warm\n",
        SHORT_US, BATCH_US);
    python_open(b);
    run_all(b, json);
    python_close(b);
    axe_gpu_free(b->gpu);
    return 0;
}

int
main(int argc, char **argv)
{
    bench  b = {.cx = axe_ctx_new(), .shrink = 1};
    double seconds = usual_seconds;
    int    c, code;

    while ((c = getopt(argc, argv, "s:d:")) != -1) {
        if (c == 's')
            seconds = strtod(optarg, NULL);
        else if (c == 'd')
            b.shrink = strtoll(optarg, NULL, 10);
    }
    b.shrink = b.shrink < 1 ? 1 : b.shrink;
    b.deadline = bench_now() + seconds;
    code = run(&b, optind < argc ? argv[optind] : NULL);
    axe_ctx_free(b.cx);
    return code;
}
