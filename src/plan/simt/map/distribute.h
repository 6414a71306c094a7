/* distribute.h - between the files that deal a statement to threads.
 *
 * The work layout has a dim for each index, cut into digits: of threads, of
 * turns, of loops.  Where operands lie in registers the work follows the
 * largest of them (distribute_like.c), and the others must agree; what that
 * leaves is dealt by how operands lie in memory (distribute.c). */
#ifndef AXE_PLAN_SIMT_MAP_DISTRIBUTE_H
#define AXE_PLAN_SIMT_MAP_DISTRIBUTE_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

enum { MAX_DIGIT = 64, MAX_PART = 16, MAX_DIM = 24 };

typedef struct share {
    const axe_dim *dim;
    bool           reduced; /* an index of a reduction */
    bool           fixed;   /* a register operand has said it all */
    bool           exact;   /* must come out even, without loops */
    bool           ordered; /* its turns are one after the other */
    int64_t        done;    /* neighbours that have been dealt */
} share;

typedef struct deal {
    planner        *p;
    const request  *r;
    const axe_crew *crew;
    int             n_digit, n_part, n_dim;
    axe_work_digit  digit[MAX_DIGIT];
    axe_iter        part[MAX_PART]; /* of the threads, counted by no index */
    share           dim[MAX_DIM];
    int             order[MAX_DIM]; /* fastest in memory first */
} deal;

/* The share of an index; NULL: it is none of the statement's. */
share *axe_deal_share(deal *d, const axe_var *v);
/* A digit of v more, if it counts: `extent` steps of `weight`, along the axis.
 */
void axe_deal_digit(deal *d, const axe_var *v, int64_t weight, int64_t extent,
                    axe_axis axis, int64_t stride);
/* Deal indices as the largest operand in registers has them. */
void axe_deal_follow(deal *d);

#endif
