/* cost.c - what a plan costs, asked of its machine's kind. */
#include "plan/cost/cost.h"

#include "plan/target.h"

void
axe_cost_each(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
              axe_cost *out)
{
    for (int i = 0; i < p->n_schedule; i++)
        out[i] = (axe_cost){.cycles = p->schedule[i] ? -1 : 0};
    if (p->target->cost_each)
        p->target->cost_each(cx, p, at, out);
}

void
axe_cost_plan(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
              axe_cost *out)
{
    p->target->cost(cx, p, at, out);
}

double
axe_cost_least(axe_ctx *cx, const axe_plan *p, const int64_t *size)
{
    return p->target->least ? p->target->least(cx, p, size) : -1;
}
