/* report.c - a row of the table, or of JSON.
 *
 * Rates are GFLOP/s where the kernel is a contraction, else GB/s of its
 * arguments, each read or written once.  `ratio` is axe's rate to that of the
 * best library in the row, the median over turns, +- half the distance of the
 * quartiles.  `limit` is the machine's, measured in the same turns: peak of
 * the type, or the better of two copies (reading, where little is written) of
 * as many bytes; `share` is axe's part of it. */
#include <stdio.h>
#include <string.h>

#include "table.h"

static double
rate(const contest *c, int i)
{
    double t = contest_median(c, i);

    return t > 0 ? c->work[i] / t * 1e-9 : 0;
}

/* The one with the highest rate: of the libraries, or of the limits; -1. */
static int
best(const contest *c, int n, const peer *const *list, bool limit)
{
    int b = -1;

    for (int i = 1; i < n; i++)
        if (list[i]->limit == limit && rate(c, i) > 0 &&
            (b < 0 || rate(c, i) > rate(c, b)))
            b = i;
    return b;
}

static double
share(const contest *c, int limit)
{
    return limit >= 0 ? rate(c, 0) / rate(c, limit) : 0;
}

static const char *
unit_of(const problem *p)
{
    return p->flops > 0 ? "GFLOP/s" : "GB/s";
}

void
report_head(const report *to, int n, const peer *const *list)
{
    if (to->json)
        return;
    printf("%-15s %-4s %-22s %3s", "kernel", "type", "size", "thr");
    for (int i = 0; i < n; i++)
        if (!list[i]->limit)
            printf(" %8s", list[i]->name);
    printf("  %-7s %5s %6s %7s %6s %8s\n", "unit", "ratio", "+-", "limit",
           "share", "differs");
}

static void
print_row(const problem *p, int n, const peer *const *list, const contest *c,
          double ratio, double spread)
{
    int limit = best(c, n, list, true);

    printf("%-15s %-4s %-22s %3d", p->row->kernel, p->array[0].type,
           p->row->sizes, p->n_thread);
    for (int i = 0; i < n; i++) {
        if (list[i]->limit)
            continue;
        if (rate(c, i) > 0)
            printf(" %8.1f", rate(c, i));
        else
            printf(" %8s", "-");
    }
    printf("  %-7s", unit_of(p));
    if (ratio > 0)
        printf(" %5.2f %6.3f", ratio, spread);
    else
        printf(" %5s %6s", "-", "-");
    printf(" %7.1f %5.0f%% %8.1g\n", limit < 0 ? 0 : rate(c, limit),
           100 * share(c, limit), c->difference);
}

static void
print_json(FILE *to, const problem *p, int n, const peer *const *list,
           const contest *c, double ratio, double spread)
{
    fprintf(to, "{\"kernel\": \"%s\", \"type\": \"%s\", \"sizes\": {",
            p->row->kernel, p->array[0].type);
    for (int i = 0; i < p->n_size; i++)
        fprintf(to, "%s\"%s\": %lld", i ? ", " : "", p->size[i].name,
                (long long)p->size[i].value);
    fprintf(to, "}, \"threads\": %d, \"unit\": \"%s\"", p->n_thread,
            unit_of(p));
    for (int i = 0; i < n; i++)
        if (rate(c, i) > 0)
            fprintf(to, ", \"%s\": %.2f", list[i]->name, rate(c, i));
    if (ratio > 0)
        fprintf(to, ", \"ratio\": %.4f, \"spread\": %.4f", ratio, spread);
    fprintf(to, ", \"share\": %.4f, \"turns\": %d, \"difference\": %.3g}\n",
            share(c, best(c, n, list, true)), c->n_turn[0], c->difference);
}

void
report_row(const report *to, const problem *p, int n, const peer *const *list,
           const contest *c)
{
    int    b = best(c, n, list, false);
    double ratio = 0, spread = 0;

    if (b >= 0)
        contest_ratio(c, 0, b, &ratio, &spread);
    if (to->json)
        print_json(stdout, p, n, list, c, ratio, spread);
    else
        print_row(p, n, list, c, ratio, spread);
    if (to->record)
        print_json(to->record, p, n, list, c, ratio, spread);
    fflush(stdout);
}
