/* spell.h - statements and expressions of grids in dialects of C.
 *
 * What the dialects have in common is here; what they say otherwise is in a
 * dialect's rows, and what is theirs alone, kernels and atoms, in their
 * folders.
 */
#ifndef AXE_PRINT_SPELL_SPELL_H
#define AXE_PRINT_SPELL_SPELL_H

#include "lower/pass/divisor.h"
#include "lower/pass/index.h"
#include "lower/pass/width.h"
#include "lower/pass/word.h"

/* How a variable of the grid is spelt. */
typedef struct axe_spelled_var {
    const axe_var *var;
    const char    *text;
    uint32_t       hash; /* of the text */
    bool           used;
} axe_spelled_var;

/* How a tensor of the grid is spelt; or how many have a spelling. */
typedef struct axe_spelled_tensor {
    const void *key; /* the tensor, or an interned spelling; NULL: free */
    const char *text;
    int         n;
} axe_spelled_tensor;

typedef struct axe_speller axe_speller;

/* Precedence of C: larger binds tighter. */
enum { P_OR = 1, P_AND, P_BITS, P_EQ, P_LESS, P_SHIFT, P_ADD, P_MUL, P_UNARY };
enum { P_CALL = P_UNARY + 1 };

/* Which operands a spelling is for. */
typedef enum axe_spell_kind {
    K_INDEX,
    K_INT,   /* elements: they wrap around */
    K_UINT,  /* of 32 or 64 bits */
    K_FLOAT, /* f32 and what is computed as that */
    K_DOUBLE,
    K_BOOL
} axe_spell_kind;

/* A row of a dialect's ops.def. */
typedef struct axe_spell_op {
    axe_op      op;
    unsigned    kinds;             /* bits of axe_spell_kind */
    int         prec, left, right; /* of the whole; what the operands need */
    const char *needs;             /* a helper, or "" */
    const char *text; /* %0 %1 %2; $T: the type, $U: unsigned, $B: bits */
} axe_spell_op;

/* A row of its fn.def. */
typedef struct axe_spell_fn {
    const char *name, *needs, *text;
} axe_spell_fn;

/* How reading bits as a number begins, and a number's bits. */
typedef struct axe_spell_float_type {
    const char *number, *bits, *nan, *inf;
} axe_spell_float_type;

/* A language of grids.  It has types u8 i8 u16 i16 u32 i64 u64. */
typedef struct axe_dialect {
    const char          *name; /* "CUDA C" */
    int                  n_op, n_fn;
    const axe_spell_op  *op;
    const axe_spell_fn  *fn;
    axe_spell_float_type f32, f64;
    const char          *i64_end, *u64_end; /* of numbers */
    /* Have helpers that round to integers the operand's type in their names?
     * Else they have one name for all. */
    bool rounds_by_type;
    /* A helper's text, if not as it stands; or NULL. */
    void (*put_helper)(axe_buf *out, const char *text);
    /* One invocation of an atom, as lines behind `indent` blanks. */
    axe_status (*atom)(axe_speller *p, const axe_lir *l, int indent);
} axe_dialect;

struct axe_speller {
    const axe_dialect  *d;
    axe_ctx            *cx;
    const axe_lowered  *l;
    const axe_grid     *g;
    axe_buf            *out;  /* of the statements */
    bool                wide; /* sizes have 64 bits */
    axe_indices        *ix;   /* of g, where the printer is */
    bool               *fn;   /* helpers that are used, by row of fn.def */
    int                 n_atom, cap_atom, n_name, cap_name;
    const char        **atom; /* texts of atoms' functions that are used */
    axe_spelled_var    *name;
    int                 n_tensor, cap_tensor;
    axe_spelled_tensor *tensor; /* open addressing */
    bool                id[AXE_N_ID];
    const axe_var      *later; /* is one more than it is; or NULL */
};

/* name.c ------------------------------------------------------------------- */

/* "float": of the values of a type while they are computed with. */
const char *axe_spell_value_type(axe_type t);
/* A floating type that is computed with as float: elements are bits. */
bool axe_spell_is_narrow(axe_type t);
/* "u16": of one element in memory. */
const char *axe_spell_element_type(axe_type t);
/* "u32": of the words of an array of registers. */
const char *axe_spell_word_type(axe_type t);
/* "int", "i64": of an index. */
const char *axe_spell_int(const axe_speller *p, const axe_var *v);
/* Note that a helper is used. */
void axe_spell_need(axe_speller *p, const char *name);
/* Give a variable a name of its own. */
const char *axe_spell_declare(axe_speller *p, const axe_var *v);
/* "n_X__stride0": the variable's name behind another letter. */
const char *axe_spell_size_name(axe_ctx *cx, const char *prefix,
                                const axe_var *v);
const char *axe_spell_name(const axe_speller *p, const axe_var *v);
/* "b_ring$a": a buffer; r_: an array; t_: in global memory */
const char *axe_spell_tensor(axe_speller *p, const axe_tensor *t);
/* Texts of the helpers that are used. */
void axe_spell_put_helpers(const axe_speller *p, axe_buf *out);
/* A variable in an expression. */
AXE_CHECK axe_status axe_spell_var(axe_speller *p, axe_buf *b,
                                   const axe_node *n);

/* Its registers, as lines of a kernel. */
AXE_CHECK axe_status axe_spell_arrays(axe_speller *p, axe_buf *b);

/* expr.c ------------------------------------------------------------------- */

typedef enum axe_spell_mode {
    AXE_SPELL_INDEX,   /* 32 bits, wider only where sizes are multiplied */
    AXE_SPELL_ADDRESS, /* products have 64 bits */
    AXE_SPELL_VALUE    /* of an element */
} axe_spell_mode;

AXE_CHECK axe_status axe_spell_expr(axe_speller *p, axe_buf *b,
                                    const axe_node *n, axe_spell_mode mode);
/* The value as the bits of an element of type t, rounded. */
AXE_CHECK axe_status axe_spell_bits(axe_speller *p, axe_buf *b,
                                    const axe_node *n, axe_type t);
/* The value as a float that has yet to be rounded to type t. */
AXE_CHECK axe_status axe_spell_float(axe_speller *p, axe_buf *b,
                                     const axe_node *n, axe_type t);
/* An index that something is added to. */
AXE_CHECK axe_status axe_spell_term(axe_speller *p, axe_buf *b,
                                    const axe_node *n);
/* One in elements of global memory, behind "t_X + ". */
AXE_CHECK axe_status axe_spell_offset(axe_speller *p, axe_buf *b,
                                      const axe_node *n);

/* word.c ------------------------------------------------------------------- */

/* A CALC of a loop that moves words: the one that begins at its variable. */
AXE_CHECK axe_status axe_spell_word(axe_speller *p, const axe_lir *l);

/* stmt.c ------------------------------------------------------------------- */

AXE_CHECK axe_status axe_spell_block(axe_speller *p, const axe_lblock *blk,
                                     int depth);

#endif
