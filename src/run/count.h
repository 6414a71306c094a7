/* count.h - how much work a launch is, for rates. */
#ifndef AXE_RUN_COUNT_H
#define AXE_RUN_COUNT_H

#include "run/program.h"

/* Floating operations of the kernel's contractions: 2 for each term of a sum
 * of products, tiles counted as far as they lie inside, so 2 M N K for a
 * matrix product.  0 if it has none.
 * size  [n_size] in order of kernel->size */
double axe_count_flops(const axe_kernel *k, const int64_t *size);

#endif
