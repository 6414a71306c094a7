/* facts_simt.h - what is told of plans for machines with threads. */
#ifndef AXE_PLAN_REPORT_FACTS_SIMT_H
#define AXE_PLAN_REPORT_FACTS_SIMT_H

#include "plan/report/facts.h"
#include "plan/simt/simt.h"

/* All of one statement. */
void axe_simt_facts_of(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                       axe_facts *out);
/* Of the kernel, in lines: its launches and what is in their shared memory;
 * what tiles of scopes in one launch wait for, and stages of pipelines are
 * passed on. */
void axe_simt_launches_of(axe_ctx *cx, const axe_plan *p, axe_list *out);
void axe_simt_overlaps_of(axe_ctx *cx, const axe_plan *p, axe_list *out);
void axe_simt_rings_of(axe_ctx *cx, const axe_plan *p, axe_list *out);
/* Operands that go by way of shared tiles which the text does not declare. */
void axe_simt_staged_of(axe_ctx *cx, const axe_plan *p, axe_list *out);

/* sync_simt.c: all that is done for order, as it is executed; and what threads
 * do where a barrier is planned: "meets", "waits for what it issued". */
void        axe_simt_sync_of(axe_ctx *cx, const axe_plan *p, axe_list *out);
const char *axe_sync_point_text(const axe_sync_point *m);

/* explain_simt.c: what each launch should take at these sizes, in lines, or as
 * "estimates":[...], */
void axe_explain_launches(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                          const int64_t *size);
void axe_explain_launches_json(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                               const int64_t *size);

/* "each warpgroup of 2", "the cta of 256 threads" */
const char *axe_threads_text(axe_ctx *cx, const axe_thread_group *c);

#endif
