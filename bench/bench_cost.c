/* bench_cost.c - the cost model (src/plan/cost/cost.h) beside the clock.
 *
 * A row is a kernel at a size, on one worker: what the model expects, what it
 * thinks the limit is, what a launch takes (median), and their ratio.  At the
 * end, over all rows: the factor by which the model is off (geometric mean of
 * the larger over the smaller), the same after a common factor is taken out,
 * and Spearman's rank correlation. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/run.h"
#include "clock.h"
#include "plan/cost/cost.h"
#include "run/program.h"

enum { MAX_ROW = 256, MAX_RUN = 101, MAX_SIZE = 8 };
static const double budget = 0.2; /* seconds of a row */

typedef struct row {
    const char *file, *kernel;
    const char *name[MAX_SIZE]; /* of sizes, NULL-ended */
    int64_t     size[4][MAX_SIZE];
} row;

#define MN                                                                     \
    {"M", "N"},                                                                \
    {                                                                          \
        {64, 1024}, {1000, 1000}, {2048, 4096},                                \
        {                                                                      \
            8192, 4096                                                         \
        }                                                                      \
    }
#define MNK                                                                    \
    {"M", "N", "K"},                                                           \
    {                                                                          \
        {64, 64, 64}, {200, 300, 100}, {512, 512, 512},                        \
        {                                                                      \
            1536, 1536, 1536                                                   \
        }                                                                      \
    }

static const row rows[] = {
    {"gemm", "gemm", MNK},
    {"gemm_nn", "gemm_nn", MNK},
    {"gemm_t", "gemm_tn", MNK},
    {"gemm_bias_relu", NULL, MNK},
    {"gemv",
     "gemv",
     {"M", "K"},
     {{64, 1024}, {1000, 1000}, {2048, 4096}, {8192, 4096}}},
    {"gemv",
     "gemv_t",
     {"N", "K"},
     {{64, 1024}, {1000, 1000}, {2048, 4096}, {8192, 4096}}},
    {"elementwise", "add", MN},
    {"elementwise", "squash", MN},
    {"gelu", "gelu", MN},
    {"silu_mul", NULL, MN},
    {"layernorm", NULL, MN},
    {"rmsnorm", NULL, MN},
    {"softmax", "softmax", MN},
    {"reduce", "row_sum", MN},
    {"reduce", "row_max", MN},
    {"reduce", "col_sum", MN},
    {"reduce", "col_max", MN},
    {"quantise", "quantise", MN},
    {"transpose", "transpose", MN},
    {"permute",
     "permute_acb",
     {"A", "B", "C"},
     {{4, 64, 64}, {10, 100, 100}, {16, 512, 512}, {64, 512, 512}}},
    {"permute",
     "permute_bac",
     {"A", "B", "C"},
     {{4, 64, 64}, {10, 100, 100}, {16, 512, 512}, {64, 512, 512}}},
};

typedef struct result {
    double model, clock;
} result;

static void
must(axe_ctx *cx, axe_status st)
{
    axe_buf b = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &b, false);
    fputs(b.text, stderr);
    exit(1);
}

static int32_t
source_of(axe_ctx *cx, const char *file)
{
    char  text[1 << 14];
    FILE *f =
        fopen(axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, file), "r");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;

    if (!f || n == sizeof text) {
        fprintf(stderr, "%s: cannot be read\n", file);
        exit(1);
    }
    fclose(f);
    return axe_source_add(cx, file, text, n);
}

/* Arrays of small numbers for every parameter; freed by the caller. */
static int
make_arrays(axe_ctx *cx, const axe_program *p, int n_size, const axe_size *size,
            axe_array *array)
{
    int        n = axe_program_n_param(p);
    axe_shape *shape = axe_new_array(cx, axe_shape, n);

    must(cx, axe_program_shapes(cx, p, 0, NULL, n_size, size, shape));
    for (int i = 0; i < n; i++) {
        axe_param q = axe_program_param(p, i);
        size_t    bytes = 8;
        for (int d = 0; d < q.rank; d++)
            bytes *= (size_t)shape[i].extent[d];
        unsigned char *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (!data)
            exit(1);
        for (size_t k = 0; k < bytes; k++)
            data[k] = k % 4 == 3 ? 0x3e : (unsigned char)(k * 37 % 61);
        array[i] =
            (axe_array){q.name, q.type, q.rank, shape[i].extent, NULL, data};
    }
    return n;
}

static double
measure(axe_ctx *cx, axe_device *d, const axe_program *p, int n_size,
        const axe_size *size)
{
    axe_array array[16];
    double    time[MAX_RUN], begin;
    int       n = make_arrays(cx, p, n_size, size, array), n_run = 0;
    axe_exec *e;

    must(cx, axe_exec_new(cx, d, p, &e));
    for (int i = 0; i < 3; i++)
        must(cx, axe_launch(cx, e, n, array, n_size, size));
    begin = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (n_run < MAX_RUN &&
           (n_run < 3 ||
            clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin < budget)) {
        double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        must(cx, axe_launch(cx, e, n, array, n_size, size));
        time[n_run++] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    for (int i = 0; i < n; i++)
        free(array[i].data);
    axe_exec_free(e);
    return median_of(time, n_run);
}

static result
try_row(axe_device *d, const row *r, int k)
{
    axe_ctx           *cx = axe_ctx_new();
    int32_t            source = source_of(cx, r->file);
    axe_compile_spec   spec = {.kernel = r->kernel};
    const axe_program *p;
    axe_size           size[MAX_SIZE];
    int64_t            value[MAX_SIZE];
    axe_cost           c;
    int                n = 0;
    char               sizes[96] = "";

    must(cx, axe_compile(cx, source, &spec, AXE_STAGE_C, &p));
    for (; n < MAX_SIZE && r->name[n]; n++) {
        size[n] = (axe_size){r->name[n], r->size[k][n]};
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%lld",
                 n ? " " : "", (long long)r->size[k][n]);
    }
    for (int i = 0; i < axe_program_n_size(p); i++)
        for (int j = 0; j < n; j++)
            if (strcmp(axe_program_size(p, i), size[j].name) == 0)
                value[i] = size[j].value;
    axe_cost_at at = {value, 1, axe_host_levels(p->plan->machine)};
    axe_cost_plan(cx, p->plan, &at, &c);
    result out = {c.cycles / p->plan->machine->ghz * 1e-9,
                  measure(cx, d, p, n, size)};
    printf("%-14s %-16s %10.1f %10.1f %7.2f  %s\n", axe_program_kernel(p),
           sizes, out.model * 1e6, out.clock * 1e6, out.model / out.clock,
           c.memory_bound ? "memory" : "issue");
    axe_ctx_free(cx);
    return out;
}

static double
rank_of(const result *r, int n, double v, bool model)
{
    double rank = 0;

    for (int i = 0; i < n; i++)
        rank += (model ? r[i].model : r[i].clock) < v;
    return rank;
}

static void
summarise(const result *r, int n)
{
    double off = 0, mean = 0, rest = 0, d2 = 0;

    for (int i = 0; i < n; i++) {
        off += fabs(log(r[i].model / r[i].clock));
        mean += log(r[i].model / r[i].clock) / n;
    }
    for (int i = 0; i < n; i++) {
        double d =
            rank_of(r, n, r[i].model, true) - rank_of(r, n, r[i].clock, false);
        rest += fabs(log(r[i].model / r[i].clock) - mean);
        d2 += d * d;
    }
    printf("%d rows: off by a factor of %.2f (%.2f beside a common %.2f), rank "
           "correlation %.3f\n",
           n, exp(off / n), exp(rest / n), exp(mean),
           1 - 6 * d2 / ((double)n * ((double)n * n - 1)));
}

int
main(int argc, char **argv)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *d;
    result      r[MAX_ROW];
    int         n = 0;

    must(cx, axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &d));
    printf("the cost model on one worker [us]\n%-14s %-16s %10s %10s %7s  %s\n",
           "kernel", "sizes", "model", "clock", "ratio", "limit");
    for (int i = 0; i < AXE_LEN(rows); i++)
        for (int k = 0; k < 4; k++)
            if (argc < 2 ||
                (rows[i].kernel && !strcmp(argv[1], rows[i].kernel)))
                r[n++] = try_row(d, &rows[i], k);
    summarise(r, n);
    axe_device_free(d);
    axe_ctx_free(cx);
    return 0;
}
