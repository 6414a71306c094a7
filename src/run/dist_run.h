/* dist_run.h - one rank that carries a program over devices out: dist_run.c,
 * and dist_pieces.c for what overlaps. */
#ifndef AXE_RUN_DIST_RUN_H
#define AXE_RUN_DIST_RUN_H

#include "engine/pieces.h"
#include "run/dist.h"

typedef struct axe_dist_piecing axe_dist_piecing;

typedef struct axe_dist_runner {
    axe_ctx             *cx;
    axe_engine          *e;
    const axe_dist_plan *p;
    const axe_dist      *d;
    axe_device          *device;
    int64_t              rank;
    void               **data; /* [n_tensor] this rank's parts */
    bool                *home; /* [n_tensor] it is in symmetric memory */
    bool                *own;  /* [n_tensor] it was made for this runner */
    int64_t begin, end; /* of the heap that it has taken; frees go backwards */
    int64_t planned;    /* [bytes] to all ranks by plans so far */
    bool    lent;       /* others may be reading what is there */
    axe_exec        **part; /* [n_part] */
    axe_exec        **between;
    axe_dist_piecing *piecing; /* [p->n_fuse] */
} axe_dist_runner;

/* All that a rank needs to carry the plan out again and again, on the devices'
 * own arrays; all ranks together.  data[i] of the parameters is the caller's to
 * set, where not home[i].  Free it also where this fails. */
AXE_CHECK axe_status axe_dist_runner_new(axe_ctx *cx, axe_engine *e,
                                         const axe_dist_plan *p,
                                         axe_device          *device,
                                         axe_dist_runner    **out);
/* Once. */
AXE_CHECK axe_status axe_dist_runner_go(axe_dist_runner *r);
/* All ranks together, unless one has failed: st, or how that ends. */
axe_status axe_dist_runner_free(axe_dist_runner *r, axe_status st);

/* The arguments of what the statement computes: operands, then the result. */
axe_array *axe_dist_arrays(const axe_dist_runner *r, const axe_between *b,
                           void **data);
/* Sizes as this rank has them, but for `rows`, which is n. */
AXE_CHECK axe_status axe_dist_launch(axe_dist_runner *r, axe_exec *e,
                                     const axe_kernel *k,
                                     const axe_array *array, const axe_frame *f,
                                     const axe_var *rows, int64_t n);
/* Memory for n elements of t that is this rank's alone. */
AXE_CHECK axe_status axe_dist_room(axe_ctx *cx, const axe_tensor *t, int64_t n,
                                   void **out);
/* An operand as it is needed; *own: made here. */
AXE_CHECK axe_status axe_dist_bring(axe_dist_runner       *r,
                                    const axe_between_arg *a, void **data,
                                    bool *own);

/* Where what it computes is to be written; *own: made here. */
AXE_CHECK axe_status axe_dist_result(axe_dist_runner *r, const axe_between *b,
                                     void **data, bool *own);
/* What devices have computed, to where it is to be. */
AXE_CHECK axe_status axe_dist_deliver(axe_dist_runner *r, const axe_between *b,
                                      const void *from);

/* ------------------------------------------------------- dist_pieces.c */

/* Memory and messages of what overlaps; all ranks. */
AXE_CHECK axe_status axe_dist_pieces_open(axe_dist_runner *r);
/* Behind this no other rank reads what is in this one's symmetric memory. */
AXE_CHECK axe_status axe_dist_settle(axe_dist_runner *r);
/* What is computed and what is moved, of p->fuse. */
AXE_CHECK axe_status axe_dist_run_pieces(axe_dist_runner *r,
                                         const axe_fuse  *fuse,
                                         const axe_frame *f);

#endif
