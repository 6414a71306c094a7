/* nest.h - between values, the reductions in them and the loops of nests. */
#ifndef AXE_LOWER_CPU_NEST_H
#define AXE_LOWER_CPU_NEST_H

#include "lower/lower_int.h"

/* Each doubles the code. */
enum { MAX_SPLIT = 4 };

/* What bounds one variable. */
typedef struct axe_limits {
    const axe_node *cut; /* or NULL */
    int             n;
    const axe_node *zero[MAX_SPLIT]; /* some operand reads zero from there */
} axe_limits;

/* limits.c: those of v in the nest.
 * Errors  EUNSUPPORTED: more than MAX_SPLIT */
AXE_CHECK axe_status axe_limits_of(axe_lowering *lw, const axe_nest *nest,
                                   const axe_var *v, axe_limits *out);
/* min(max(a, lo), hi) */
const axe_node *axe_clamp_to(axe_lowering *lw, const axe_node *lo,
                             const axe_node *a, const axe_node *hi);
/* A constant or a variable as it is, else a new variable of that value. */
const axe_node *axe_nest_let(axe_lowering *lw, const char *name,
                             const axe_node *value);
/* Where the digit begins, at most its end; `before`: the digits around. */
const axe_node *axe_nest_first(axe_lowering *lw, const axe_nest *nest,
                               const axe_digit *d, const axe_node *before,
                               const axe_node *end);
/* Where the check surely holds: from *lo on, below *hi; both narrowed. */
void axe_narrow(axe_lowering *lw, const axe_check *c, const axe_var *v,
                const axe_node **lo, const axe_node **hi);

enum { MAX_CHAIN = 24 };

/* Accumulators: as wide as the loops outside, and of the nest's own lanes; of
 * each iteration as many as there are chains. */
typedef struct axe_folding {
    const axe_node *node;
    axe_lop         op;
    int             outside; /* lanes of the loops around the reduction */
    int             chains, one_chains;
    const axe_jam  *jam;
    int             iterations;
    axe_reg         one[MAX_CHAIN], many[MAX_CHAIN];
    axe_reg         unit; /* as wide as many */
    const axe_nest *nest;
} axe_folding;

/* fold.c: acc = acc op x, in place. */
void axe_fold_into(axe_lowering *lw, axe_lblock *b, axe_lop op, axe_reg acc,
                   axe_reg x);
/* All chains of an iteration into the first, pairwise, and that into one
 * lane. */
void axe_fold_join(axe_lowering *lw, axe_lblock *b, const axe_folding *f,
                   int iteration, bool across);
const axe_nest *axe_fold_nest(const axe_lowering *lw, const axe_node *reduce);
/* Accumulators of all iterations, and of all chains where those are not joined
 * across lanes. */
void axe_fold_start(axe_lowering *lw, axe_lblock *b, axe_folding *f,
                    const axe_nest *nest);
/* Of a dot product: the operand that factor 0 or 1 widens; whether both are
 * inside, NULL: they surely are; and acc += the products of a whole vector of
 * neighbours.  What subscripts read comes first. */
const axe_operand *axe_fold_factor(const axe_lowering *lw, const axe_folding *f,
                                   int i);
const axe_node    *axe_fold_inside(axe_lowering *lw, const axe_folding *f);
void axe_fold_dot(axe_lowering *lw, const axe_folding *f, axe_reg acc);
/* What is known of the reduction from another value done in the same go. */
const axe_folded *axe_fold_known(const axe_lowering *lw, const axe_node *n);

/* operation.c: the operand's element at the open loops; an operation on
 * registers.
 * Errors  EUNSUPPORTED: the machine has no such operation */
/* The bits of an operand as elements of another type, where a whole vector of
 * them is loaded that registers hold widened; false, and nothing, elsewhere. */
bool    axe_emit_bits(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                      axe_type as, int lanes, axe_reg *out);
axe_reg axe_emit_operand(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                         int lanes);
AXE_CHECK axe_status axe_emit_plain(axe_lowering *lw, axe_lblock *b,
                                    const axe_node *n, int lanes, axe_reg *src,
                                    axe_reg *out);
/* convert.c: a cast of r; and one of an index in the lanes to i32, where it
 * cannot tell. */
axe_reg axe_emit_cast(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                      axe_reg r);
bool    axe_emit_small_index(axe_lowering *lw, axe_lblock *b, const axe_node *n,
                             int lanes, axe_reg *out);

/* known.c: the value at level `at`, or NULL. */
axe_memo *axe_recall(const axe_lowering *lw, int at, const axe_node *n,
                     bool splat);

/* read.c: the variable that has the element, at level `at`, or NULL; is it no
 * arithmetic of integers, so that a register must compute it? */
const axe_var *axe_taken(const axe_lowering *lw, int at, const axe_node *n);
bool           axe_is_read(const axe_node *n);

#endif
