/* facts.h - a plan told in rows, which explain.c writes in both its forms, so
 * that text and JSON cannot say different things. */
#ifndef AXE_PLAN_REPORT_FACTS_H
#define AXE_PLAN_REPORT_FACTS_H

#include "ir/list.h"
#include "plan/access/relation.h"
#include "plan/cost/cost.h"

typedef enum axe_fact {
#define FACT(key, shape) AXE_FACT_##key,
#include "plan/report/facts.def"
    AXE_N_FACT
} axe_fact;

typedef struct axe_facts {
    axe_list row[AXE_N_FACT]; /* texts; empty: nothing to be told */
} axe_facts;

/* All of one statement.
 * cost  of the statement, by axe_cost_each */
void axe_facts_of(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                  const axe_cost *cost, axe_facts *out);

/* Parts of it: where operands leave their tensors; the certificate. */
void axe_facts_edges(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                     axe_facts *out);
void axe_facts_proved(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                      axe_facts *out);

/* "map", "transpose", "contract" */
const char *axe_schedule_name(axe_schedule_kind k);
/* "line 12", or the label of a builder's call. */
const char *axe_place_text(axe_ctx *cx, axe_span at);

/* Where entities of a scope come to one element: which, in what order, and what
 * that costs.
 * at      for which launch; sizes NULL: no bytes
 * out     texts */
void axe_tell_meets(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
                    axe_list *out);

/* The layout of a tile, or that it is open: while planning goes on. */
const char *axe_tile_layout_text(axe_ctx *cx, const axe_place *pl);

/* overlap.c: lines, const char *: who waits for whom in a group of scopes that
 * overlap, and what is counted. */
void axe_overlap_lines(axe_ctx *cx, const axe_overlap_group *g, axe_list *out);

#endif
