/* by_rows.h - kernels that can be run on some of their rows. */
#ifndef AXE_IR_BY_ROWS_H
#define AXE_IR_BY_ROWS_H

#include "ir/ir.h"

typedef struct axe_by_rows {
    const axe_var *size; /* how many rows there are */
    int64_t        tile; /* rows that go together: where to cut */
} axe_by_rows;

/* Can k be run on some of the rows of t, one of its arguments, and of all other
 * arguments that have as many, and then on the rest?  Cut between tiles the
 * results are the same bits. */
bool axe_kernel_by_rows(const axe_kernel *k, const axe_tensor *t,
                        axe_by_rows *out);

#endif
