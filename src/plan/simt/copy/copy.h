/* copy.h - copies from memory to memory without registers.
 *
 * Either every thread of the group copies pieces, each an atom of one thread
 * (EACH); or one thread hands boxes of a tensor map to an engine, or one run of
 * neighbours (BOX). */
#ifndef AXE_PLAN_SIMT_COPY_COPY_H
#define AXE_PLAN_SIMT_COPY_COPY_H

#include "plan/plan_int.h"
#include "plan/simt/copy/store_staging.h"
#include "plan/simt/copy/tma_box.h"
#include "plan/simt/simt.h"

/* A digit of an index: what the thread's number, or the iteration, says of
 * it. */
typedef struct axe_copy_digit {
    axe_digit of;
    int64_t   by; /* of a thread: its number / by % extent */
    bool      thread;
} axe_copy_digit;

struct axe_simt_copy {
    int                    from; /* operand that is copied to operand 0 */
    const axe_atom        *atom;
    int                    param;
    bool                   box;   /* else each */
    bool                   run;   /* BOX: by address, without a map */
    struct axe_simt_stage *stage; /* registers by way of shared memory; else
                                     NULL; then only this and bytes count */
    bool in;                      /* from global to shared; else back */
    /* When it is possible, a condition over sizes; NULL: always.  EACH: else
     * the schedule's map runs.  BOX: the launch is refused. */
    const axe_node *when;
    const char     *why;   /* `when` in words */
    int64_t         bytes; /* that arrive in a CTA's shared memory, or leave */
    /* EACH */
    int             n_digit; /* threads, then iterations, slow to fast */
    axe_copy_digit *digit;
    int             width;    /* elements of a piece */
    int             n_thread; /* that copy; those behind them do not */
    /* BOX */
    const axe_tensor *global;
    const axe_tensor *seen; /* the same, as the map sees it: dimensions that
                               are walked together are one */
    axe_box          map;
    const axe_node **origin; /* [rank of seen] where all indices are 0 */
    axe_box_loop own;  /* what this CTA has of a tile in parts; extent 1: all */
    int          pair; /* CTAs whose boxes all come at the barrier of the first;
                          1: each at its own */
    int64_t n_certified;
};

/* requirements.c: all of c, too; false: never.  And a stride as a term. */
bool axe_simt_require(axe_ctx *cx, const axe_node **all, const axe_node *c);
const axe_node *axe_simt_stride_node(const axe_planner *p, axe_stride s);

#endif
