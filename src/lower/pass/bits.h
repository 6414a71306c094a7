/* bits.h - what is known of integers at a point of a grid's code: the largest
 * they may be, the bits that they may have, and sums as their terms. */
#ifndef AXE_LOWER_PASS_BITS_H
#define AXE_LOWER_PASS_BITS_H

#include "lower/lower.h"

/* What is known of a variable from where it is declared to the end of its
 * block. */
typedef struct axe_fact {
    const axe_var *var;
    bool           unrolled; /* of a loop that is written out: a constant */
    int64_t        most;     /* its largest value, if unrolled */
    uint64_t       bits;     /* that it may have; 0: any */
} axe_fact;

/* Of a grid, in the blocks that are open, innermost last.  Begin with cx and g;
 * who goes through the code enters what it declares, and where a block ends
 * sets n to what it was where it began. */
typedef struct axe_facts {
    axe_ctx        *cx;
    const axe_grid *g;
    int             n, cap;
    axe_fact       *fact;
} axe_facts;

void axe_facts_enter(axe_facts *f, axe_fact known);
/* The variable of a LET, or of a LOOP for its body; nothing of others. */
void axe_facts_declare(axe_facts *f, const axe_lir *l);

/* Is it constant once loops are written out? */
bool axe_facts_is_fixed(const axe_facts *f, const axe_node *n);
/* The largest value of an index expression, or -1 if that is not known. */
int64_t axe_facts_largest(const axe_facts *f, const axe_node *n);
/* Bits that an index expression may have; all where nothing is known. */
uint64_t axe_facts_bits(const axe_facts *f, const axe_node *n);

enum { AXE_MAX_TERM = 16 };

/* The terms of a sum, from the left.
 * Returns  how many; 0: more than AXE_MAX_TERM */
int axe_terms_of(const axe_node *n, const axe_node **out);
/* Those that are not NULL, added from the left; NULL: none. */
const axe_node *axe_terms_sum(axe_ctx *cx, int n, const axe_node *const *term);
/* The sum with every term times n. */
const axe_node *axe_terms_times(axe_ctx *cx, const axe_node *x, int64_t n);
/* x / by of a number that is a multiple of it, as what it is made of shows
 * where that can be seen. */
const axe_node *axe_terms_divided(axe_ctx *cx, const axe_node *x, int64_t by);

/* Is it a factor that terms are to have in common? */
typedef bool axe_is_factor(const void *user, const axe_node *n);
/* a K + b + c K  is  (a + c) K + b. */
const axe_node *axe_terms_gather(axe_ctx *cx, const axe_node *at,
                                 axe_is_factor *is_factor, const void *user);

#endif
