/* linear.h - Triton's linear layouts: maps over bits, from named hardware
 * dimensions to the dimensions of a tensor.
 *
 * A map is the images of 1, 2, 4, .. of each input, its bases: L(x ^ y) = L(x)
 * ^ L(y).  Outputs are powers of two and are packed into one number, dimension
 * k from bit out_at(k) on.  A basis of 0 is a replica.
 *
 * Source: triton, include/triton/Tools/LinearLayout.h (its documentation). */
#ifndef AXE_CONVERT_LINEAR_H
#define AXE_CONVERT_LINEAR_H

#include "axe/layout.h"
#include "base/json.h"

enum { AXE_LINEAR_DIMS = 12, AXE_LINEAR_BITS = 60 };

typedef struct axe_linear {
    int         n_in, n_out;
    const char *in[AXE_LINEAR_DIMS], *out[AXE_LINEAR_DIMS];
    int         in_bits[AXE_LINEAR_DIMS], out_bits[AXE_LINEAR_DIMS];
    uint64_t basis[AXE_LINEAR_BITS]; /* first input's first, low bits first */
    /* Bits of each input at which nothing is, though their basis is 0: what a
     * named layout says beyond its bases. Operations drop it. */
    uint64_t nothing[AXE_LINEAR_DIMS];
} axe_linear;

int axe_linear_in_at(const axe_linear *l, int dim);
int axe_linear_out_at(const axe_linear *l, int dim);
/* The part of a packed output in dimension `dim`. */
int64_t axe_linear_part(const axe_linear *l, uint64_t v, int dim);

/* {"register": [[0, 1], ..], ..}: outputs are as large as their bases need, or
 * as `shape` says (n 0: nothing). */
AXE_CHECK axe_status axe_linear_read(axe_ctx *cx, const axe_json *bases,
                                     axe_shape shape, axe_linear *out);
void                 axe_linear_put(axe_buf *b, const axe_linear *l);

/* One input of 2^bits numbers onto itself, or onto 0 in an output of 1. */
axe_linear axe_linear_identity(int bits, const char *in, const char *out);
axe_linear axe_linear_zeros(int bits, const char *in, const char *out);

/* Direct sum: a on the low bits of dimensions that both have.  ELIMIT. */
AXE_CHECK axe_status axe_linear_mul(axe_ctx *cx, const axe_linear *a,
                                    const axe_linear *b, axe_linear *out);
/* outer(a(x)), and the smallest c with outer(c(x)) = a(x); ESHAPE with an x
 * that has none. */
AXE_CHECK axe_status axe_linear_compose(axe_ctx *cx, const axe_linear *a,
                                        const axe_linear *outer,
                                        axe_linear       *out);
AXE_CHECK axe_status axe_linear_invert_compose(axe_ctx *cx, const axe_linear *a,
                                               const axe_linear *outer,
                                               axe_linear       *out);
bool                 axe_linear_surjective(const axe_linear *l);
/* Which bits of all inputs, packed, change nothing that lower ones do not. */
uint64_t axe_linear_free(const axe_linear *l);

/* x to step * x, step a power of two. */
axe_linear axe_linear_strided(int bits, int64_t step, const char *in,
                              const char *out);
/* b with l(b(y)) = y, the smallest; ESHAPE: l is not surjective. */
AXE_CHECK axe_status axe_linear_pseudoinvert(axe_ctx *cx, const axe_linear *l,
                                             axe_linear *out);
/* c with a = b * c (left) or a = c * b, with a's dimensions; ESHAPE: there is
 * none.  ENAME: b has a dimension that a has not. */
AXE_CHECK axe_status axe_linear_divide(axe_ctx *cx, const axe_linear *a,
                                       const axe_linear *b, bool left,
                                       axe_linear *out);

typedef struct axe_linear_names {
    int                n;
    const char *const *name;
} axe_linear_names;

/* Those inputs, the others 0, and those outputs, in l's order.  ENAME. */
AXE_CHECK axe_status axe_linear_sublayout(axe_ctx *cx, const axe_linear *l,
                                          axe_linear_names ins,
                                          axe_linear_names outs,
                                          axe_linear      *out);
bool                 axe_linear_is_zero(const axe_linear *l);
/* The inputs, or the outputs, in another order.  ENAME, EARG. */
AXE_CHECK axe_status axe_linear_transpose_ins(axe_ctx *cx, const axe_linear *l,
                                              axe_linear_names order,
                                              axe_linear      *out);
AXE_CHECK axe_status axe_linear_transpose_outs(axe_ctx *cx, const axe_linear *l,
                                               axe_linear_names order,
                                               axe_linear      *out);
/* As many bits, cut into other dimensions; the first is the lowest.  ESHAPE. */
AXE_CHECK axe_status axe_linear_reshape_ins(axe_ctx *cx, const axe_linear *l,
                                            axe_linear_names names,
                                            const int *bits, axe_linear *out);
AXE_CHECK axe_status axe_linear_reshape_outs(axe_ctx *cx, const axe_linear *l,
                                             axe_linear_names names,
                                             const int *bits, axe_linear *out);
/* a(x) ^ b(y); (a(x), b(x)).  ESHAPE: they do not share the other side. */
AXE_CHECK axe_status axe_linear_concat_ins(axe_ctx *cx, const axe_linear *a,
                                           const axe_linear *b,
                                           axe_linear       *out);
AXE_CHECK axe_status axe_linear_concat_outs(axe_ctx *cx, const axe_linear *a,
                                            const axe_linear *b,
                                            axe_linear       *out);
/* Without the bits of an input that do nothing.  ENAME. */
AXE_CHECK axe_status axe_linear_drop_zeros(axe_ctx *cx, const axe_linear *l,
                                           const char *in, axe_linear *out);

/* The layout of a tensor with dims as the outputs.  ESHAPE with the input, for
 * a basis of several bits, an element held by two bits, or by none. */
AXE_CHECK axe_status axe_linear_to_axe(axe_ctx *cx, const axe_linear *l,
                                       const axe_layout **out);
/* And back.  ESHAPE with a witness where it is not linear over bits, or a place
 * on an axis that no element has. */
AXE_CHECK axe_status axe_linear_from_axe(axe_ctx *cx, const axe_layout *l,
                                         axe_linear *out);

/* A layout by its name: {"kind": "blocked", ..}, of a tensor of that shape. */
AXE_CHECK axe_status axe_linear_named(axe_ctx *cx, const axe_json *v,
                                      axe_shape shape, axe_linear *out);

/* One of shared memory: {"kind": "nvmma_shared", ..}. */
AXE_CHECK axe_status axe_shared_named(axe_ctx *cx, const axe_json *v,
                                      axe_shape shape, const axe_layout **out);

#endif
