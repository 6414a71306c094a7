/* store_staging.h - registers to global memory by way of staging.
 *
 * What a thread group holds in registers goes to a swizzled piece of shared
 * memory that an engine then moves as a box, while the threads already write
 * the next part.  The destination's fast index is cut into parts as wide as the
 * swizzle; two parts have room at a time. */
#ifndef AXE_PLAN_SIMT_COPY_STORE_STAGING_H
#define AXE_PLAN_SIMT_COPY_STORE_STAGING_H

#include "plan/simt/copy/tma_box.h"
#include "plan/simt/simt.h"
#include "plan/simt/team/fragment.h"

enum { AXE_STAGE_DIGITS = 8 };

struct axe_simt_stage {
    int          n_part, n_room;
    int64_t      regs;                    /* [elements] of a thread in a part */
    int          n_digit;                 /* of them, slow to fast: */
    axe_iter     digit[AXE_STAGE_DIGITS]; /* how they lie in what is read */
    int64_t      step;  /* [elements] there, from a part to the next */
    axe_reg_move store; /* a part into its room */
    const axe_tensor *global;
    axe_box           map;      /* of a part */
    const axe_node  **origin;   /* [rank of global] of part 0 */
    int               part_dim; /* the dimension that parts follow along */
    int64_t           part;     /* [elements] of a part along it */
    int64_t           room;     /* [elements] of one part in shared memory */
    axe_swizzle       swizzle;
    const axe_node   *when; /* over sizes; NULL: always.  Else, and where
                               there is no memory for it, the map runs */
    const char     *group;  /* of the engine */
    const axe_atom *move;
    int64_t         offset; /* in shared memory, entity by entity */
    bool            fits;   /* in what is left of shared memory */
};

#endif
