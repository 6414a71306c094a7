/* values.h - a kernel's integer expressions at launch. */
#ifndef AXE_RUN_ARRAY_VALUES_H
#define AXE_RUN_ARRAY_VALUES_H

#include "ir/ir.h"

/* A loop of the host in one of its iterations. */
typedef struct axe_iteration {
    const axe_var              *var;
    int64_t                     value;
    const struct axe_iteration *around;
} axe_iteration;

/* The values of a kernel's sizes, in its order, of `cores`, and of the host's
 * loops around. */
typedef struct axe_values {
    const axe_kernel    *kernel;
    const int64_t       *size;
    int64_t              cores;
    const axe_iteration *iteration;
} axe_values;

/* An integer expression over these.  False if it leaves int64. */
bool axe_value_of(const axe_values *in, const axe_node *n, int64_t *out);
/* Bytes of one of the kernel's own tensors, rounded up to whole lines of 64;
 * false if int64 does not count them. */
bool axe_temp_bytes(const axe_values *in, const axe_tensor *t, int64_t *out);

#endif
