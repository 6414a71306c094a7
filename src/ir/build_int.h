/* build_int.h - a builder's state, for the files build*.c. */
#ifndef AXE_IR_BUILD_INT_H
#define AXE_IR_BUILD_INT_H

#include "axe/ir.h"
#include "ir/domain.h"

struct axe_ir_expr {
    const axe_builder *owner;
    const axe_node    *node;
    int64_t            n_op; /* operations in it, shared ones counted again */
};

/* How an argument lies in memory; in the order of order_name. */
typedef enum build_order { ORDER_C, ORDER_F, ORDER_STRIDED } build_order;

struct axe_ir_tensor {
    const axe_builder *owner;
    axe_tensor        *tensor;
    build_order        order; /* of an argument */
    const axe_node   **fill;  /* of a tile: [rank] indices of a fill, made
                                 by the first one */
};

struct axe_ir_pipeline {
    const axe_builder *owner;
    axe_pipeline      *ring;
};

/* An open block: the statement it belongs to, NULL for the kernel itself. */
typedef struct open_block {
    axe_stmt          *stmt;
    axe_list           body;
    bool               other; /* the branch after `else` */
    axe_ir_pipeline   *ring;  /* whose tensors are being declared, or NULL */
    struct open_block *up;
} open_block;

struct axe_builder {
    axe_ctx    *cx;
    axe_kernel *kernel;
    axe_status  status;
    bool        finished;
    axe_span    at;      /* of the call at hand */
    const char *label;   /* or NULL */
    int32_t     n_call;  /* made so far */
    int32_t     unnamed; /* the source of calls without a label */
    axe_list    labels;  /* build_label */
    axe_list    names;   /* build_name */
    axe_list    sizes, params, bindings;
    axe_list    tiled; /* axe_tiled */
    axe_stmt   *last;  /* the index statement made last, or NULL */
    int         depth;
    open_block *block; /* innermost */
};

/* Every public call begins so: false if an error stuck before. */
bool axe_build_begin(axe_builder *b);
/* Record the error that sticks; false. */
bool axe_build_fail(axe_builder *b, axe_status code, const char *fmt, ...)
    AXE_PRINTF(3, 4);
/* A new name of the kernel, interned; NULL after an error. */
const char *axe_build_name(axe_builder *b, const char *name);
bool        axe_build_type(axe_builder *b, const char *name, axe_type *out);
/* Is the handle given, and of this builder?  what: "the value". */
bool axe_build_has_expr(axe_builder *b, const axe_ir_expr *e, const char *what);
bool axe_build_has_tensor(axe_builder *b, const axe_ir_tensor *t);
/* An error with the nearest of n known words. */
bool axe_build_unknown(axe_builder *b, const char *what, const char *word,
                       int n, const char *const *known);

axe_var *axe_build_var(axe_builder *b, axe_var_kind kind, const char *name,
                       const axe_node *extent);
const axe_ir_expr *axe_build_node(axe_builder *b, const axe_node *n,
                                  int64_t n_op);
/* A statement for the innermost block. */
axe_stmt *axe_build_stmt(axe_builder *b, axe_stmt_kind kind);
/* Append it there and open its own block; false after an error. */
bool axe_build_open(axe_builder *b, axe_stmt *s);

#endif
