/* distribute.h - between the files that distribute a statement to threads.
 *
 * The work layout has a dim for each index, cut into digits: of threads, of
 * iterations, of loops.  Where operands lie in registers the work follows the
 * largest of them (distribute_like.c), and the others must agree; what that
 * leaves is distributed by how operands lie in memory (distribute.c). */
#ifndef AXE_PLAN_SIMT_MAP_DISTRIBUTE_H
#define AXE_PLAN_SIMT_MAP_DISTRIBUTE_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

enum { MAX_DIGIT = 64, MAX_PART = 16, MAX_DIM = 24 };

typedef struct axe_share {
    const axe_dim *dim;
    bool           reduced; /* an index of a reduction */
    bool           fixed;   /* a register operand has said it all */
    bool           exact;   /* must come out even, without loops */
    bool           ordered; /* its iterations are one after the other */
    int64_t        done;    /* neighbours that have been distributed */
} axe_share;

typedef struct axe_distribution {
    axe_planner            *p;
    const axe_request      *r;
    const axe_thread_group *threads;
    int                     n_digit, n_part, n_dim;
    axe_work_digit          digit[MAX_DIGIT];
    axe_iter  part[MAX_PART]; /* of the threads, counted by no index */
    axe_share dim[MAX_DIM];
    int       order[MAX_DIM]; /* fastest in memory first */
} axe_distribution;

/* The share of an index; NULL: it is none of the statement's. */
axe_share *axe_distribution_share(axe_distribution *d, const axe_var *v);
/* A digit of v more, if it counts: `extent` steps of `weight`, along the axis.
 */
void axe_distribution_digit(axe_distribution *d, const axe_var *v,
                            int64_t weight, int64_t extent, axe_axis axis,
                            int64_t stride);
/* Distribute indices as the largest operand in registers has them. */
void axe_distribute_like(axe_distribution *d);

/* partitions.c: the index that walks partitions of shared memory. */
void axe_distribute_parts(axe_distribution *d);

#endif
