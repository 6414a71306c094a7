/* targets.c - what targets.def asks for beside what was measured. */
#include <string.h>

#include "gpu.h"

/* The other's time over axe's at the fastest of those from `from` to `to`;
 * 0: none was measured. */
static double
fastest(const result *r, int from, int to)
{
    double best = 0;

    for (int i = from; i < to && r->has[AXE]; i++)
        if (r->has[i]) {
            double q = quantile(r->n_turn, r->ms[i], 0.5) /
                       quantile(r->n_turn, r->ms[AXE], 0.5);
            best = best == 0 || q < best ? q : best;
        }
    return best;
}

double
library_ratio(const result *r)
{
    return fastest(r, BLAS, PYTHON);
}

/* `other`: cuDNN is not there. */
static double
cudnn_ratio(const test_case *c, const result *r, bool *other)
{
    for (int i = 0; i < c->n_python; i++)
        if (strcmp(c->python[i], "cudnn") == 0 && r->has[PYTHON + i])
            return fastest(r, PYTHON + i, PYTHON + i + 1);
    *other = true;
    return fastest(r, PYTHON, N_PEER);
}

static double
copy_ratio(const test_case *c, const result *r, double copy)
{
    if (!r->has[AXE] || copy <= 0)
        return 0;
    return c->moved / quantile(r->n_turn, r->ms[AXE], 0.5) * 1e-6 / copy;
}

void
target_add(summary *sum, const test_case *c, const result *r)
{
    int      t = c->row->target;
    bool     other = false;
    double   q = targets[t].of == OF_LIBRARY ? library_ratio(r)
                 : targets[t].of == OF_CUDNN ? cudnn_ratio(c, r, &other)
                                             : copy_ratio(c, r, sum->copy);
    reached *x = &sum->reached[t];

    if (t == NO_TARGET || q <= 0)
        return;
    reached_add(x, q);
    x->other |= other;
}

static int
rows_of(int t)
{
    int n = 0;

    for (int i = 0; i < n_rows; i++)
        n += rows[i].target == t;
    return n;
}

void
report_targets(FILE *json, const summary *sum)
{
    printf("\ntargets (of an H200)\n");
    for (int t = NO_TARGET + 1; t < N_TARGET; t++) {
        const reached *x = &sum->reached[t];
        int            all = rows_of(t);
        const char    *said = target_verdict(&targets[t], x, all);

        printf("%-32s >= %.4g of %s%s: ", targets[t].what, targets[t].least,
               targets[t].name,
               targets[t].how == BY_MEAN ? " by geomean" : " in each row");
        if (x->n > 0)
            printf("geomean %.3f, least %.3f, %d of %d rows%s: ",
                   reached_mean(x), x->least, x->n, all,
                   x->other ? ", of the fastest that is there" : "");
        printf("%s\n", said);
        fprintf(json,
                "{\"target\": \"%s\", \"asked\": %.4g, \"rows\": %d, "
                "\"of_rows\": %d, \"verdict\": \"%s\"",
                targets[t].what, targets[t].least, x->n, all, said);
        if (x->n > 0)
            fprintf(json, ", \"geomean\": %.5g, \"least\": %.5g",
                    reached_mean(x), x->least);
        fprintf(json, "}\n");
    }
}
