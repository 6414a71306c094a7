/* simt_math.c - what an expression takes of an SM.
 *
 * Instructions go to units: those that multiply and add, those of 64 lanes that
 * compare, choose, convert and count, and those for special functions; all of
 * them through the schedulers.  The unit that is busy longest decides.
 *
 * As nvcc does it: what is written twice is computed once, a product that is
 * added is one instruction with its sum, and of a quotient whose divisor is the
 * same for many the reciprocal is one for all. */
#include <math.h>

#include "plan/cost/simt.h"

static const double warp_cost[AXE_N_OP] = {
#define COST(op, slots, warp, half, few) [AXE_OP_##op] = (warp) + 1e-9,
#include "plan/cost/cost.def"
};

static const double half_cost[AXE_N_OP] = {
#define COST(op, slots, warp, half, few) [AXE_OP_##op] = (half),
#include "plan/cost/cost.def"
};

static const double few_cost[AXE_N_OP] = {
#define COST(op, slots, warp, half, few) [AXE_OP_##op] = (few),
#include "plan/cost/cost.def"
};

enum {
    HALF = 64,  /* lanes of the units that compare */
    SCALED = 3, /* a quotient by a divisor that is there */
    MOST = 256  /* parts that are remembered */
};

/* Instructions of lanes, and cycles of special functions of lanes. */
typedef struct math {
    axe_cost_values *values;
    const void      *user;
    double           all, half, few;
    int              n;
    const axe_node  *seen[MOST];
} math;

static bool
is_seen(math *m, const axe_node *n)
{
    for (int i = 0; i < m->n; i++)
        if (axe_node_same(m->seen[i], n))
            return true;
    if (m->n < MOST)
        m->seen[m->n++] = n;
    return false;
}

static bool
has_load(const axe_node *n)
{
    bool some = n->op == AXE_OP_load;

    for (int i = 0; i < n->n_arg && !some; i++)
        some = has_load(n->arg[i]);
    return some;
}

/* Integers of 64 bits, which take two instructions for each. */
static bool
is_long(axe_type t)
{
    return axe_type_table[t].bits == 64 && !axe_type_is_float(t);
}

/* The operation that n is in each of its iterations. */
static axe_op
op_of(const axe_node *n)
{
    if (n->op != AXE_OP_reduce)
        return n->op;
    return n->u.reduce.fold == AXE_FOLD_MAX   ? AXE_OP_max
           : n->u.reduce.fold == AXE_FOLD_MIN ? AXE_OP_min
           : n->u.reduce.fold == AXE_FOLD_MUL ? AXE_OP_mul
                                              : AXE_OP_add;
}

/* Is a product among what is added, as often? */
static bool
is_fused(const math *m, const axe_node *n, double iterations)
{
    axe_op op = op_of(n);

    if ((op != AXE_OP_add && op != AXE_OP_sub) || !axe_type_is_float(n->type))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (n->arg[i]->op == AXE_OP_mul &&
            m->values(m->user, n->arg[i]) == iterations)
            return true;
    return false;
}

static void
add(math *m, axe_op op, bool is_float, double iterations)
{
    double all = warp_cost[op] > 0 ? floor(warp_cost[op]) : 1;

    m->all += all * iterations;
    m->half += (is_float ? half_cost[op] : all) * iterations;
    m->few += few_cost[op] * iterations;
}

static void
add_quotient(math *m, const axe_node *n, double iterations)
{
    double by = m->values(m->user, n->arg[1]);

    if (by >= iterations) {
        add(m, AXE_OP_div, true, iterations);
        return;
    }
    add(m, AXE_OP_div, true, by);
    m->all += SCALED * iterations;
}

static void
count(math *m, const axe_node *n)
{
    axe_op op = op_of(n);
    bool   two = is_long(n->type);
    double iterations =
        m->values(m->user, n->op == AXE_OP_reduce ? n->arg[0] : n);

    if (n->n_arg == 0 || n->op == AXE_OP_load || is_seen(m, n) ||
        (is_long(n->type) && !has_load(n)))
        return; /* where things are is computed outside */
    for (int i = 0; i < n->n_arg; i++) {
        count(m, n->arg[i]);
        two = two || is_long(n->arg[i]->type);
    }
    if (op == AXE_OP_div && axe_type_is_float(n->type))
        add_quotient(m, n, iterations);
    else if (!is_fused(m, n, iterations))
        add(m, op, axe_type_is_float(n->type),
            two ? 2 * iterations : iterations);
}

double
axe_cost_math(const axe_machine *mc, const axe_node *n, axe_cost_values *values,
              const void *user)
{
    math   m = {.values = values, .user = user};
    double busy, lanes = mc->simt->lanes;

    count(&m, n);
    busy = fmax(m.all, m.few) / (AXE_SCHEDULERS * lanes);
    busy = fmax(busy, (m.all - m.half) / axe_machine_rates(mc)->fp32);
    return fmax(busy, m.half / HALF);
}
