/* onednn.h - oneDNN 2 by its C API, opened at run time: what its operations
 * (dnnl_ops.c) are made of (dnnl.c).
 *
 * Its header is needed to build them; without it, or with that of another major
 * version, whose descriptors differ, HAS_ONEDNN is 0. */
#ifndef ONEDNN_H
#define ONEDNN_H

#include "table.h"

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

#if defined DNNL_VERSION_MAJOR && DNNL_VERSION_MAJOR == 2
#define HAS_ONEDNN 1

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
struct onednn {
    FUNCTIONS(FIELD)
    void (*set_threads)(int n); /* of OpenMP */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};
#undef FIELD

extern struct onednn onednn;

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

dnnl_data_type_t onednn_type(const char *name);
/* No data in it: oneDNN refuses that. */
view onednn_view(int arg, const char *type, void *data, int rank,
                 const int64_t *extent, const int64_t *stride);
/* Rows of n. */
view onednn_matrix(int arg, const axe_array *a, int64_t m, int64_t n);
view onednn_vector(int arg, const axe_array *a, int64_t n);

/* Adds the primitive of pd to the job; pd is used up. */
bool onednn_add_primitive(job *j, dnnl_primitive_desc_t pd, int n,
                          const view *v);
bool onednn_add(job *j, const void *desc, const_dnnl_primitive_attr_t attr,
                int n, const view *v);
void onednn_run(const job *j);
void onednn_clear(const job *j);

/* How oneDNN does what the kernel of that name does; NULL: it does not.  False
 * where it refuses types or sizes. */
typedef bool onednn_make(job *j, const problem *p);
onednn_make *onednn_find(const char *kernel);

#else
#define HAS_ONEDNN 0
#endif

#endif
