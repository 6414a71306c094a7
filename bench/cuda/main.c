/* main.c - the table: each row's contenders by turns in rotating order, medians
 * of the GPU's own times, ratios with their spread, shares of what the GPU
 * reaches in a copy and in the libraries' best product. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

static const char *const who[N_PEER] = {"axe", "cuBLAS", "cuBLASLt"};
static start_fn *const   start[N_PEER] = {start_axe, start_blas, start_lt};

typedef struct result {
    double ms[N_PEER][N_TURN];
    bool   has[N_PEER];
} result;

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
quantile(const double *t, double share)
{
    double s[N_TURN];

    memcpy(s, t, sizeof s);
    qsort(s, N_TURN, sizeof s[0], by_value);
    return s[(int)(share * (N_TURN - 1) + 0.5)];
}

static bool
time_one(bench *b, test_case *c, start_fn *fn, void *job, double *out)
{
    float ms;

    if (cuEventRecord(b->begin, NULL) != CUDA_SUCCESS || !fn(b, c, job))
        return false;
    if (cuEventRecord(b->end, NULL) != CUDA_SUCCESS ||
        cuEventSynchronize(b->end) != CUDA_SUCCESS ||
        cuEventElapsedTime(&ms, b->begin, b->end) != CUDA_SUCCESS)
        return false;
    *out = ms;
    return true;
}

static void
contest(bench *b, test_case *c, void *const job[N_PEER], result *r)
{
    double ignored;

    for (int i = 0; i < N_PEER; i++)
        r->has[i] = true;
    for (int k = -N_WARM; k < N_TURN; k++)
        for (int j = 0; j < N_PEER; j++) {
            int i = (j + k + N_WARM) % N_PEER;
            r->has[i] = r->has[i] && time_one(b, c, start[i], job[i],
                                              k < 0 ? &ignored : &r->ms[i][k]);
        }
}

static void
ratio(const result *r, int peer, double *median, double *low, double *high)
{
    double q[N_TURN];

    for (int k = 0; k < N_TURN; k++)
        q[k] = r->ms[peer][k] / r->ms[0][k];
    *median = quantile(q, 0.5);
    *low = quantile(q, 0.1);
    *high = quantile(q, 0.9);
}

/* TFLOP/s, or GB/s where there is nothing but moving. */
static double
rate(const test_case *c, double ms)
{
    return c->flops > 0 ? c->flops / ms * 1e-9 : c->moved / ms * 1e-6;
}

static void
report(FILE *json, const test_case *c, const result *r, double error,
       int64_t n_nan)
{
    printf("%-16s", c->row->name);
    fprintf(json, "{\"row\": \"%s\", \"sizes\": \"%s\"", c->row->name,
            c->row->sizes);
    for (int i = 0; i < N_PEER; i++) {
        double ms = quantile(r->ms[i], 0.5);
        if (!r->has[i]) {
            printf("  %19s", "-");
            continue;
        }
        printf("  %9.3f ms %7.1f", ms, rate(c, ms));
        fprintf(json, ", \"%s_ms\": %.6g, \"%s_rate\": %.6g", who[i], ms,
                who[i], rate(c, ms));
    }
    for (int i = 1; i < N_PEER; i++) {
        double m, low, high;
        if (!r->has[0] || !r->has[i])
            continue;
        ratio(r, i, &m, &low, &high);
        printf("  %s/axe %.3f (%.3f-%.3f)", who[i], m, low, high);
        fprintf(json, ", \"ratio_%s\": [%.5g, %.5g, %.5g]", who[i], m, low,
                high);
    }
    if (c->row->gemm)
        printf("  error %.1e%s", error, n_nan ? " NaN!" : "");
    printf("\n");
    fprintf(json, ", \"error\": %.3g, \"nan\": %lld}\n", error,
            (long long)n_nan);
    fflush(stdout);
    fflush(json);
}

/* Ratio of the best library to axe, or 0. */
static double
run_row(bench *b, const row *r, FILE *json)
{
    static result res;
    test_case     c;
    void         *job[N_PEER] = {NULL};
    int64_t       n_nan = 0;
    double        error = 0, best = 0;

    res = (result){0};
    if (case_new(b, r, &c) != AXE_OK) {
        printf("%-16s  not run: %s\n", r->name, axe_last_error(b->cx));
        case_free(b, &c);
        return 0;
    }
    job[2] = lt_job(b, &c);
    contest(b, &c, job, &res);
    if (r->gemm && res.has[0] && res.has[1])
        error = case_difference(b, &c, &n_nan);
    report(json, &c, &res, error, n_nan);
    for (int i = 1; i < N_PEER; i++)
        if (res.has[0] && res.has[i]) {
            double q = quantile(res.ms[i], 0.5) / quantile(res.ms[0], 0.5);
            best = best == 0 || q < best ? q : best;
        }
    lt_done(job[2]);
    case_free(b, &c);
    return best;
}

/* GB/s of a copy within the GPU's memory, read and written: the ceiling. */
static double
copy_rate(bench *b)
{
    enum { GIB = 1 << 30 };
    void  *from, *to;
    double best = 0;

    if (axe_gpu_alloc(b->cx, b->gpu, GIB, &from) != AXE_OK)
        return 0;
    if (axe_gpu_alloc(b->cx, b->gpu, GIB, &to) == AXE_OK) {
        for (int i = 0; i < 9; i++) {
            float ms = 0;
            cuEventRecord(b->begin, NULL);
            cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)to,
                              (CUdeviceptr)(uintptr_t)from, GIB, NULL);
            cuEventRecord(b->end, NULL);
            cuEventSynchronize(b->end);
            if (cuEventElapsedTime(&ms, b->begin, b->end) == CUDA_SUCCESS)
                best = fmax(best, 2.0 * GIB / ms * 1e-6);
        }
        axe_gpu_release(b->gpu, to);
    }
    axe_gpu_release(b->gpu, from);
    return best;
}

static void
run_all(bench *b, FILE *json)
{
    double      log_sum = 0;
    int         n = 0;
    const char *group = "";

    printf("copy: %.0f GB/s\n", copy_rate(b));
    for (int i = 0; i < n_rows; i++) {
        if (strcmp(group, rows[i].group) != 0)
            printf("\n%s (rates: TFLOP/s of products, else GB/s)\n",
                   group = rows[i].group);
        double q = run_row(b, &rows[i], json);
        if (q > 0 && rows[i].gemm) {
            log_sum += log(q);
            n++;
        }
    }
    if (n > 0)
        printf("\ngeomean of the best library's time / axe's over %d GEMMs: "
               "%.3f\n",
               n, exp(log_sum / n));
}

int
main(int argc, char **argv)
{
    bench     b = {.cx = axe_ctx_new()};
    FILE     *json = argc > 1 ? fopen(argv[1], "w") : stderr;
    axe_buf   said = {.cx = b.cx};
    CUcontext ctx;
    CUdevice  device;

    if (axe_gpu_new(b.cx, &(axe_gpu_spec){0}, &b.gpu) != AXE_OK) {
        axe_diags_print(b.cx, &said, false);
        printf("no GPU was measured:\n%s", said.text);
        return 0;
    }
    if (!json || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&ctx, device) != CUDA_SUCCESS ||
        cuCtxSetCurrent(ctx) != CUDA_SUCCESS ||
        cuEventCreate(&b.begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        cuEventCreate(&b.end, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        fprintf(stderr, "bench_gpu: no results file, or no context\n");
        return 1;
    }
    printf("%s, %d SMs, %s\n", axe_gpu_name(b.gpu), axe_gpu_n_sm(b.gpu),
           axe_gpu_machine(b.gpu));
    if (!blas_open(&b))
        printf("no cuBLAS: axe alone\n");
    run_all(&b, json);
    axe_gpu_free(b.gpu);
    axe_ctx_free(b.cx);
    return 0;
}
