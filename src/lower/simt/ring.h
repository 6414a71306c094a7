/* ring.h - the stages of pipelines: what ring.c and ring_roles.c
 * have in common. */
#ifndef AXE_LOWER_SIMT_RING_H
#define AXE_LOWER_SIMT_RING_H

#include "lower/simt/node.h"
#include "plan/simt/sync/ring_protocol.h"

/* The variable, or 0 where there is none. */
const axe_node *axe_ring_value(axe_simt_lowering *sl, const axe_var *v);
/* Set it to 0, for what counts from here on. */
void axe_ring_count(axe_simt_lowering *sl, axe_lblock *b, const axe_var *v);
/* On to the next stage. */
void axe_ring_next(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
                   const axe_var *stage, const axe_var *phase);

/* The barriers of its stages. */
const axe_tensor *axe_ring_full(const axe_simt_lowering *sl,
                                const axe_simt_ring     *r);
const axe_tensor *axe_ring_empty(const axe_simt_lowering *sl,
                                 const axe_simt_ring     *r);
/* Until the stage's barrier has ended the phase of this parity. */
axe_status axe_ring_wait(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_tensor *bars, const axe_var *stage,
                         const axe_node *parity);
/* An engine has read all that its threads asked it to, stage by stage, before
 * the stage is filled again. */
axe_status axe_ring_await_empty(axe_simt_lowering *sl, axe_lblock *b,
                                const axe_simt_ring *r);

/* Does an engine say by itself that it has read a stage?  Then a CTA may not
 * end before it has said so of all that were filled: the wait for that. */
bool       axe_ring_is_told(const axe_simt_ring *r);
axe_status axe_ring_tail(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_simt_ring *r);

/* Of pieces: COMMIT, or DRAIN to n. */
axe_status axe_ring_sync(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_simt_ring *r, axe_sync_kind kind, int64_t n);
/* What threads wrote is for an engine to read. */
void axe_ring_fence(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_simt_ring *r);
/* What the group's threads have loaded from a stage comes before boxes that
 * fill it again: by their fence, before they say so. */
void axe_ring_refill(axe_simt_lowering *sl, axe_lblock *b,
                     const axe_simt_ring *r);
/* One thread that has asked an engine to read, or to fill, a stage lets it
 * arrive there. */
axe_status axe_ring_commit(axe_simt_lowering *sl, axe_lblock *b,
                           const axe_simt_ring *r, bool read);
/* Boxes of a produce are announced at the full barrier. */
axe_status axe_ring_expect(axe_simt_lowering *sl, axe_lblock *b,
                           const axe_simt_ring *r, const axe_stmt *s);
/* Code of the stage in iteration `value` of the loop. */
axe_lblock *axe_ring_begin_iteration(axe_simt_lowering *sl, axe_lblock *b,
                                     const axe_stmt *loop,
                                     const axe_stmt *stage,
                                     const axe_node *value);
/* The stage to read is there: of threads that run ahead; across roles. */
axe_status axe_ring_await_stage(axe_simt_lowering *sl, axe_lblock *b,
                                const axe_simt_ring *r);
axe_status axe_ring_await_full(axe_simt_lowering *sl, axe_lblock *b,
                               const axe_simt_ring *r);
/* ring_roles.c: who has filled a stage says so; and who has read one, to
 * all that fill it. */
axe_status axe_ring_say_filled(axe_simt_lowering *sl, axe_lblock *b,
                               const axe_simt_ring *r);
axe_status axe_ring_release(axe_simt_lowering *sl, axe_lblock *b,
                            const axe_simt_ring *r, const axe_var *stage,
                            const axe_node *when);
/* What iterations have left in flight is over. */
axe_status axe_ring_drain_deferred(axe_simt_lowering *sl, axe_lblock *b,
                                   const axe_ring_reader *to);

#endif
