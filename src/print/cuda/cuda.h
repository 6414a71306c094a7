/* cuda.h - grids as self-contained CUDA C with inline PTX, no headers. */
#ifndef AXE_PRINT_CUDA_CUDA_H
#define AXE_PRINT_CUDA_CUDA_H

#include "lower/pass/width.h"

/* The largest size whose indices are ints. */
enum { AXE_CUDA_MOST = AXE_SIZE_MOST };

/* Append a translation unit with one extern "C" kernel for each grid, by its
 * name.  A kernel takes, in this order: the grid's tensor maps by value, the
 * address of each parameter and of each of the kernel's own tensors, and its
 * sizes as 64-bit integers, which must be at most AXE_CUDA_MOST unless indices
 * are `wide`, and, if it names `cores`, how many SMs there are as one more.  It
 * is launched with grid->n_thread threads a CTA and grid->shared_bytes of
 * dynamic shared memory.
 *
 * One function for each atom that is used, made from its asm_text.  Registers
 * are arrays with constant indices, elements of 8 and 16 bits packed in 32-bit
 * words as the machine's fragments are.  Indices are 32-bit, or where `wide`
 * those that depend on sizes 64-bit; addresses in global memory are 64-bit.
 * Compiles with nvcc and NVRTC 12 and 13.  Printing decides nothing: the same
 * grids give the same bytes.
 * Errors  EUNSUPPORTED: a type or an operation
 * without a spelling. */
AXE_CHECK axe_status axe_print_cuda(axe_ctx *cx, const axe_lowered *l,
                                    bool wide, axe_buf *out);

#endif
