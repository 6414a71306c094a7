/* index.h - which indices of a grid's text have 32 bits, and which 64.
 *
 * An index is an int where that holds it at any launch, and so is each part of
 * it; from where a part may leave 32 bits on it has 64. */
#ifndef AXE_LOWER_PASS_INDEX_H
#define AXE_LOWER_PASS_INDEX_H

#include "lower/pass/bits.h"
#include "lower/pass/width.h"

/* How an expression is used: an address has products of 64 bits, but for those
 * that are known to be small. */
typedef enum axe_index_use { AXE_USE_INDEX, AXE_USE_ADDRESS } axe_index_use;

/* Of a grid, and of launches whose sizes are `wide` or not, at a point of its
 * code.  Who goes through the code, to spell it or to execute it, declares what
 * it passes, and where a block ends leaves what was declared in it. */
typedef struct axe_indices {
    axe_ctx               *cx;
    const axe_grid        *g;
    bool                   wide;
    const axe_grid_widths *ranges;
    axe_facts              unrolled; /* loops that are written out */
    int                    n, cap;
    struct axe_index_var  *var; /* innermost last; others have 32 bits */
} axe_indices;

axe_indices *axe_indices_make(axe_ctx *cx, const axe_lowered *l,
                              const axe_grid *g, bool wide);

/* The variable of a LET, LOOP or COUNT, from behind it on, or for its body. */
void axe_index_declare(axe_indices *x, const axe_lir *l);
/* How much is declared; and: leave what was declared since. */
typedef struct axe_index_mark {
    int n, n_unrolled;
} axe_index_mark;
axe_index_mark axe_index_here(const axe_indices *x);
void           axe_index_leave(axe_indices *x, axe_index_mark here);

/* Has the text of an expression 64 bits, whatever its use? */
bool axe_index_is_wide(const axe_indices *x, const axe_node *n);
/* The same, of a use, as products of addresses have 64 bits, too. */
bool axe_index_text_is_wide(const axe_indices *x, const axe_node *n,
                            axe_index_use use);
/* Is it, of a use, a product that is spelt as one of 64 bits? */
bool axe_index_is_wide_product(const axe_indices *x, const axe_node *n,
                               axe_index_use use);
/* Is the first operand to be told that it has 64 bits, as the value may leave
 * 32 and no operand's text has more?  That of a quotient is negated, and that
 * of one that is rounded up has the divisor added to it. */
bool axe_index_grows(const axe_indices *x, const axe_node *n);
/* The same, of a quotient that is rounded up, where it is not negated. */
bool axe_index_rounds_beyond(const axe_indices *x, const axe_node *n);
/* May the value plus a number leave 32 bits? */
bool axe_index_leaves(const axe_indices *x, const axe_node *n, int64_t by);

/* How a quotient or a rest is computed: by a shift or mask, k bits; as of what
 * is not negative; or as the language has it, to minus infinity. */
typedef enum axe_quotient {
    AXE_QUOTIENT_SHIFT,
    AXE_QUOTIENT_WHOLE,
    AXE_QUOTIENT_FLOOR
} axe_quotient;
axe_quotient axe_index_quotient(const axe_node *n, int *k);

/* The sum with what is multiplied by the same size put together: addresses in
 * global memory, and values of 64 bits that have a name. */
const axe_node *axe_index_gathered(const axe_indices *x, const axe_node *n);
/* What the text of a LET computes, and for which use. */
const axe_node *axe_index_let(const axe_indices *x, const axe_lir *l,
                              axe_index_use *use);
/* Has the variable 64 bits? */
bool axe_index_var_is_wide(const axe_indices *x, const axe_var *v);

#endif
