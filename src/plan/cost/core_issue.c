/* core_issue.c - how long a core issues a statement's operations.
 *
 * A node of an expression is computed once in the deepest loop whose index it
 * mentions (docs/design/cpu.md), so it costs its slots times the iterations of
 * that loop and those around it; the digit in the lanes steps once a vector. */
#include <math.h>

#include "plan/cost/core.h"

static const double op_slots[AXE_N_OP] = {
#define COST(op, slots, warp, half, few) [AXE_OP_##op] = (slots) + 1e-9,
#include "plan/cost/cost.def"
};

enum { NARROW = 8 }; /* slots of a cast that rounds or clamps */

/* Rows say 0 for nothing; operations without a row cost one. */
static double
slots_of(const axe_node *n)
{
    double s = op_slots[n->op];

    if (n->op == AXE_OP_cast && !axe_type_widens(n->arg[0]->type, n->type))
        return NARROW;
    return s > 0 ? floor(s + 0.5) : 1;
}

static double
fold_slots(axe_fold f)
{
    return f == AXE_FOLD_MAX   ? op_slots[AXE_OP_max]
           : f == AXE_FOLD_MIN ? op_slots[AXE_OP_min]
                               : 1;
}

typedef struct tally {
    const axe_cost_env   *e;
    const axe_cost_frame *f;
    double math, memory, iterations; /* slots, slots, loop iterations */
    bool   best;                     /* by the atoms that move whole vectors */
} tally;

/* Cheapest row of a kind, as the plan's own atoms have it. */
static double
atom_cost(const tally *t, axe_atom_kind kind, double without)
{
    const axe_schedule *s = t->f->s;
    double              best = without;
    bool                any = false;

    for (int i = 0; i < s->n_atom && !t->best; i++)
        if (s->atom[i]->kind == kind && (!any || s->atom[i]->cost < best)) {
            best = s->atom[i]->cost;
            any = true;
        }
    return best;
}

/* Of an access by its own atom, if its elements lie apart. */
static double
load_cost(const tally *t, const axe_node *load)
{
    const axe_schedule *s = t->f->s;

    for (int i = 1; i < s->n_operand && !t->best; i++)
        if (s->operand[i].load == load && s->operand[i].apart)
            return s->operand[i].apart->cost;
    return atom_cost(t, AXE_ATOM_LOAD, 0.5);
}

/* Iterations of the loops [first, last) down to the deepest that n mentions. */
static double
iterations_down_to(const axe_cost_frame *f, int first, int last,
                   const axe_node *n)
{
    double all = 1, deep = 1;

    for (int l = first; l < last; l++) {
        all *= f->vtrips[l];
        if (axe_mentions(n, f->loop[l].var))
            deep = all;
    }
    return deep;
}

static double
around(const axe_cost_frame *f)
{
    double all = f->share;

    for (int l = 0; l < f->n_around; l++)
        all *= f->loop[l].trips;
    return all;
}

static int
nest_of(const axe_schedule *s, const axe_node *reduce)
{
    for (int k = 1; k < s->n_nest && k < AXE_COST_NESTS; k++)
        if (s->nest[k].reduce == reduce)
            return k;
    return 0;
}

/* In how many elements that are folded side by side a node serves. */
static double
shared_by(const axe_schedule *s, const axe_node *n)
{
    const axe_nest *own = &s->nest[0];
    double          by = 1;

    for (int i = 0; i < AXE_LEN(own->jam) && i < own->n_digit; i++)
        if (own->jam[i] > 1 &&
            !axe_mentions(n, own->digit[own->n_digit - 1 - i].var))
            by *= own->jam[i];
    return by;
}

/* `outer` iterations are already around the loops from `first`. */
static void
count(tally *t, const axe_node *n, double outer, int first, int last)
{
    const axe_cost_frame *f = t->f;
    double iterations = outer * iterations_down_to(f, first, last, n);
    int    k = n->op == AXE_OP_reduce ? nest_of(f->s, n) : 0;

    if (n->op == AXE_OP_load) {
        t->memory += iterations * load_cost(t, n) / shared_by(f->s, n);
        return;
    }
    if (k == 0) {
        bool folded = first > f->n_around;
        t->math += iterations * slots_of(n) / (folded ? shared_by(f->s, n) : 1);
        for (int i = 0; i < n->n_arg; i++)
            count(t, n->arg[i], outer, first, last);
        return;
    }
    const axe_nest *nest = &f->s->nest[k];
    int             end = f->first[k] + nest->n_digit;
    double          inner = iterations_down_to(f, f->first[k], end, n->arg[0]);
    t->math += iterations * inner * fold_slots(n->u.reduce.fold) *
               (nest->chains > 1 || f->s->nest[0].jam[0] > 1 ? 1 : 2);
    t->iterations += iterations * inner;
    count(t, n->arg[0], iterations, f->first[k], end);
}

static void
count_value(tally *t, double outer)
{
    const axe_cost_frame *f = t->f;
    double                all = outer;

    for (int l = f->n_around; l < f->n_own; l++)
        all *= f->vtrips[l];
    count(t, f->s->value, outer, f->n_around, f->n_own);
    t->math += all * atom_cost(t, AXE_ATOM_PERMUTE, 0) / f->s->nest[0].lanes;
    t->memory += all * atom_cost(t, AXE_ATOM_STORE, 1);
    t->iterations += all;
    if (f->s->stmt->fold != AXE_FOLD_NONE) {
        t->memory += all * atom_cost(t, AXE_ATOM_LOAD, 0.5);
        t->math += all;
    }
}

static bool
is_sum(const axe_tile_shape *t, const axe_var *v)
{
    bool is = v == t->k;

    for (int i = 0; i < t->n_more; i++)
        is = is || v == t->more[i];
    return is;
}

/* A register tile: its products for every step of the sum, its sums once. */
static void
count_tile(tally *t, double outer)
{
    const axe_schedule *s = t->f->s;
    double mr = s->core->tile.mr, nv = s->core->tile.nv, blocks = outer,
           sum = 1;

    for (int l = t->f->n_around; l < t->f->n_own; l++)
        if (is_sum(&s->core->tile, t->f->loop[l].var))
            sum *= t->f->vtrips[l];
        else
            blocks *= t->f->vtrips[l];
    t->math += blocks * sum * mr * nv * atom_cost(t, AXE_ATOM_CONTRACT, 1);
    t->memory += blocks * (sum * (mr + nv) * 0.5 + mr * nv * 1.5);
    t->iterations += blocks * (sum + 2 * mr * nv + 20);
}

static double
issue(tally *t, double faster)
{
    const axe_cost_frame *f = t->f;

    if (f->s->kind == AXE_SCHED_CONTRACT)
        count_tile(t, around(f));
    else
        count_value(t, around(f));
    return (fmax(t->math / t->e->at->levels.ports, t->memory) +
            t->iterations / 2) /
               faster +
           10 * around(f);
}

double
axe_cost_issue(const axe_cost_env *e, const axe_cost_frame *f)
{
    return issue(&(tally){.e = e, .f = f}, 1);
}

double
axe_cost_issue_best(const axe_cost_env *e, const axe_cost_frame *f,
                    double faster)
{
    return issue(&(tally){.e = e, .f = f, .best = true}, faster);
}
