/* explain_core.c - what a launch on one core and its like should take. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
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

/* Pipelines that keep their stages. */
static void
put_rings(axe_buf *out, const axe_plan *p)
{
    for (int i = 0; i < p->n_ring; i++) {
        const axe_ring *r = &p->ring[i];
        if (r->n_stage > 1)
            axe_putf(out, "pipeline %s: %d stages, at most %d full, %d left\n",
                     r->ring->name, r->n_stage, r->most, r->left);
    }
}

/* Who waits for whom in groups of scopes that overlap, and what counts. */
static void
put_overlap(axe_ctx *cx, axe_buf *out, const axe_core_overlap *o)
{
    const axe_overlap_group *g = &o->group;
    axe_list                 line = {.cx = cx};

    axe_putf(out, "overlap of %s: %s\n", axe_place_text(cx, o->first->at),
             o->counters ? "workers take entities from one list, in the order "
                           "of the text"
                         : axe_textf(cx, "none, since %s", o->why));
    if (o->counters)
        axe_overlap_lines(cx, g, &line);
    for (int i = 0; i < line.n; i++)
        axe_putf(out, "    %s\n", (const char *)line.item[i]);
}

static void
put_overlaps(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    for (int i = 0; i < p->core->overlap.n; i++)
        put_overlap(cx, out, p->core->overlap.item[i]);
}

void
axe_core_put_order(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    for (int i = 0; i < p->core->n_wait; i++) {
        const axe_worker_wait *w = &p->core->wait[i];
        axe_putf(out, "%s %s: %s: %s\n",
                 w->at->kind == AXE_STMT_BARRIER ? "at" : "before",
                 axe_place_text(cx, w->at->at),
                 w->barrier ? "a barrier of all workers" : "nobody waits",
                 w->why);
    }
    put_overlaps(cx, out, p);
    put_rings(out, p);
}

/* {"overlap": line, "waits": [{"line", "for", "which", "tensor"}], "counters"}
 */
static void
put_overlap_json(axe_buf *out, const axe_core_overlap *o, int n_before)
{
    const axe_overlap_group *g = &o->group;
    int                      n = o->counters ? g->relation.n : 0;
    const char              *counters = axe_node_text(out->cx, g->n_counter);

    axe_putf(out, "%s{\"overlap\":%d,\"waits\":[", n_before ? "," : "",
             o->first->at.line);
    for (int i = 0; i < n; i++) {
        const axe_relation *r = g->relation.item[i];
        const char         *which = axe_relation_text(out->cx, r);
        axe_putf(out, "%s{\"line\":%d,\"for\":%d,\"which\":", i ? "," : "",
                 r->to->at.line, r->from->at.line);
        axe_json_put_text(out, which, strlen(which));
        axe_puts(out, ",\"tensor\":");
        axe_json_put_text(out, r->tensor->name, strlen(r->tensor->name));
        axe_puts(out, "}");
    }
    axe_puts(out, "],");
    axe_puts(out, o->counters ? "\"words\":" : "\"why\":");
    if (!o->counters)
        counters = o->why;
    axe_json_put_text(out, counters, strlen(counters));
    axe_puts(out, "}");
}

void
axe_core_put_order_json(axe_buf *out, const axe_plan *p)
{
    for (int i = 0; i < p->core->n_wait; i++) {
        const axe_worker_wait *w = &p->core->wait[i];
        axe_putf(out, "%s{\"line\":%d,\"barrier\":%s,\"why\":", i ? "," : "",
                 w->at->at.line, w->barrier ? "true" : "false");
        axe_json_put_text(out, w->why, strlen(w->why));
        axe_puts(out, "}");
    }
    for (int i = 0; i < p->core->overlap.n; i++)
        put_overlap_json(out, p->core->overlap.item[i], p->core->n_wait + i);
}
