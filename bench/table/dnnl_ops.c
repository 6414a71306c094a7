/* dnnl_ops.c - what oneDNN calls what kernels do: row operators, and matrix
 * products of the types that it has. */
#define _DEFAULT_SOURCE
#include "onednn.h"

#if HAS_ONEDNN

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One post-op: relu, or a product with `by`. */
static dnnl_primitive_attr_t
followed_by(bool relu, const view *by)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t       ops;

    if (onednn.primitive_attr_create(&attr) != dnnl_success ||
        onednn.post_ops_create(&ops) != dnnl_success)
        return NULL;
    if (relu)
        onednn.post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0);
    else
        onednn.post_ops_append_binary(ops, dnnl_binary_mul, &by->md);
    onednn.primitive_attr_set_post_ops(attr, ops);
    onednn.post_ops_destroy(ops);
    return attr;
}

static bool
matmul(job *j, const problem *p, bool trans_a, bool trans_b)
{
    int64_t            batch = problem_size(p, "P"), m = problem_size(p, "M");
    int64_t            n = problem_size(p, "N"), k = problem_size(p, "K");
    int                skip = batch ? 0 : 1, rank = 3 - skip;
    const char        *type = p->array[0].type;
    bool               bias = p->n_array == 4;
    int64_t            a_dim[] = {batch, m, k}, b_dim[] = {batch, k, n};
    int64_t            c_dim[] = {batch, m, n};
    int64_t            a_step[] = {m * k, trans_a ? 1 : k, trans_a ? m : 1};
    int64_t            b_step[] = {k * n, trans_b ? 1 : n, trans_b ? k : 1};
    int64_t            c_step[] = {m * n, n, 1};
    view               v[4];
    dnnl_matmul_desc_t d;
    dnnl_primitive_attr_t attr = bias ? followed_by(true, NULL) : NULL;

    v[0] = onednn_view(DNNL_ARG_SRC, type, p->peer[0].data, rank, a_dim + skip,
                       a_step + skip);
    v[1] = onednn_view(DNNL_ARG_WEIGHTS, p->array[1].type, p->peer[1].data,
                       rank, b_dim + skip, b_step + skip);
    v[2] = onednn_view(DNNL_ARG_DST, p->array[p->n_array - 1].type,
                       p->peer[p->n_array - 1].data, rank, c_dim + skip,
                       c_step + skip);
    if (bias)
        v[3] = onednn_matrix(DNNL_ARG_BIAS, &p->peer[2], 1, n);
    bool ok =
        onednn.matmul_desc_init(&d, &v[0].md, &v[1].md, bias ? &v[3].md : NULL,
                                &v[2].md) == dnnl_success &&
        onednn_add(j, &d, attr, bias ? 4 : 3, v);
    if (attr)
        onednn.primitive_attr_destroy(attr);
    return ok;
}

/* Weights in the layout that oneDNN asks for, reordered here and not in the
 * calls. */
static bool
linear(job *j, const problem *p)
{
    int64_t m = problem_size(p, "M"), n = problem_size(p, "N"),
            k = problem_size(p, "K");
    const char           *type = p->array[0].type;
    job                   once = {0};
    dnnl_dims_t           extent = {k, n};
    dnnl_matmul_desc_t    d;
    dnnl_primitive_desc_t pd, move;
    view from = onednn_view(DNNL_ARG_FROM, p->peer[1].type, p->peer[1].data, 2,
                            (int64_t[]){k, n}, (int64_t[]){1, k});
    view v[3] = {onednn_matrix(DNNL_ARG_SRC, &p->peer[0], m, k),
                 {.arg = DNNL_ARG_WEIGHTS},
                 onednn_matrix(DNNL_ARG_DST, &p->peer[2], m, n)};

    if (onednn.memory_desc_init_by_tag(&v[1].md, 2, extent, onednn_type(type),
                                       dnnl_format_tag_any) != dnnl_success ||
        onednn.matmul_desc_init(&d, &v[0].md, &v[1].md, NULL, &v[2].md) !=
            dnnl_success ||
        onednn.primitive_desc_create(&pd, &d, NULL, onednn.engine, NULL) !=
            dnnl_success)
        return false;
    v[1].md = *onednn.primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    size_t bytes = onednn.memory_desc_get_size(&v[1].md);
    j->scratch = aligned_alloc(2 << 20, (bytes / (2 << 20) + 1) * (2 << 20));
    v[1].data = j->scratch;
    if (j->scratch)
        madvise(j->scratch, bytes, MADV_HUGEPAGE);
    bool ok =
        j->scratch &&
        onednn.reorder_primitive_desc_create(&move, &from.md, onednn.engine,
                                             &v[1].md, onednn.engine,
                                             NULL) == dnnl_success &&
        onednn_add_primitive(
            &once, move, 2,
            (view[]){from,
                     {.arg = DNNL_ARG_TO, .md = v[1].md, .data = v[1].data}});
    if (ok)
        onednn_run(&once);
    onednn_clear(&once);
    return onednn_add_primitive(j, pd, 3, v) && ok;
}

static bool
gemm(job *j, const problem *p)
{
    return matmul(j, p, false, true);
}

static bool
gemm_nn(job *j, const problem *p)
{
    return matmul(j, p, false, false);
}

static bool
gemm_tn(job *j, const problem *p)
{
    return matmul(j, p, true, false);
}

static bool
gemm_tt(job *j, const problem *p)
{
    return matmul(j, p, true, true);
}

/* y = a x with a of m by_row and k columns, or its transpose. */
static bool
gemv(job *j, const problem *p)
{
    int64_t m = problem_size(p, "M"), k = problem_size(p, "K"), n = 0;
    bool    trans = m == 0;
    view    v[3];
    dnnl_matmul_desc_t d;

    if (trans)
        m = problem_size(p, "N");
    n = 1;
    v[0] =
        onednn_view(DNNL_ARG_SRC, "f32", p->peer[0].data, 2, (int64_t[]){m, k},
                    trans ? (int64_t[]){1, m} : (int64_t[]){k, 1});
    v[1] = onednn_matrix(DNNL_ARG_WEIGHTS, &p->peer[1], k, n);
    v[2] = onednn_matrix(DNNL_ARG_DST, &p->peer[2], m, n);
    return onednn.matmul_desc_init(&d, &v[0].md, &v[1].md, NULL, &v[2].md) ==
               dnnl_success &&
           onednn_add(j, &d, NULL, 3, v);
}

static bool
add(job *j, const problem *p)
{
    int64_t            m = problem_size(p, "M"), n = problem_size(p, "N");
    view               v[3] = {onednn_matrix(DNNL_ARG_SRC_0, &p->peer[0], m, n),
                               onednn_matrix(DNNL_ARG_SRC_1, &p->peer[1], m, n),
                               onednn_matrix(DNNL_ARG_DST, &p->peer[2], m, n)};
    dnnl_binary_desc_t d;

    return onednn.binary_desc_init(&d, dnnl_binary_add, &v[0].md, &v[1].md,
                                   &v[2].md) == dnnl_success &&
           onednn_add(j, &d, NULL, 3, v);
}

static bool
gelu(job *j, const problem *p)
{
    int64_t             m = problem_size(p, "M"), n = problem_size(p, "N");
    view                v[2] = {onednn_matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                                onednn_matrix(DNNL_ARG_DST, &p->peer[1], m, n)};
    dnnl_eltwise_desc_t d;

    return onednn.eltwise_forward_desc_init(&d, dnnl_forward_inference,
                                            dnnl_eltwise_gelu_tanh, &v[0].md, 0,
                                            0) == dnnl_success &&
           onednn_add(j, &d, NULL, 2, v);
}

static bool
silu_mul(job *j, const problem *p)
{
    int64_t             m = problem_size(p, "M"), n = problem_size(p, "N");
    int                 by = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
    view                v[3] = {onednn_matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                                onednn_matrix(by, &p->peer[1], m, n),
                                onednn_matrix(DNNL_ARG_DST, &p->peer[2], m, n)};
    dnnl_eltwise_desc_t d;
    dnnl_primitive_attr_t attr = followed_by(false, &v[1]);
    bool ok = onednn.eltwise_forward_desc_init(&d, dnnl_forward_inference,
                                               dnnl_eltwise_swish, &v[0].md, 1,
                                               0) == dnnl_success &&
              onednn_add(j, &d, attr, 3, v);

    onednn.primitive_attr_destroy(attr);
    return ok;
}

static bool
layernorm(job *j, const problem *p)
{
    int64_t m = problem_size(p, "M"), n = problem_size(p, "N");
    view    v[4] = {onednn_matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                    onednn_vector(DNNL_ARG_SCALE, &p->peer[1], n),
                    onednn_vector(DNNL_ARG_SHIFT, &p->peer[2], n),
                    onednn_matrix(DNNL_ARG_DST, &p->peer[3], m, n)};
    dnnl_layer_normalization_desc_t d;

    return onednn.layer_normalization_forward_desc_init(
               &d, dnnl_forward_inference, &v[0].md, NULL, 1e-5f,
               dnnl_use_scale | dnnl_use_shift) == dnnl_success &&
           onednn_add(j, &d, NULL, 4, v);
}

static bool
softmax(job *j, const problem *p)
{
    int64_t             m = problem_size(p, "M"), n = problem_size(p, "N");
    view                v[2] = {onednn_matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                                onednn_matrix(DNNL_ARG_DST, &p->peer[1], m, n)};
    dnnl_softmax_desc_t d;

    return onednn.softmax_forward_desc_init(&d, dnnl_forward_inference,
                                            &v[0].md, 1) == dnnl_success &&
           onednn_add(j, &d, NULL, 2, v);
}

static bool
reduce(job *j, const problem *p, dnnl_alg_kind_t alg, bool by_row)
{
    int64_t m = problem_size(p, "M"), n = problem_size(p, "N");
    view    v[2] = {onednn_matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                    onednn_matrix(DNNL_ARG_DST, &p->peer[1], by_row ? m : 1,
                               by_row ? 1 : n)};
    dnnl_reduction_desc_t d;

    return onednn.reduction_desc_init(&d, alg, &v[0].md, &v[1].md, 0, 0) ==
               dnnl_success &&
           onednn_add(j, &d, NULL, 2, v);
}

static bool
row_sum(job *j, const problem *p)
{
    return reduce(j, p, dnnl_reduction_sum, true);
}

static bool
row_max(job *j, const problem *p)
{
    return reduce(j, p, dnnl_reduction_max, true);
}

static bool
col_sum(job *j, const problem *p)
{
    return reduce(j, p, dnnl_reduction_sum, false);
}

static bool
col_max(job *j, const problem *p)
{
    return reduce(j, p, dnnl_reduction_max, false);
}

/* From `extent` steps of `from` to `to`; attr is used up. */
static bool
reorder(job *j, const problem *p, int rank, const int64_t *extent,
        const int64_t *from, const int64_t *to, dnnl_primitive_attr_t attr)
{
    const axe_array *x = &p->peer[0], *y = &p->peer[p->n_array - 1];
    view             v[2] = {
                    onednn_view(DNNL_ARG_FROM, x->type, x->data, rank, extent, from),
                    onednn_view(DNNL_ARG_TO, y->type, y->data, rank, extent, to)};
    dnnl_primitive_desc_t pd;
    bool ok = onednn.reorder_primitive_desc_create(&pd, &v[0].md, onednn.engine,
                                                   &v[1].md, onednn.engine,
                                                   attr) == dnnl_success &&
              onednn_add_primitive(j, pd, 2, v);

    if (attr)
        onednn.primitive_attr_destroy(attr);
    return ok;
}

static bool
transpose(job *j, const problem *p)
{
    int64_t m = problem_size(p, "M"), n = problem_size(p, "N");

    return reorder(j, p, 2, (int64_t[]){m, n}, (int64_t[]){n, 1},
                   (int64_t[]){1, m}, NULL);
}

static bool
permute_acb(job *j, const problem *p)
{
    int64_t a = problem_size(p, "A"), b = problem_size(p, "B"),
            c = problem_size(p, "C");

    return reorder(j, p, 3, (int64_t[]){a, b, c}, (int64_t[]){b * c, c, 1},
                   (int64_t[]){b * c, 1, b}, NULL);
}

static bool
permute_bac(job *j, const problem *p)
{
    int64_t a = problem_size(p, "A"), b = problem_size(p, "B"),
            c = problem_size(p, "C");

    return reorder(j, p, 3, (int64_t[]){a, b, c}, (int64_t[]){b * c, c, 1},
                   (int64_t[]){c, a * c, 1}, NULL);
}

/* [b, s, h, d] to [b, h, s, d], or to [b, h, d, s]. */
static bool
heads(job *j, const problem *p, bool d_first)
{
    int64_t b = problem_size(p, "B"), s = problem_size(p, "S"),
            h = problem_size(p, "H"), d = problem_size(p, "D");

    return reorder(
        j, p, 4, (int64_t[]){b, s, h, d}, (int64_t[]){s * h * d, h * d, d, 1},
        (int64_t[]){s * h * d, d_first ? 1 : d, s * d, d_first ? s : 1}, NULL);
}

static bool
heads_first(job *j, const problem *p)
{
    return heads(j, p, false);
}

static bool
keys_transposed(job *j, const problem *p)
{
    return heads(j, p, true);
}

/* A scale for each row; oneDNN keeps a copy of them. */
static bool
dequantise(job *j, const problem *p)
{
    int64_t               m = problem_size(p, "M"), n = problem_size(p, "N");
    dnnl_primitive_attr_t attr;

    if (onednn.primitive_attr_create(&attr) != dnnl_success)
        return false;
    onednn.primitive_attr_set_output_scales(attr, m, 1, p->peer[1].data);
    return reorder(j, p, 2, (int64_t[]){m, n}, (int64_t[]){n, 1},
                   (int64_t[]){n, 1}, attr);
}

/* One head: two products with a softmax between them, in place. */
static bool
attention(job *j, const problem *p)
{
    int64_t n_head = problem_size(p, "G") * problem_size(p, "R"),
            s = problem_size(p, "S"), l = problem_size(p, "L"),
            d = p->array[0].shape[3];
    axe_array             score = {.type = "f32"};
    float                 scale = 1 / sqrtf((float)d);
    dnnl_matmul_desc_t    first, last;
    dnnl_softmax_desc_t   middle;
    dnnl_primitive_attr_t attr;

    if (n_head != 1 || onednn.primitive_attr_create(&attr) != dnnl_success)
        return false;
    onednn.primitive_attr_set_output_scales(attr, 1, 0, &scale);
    score.data = j->scratch = calloc((size_t)(s * l), sizeof(float));
    view q = onednn_matrix(DNNL_ARG_SRC, &p->peer[0], s, d),
         k = onednn_view(DNNL_ARG_WEIGHTS, p->array[1].type, p->peer[1].data, 2,
                         (int64_t[]){d, l}, (int64_t[]){1, d}),
         v = onednn_matrix(DNNL_ARG_WEIGHTS, &p->peer[2], l, d),
         o = onednn_matrix(DNNL_ARG_DST, &p->peer[3], s, d),
         to = onednn_matrix(DNNL_ARG_DST, &score, s, l),
         from = onednn_matrix(DNNL_ARG_SRC, &score, s, l);
    bool ok = onednn.matmul_desc_init(&first, &q.md, &k.md, NULL, &to.md) ==
                  dnnl_success &&
              onednn.softmax_forward_desc_init(&middle, dnnl_forward_inference,
                                               &from.md, 1) == dnnl_success &&
              onednn.matmul_desc_init(&last, &from.md, &v.md, NULL, &o.md) ==
                  dnnl_success &&
              onednn_add(j, &first, attr, 3, (view[]){q, k, to}) &&
              onednn_add(j, &middle, NULL, 2, (view[]){from, to}) &&
              onednn_add(j, &last, NULL, 3, (view[]){from, v, o});

    onednn.primitive_attr_destroy(attr);
    return ok;
}

static const struct {
    const char  *kernel;
    onednn_make *make;
} operation[] = {
    {"gemm", gemm},
    {"gemm_nn", gemm_nn},
    {"gemm_tn", gemm_tn},
    {"gemm_tt", gemm_tt},
    {"gemm_batched", gemm},
    {"gemm_bias_relu", gemm},
    {"gemm_i8", gemm},
    {"linear", linear},
    {"gemv", gemv},
    {"gemv_t", gemv},
    {"add", add},
    {"gelu", gelu},
    {"silu_mul", silu_mul},
    {"layernorm", layernorm},
    {"softmax", softmax},
    {"row_sum", row_sum},
    {"row_max", row_max},
    {"col_sum", col_sum},
    {"col_max", col_max},
    {"transpose", transpose},
    {"permute_acb", permute_acb},
    {"permute_bac", permute_bac},
    {"heads_first", heads_first},
    {"keys_transposed", keys_transposed},
    {"dequantise", dequantise},
    {"attention", attention},
};

onednn_make *
onednn_find(const char *kernel)
{
    for (int i = 0; i < AXE_LEN(operation); i++)
        if (strcmp(operation[i].kernel, kernel) == 0)
            return operation[i].make;
    return NULL;
}

#endif
