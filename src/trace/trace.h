/* trace.h - a program of a NeuronCore's engines: instructions with access
 * patterns, in loops.  It is text, and prints as what it was read from:
 *
 *     trace double
 *     size N = 512
 *     hbm x : f32[128, N] in
 *     hbm y : f32[128, N] out
 *     for i = N / 256 {
 *         sbuf t : f32[128, 256] at 0, 1024 * (i % 2)
 *         dma dma_copy t, x[256 * i : 128 by N, 256 by 1]
 *         vector tensor_scalar t, t, op0=multiply, operand0=2
 *         dma dma_copy y[256 * i : 128 by N, 256 by 1], t
 *     }
 *
 * docs/trace.md is the grammar.  What an instruction is, and which arguments it
 * takes, are rows of machine/trainium/ops.def.  Names and numbers of arguments
 * are checked here; what needs values of variables, by who runs it. */
#ifndef AXE_TRACE_TRACE_H
#define AXE_TRACE_TRACE_H

#include "machine/trainium.h"

/* Of a pattern: partitions, then FREE_DIMS along them; so many a text may have,
 * that too many are an error of who runs it. */
enum {
    AXE_TRACE_DIMS = 8,
    AXE_TRACE_MAX_VARS = 512,
    AXE_TRACE_MAX_TENSORS = 1 << 14,
    AXE_TRACE_MAX_LINES = 1 << 20
};

/* A number of sizes and loop variables. */
typedef struct axe_trace_expr axe_trace_expr;
struct axe_trace_expr {
    char op;                     /* # value, $ variable, + - * / %,
                                    < min, > max */
    int64_t               value; /* $: its number */
    const axe_trace_expr *a, *b;
    axe_span              at;
};

typedef struct axe_trace_dim {
    const axe_trace_expr *count, *stride; /* [elements] */
} axe_trace_dim;

/* Elements of a tensor: dim[0] goes over partitions, whose stride on chip is 1
 * and not written.  n_dim 0: all of it. */
typedef struct axe_trace_access {
    int                   tensor; /* number of its declaration */
    const axe_trace_expr *part;   /* on chip: the first partition in the tile */
    const axe_trace_expr *offset; /* [elements]; on chip: along a partition */
    int                   n_dim;
    axe_trace_dim         dim[AXE_TRACE_DIMS];
} axe_trace_access;

typedef enum axe_trace_kind {
    AXE_TRACE_ABSENT,
    AXE_TRACE_TILE,
    AXE_TRACE_NUMBER,
    AXE_TRACE_COUNT, /* an expression */
    AXE_TRACE_FUNCTION,
    AXE_TRACE_INDEX /* dims of the access, and nothing else of it */
} axe_trace_kind;

typedef struct axe_trace_value {
    axe_trace_kind        kind;
    axe_span              at;
    axe_trace_access      access;
    double                number;
    const axe_trace_expr *count;
    axe_trn_function      function;
} axe_trace_value;

typedef enum axe_trace_access_kind {
    AXE_TRACE_IN,
    AXE_TRACE_OUT,
    AXE_TRACE_KEPT /* written and read by the program */
} axe_trace_access_kind;

/* A tensor in device memory, or a tile on chip. */
typedef struct axe_trace_tensor {
    const char           *name;
    axe_trn_memory        memory;
    axe_type              type;
    int                   rank;
    const axe_trace_expr *shape[AXE_TRACE_DIMS];
    axe_trace_access_kind access;      /* HBM */
    const axe_trace_expr *part, *byte; /* on chip: where it begins */
} axe_trace_tensor;

typedef enum axe_trace_step_kind {
    AXE_TRACE_DECLARE,
    AXE_TRACE_LOOP,
    AXE_TRACE_LET, /* a variable that is `count` to the end of its block */
    AXE_TRACE_DO
} axe_trace_step_kind;

typedef struct axe_trace_step axe_trace_step;
struct axe_trace_step {
    axe_trace_step_kind   kind;
    axe_span              at;
    const axe_trace_step *next;
    int                   tensor; /* DECLARE */
    int                   var;    /* LOOP, LET: its variable, from 0 .. */
    const axe_trace_expr *count;  /* .. so many times */
    const axe_trace_step *body;
    axe_trn_op            op; /* DO */
    axe_trn_engine        engine;
    int                   n_value; /* as many as axe_trn_args has rows */
    axe_trace_value      *value;
};

typedef struct axe_trace {
    const char             *name;
    int                     n_var, n_size; /* sizes are the first variables */
    const char            **var;           /* names */
    int64_t                *size;          /* values of the sizes */
    int                     n_tensor;
    const axe_trace_tensor *tensor;
    const axe_trace_step   *body;
} axe_trace;

/* Indices by which a transfer takes rows; NULL: it does not. */
const axe_trace_value *axe_trace_indices(const axe_trace_step *s);

/* A text registered as `source`.  ESYNTAX, ENAME, ELIMIT with its place. */
AXE_CHECK axe_status axe_trace_read(axe_ctx *cx, int32_t source,
                                    const char *text, const axe_trace **out);
/* As text; reading it gives the same. */
const char *axe_trace_text(axe_ctx *cx, const axe_trace *t);
/* What is executed, line by line: no sizes, loops or names of numbers; it is a
 * trace, too, if no tile is declared twice.
 * Errors  those of its expressions; ELIMIT */
AXE_CHECK axe_status axe_trace_unroll(axe_ctx *cx, const axe_trace *t,
                                      axe_buf *out);
/* "NAME=VALUE" of a size; ENAME, ESYNTAX. */
AXE_CHECK axe_status axe_trace_set(axe_ctx *cx, const axe_trace *t,
                                   const char *text);
/* The value with these variables.  EOVERFLOW; ESHAPE: division by what is not
 * above 0. */
AXE_CHECK axe_status axe_trace_value_of(axe_ctx *cx, const axe_trace_expr *e,
                                        const int64_t *var, int64_t *out);

#endif
