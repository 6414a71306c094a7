/* simt_facts.h - what is told of plans for machines with threads. */
#ifndef AXE_SIMT_FACTS_H
#define AXE_SIMT_FACTS_H

#include "plan/facts.h"
#include "plan/simt.h"

/* All of one statement. */
void axe_simt_facts_of(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                       axe_facts *out);
/* Of the kernel, in lines: its launches and what is in their shared memory; how
 * stages of pipelines are passed on; where threads meet. */
void axe_simt_launches_of(axe_ctx *cx, const axe_plan *p, axe_list *out);
void axe_simt_rings_of(axe_ctx *cx, const axe_plan *p, axe_list *out);
void axe_simt_meets_of(axe_ctx *cx, const axe_plan *p, axe_list *out);

/* "each warpgroup of 2", "the cta of 256 threads" */
const char *axe_crew_text(axe_ctx *cx, const axe_crew *c);

#endif
