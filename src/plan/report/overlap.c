/* overlap.c - who waits for whom in a group of scopes, told in lines. */
#include "plan/report/facts.h"

static const char *
lines_of(axe_ctx *cx, const axe_relation *r)
{
    return axe_textf(cx, "%s is %s in line %d and %s in line %d",
                     r->tensor->name, r->a_writes ? "written" : "read",
                     r->a->at.line, r->b_writes ? "written" : "read",
                     r->b->at.line);
}

void
axe_overlap_lines(axe_ctx *cx, const axe_overlap_group *g, axe_list *out)
{
    for (int i = 0; i < g->relation.n; i++) {
        const axe_relation *r = g->relation.item[i];
        const char         *which = axe_relation_text(cx, r);
        axe_list_push(out, axe_textf(cx, "line %d waits for line %d: %s: %s",
                                     r->to->at.line, r->from->at.line, which,
                                     lines_of(cx, r)));
    }
    for (int i = 0; i < g->counters.n; i++) {
        const axe_counters *c = g->counters.item[i];
        axe_list_push(out,
                      axe_textf(cx, "line %d is counted by %s words of 8 bytes",
                                c->of->at.line, axe_node_text(cx, c->n)));
    }
}
