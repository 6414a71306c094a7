/* rates.c - has a contraction fallen to a row that is many times slower than
 * another of its types, because no whole rows of that make up its extents? */
#include <inttypes.h>

#include "plan/simt/contract/contract.h"
#include "plan/simt/simt_int.h"

/* The extents are told as the row has them, whichever way the statement is
 * turned. */
static void
check_rate(axe_ctx *cx, const axe_schedule *s)
{
    const axe_simt_contract *c = s->simt->contract;
    const axe_best_row      *best = &c->best;
    double n = (double)(c->m.extent * c->n.extent) * (double)c->k.extent;
    double times = best->atom && n > 0 ? c->compute / (best->rate * n) : 1;

    if (s->stmt->slow || times <= AXE_FAR_BELOW)
        return;
    axe_warn(cx, s->stmt->at,
             "%s multiplies this, %.0f times slower than %s could: %" PRId64
             " x %" PRId64 " x %" PRId64 " are no whole atoms of %" PRId64
             " x %" PRId64 " x %" PRId64,
             c->atom->name, times, best->atom->name, c->m.extent, c->n.extent,
             c->k.extent, best->size[0], best->size[1], best->size[2]);
    axe_help(cx, "choose multiples of these, or write `slow` behind the "
                 "statement to accept it");
}

void
axe_check_rates(axe_ctx *cx, const axe_plan *p)
{
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i] && p->schedule[i]->kind == AXE_SCHED_CONTRACT)
            check_rate(cx, p->schedule[i]);
}
