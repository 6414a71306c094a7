/* aot.h - kernels ahead of time: a C file and its header.
 *
 * For each kernel the file defines
 *
 *     int gemm(const float *A, const float *B, float *C,
 *              int64_t M, int64_t K, int64_t N);
 *     int gemm_threads(int n_thread, ... the same ...);
 *
 * with the parameters in the kernel's order and then its sizes in order of
 * appearance; a stride of a parameter whose order is "strided" is a size,
 * A_stride0.  f16 and bf16 are uint16_t, f8 and bool uint8_t.  They check what
 * they are given and return one of the statuses in the header; they need libm
 * and threads and share nothing, so any number may run at once. */
#ifndef AXE_PRINT_AOT_AOT_H
#define AXE_PRINT_AOT_AOT_H

#include "print/c/c.h"

/* All for one machine.
 * name   of the header: "k.h", and what its guard is made from
 * Errors as axe_print_c; ENAME: two functions of one name; EUNSUPPORTED: a
 *        parameter whose elements are no whole bytes. */
AXE_CHECK axe_status axe_print_aot(axe_ctx *cx, int n,
                                   const axe_lowered *const *lowered,
                                   const char *name, axe_buf *c, axe_buf *h);

#endif
