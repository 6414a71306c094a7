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

/* A word of tensor memory; NULL where it is not allocated, or is read and was
 * not written. */
uint32_t *ptx_word_at(ptx_warp *w, const ptx_insn *i, ptx_cta *c, uint32_t lane,
                      uint32_t column, ptx_access how);

/* Scales of a product: their type, for how many elements along k each is, and
 * the byte of a word in which those of a and of b begin. */
typedef struct ptx_scales {
    const ptx_type *type;
    int             block, byte[2];
} ptx_scales;

/* Of an instruction with scales and its descriptor; false: they do not fit. */
bool ptx_scales_of(const ptx_insn *i, uint64_t bits, int k, ptx_scales *out);
/* Multiplies rows of k elements by scales that lie from address `at` on. */
ptx_result ptx_scale(ptx_job *j, ptx_cta *c, const ptx_scales *s, int side,
                     int rows, int k, double *x);

#endif
