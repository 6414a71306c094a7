/* real.c - operations on real numbers in double, for the simulator and for
 * expressions of literals. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "ir/ir.h"

/* The length of (a, b).  hypot of glibc has a version of its own since 2.35,
 * which systems of 2.34 would refuse; cabs is the same function. */
static double
length(double a, double b)
{
    double         part[2] = {a, b};
    double complex both;

    memcpy(&both, part, sizeof both);
    return cabs(both);
}

bool
axe_real_op(axe_op op, const double *arg, double *out)
{
    int    n = axe_op_table[op].n_arg;
    double a = arg[0], b = n > 1 ? arg[1] : 0, c = n > 2 ? arg[2] : 0;

    switch (op) {
#define REAL(name, value)                                                      \
    case AXE_OP_##name:                                                        \
        return *out = value, true;
#include "ir/real.def"
    default:
        return false;
    }
}
