/* timeline.h - when what happened, by a model of time, and pictures of it.
 *
 * A row is a part of an SM: the warps of a warpgroup of one CTA, or an engine
 * that works for it; or an engine of another machine's core.  Its spans say
 * what it does, one after the other.  Nothing of it is measured:
 * docs/simulator.md says what the clock counts. */
#ifndef AXE_TIMELINE_H
#define AXE_TIMELINE_H

#include "axe/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum axe_timeline_work {
#define WORK(id, waits, letter, color, pattern, name) AXE_WORK_##id,
#include "axe/works.def"
    AXE_N_WORK
} axe_timeline_work;
const char *axe_work_name(axe_timeline_work w); /* "products" */
bool        axe_work_waits(axe_timeline_work w);

typedef enum axe_timeline_row_kind {
#define ROW(id, engine, name) AXE_ROW_##id,
#include "axe/timeline_rows.def"
    AXE_N_ROW
} axe_timeline_row_kind;

/* [cycles] [begin, end) */
typedef struct axe_timeline_span {
    int64_t begin, end;
    int64_t what; /* axe_timeline_work; of a row of blocks: which */
} axe_timeline_span;

/* Spans are in order of time, none over another, none empty. */
typedef struct axe_timeline_row {
    axe_timeline_row_kind kind;
    int                sm, slot; /* slot: which of the CTAs that the SM holds */
    int                first, last; /* warps, of WARPS */
    int64_t            n, cap;
    axe_timeline_span *span;
} axe_timeline_row;

/* What one role did in a launch, in all CTAs together. */
typedef struct axe_timeline_role {
    int                   launch;
    axe_timeline_row_kind kind;
    int                   first, last;
    int64_t               n; /* CTAs */
    int64_t               cycles[AXE_N_WORK];
    int64_t               total; /* [cycles] that they ran */
} axe_timeline_role;

typedef struct axe_timeline_launch {
    const char *name;
    int64_t     begin, end;             /* [cycles] */
    int64_t     blocks;                 /* that ran */
    int64_t     l2_bytes, memory_bytes; /* asked for */
} axe_timeline_launch;

typedef struct axe_timeline {
    const char          *kernel, *machine;
    const char          *part; /* what rows are parts of; NULL: "SM" */
    const char          *unit; /* of all times; NULL: "cycles" */
    double               ghz;  /* units in a nanosecond */
    int                  n_sm;
    int64_t              cycles; /* of it all */
    int                  n_launch, n_row, n_role;
    axe_timeline_launch *launch;
    axe_timeline_row    *row;
    axe_timeline_role   *role;
} axe_timeline;

/* As an SVG: the first SMs' rows, spans that are no wider than a point joined
 * with what is about them.  The same timeline gives the same bytes. */
void axe_timeline_svg(axe_ctx *cx, const axe_timeline *t, axe_buf *out);
/* As trace events that Perfetto and Chrome open: an SM is a process, a row a
 * thread.  Of many spans the short ones are joined. */
void axe_timeline_trace(axe_ctx *cx, const axe_timeline *t, axe_buf *out);
/* For each launch and role: at work, waiting for what, all; cycles of a CTA. */
void axe_timeline_print(axe_ctx *cx, const axe_timeline *t, axe_buf *out);
/* The same as a JSON object. */
void axe_timeline_json(axe_ctx *cx, const axe_timeline *t, axe_buf *out);

#ifdef __cplusplus
}
#endif
#endif
