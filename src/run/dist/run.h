/* run.h - one rank that carries a program over devices out: run.c,
 * and pieces.c for what overlaps; cpu.c and gpu.c are what it
 * computes on. */
#ifndef AXE_RUN_DIST_RUN_H
#define AXE_RUN_DIST_RUN_H

#include "engine/memory.h"
#include "engine/pieces.h"
#include "run/dist/dist.h"

typedef struct axe_dist_piecing axe_dist_piecing;

typedef struct axe_dist_runner axe_dist_runner;

/* Of a launch's tiles so many run at a time.  Those of the same rows are one
 * where a worker does them all, else CTAs, which want whole waves. */
typedef struct axe_dist_width {
    int64_t n;
    bool    waves;
} axe_dist_width;

/* What a rank computes on, and the memory that its arrays are in; a row of
 * run/target.h. */
typedef struct axe_dist_ops {
    bool is_host; /* the arrays are in the host's memory */
    /* On each rank; all together.  Closed also where it fails. */
    axe_status (*open)(axe_dist_runner *r);
    void (*close)(axe_dist_runner *r);
    /* Compile all into the cache, before there are ranks. */
    axe_status (*warm)(axe_ctx *cx, axe_device *d, int n,
                       const axe_program *const *p);
    axe_status (*load)(axe_dist_runner *r, const axe_program *p, void **out);
    void (*unload)(void *exec);
    /* May this process start ranks by a fork?  Says why not. */
    axe_status (*may_fork)(axe_ctx *cx);
    /* Numbers among arrays, as `launch` takes them: in the host's memory.
     * Waits for what was started before. */
    axe_status (*numbers)(axe_dist_runner *r, const axe_kernel *k,
                          axe_array *array);
    /* What is started so is done in order; `wait` until it is. */
    axe_status (*launch)(axe_dist_runner *r, void *exec, const axe_kernel *k,
                         const axe_array *array, int n_size,
                         const axe_size *size);
    axe_status (*wait)(axe_dist_runner *r);
    /* How tiles of rows run together. */
    axe_dist_width (*width)(const axe_dist_runner *r, void *exec);
    /* Zeros. */
    axe_status (*room)(axe_dist_runner *r, size_t bytes, void **out);
    void (*free)(axe_dist_runner *r, void *p);
    axe_status (*copy)(axe_dist_runner *r, void *to, const void *from,
                       size_t bytes);
    axe_status (*zero)(axe_dist_runner *r, void *to, size_t bytes);
    /* From the host's memory, and to it. */
    axe_status (*put)(axe_dist_runner *r, void *to, const void *from,
                      size_t bytes);
    axe_status (*get)(axe_dist_runner *r, void *to, const void *from,
                      size_t bytes);
} axe_dist_ops;

extern const axe_dist_ops axe_dist_on_cpu, axe_dist_on_gpu;

/* Of a program; NULL: its machines are no devices of a mesh. */
const axe_dist_ops *axe_dist_ops_of(const axe_program *p);

struct axe_dist_runner {
    const axe_dist_ops  *ops;
    void                *state;  /* of ops */
    engine_memory       *memory; /* of plans' buffers; NULL: the host's */
    axe_ctx             *cx;
    axe_engine          *e;
    const axe_dist_plan *p;
    const axe_dist      *d;
    axe_device          *device;
    int64_t              rank;
    void               **data; /* [n_tensor] this rank's parts */
    bool                *home; /* [n_tensor] it is in symmetric memory */
    bool                *own;  /* [n_tensor] it was made for this runner; also
                                  numbers that are on a device */
    int64_t begin, end; /* of the heap that it has taken; frees go backwards */
    int64_t planned;    /* [bytes] to all ranks by plans so far */
    double  computing;  /* [s] so far, where ops->is_host */
    bool    lent;       /* others may be reading what is there */
    bool    failed;     /* it ends so */
    bool    whole;      /* nothing goes by pieces: its memory cannot */
    void  **part;       /* [n_part] loaded */
    void  **between;
    axe_dist_piecing *piecing; /* [p->n_fuse] */
};

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
                           const axe_frame *f, void **data);
/* Sizes as this rank has them, but for `rows`, which is n. */
AXE_CHECK axe_status axe_dist_launch(axe_dist_runner *r, void *e,
                                     const axe_kernel *k,
                                     const axe_array *array, const axe_frame *f,
                                     const axe_var *rows, int64_t n);
/* Memory for n elements of t that is this rank's alone. */
AXE_CHECK axe_status axe_dist_room(axe_dist_runner *r, const axe_tensor *t,
                                   int64_t n, void **out);
/* Operand i of a statement as it is needed, to data[i]; own[i]: made here.
 * Earlier ones are there. */
AXE_CHECK axe_status axe_dist_bring(axe_dist_runner *r, const axe_between *b,
                                    int i, const axe_frame *f, void **data,
                                    bool *own);
/* The same of what is below a bound (bound.c). */
AXE_CHECK axe_status axe_dist_bring_below(axe_dist_runner       *r,
                                          const axe_between_arg *a,
                                          const void *numbers, void *data);

/* Where what it computes is to be written; *own: made here. */
AXE_CHECK axe_status axe_dist_result(axe_dist_runner *r, const axe_between *b,
                                     void **data, bool *own);
/* What devices have computed, to where it is to be. */
AXE_CHECK axe_status axe_dist_deliver(axe_dist_runner *r, const axe_between *b,
                                      const axe_frame *f, const void *from);

/* ------------------------------------------------------- pieces.c */

/* Memory and messages of what overlaps; all ranks. */
AXE_CHECK axe_status axe_dist_pieces_open(axe_dist_runner *r);
/* Behind this no other rank reads what is in this one's symmetric memory. */
AXE_CHECK axe_status axe_dist_settle(axe_dist_runner *r);
/* What is computed and what is moved, of p->fuse. */
AXE_CHECK axe_status axe_dist_run_pieces(axe_dist_runner *r,
                                         const axe_fuse  *fuse,
                                         const axe_frame *f);

#endif
