/* slow_core.c - statements that take far longer than one core needs, and why.
 *
 * The model of costs is asked twice: how long does the statement take as it is
 * planned, and how long if it filled its vectors with neighbours (CPUs), or
 * used all that its threads move and compute (GPUs)?  What takes TIMES as long,
 * and for that PART of the kernel, is told, with what in the plan is the reason
 * and what to write.  Sizes that are not known count as usual ones.  Where a
 * value is looked up by another, or elements are scattered, nothing can be done
 * and nothing is said. */
#include <math.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/cost/core.h"
#include "plan/cost/slow.h"
#include "plan/plan_int.h"

enum { SIZE = 1024 };
static const double TIMES = 3, PART = 0.1;

static int
lanes_of(const axe_schedule *s)
{
    int lanes = 1;

    for (int k = 0; k < s->n_nest; k++)
        lanes = s->nest[k].lanes > lanes ? s->nest[k].lanes : lanes;
    return lanes;
}

/* Has no index of the statement so many values? */
static bool
too_short(const axe_schedule *s, int lanes)
{
    for (int k = 0; k < s->n_nest; k++)
        for (int d = 0; d < s->nest[k].n_dim; d++) {
            int64_t e = axe_dim_extent(&s->nest[k].dim[d]);
            if (e == 0 || e >= lanes)
                return false;
        }
    return true;
}

static const axe_operand *
apart(const axe_schedule *s)
{
    for (int i = 1; i < s->n_operand; i++)
        if (s->operand[i].apart)
            return &s->operand[i];
    return NULL;
}

/* Why the planner did not do what begins, or ends, with these words. */
static const char *
why_not(const axe_schedule *s, const char *words)
{
    for (int i = 0; i < s->n_reject; i++)
        if (strstr(s->reject[i].what, words))
            return s->reject[i].why;
    return NULL;
}

/* Might lanes make it faster? */
static bool
suspect(const axe_plan *p, const axe_schedule *s)
{
    return s && !s->stmt->slow && !s->stmt->atom && s->kind == AXE_SCHED_MAP &&
           !axe_slow_looks_up(s) && !too_short(s, 2) &&
           (apart(s) || lanes_of(s) < axe_map_most_lanes(p, s));
}

static void
tell_cpu(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, double times)
{
    int                lanes = lanes_of(s), most = axe_map_most_lanes(p, s);
    const axe_operand *op = apart(s);
    const char        *why = why_not(s, "lanes of ");
    const char        *transpose = why_not(s, "transpose");
    const char        *lead =
        axe_textf(cx, "on %s this takes about %.0f times as long as it could",
                  p->machine->name, times);

    if (op)
        axe_slow_warn(
            cx, s, lead, AXE_SLOW_apart,
            axe_textf(cx, "`%s` is read", axe_node_text(cx, op->load)));
    else if (lanes > 1 || too_short(s, most))
        axe_slow_warn(
            cx, s, lead, AXE_SLOW_few_lanes,
            lanes > 1
                ? axe_textf(cx, "only %d of %d lanes are filled", lanes, most)
                : axe_textf(cx,
                            "it runs element by element: no index has %d "
                            "values",
                            most));
    else if (why && transpose)
        axe_slow_warn(cx, s, lead, AXE_SLOW_no_turn,
                      axe_textf(cx, "%s, and blocks are not transposed: %s",
                                why, transpose));
    else if (why)
        axe_slow_warn(cx, s, lead, AXE_SLOW_no_lanes, why);
}

static void
check_cpu(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at)
{
    axe_cost *c = axe_new_array(cx, axe_cost, p->n_schedule + 1);
    double    all = 0;

    axe_core_cost_each(cx, p, at, c);
    for (int i = 0; i < p->n_schedule; i++)
        all += fmax(c[i].cycles, 0);
    for (int i = 0; i < p->n_schedule; i++) {
        double bound = fmax(c[i].wait, c[i].best);
        if (suspect(p, p->schedule[i]) && c[i].cycles > TIMES * bound &&
            c[i].cycles - bound > PART * all)
            tell_cpu(cx, p, p->schedule[i], c[i].cycles / bound);
    }
}

void
axe_core_check_slow(axe_ctx *cx, const axe_plan *p)
{
    int64_t *size = axe_new_array(cx, int64_t, p->kernel->n_size + 1);
    bool     any = false;

    for (int i = 0; i < p->kernel->n_size; i++)
        size[i] = SIZE;
    for (int i = 0; i < p->n_schedule; i++)
        any = any || suspect(p, p->schedule[i]);
    if (any && p->n_schedule <= AXE_SLOW_MANY)
        check_cpu(cx, p,
                  &(axe_cost_at){size, 1, axe_machine_levels(p->machine)});
}
