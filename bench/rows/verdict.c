/* verdict.c - is a target reached? */
#include <math.h>

#include "rows.h"

void
reached_add(reached *x, double q)
{
    x->least = x->n == 0 || q < x->least ? q : x->least;
    x->log += log(q);
    x->n++;
}

double
reached_mean(const reached *x)
{
    return x->n > 0 ? exp(x->log / x->n) : 0;
}

const char *
target_verdict(const target *t, const reached *x, int all)
{
    double q = t->how == BY_MEAN ? reached_mean(x) : x->least;

    if (x->n == 0)
        return "not measured";
    if (q < t->least && (t->how == BY_EACH || x->n == all))
        return "missed";
    return x->n == all ? "met" : "not all measured";
}
