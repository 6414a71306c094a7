/* linear_maker.h - how Triton's named layouts are made: fields of an attribute,
 * and linear layouts that grow input by input. */
#ifndef AXE_CONVERT_LINEAR_MAKER_H
#define AXE_CONVERT_LINEAR_MAKER_H

#include "convert/linear.h"

/* The field as powers of two up to 2^20, one for each of `rank` dimensions (a
 * longer list is read so far); 1 where it is missing. */
AXE_CHECK axe_status axe_field_powers(axe_ctx *cx, const axe_json *v,
                                      const char *key, int rank, int64_t *out);
/* A permutation of the dimensions; the fallback where it is missing. */
AXE_CHECK axe_status axe_field_order(axe_ctx *cx, const axe_json *v,
                                     const char *key, int rank,
                                     const int *fallback, int *out);
/* A number from 0 to 2^20, which must be there. */
AXE_CHECK axe_status axe_field_int(axe_ctx *cx, const axe_json *v,
                                   const char *key, int64_t *out);
bool                 axe_field_truth(const axe_json *v, const char *key);
/* The last dimension first. */
void axe_row_major(int rank, int *order);
int  axe_log2_up(int64_t n);

/* What the CTAs of a cluster have of a tensor: for each bit of a CTA's number
 * the dimension that it halves once more, or -1: both halves of the CTAs have
 * copies. */
enum { AXE_CTA_BITS = 20 };

typedef struct axe_ctas {
    int     n;
    int     dim[AXE_CTA_BITS];
    int64_t share[AXE_LINEAR_DIMS]; /* of each dimension, one CTA's */
} axe_ctas;

/* CGALayout, or CTAsPerCGA, CTASplitNum and CTAOrder.  Along dimension `skip`
 * (-1: none) all have copies, as where more CTAs than elements are.
 * Errors  EARG, ESHAPE, EUNSUPPORTED: bases of another form. */
AXE_CHECK axe_status axe_ctas_read(axe_ctx *cx, const axe_json *v,
                                   axe_shape shape, int skip, axe_ctas *out);

/* A layout being made: dims in the order in which registers are repeated. */
typedef struct axe_maker {
    axe_ctx   *cx;
    int        rank;
    int64_t    shape[AXE_LINEAR_DIMS];
    axe_linear l;
} axe_maker;

/* Inputs register, lane, warp and block, and outputs in that order, of nothing
 * yet. */
void axe_maker_start(axe_maker *m, const int *order);
/* n more of an input along a dimension, or as copies; n below 2: nothing. */
AXE_CHECK axe_status axe_maker_grow(axe_maker *m, int64_t n, const char *in,
                                    int dim, bool copies);
/* n[] of an input in that order; along `skip` as copies. */
AXE_CHECK axe_status axe_maker_grow_all(axe_maker *m, const int64_t *n,
                                        const char *in, const int *order,
                                        int skip);
/* What one CTA has, over the CTA's share of the shape, registers repeated in
 * that order; then the CTAs, and dimensions in order 0, 1, .. */
AXE_CHECK axe_status axe_maker_over_ctas(axe_maker *m, const axe_json *v,
                                         const int *order, int skip);

typedef axe_status axe_maker_fn(axe_maker *m, const axe_json *v);

/* linear_amd.c: results and operands of mfma and wmma. */
AXE_CHECK axe_status axe_make_amd_mfma(axe_maker *m, const axe_json *v);
AXE_CHECK axe_status axe_make_amd_wmma(axe_maker *m, const axe_json *v);
AXE_CHECK axe_status axe_make_mfma_operand(axe_maker *m, const axe_json *parent,
                                           int which, int64_t width);
AXE_CHECK axe_status axe_make_wmma_operand(axe_maker *m, const axe_json *parent,
                                           int which, int64_t width);
/* linear_tmem.c: tensor memory, and block scales in it. */
AXE_CHECK axe_status axe_make_tensor_memory(axe_maker *m, const axe_json *v);
AXE_CHECK axe_status axe_make_tensor_memory_scales(axe_maker      *m,
                                                   const axe_json *v);

#endif
