/* cuda_int.h - between the files of the CUDA printer. */
#ifndef AXE_PRINT_CUDA_CUDA_INT_H
#define AXE_PRINT_CUDA_CUDA_INT_H

#include "lower/pass/divisor.h"
#include "lower/pass/index.h"
#include "lower/pass/word.h"
#include "print/cuda/cuda.h"

/* Operands of an atom. */
enum { MAX_ARG = 6 };

/* How a variable of the grid is spelt. */
typedef struct cuda_name {
    const axe_var *var;
    const char    *text;
    uint32_t       hash; /* of the text */
    bool           used;
} cuda_name;

/* How a tensor of the grid is spelt; or how many have a spelling. */
typedef struct cuda_tensor {
    const void *key; /* the tensor, or an interned spelling; NULL: free */
    const char *text;
    int         n;
} cuda_tensor;

typedef struct cuda_printer {
    axe_ctx           *cx;
    const axe_lowered *l;
    const axe_grid    *g;
    axe_buf           *out;  /* of the statements */
    bool               wide; /* sizes have 64 bits */
    axe_indices       *ix;   /* of g, where the printer is */
    bool              *fn;   /* helpers that are used, by row of fn.def */
    int                n_atom, cap_atom, n_name, cap_name;
    const char       **atom; /* texts of atoms' functions that are used */
    cuda_name         *name;
    int                n_tensor, cap_tensor;
    cuda_tensor       *tensor; /* open addressing */
    bool               id[AXE_N_ID];
    const axe_var     *later; /* is one more than it is; or NULL */
} cuda_printer;

/* name.c ------------------------------------------------------------------- */

/* "float": of the values of a type while they are computed with. */
const char *axe_cuda_value_type(axe_type t);
/* A floating type that is computed with as float: elements are bits. */
bool axe_cuda_is_narrow(axe_type t);
/* "u16": of one element in memory. */
const char *axe_cuda_element_type(axe_type t);
/* "u32": of the words of an array of registers. */
const char *axe_cuda_word_type(axe_type t);
/* Note that a helper is used. */
void axe_cuda_need(cuda_printer *p, const char *name);
/* Give a variable a name of its own. */
const char *axe_cuda_declare(cuda_printer *p, const axe_var *v);
/* "n_X__stride0": the variable's name behind another letter. */
const char *axe_cuda_spell(axe_ctx *cx, const char *prefix, const axe_var *v);
const char *axe_cuda_name(const cuda_printer *p, const axe_var *v);
/* "b_ring$a": a buffer; r_: an array; t_: in global memory */
const char *axe_cuda_tensor(cuda_printer *p, const axe_tensor *t);
/* Texts of the helpers that are used. */
void axe_cuda_put_helpers(const cuda_printer *p, axe_buf *out);
/* A variable in an expression. */
AXE_CHECK axe_status axe_cuda_var(cuda_printer *p, axe_buf *b,
                                  const axe_node *n);

/* expr.c ------------------------------------------------------------------- */

typedef enum cuda_mode {
    CUDA_INDEX,   /* 32 bits, wider only where sizes are multiplied */
    CUDA_ADDRESS, /* products have 64 bits */
    CUDA_VALUE    /* of an element */
} cuda_mode;

AXE_CHECK axe_status axe_cuda_expr(cuda_printer *p, axe_buf *b,
                                   const axe_node *n, cuda_mode mode);
/* The value as the bits of an element of type t, rounded. */
AXE_CHECK axe_status axe_cuda_bits(cuda_printer *p, axe_buf *b,
                                   const axe_node *n, axe_type t);
/* The value as a float that has yet to be rounded to type t. */
AXE_CHECK axe_status axe_cuda_float(cuda_printer *p, axe_buf *b,
                                    const axe_node *n, axe_type t);
/* An index that something is added to. */
AXE_CHECK axe_status axe_cuda_term(cuda_printer *p, axe_buf *b,
                                   const axe_node *n);

/* word.c ------------------------------------------------------------------- */

/* A CALC of a loop that moves words: the one that begins at its variable. */
AXE_CHECK axe_status axe_cuda_put_word(cuda_printer *p, const axe_lir *l);

/* atom.c ------------------------------------------------------------------- */

/* The asm text of an invocation none of whose operands is written to registers
 * as its function has it, and the number in it of each operand. */
AXE_CHECK axe_status axe_cuda_asm(axe_ctx *cx, const axe_lir *l, int *at,
                                  const char **text);
/* The name of the function of this invocation, which is noted. */
AXE_CHECK axe_status axe_cuda_function(cuda_printer *p, const axe_lir *l,
                                       const char **name);
/* Is operand i part of that name, and so no argument? */
bool axe_cuda_in_name(const axe_lir *l, int i);

/* Texts with commas between them, in lines that begin behind `indent` blanks,
 * the first at the end of what is there. */
void axe_cuda_list(axe_buf *b, int n, const char *const *item, int indent);

/* call.c ------------------------------------------------------------------- */

/* One invocation as lines behind `indent` blanks. */
AXE_CHECK axe_status axe_cuda_atom(cuda_printer *p, const axe_lir *l,
                                   int indent);

#endif
