/* trn.h - runs a trace (trace/trace.h) without a Trainium: what it computes,
 * what it breaks, how long it takes.
 *
 * Instructions are executed in the order of the text, which is what a compiler
 * of NKI keeps by semaphores where tiles overlap.  Every rule of ops.def,
 * engines.def and limits.def that one breaks is an error at its place.  Time is
 * counted apart, by engines' queues and who waits for whom. */
#ifndef AXE_SIM_TRN_H
#define AXE_SIM_TRN_H

#include "axe/timeline.h"
#include "trace/trace.h"

typedef struct axe_trn_options {
    axe_trn_params params;
    bool           time_only; /* compute nothing; reads of what nobody wrote are
                                 not found */
    bool    timeline;         /* the report has one */
    int64_t max_steps;        /* instructions, declarations and rounds of loops;
                                 0: 2^22 */
} axe_trn_options;

typedef struct axe_trn_report {
    double  ns;
    int64_t n[AXE_TRN_N_ENGINE];    /* instructions */
    double  busy[AXE_TRN_N_ENGINE]; /* [ns]; dma: of its engines, the mean */
    int64_t hbm_bytes;              /* read and written */
    axe_timeline *timeline;         /* or NULL */
} axe_trn_report;

/* The shape of a tensor in device memory. */
AXE_CHECK axe_status axe_trn_shape(axe_ctx *cx, const axe_trace *t, int tensor,
                                   int64_t shape[AXE_TRACE_DIMS]);
/* data[i]: elements of tensor i, row-major; NULL for tiles, for tensors that
 * are not read, which then get memory of cx, and with time_only.
 * Errors  those of the program, with their places.  EARG: no data.  ELIMIT */
AXE_CHECK axe_status axe_trn_run(axe_ctx *cx, const axe_trace *t,
                                 const axe_trn_options *opt, void **data,
                                 axe_trn_report *out);
/* Lines: the time, then each engine's instructions and how busy it was. */
void axe_trn_put_report(axe_buf *out, const axe_trn_report *r);

#endif
