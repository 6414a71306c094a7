/* report.c - a row of the table and of the JSON, and what they sum up to:
 * medians of the GPU's own times, ratios with their spread, the model's error.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gpu.h"

static const char *
name_of(const test_case *c, int i)
{
    static const char *const who[PYTHON] = {"axe", "cuBLAS", "cuBLASLt"};

    return i < PYTHON ? who[i] : c->python[i - PYTHON];
}

static void
ratio(const result *r, int peer, double q[3])
{
    double each[N_TURN];

    for (int k = 0; k < r->n_turn; k++)
        each[k] = r->ms[peer][k] / r->ms[AXE][k];
    q[0] = quantile(r->n_turn, each, 0.5);
    q[1] = quantile(r->n_turn, each, 0.1);
    q[2] = quantile(r->n_turn, each, 0.9);
}

/* TFLOP/s, or GB/s where there is nothing but moving. */
static double
rate(const test_case *c, double ms)
{
    return c->flops > 0 ? c->flops / ms * 1e-9 : c->moved / ms * 1e-6;
}

static void
report_peer(FILE *json, const test_case *c, const result *r, int i)
{
    double ms = quantile(r->n_turn, r->ms[i], 0.5), q[3];

    printf("  %s %.4g ms", name_of(c, i), ms);
    if (r->batch[i] > 1)
        printf(" x%d", r->batch[i]);
    printf(" %.1f%s", rate(c, ms), r->host[i] ? " host-bound" : "");
    fprintf(json, ", \"%s_ms\": %.6g, \"%s_calls\": %d, \"%s_rate\": %.6g",
            name_of(c, i), ms, name_of(c, i), r->batch[i], name_of(c, i),
            rate(c, ms));
    if (i == AXE || !r->has[AXE])
        return;
    ratio(r, i, q);
    printf(" = %.3f (%.3f-%.3f)%s", q[0], q[1], q[2],
           q[1] > 1   ? " win"
           : q[2] < 1 ? " loss"
                      : "");
    fprintf(json, ", \"ratio_%s\": [%.5g, %.5g, %.5g]", name_of(c, i), q[0],
            q[1], q[2]);
}

static void
add(summary *sum, const test_case *c, const result *r)
{
    double q = library_ratio(r);

    target_add(sum, c, r);
    if (q > 0 && c->row->vendor == LIBRARY_BF16) {
        sum->log_gemm += log(q);
        sum->n_gemm++;
    }
    if (r->has[AXE] && c->estimate.seconds > 0 &&
        sum->n < AXE_LEN(sum->measured)) {
        sum->estimate[sum->n] = c->estimate.seconds;
        sum->measured[sum->n++] = quantile(r->n_turn, r->ms[AXE], 0.5) * 1e-3;
    }
}

/* Why a row that cuBLASLt could have goes without it. */
static void
report_no_lt(FILE *json, const test_case *c)
{
    if (c->lt || !c->no_lt)
        return;
    printf("  no cuBLASLt: %s", c->no_lt);
    fprintf(json, ", \"no_cuBLASLt\": \"%s\"", c->no_lt);
}

/* Beside what the row means, and beside the library. */
static void
report_verdict(FILE *json, const verdict *v)
{
    if (v->sample >= 0)
        printf("  off %.1e in %d samples", v->sample, v->n_sample);
    if (v->beside >= 0)
        printf("  %.1e beside the library", v->beside);
    printf("%s%s", v->n_nan ? " NaN!" : "", v->wrong ? "  WRONG" : "");
    fprintf(json,
            ", \"sample\": %.3g, \"samples\": %d, \"library\": %.3g, "
            "\"nan\": %lld, \"wrong\": %s",
            v->sample, v->n_sample, v->beside, (long long)v->n_nan,
            v->wrong ? "true" : "false");
}

void
report_row(FILE *json, const test_case *c, const result *r, const verdict *v,
           summary *sum)
{
    double e = c->estimate.seconds;

    printf("%-14s", c->row->name);
    fprintf(json,
            "{\"row\": \"%s\", \"kernel\": \"%s\", \"machine\": \"%s\", "
            "\"sizes\": \"%s\", \"turns\": %d, \"sets\": %d",
            c->row->name, axe_program_kernel(c->program), c->machine,
            c->row->sizes, r->n_turn, c->n_set);
    for (int i = 0; i < N_PEER; i++)
        if (r->has[i])
            report_peer(json, c, r, i);
    if (e > 0 && r->has[AXE]) {
        double ms = quantile(r->n_turn, r->ms[AXE], 0.5);
        printf("  model %.2f, %.1f %% of what is possible", e * 1e3 / ms,
               100 * c->estimate.least * 1e3 / ms);
        fprintf(json, ", \"estimate_ms\": %.6g, \"least_ms\": %.6g", e * 1e3,
                c->estimate.least * 1e3);
    }
    report_verdict(json, v);
    report_no_lt(json, c);
    printf("\n");
    fprintf(json, "}\n");
    fflush(stdout);
    fflush(json);
    sum->n_wrong += v->wrong;
    if (!v->wrong)
        add(sum, c, r);
}

/* How many are less, halves for those that are equal. */
static double
rank(const double *x, int n, int i)
{
    double below = 0;

    for (int k = 0; k < n; k++)
        below += x[k] < x[i] ? 1 : x[k] == x[i] ? 0.5 : 0;
    return below;
}

/* Spearman's; 0 where one side is all equal. */
static double
rank_correlation(const summary *s)
{
    double mean = 0.5 * s->n, xy = 0, xx = 0, yy = 0;

    for (int i = 0; i < s->n; i++) {
        double x = rank(s->estimate, s->n, i) - mean;
        double y = rank(s->measured, s->n, i) - mean;
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

void
report_end(FILE *json, const summary *s)
{
    double off = 0;

    if (s->n_wrong > 0)
        printf("\n%d rows failed or are wrong: they count for no target\n",
               s->n_wrong);
    if (s->n_gemm > 0)
        printf("\ngeomean of the best library's time / axe's over %d GEMMs: "
               "%.3f\n",
               s->n_gemm, exp(s->log_gemm / s->n_gemm));
    for (int i = 0; i < s->n; i++)
        off += fabs(log(s->estimate[i] / s->measured[i]));
    report_targets(json, s);
    if (s->n == 0)
        return;
    printf("the model over %d rows: off by a factor of %.2f, rank correlation "
           "%.3f\n",
           s->n, exp(off / s->n), rank_correlation(s));
    fprintf(json, "{\"model_rows\": %d, \"off\": %.4g, \"rank\": %.4g}\n", s->n,
            exp(off / s->n), rank_correlation(s));
}
