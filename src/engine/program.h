/* program.h - a plan as what one rank does: phases of copies between buffers.
 *
 * A rank has two buffers in symmetric memory, of the state before a step and of
 * that behind it, by turns.  In a phase it pulls from other ranks' buffers; by
 * messages, they give it what it would pull.  Both ranks walk the same elements
 * in the same order, that of their index. */
#ifndef AXE_ENGINE_PROGRAM_H
#define AXE_ENGINE_PROGRAM_H

#include "engine/engine.h"
#include "mesh/problem.h"

enum { PROGRAM_DIMS = MESH_DIMS };

/* Elements of one dimension: from `src` on in one buffer, `dst` in the other,
 * of the tensor's index `at`, unless runs of dimensions are one. */
typedef struct program_run {
    int64_t src, dst, n, at;
} program_run;

/* A product of runs over dimensions.  Pitches are those of the two buffers. */
typedef struct program_box {
    int          n_dim;
    int          n_run[PROGRAM_DIMS];
    program_run *run[PROGRAM_DIMS];
    int64_t      src_pitch[PROGRAM_DIMS], dst_pitch[PROGRAM_DIMS];
    int64_t      n; /* elements */
} program_box;

typedef struct program_move {
    int64_t     peer; /* it may be this rank */
    int         from; /* which of its buffers */
    program_box box;
} program_move;

typedef struct program_phase {
    int           step, to; /* which of my buffers is written */
    bool          fresh;    /* nothing of it was written before */
    bool          add;
    bool          once;  /* each sum is made by one rank alone */
    bool          whole; /* each pull has all elements that are written */
    int           n_pull, n_give;
    program_move *pull; /* by rank, ascending */
    program_move *give;
} program_phase;

typedef struct program {
    int64_t              rank, size;
    int                  n_phase;
    const program_phase *phase;
    int64_t              n_src, n_dst, room; /* elements; of a buffer */
    int                  last;               /* the buffer that has the end */
} program;

/* Elements that the fullest device has in any state. */
int64_t program_room(const axe_reshard_plan *p);
/* What rank `rank` does; bound: NULL, or what goes is below it.
 * Errors  ELIMIT: too many runs; of axe_reshard_run_below */
AXE_CHECK axe_status program_of(axe_ctx *cx, const axe_reshard_plan *p,
                                int64_t rank, const axe_reshard_bound *bound,
                                const program **out);

/* Errors  of axe_reshard_run_below */
AXE_CHECK axe_status program_check_bound(axe_ctx *cx, const axe_reshard_plan *p,
                                         const axe_reshard_bound *bound);

/* Is the element of this row-major number below the bound? */
bool program_is_below(const axe_reshard_plan *p, const axe_reshard_bound *bound,
                      int64_t element);

/* A box whose runs are of the tensor's dimensions, with what either buffer has
 * of these. */
typedef struct program_open {
    program_box box;
    int64_t     n_src[PROGRAM_DIMS], n_dst[PROGRAM_DIMS];
} program_open;

/* The same with dimensions that both buffers have whole as part of the next
 * slower one. */
program_box program_close(const program_open *open);
/* What of it is below the bound: boxes, in the order of the index. */
AXE_CHECK axe_status program_below(axe_ctx *cx, const axe_reshard_bound *bound,
                                   const program_open *open, int *n,
                                   program_box **out);

/* Is the box one run in both buffers? */
bool program_is_run(const program_box *b, program_run *out);

/* to[i] += from[i], as plans add. */
void engine_add(axe_number type, void *to, const void *from, int64_t n);

#endif
