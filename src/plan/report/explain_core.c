/* explain_core.c - what a launch on one core and its like should take. */
#include <inttypes.h>

#include "plan/report/facts_core.h"

void
axe_core_put_cost(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                  const axe_cost_at *at, bool given)
{
    axe_cost c;

    (void)given;
    axe_puts(out, "estimates for");
    for (int i = 0; i < p->kernel->n_size; i++)
        axe_putf(out, "%s %s = %" PRId64, i ? "," : "",
                 p->kernel->size[i]->name, at->size[i]);
    axe_putf(out, "%s on %d worker%s", p->kernel->n_size ? "" : " one launch",
             at->n_worker, at->n_worker == 1 ? "" : "s");
    axe_cost_plan(cx, p, at, &c);
    if (c.cycles >= 0)
        axe_putf(out, ": %.3g cycles, %.3g us at %.1f GHz", c.cycles,
                 c.cycles / p->machine->ghz / 1000, p->machine->ghz);
    axe_putc(out, '\n');
}
