/* ref_int.h - shared by the files of the reference: ref.c runs and compares,
 * ref_print.c writes the C text, ref_text.c is its fixed part. */
#ifndef AXE_RUN_REF_INT_H
#define AXE_RUN_REF_INT_H

#include "ir/ir.h"

/* The arithmetic of values with error bounds, in C. */
extern const char axe_ref_text[], axe_ref_text_8[];

/* The text defines
 *
 *     int axe_reference(void *const *value, double *const *bound,
 *                       const int64_t *size);
 *
 * value[i] is a dense row-major copy of parameter i, in double for floating
 * types and int64 for others; bound[i] the error bounds of its elements, NULL
 * for those that are only read.  It returns 0, or 1 if there was no memory.
 * Errors  EUNSUPPORTED: a type that the reference cannot compute in. */
AXE_CHECK axe_status axe_ref_print(axe_ctx *cx, const axe_kernel *k,
                                   axe_buf *out);

#endif
