/* mma.h - what products share, in shared and in tensor memory. */
#ifndef PTX_MMA_H
#define PTX_MMA_H

#include "ptx.h"

/* Bytes; swizzle 0, 32, 64, 128, or -1: one that is not known. */
typedef struct ptx_desc {
    uint32_t start, lead, stride;
    int      swizzle, base, version;
} ptx_desc;

ptx_desc   ptx_describe(uint64_t bits, bool tensor_memory);
ptx_result ptx_fetch(ptx_warp *w, const ptx_insn *i, int rank,
                     const ptx_desc *d, bool k_slow, const ptx_type *t,
                     int first, int rows, int k, double *out);
void       ptx_product(int m, int n, int k, const double *a, const double *b,
                       double *c);
double    *ptx_room(int n);

#endif
