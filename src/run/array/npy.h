/* npy.h - arrays in NumPy's .npy files, formats 1 to 3.
 *
 * Read: the types of types.def that NumPy has, little endian, in C or Fortran
 * order; `V2` is read as bf16, which is what the ml_dtypes package writes.
 * Everything else is a diagnostic: big endian, objects, records, a header that
 * is not NumPy's, fewer or more data bytes than the shape says.
 * Written: format 1.0, byte for byte what NumPy 1.x writes.  Floating types of
 * 8 and 4 bits are written as u1, those of 4 two to a byte: a file has half as
 * many along the dimension of neighbours, and the first of two in the low half.
 */
#ifndef AXE_RUN_ARRAY_NPY_H
#define AXE_RUN_ARRAY_NPY_H

#include "ir/ir.h"

enum { AXE_NPY_MAX_RANK = 64 }; /* NumPy's own limit */

/* What a header says. */
typedef struct axe_npy_head {
    axe_type type;
    bool     fortran; /* first dimension contiguous, else the last */
    int      rank;
    int64_t  shape[AXE_NPY_MAX_RANK];
    int64_t  stride[AXE_NPY_MAX_RANK]; /* [elements] */
    size_t   data_at;                  /* where the elements begin [bytes] */
    size_t   n_bytes;                  /* of all elements */
} axe_npy_head;

/* Read the header of a file of `len` bytes, given whole.
 * name    of the file, for messages
 * Errors  ESYNTAX: not a .npy file, or its header does not parse.  ETYPE: an
 *         element type that no tensor has.  EOVERFLOW: the size in bytes does
 *         not fit int64.  ESHAPE: truncated or trailing data.
 * Never reads outside [bytes, bytes + len), whatever they hold. */
AXE_CHECK axe_status axe_npy_parse(axe_ctx *cx, const char *name,
                                   const unsigned char *bytes, size_t len,
                                   axe_npy_head *out);

/* An array in memory; free it with axe_npy_free. */
typedef struct axe_npy {
    axe_type type;
    bool     fortran;
    int      rank;
    int64_t  shape[AXE_NPY_MAX_RANK];
    int64_t  stride[AXE_NPY_MAX_RANK]; /* [elements] */
    size_t   n_bytes;
    void    *data; /* aligned to 64 */
    void    *heap; /* what to free */
} axe_npy;

AXE_CHECK axe_status axe_npy_read(axe_ctx *cx, const char *path, axe_npy *out);

/* A zeroed array, row-major or column-major; name: of it, for messages.
 * Errors  EOVERFLOW: its size does not fit int64.  EARG: no memory for it, or
 *         more than AXE_NPY_MAX_RANK dimensions.  EUNSUPPORTED: a type that
 *         arrays do not have; rows of 4-bit elements that are no whole bytes.
 */
AXE_CHECK axe_status axe_npy_make(axe_ctx *cx, const char *name, axe_type type,
                                  axe_shape shape, bool fortran, axe_npy *out);
/* The array's bytes as elements of another type of 8 bits, or of 4: then the
 * dimension of neighbours has twice as many. */
void axe_npy_see_as(axe_npy *a, axe_type type);
void axe_npy_free(axe_npy *a);

/* Write as a whole or not at all.
 * Errors  EIO.  ETYPE: NumPy has no such type. */
AXE_CHECK axe_status axe_npy_write(axe_ctx *cx, const char *path,
                                   const axe_npy *a);

#endif
