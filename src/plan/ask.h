/* ask.h - what the planner makes of operands of tensor cores, without a kernel.
 *
 * `axe eval` answers from here what vectors of other systems ask: by the code
 * that plans kernels, so that agreeing with them says something about those. */
#ifndef AXE_PLAN_ASK_H
#define AXE_PLAN_ASK_H

#include "plan/plan.h"

/* A compact tile in shared memory, made of atoms: along k 8 rows of `span`
 * bytes, or `major`, k slow, 8 steps of k of `span` bytes of rows. */
typedef struct axe_ask_matrix {
    const axe_machine *mc;
    axe_type           type;
    bool               major;
    int                span;       /* [bytes] 16, or of a swizzle 32, 64, 128 */
    bool               rows_first; /* atoms follow each other along rows */
    int64_t            tile[2], mma[2]; /* rows, k; mma: of an invocation */
    int64_t            step[2];         /* which invocation */
} axe_ask_matrix;

typedef struct axe_told_matrix {
    int64_t  offset; /* [bytes] to the operand, before swizzling */
    uint64_t bits;   /* of the descriptor, the tile at 0 */
    uint64_t unseen; /* of them, that the invocation does not observe */
} axe_told_matrix;

/* Errors  EUNSUPPORTED: no row of the machine reads such an operand */
AXE_CHECK axe_status axe_ask_matrix_of(axe_ctx *cx, const axe_ask_matrix *q,
                                       axe_told_matrix *out);

/* The scales of one CTA's tile of side 1 or 2 of an atom. */
typedef struct axe_ask_scale {
    const axe_machine *mc;
    const axe_atom    *atom;
    int                param, side;
    int64_t            rows, k; /* [elements] of the tile */
} axe_ask_scale;

typedef struct axe_told_scale {
    const axe_layout *held;   /* over (row, block of k), on lane and column */
    const axe_layout *shared; /* the same in shared memory */
    axe_axis          lane, column;
    int64_t           wide;    /* scales in a column */
    int64_t           columns; /* of held */
    int64_t           n_step;
    const int64_t    *step; /* [scales] where an invocation finds its own */
    const axe_atom   *copy; /* from shared to held */
    uint64_t          desc;
    int               n_copy;
    const int64_t    *to, *from; /* [scales] */
} axe_told_scale;

/* Errors  EUNSUPPORTED: they are not brought there */
AXE_CHECK axe_status axe_ask_scales(axe_ctx *cx, const axe_ask_scale *q,
                                    axe_told_scale *out);

#endif
