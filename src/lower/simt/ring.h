/* ring.h - the stages of pipelines: what walk.c, copy.c,
 * ring.c and ring_stage.c have in common. */
#ifndef AXE_LOWER_SIMT_RING_H
#define AXE_LOWER_SIMT_RING_H

#include "lower/simt/node.h"
#include "plan/simt/ring/ring_protocol.h"

/* The variable, or 0 where there is none. */
const axe_node *axe_ring_value(axe_simt_lowering *sl, const axe_var *v);
/* Which of the ring's barriers of a kind: those of each entity that has such a
 * ring follow one another. */
const axe_node *axe_ring_barrier_at(axe_simt_lowering   *sl,
                                    const axe_simt_ring *r,
                                    const axe_var       *stage);
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

/* Code of the stage in iteration `value` of the loop. */
axe_lblock *axe_ring_begin_iteration(axe_simt_lowering *sl, axe_lblock *b,
                                     const axe_stmt *loop,
                                     const axe_stmt *stage,
                                     const axe_node *value);

#endif
