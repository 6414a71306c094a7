/* aot_int.h - what kernels ahead of time have in common on all machines. */
#ifndef AXE_PRINT_AOT_AOT_INT_H
#define AXE_PRINT_AOT_AOT_INT_H

#include "print/c/c_int.h"

/* A name of the language as one of C and C++. */
const char *axe_aot_name(axe_ctx *cx, const char *name);
/* "uint16_t" */
const char *axe_aot_type(axe_type t);
/* "AXE_AOT_K_H" */
const char *axe_aot_guard(axe_ctx *cx, const char *name);
/* EUNSUPPORTED: a parameter whose elements are no whole bytes */
AXE_CHECK axe_status axe_aot_check_params(axe_ctx *cx, const axe_kernel *k);
/* "const float *A, ..., int64_t M"
 * memory  of arrays, "void *"; NULL: pointers to elements */
void axe_aot_arguments(axe_ctx *cx, axe_buf *b, const axe_kernel *k,
                       const char *memory);
/* The comment above a function. */
void axe_aot_doc(axe_ctx *cx, axe_buf *b, const axe_kernel *k);
/* Sizes as variables, and whether they may be what they are. */
void axe_aot_sizes(axe_cprinter *p, axe_buf *b, const axe_kernel *k);
void axe_aot_check_sizes(axe_cprinter *p, axe_buf *b, const axe_kernel *k);
/* With these sizes no index leaves int64: after the checks of sizes. */
void axe_aot_check_reach(axe_cprinter *p, axe_buf *b);
/* Extents, and strides where they are sizes of their own, put to a function:
 * axe_check or one that takes the same. */
AXE_CHECK axe_status axe_aot_check(axe_cprinter *p, axe_buf *b,
                                   const axe_tensor *t, const char *by);
/* axe_bytesN, code as an array. */
void axe_aot_bytes(axe_buf *b, int number, const void *data, size_t bytes);

#endif
