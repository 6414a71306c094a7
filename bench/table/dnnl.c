/* dnnl.c - oneDNN 2 by its C API, opened at run time: primitives for row
 * operators, and for matrix products of the types that it has.
 *
 * Its header is needed to build this file; without it, or with that of another
 * major version, whose descriptors differ, the peer is absent. */
#define _DEFAULT_SOURCE
#include "table.h"

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

#if defined DNNL_VERSION_MAJOR && DNNL_VERSION_MAJOR == 2

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FUNCTIONS(X)                                                           \
    X(engine_create)                                                           \
    X(stream_create)                                                           \
    X(stream_wait)                                                             \
    X(memory_desc_init_by_strides)                                             \
    X(memory_desc_init_by_tag)                                                 \
    X(memory_desc_get_size)                                                    \
    X(primitive_desc_query_md)                                                 \
    X(memory_create)                                                           \
    X(memory_destroy)                                                          \
    X(primitive_attr_create)                                                   \
    X(primitive_attr_destroy)                                                  \
    X(primitive_attr_set_output_scales)                                        \
    X(primitive_attr_set_post_ops)                                             \
    X(post_ops_create)                                                         \
    X(post_ops_destroy)                                                        \
    X(post_ops_append_eltwise)                                                 \
    X(post_ops_append_binary)                                                  \
    X(matmul_desc_init)                                                        \
    X(eltwise_forward_desc_init)                                               \
    X(softmax_forward_desc_init)                                               \
    X(binary_desc_init)                                                        \
    X(reduction_desc_init)                                                     \
    X(layer_normalization_forward_desc_init)                                   \
    X(reorder_primitive_desc_create)                                           \
    X(primitive_desc_create)                                                   \
    X(primitive_desc_destroy)                                                  \
    X(primitive_create)                                                        \
    X(primitive_destroy)                                                       \
    X(primitive_execute)

#define FIELD(f) __typeof__(dnnl_##f) *f;
static struct {
    FUNCTIONS(FIELD)
    void (*set_threads)(int n); /* of OpenMP */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
} lib;

static bool
take(void *h, const char *name, void *to)
{
    void *f = dlsym(h, name);

    memcpy(to, &f, sizeof f);
    return f;
}

static bool
open_dnnl(axe_ctx *cx)
{
    void *h = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool  ok = h;

    (void)cx;
#define TAKE(f) ok = ok && take(h, "dnnl_" #f, &lib.f);
    FUNCTIONS(TAKE)
    ok = ok && take(h, "omp_set_num_threads", &lib.set_threads);
    return ok && lib.engine_create(&lib.engine, dnnl_cpu, 0) == dnnl_success &&
           lib.stream_create(&lib.stream, lib.engine,
                             dnnl_stream_default_flags) == dnnl_success;
}

/* ------------------------------------------------------------- primitives */

enum { MAX_STEP = 3, MAX_ARG = 5 };

typedef struct step {
    dnnl_primitive_t primitive;
    int              n_arg;
    dnnl_exec_arg_t  arg[MAX_ARG];
} step;

/* Primitives that run one after the other. */
typedef struct job {
    int   n_step;
    step  step[MAX_STEP];
    void *scratch;
} job;

/* An array as a primitive sees it. */
typedef struct view {
    int                arg; /* DNNL_ARG_... */
    dnnl_memory_desc_t md;
    void              *data;
} view;

static dnnl_data_type_t
type_of(const char *name)
{
    static const struct {
        const char      *name;
        dnnl_data_type_t type;
    } known[] = {{"f32", dnnl_f32},
                 {"bf16", dnnl_bf16},
                 {"i8", dnnl_s8},
                 {"u8", dnnl_u8},
                 {"i32", dnnl_s32}};

    for (int i = 0; i < AXE_LEN(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].type;
    return dnnl_data_type_undef;
}

static view
make_view(int arg, const char *type, void *data, int rank,
          const int64_t *extent, const int64_t *stride)
{
    view v = {.arg = arg, .data = data};

    if (lib.memory_desc_init_by_strides(&v.md, rank, extent, type_of(type),
                                        stride) != dnnl_success)
        v.data = NULL;
    return v;
}

/* Rows of n. */
static view
matrix(int arg, const axe_array *a, int64_t m, int64_t n)
{
    return make_view(arg, a->type, a->data, 2, (int64_t[]){m, n},
                     (int64_t[]){n, 1});
}

static view
vector(int arg, const axe_array *a, int64_t n)
{
    return make_view(arg, a->type, a->data, 1, (int64_t[]){n}, (int64_t[]){1});
}

/* Adds the primitive of pd to the job; pd is used up. */
static bool
add_primitive(job *j, dnnl_primitive_desc_t pd, int n, const view *v)
{
    step *s = &j->step[j->n_step];
    bool  ok = lib.primitive_create(&s->primitive, pd) == dnnl_success;

    lib.primitive_desc_destroy(pd);
    for (int i = 0; ok && i < n; i++) {
        s->arg[i].arg = v[i].arg;
        ok = v[i].data &&
             lib.memory_create(&s->arg[i].memory, &v[i].md, lib.engine,
                               v[i].data) == dnnl_success;
        s->n_arg += ok;
    }
    j->n_step += ok;
    return ok;
}

static bool
add_step(job *j, const void *desc, const_dnnl_primitive_attr_t attr, int n,
         const view *v)
{
    dnnl_primitive_desc_t pd;

    return lib.primitive_desc_create(&pd, desc, attr, lib.engine, NULL) ==
               dnnl_success &&
           add_primitive(j, pd, n, v);
}

static void
run(const job *j)
{
    for (int i = 0; i < j->n_step; i++)
        if (lib.primitive_execute(j->step[i].primitive, lib.stream,
                                  j->step[i].n_arg,
                                  j->step[i].arg) != dnnl_success)
            abort();
    lib.stream_wait(lib.stream);
}

static void
clear(const job *j)
{
    for (int i = 0; i < MAX_STEP; i++) {
        for (int k = 0; k < j->step[i].n_arg; k++)
            lib.memory_destroy(j->step[i].arg[k].memory);
        if (j->step[i].primitive)
            lib.primitive_destroy(j->step[i].primitive);
    }
}

/* --------------------------------------------------------------- operations */

/* One post-op: relu, or a product with `by`. */
static dnnl_primitive_attr_t
followed_by(bool relu, const view *by)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t       ops;

    if (lib.primitive_attr_create(&attr) != dnnl_success ||
        lib.post_ops_create(&ops) != dnnl_success)
        return NULL;
    if (relu)
        lib.post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0);
    else
        lib.post_ops_append_binary(ops, dnnl_binary_mul, &by->md);
    lib.primitive_attr_set_post_ops(attr, ops);
    lib.post_ops_destroy(ops);
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

    v[0] = make_view(DNNL_ARG_SRC, type, p->peer[0].data, rank, a_dim + skip,
                     a_step + skip);
    v[1] = make_view(DNNL_ARG_WEIGHTS, p->array[1].type, p->peer[1].data, rank,
                     b_dim + skip, b_step + skip);
    v[2] = make_view(DNNL_ARG_DST, p->array[p->n_array - 1].type,
                     p->peer[p->n_array - 1].data, rank, c_dim + skip,
                     c_step + skip);
    if (bias)
        v[3] = matrix(DNNL_ARG_BIAS, &p->peer[2], 1, n);
    bool ok =
        lib.matmul_desc_init(&d, &v[0].md, &v[1].md, bias ? &v[3].md : NULL,
                             &v[2].md) == dnnl_success &&
        add_step(j, &d, attr, bias ? 4 : 3, v);
    if (attr)
        lib.primitive_attr_destroy(attr);
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
    view from = make_view(DNNL_ARG_FROM, p->peer[1].type, p->peer[1].data, 2,
                          (int64_t[]){k, n}, (int64_t[]){1, k});
    view v[3] = {matrix(DNNL_ARG_SRC, &p->peer[0], m, k),
                 {.arg = DNNL_ARG_WEIGHTS},
                 matrix(DNNL_ARG_DST, &p->peer[2], m, n)};

    if (lib.memory_desc_init_by_tag(&v[1].md, 2, extent, type_of(type),
                                    dnnl_format_tag_any) != dnnl_success ||
        lib.matmul_desc_init(&d, &v[0].md, &v[1].md, NULL, &v[2].md) !=
            dnnl_success ||
        lib.primitive_desc_create(&pd, &d, NULL, lib.engine, NULL) !=
            dnnl_success)
        return false;
    v[1].md = *lib.primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    size_t bytes = lib.memory_desc_get_size(&v[1].md);
    j->scratch = aligned_alloc(2 << 20, (bytes / (2 << 20) + 1) * (2 << 20));
    v[1].data = j->scratch;
    if (j->scratch)
        madvise(j->scratch, bytes, MADV_HUGEPAGE);
    bool ok =
        j->scratch &&
        lib.reorder_primitive_desc_create(&move, &from.md, lib.engine, &v[1].md,
                                          lib.engine, NULL) == dnnl_success &&
        add_primitive(
            &once, move, 2,
            (view[]){from,
                     {.arg = DNNL_ARG_TO, .md = v[1].md, .data = v[1].data}});
    if (ok)
        run(&once);
    clear(&once);
    return add_primitive(j, pd, 3, v) && ok;
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
    v[0] = make_view(DNNL_ARG_SRC, "f32", p->peer[0].data, 2, (int64_t[]){m, k},
                     trans ? (int64_t[]){1, m} : (int64_t[]){k, 1});
    v[1] = matrix(DNNL_ARG_WEIGHTS, &p->peer[1], k, n);
    v[2] = matrix(DNNL_ARG_DST, &p->peer[2], m, n);
    return lib.matmul_desc_init(&d, &v[0].md, &v[1].md, NULL, &v[2].md) ==
               dnnl_success &&
           add_step(j, &d, NULL, 3, v);
}

static bool
add(job *j, const problem *p)
{
    int64_t            m = problem_size(p, "M"), n = problem_size(p, "N");
    view               v[3] = {matrix(DNNL_ARG_SRC_0, &p->peer[0], m, n),
                               matrix(DNNL_ARG_SRC_1, &p->peer[1], m, n),
                               matrix(DNNL_ARG_DST, &p->peer[2], m, n)};
    dnnl_binary_desc_t d;

    return lib.binary_desc_init(&d, dnnl_binary_add, &v[0].md, &v[1].md,
                                &v[2].md) == dnnl_success &&
           add_step(j, &d, NULL, 3, v);
}

static bool
gelu(job *j, const problem *p)
{
    int64_t             m = problem_size(p, "M"), n = problem_size(p, "N");
    view                v[2] = {matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                                matrix(DNNL_ARG_DST, &p->peer[1], m, n)};
    dnnl_eltwise_desc_t d;

    return lib.eltwise_forward_desc_init(&d, dnnl_forward_inference,
                                         dnnl_eltwise_gelu_tanh, &v[0].md, 0,
                                         0) == dnnl_success &&
           add_step(j, &d, NULL, 2, v);
}

static bool
silu_mul(job *j, const problem *p)
{
    int64_t             m = problem_size(p, "M"), n = problem_size(p, "N");
    int                 by = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
    view                v[3] = {matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                                matrix(by, &p->peer[1], m, n),
                                matrix(DNNL_ARG_DST, &p->peer[2], m, n)};
    dnnl_eltwise_desc_t d;
    dnnl_primitive_attr_t attr = followed_by(false, &v[1]);
    bool ok = lib.eltwise_forward_desc_init(&d, dnnl_forward_inference,
                                            dnnl_eltwise_swish, &v[0].md, 1,
                                            0) == dnnl_success &&
              add_step(j, &d, attr, 3, v);

    lib.primitive_attr_destroy(attr);
    return ok;
}

static bool
layernorm(job *j, const problem *p)
{
    int64_t m = problem_size(p, "M"), n = problem_size(p, "N");
    view    v[4] = {matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                    vector(DNNL_ARG_SCALE, &p->peer[1], n),
                    vector(DNNL_ARG_SHIFT, &p->peer[2], n),
                    matrix(DNNL_ARG_DST, &p->peer[3], m, n)};
    dnnl_layer_normalization_desc_t d;

    return lib.layer_normalization_forward_desc_init(
               &d, dnnl_forward_inference, &v[0].md, NULL, 1e-5f,
               dnnl_use_scale | dnnl_use_shift) == dnnl_success &&
           add_step(j, &d, NULL, 4, v);
}

static bool
softmax(job *j, const problem *p)
{
    int64_t             m = problem_size(p, "M"), n = problem_size(p, "N");
    view                v[2] = {matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
                                matrix(DNNL_ARG_DST, &p->peer[1], m, n)};
    dnnl_softmax_desc_t d;

    return lib.softmax_forward_desc_init(&d, dnnl_forward_inference, &v[0].md,
                                         1) == dnnl_success &&
           add_step(j, &d, NULL, 2, v);
}

static bool
reduce(job *j, const problem *p, dnnl_alg_kind_t alg, bool by_row)
{
    int64_t m = problem_size(p, "M"), n = problem_size(p, "N");
    view    v[2] = {
           matrix(DNNL_ARG_SRC, &p->peer[0], m, n),
           matrix(DNNL_ARG_DST, &p->peer[1], by_row ? m : 1, by_row ? 1 : n)};
    dnnl_reduction_desc_t d;

    return lib.reduction_desc_init(&d, alg, &v[0].md, &v[1].md, 0, 0) ==
               dnnl_success &&
           add_step(j, &d, NULL, 2, v);
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
    view v[2] = {make_view(DNNL_ARG_FROM, x->type, x->data, rank, extent, from),
                 make_view(DNNL_ARG_TO, y->type, y->data, rank, extent, to)};
    dnnl_primitive_desc_t pd;
    bool                  ok =
        lib.reorder_primitive_desc_create(&pd, &v[0].md, lib.engine, &v[1].md,
                                          lib.engine, attr) == dnnl_success &&
        add_primitive(j, pd, 2, v);

    if (attr)
        lib.primitive_attr_destroy(attr);
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

    if (lib.primitive_attr_create(&attr) != dnnl_success)
        return false;
    lib.primitive_attr_set_output_scales(attr, m, 1, p->peer[1].data);
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

    if (n_head != 1 || lib.primitive_attr_create(&attr) != dnnl_success)
        return false;
    lib.primitive_attr_set_output_scales(attr, 1, 0, &scale);
    score.data = j->scratch = calloc((size_t)(s * l), sizeof(float));
    view q = matrix(DNNL_ARG_SRC, &p->peer[0], s, d),
         k = make_view(DNNL_ARG_WEIGHTS, p->array[1].type, p->peer[1].data, 2,
                       (int64_t[]){d, l}, (int64_t[]){1, d}),
         v = matrix(DNNL_ARG_WEIGHTS, &p->peer[2], l, d),
         o = matrix(DNNL_ARG_DST, &p->peer[3], s, d),
         to = matrix(DNNL_ARG_DST, &score, s, l),
         from = matrix(DNNL_ARG_SRC, &score, s, l);
    bool ok = lib.matmul_desc_init(&first, &q.md, &k.md, NULL, &to.md) ==
                  dnnl_success &&
              lib.softmax_forward_desc_init(&middle, dnnl_forward_inference,
                                            &from.md, 1) == dnnl_success &&
              lib.matmul_desc_init(&last, &from.md, &v.md, NULL, &o.md) ==
                  dnnl_success &&
              add_step(j, &first, attr, 3, (view[]){q, k, to}) &&
              add_step(j, &middle, NULL, 2, (view[]){from, to}) &&
              add_step(j, &last, NULL, 3, (view[]){from, v, o});

    lib.primitive_attr_destroy(attr);
    return ok;
}

static const struct {
    const char *kernel;
    bool (*make)(job *j, const problem *p);
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

/* ------------------------------------------------------------------ as a peer
 */

static void
done(void *user)
{
    job *j = user;

    clear(j);
    free(j->scratch);
    free(j);
}

static void *
prepare(const problem *p)
{
    job *j;

    for (int i = 0; i < AXE_LEN(operation); i++) {
        if (strcmp(operation[i].kernel, p->row->kernel) != 0)
            continue;
        lib.set_threads(p->n_thread);
        j = calloc(1, sizeof *j);
        if (j && operation[i].make(j, p))
            return j;
        if (j)
            done(j);
    }
    return NULL;
}

static void
call(void *user)
{
    run(user);
}

const peer dnnl_peer = {.name = "onednn",
                        .open = open_dnnl,
                        .prepare = prepare,
                        .call = call,
                        .done = done};

#else

static bool
open_dnnl(axe_ctx *cx)
{
    (void)cx;
    return false;
}

const peer dnnl_peer = {.name = "onednn", .open = open_dnnl};

#endif
