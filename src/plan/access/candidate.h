/* candidate.h - a product, and the ways to run it, on machines of any kind.
 *
 * Planners of products do the same things in the same order:
 *
 *   enumerate   rows of the machine that take the operands' types, and how each
 *               may be repeated
 *   match       what an operand of the row leaves of the operand's layout, by
 *               tile-of, says where repetitions begin; open tiles are laid out
 *               so that it does
 *   judge       cycles: the candidates stand in a list, best first
 *   prove       what the schedule of the one that is taken does is compared
 *               with what the statement says, address by address
 *
 * Why others were not taken stands in the request's list of rejections. */
#ifndef AXE_PLAN_ACCESS_CANDIDATE_H
#define AXE_PLAN_ACCESS_CANDIDATE_H

#include "plan/access/contract_roles.h"
#include "plan/simt/simt.h"

enum { AXE_MAX_CANDIDATE = 200, AXE_MAX_PART = 8 };

/* A part of an index, in units of the atom's extent: count / over % extent. */
typedef struct axe_part {
    axe_counter of; /* WARP, LANE, or the index's own repetitions */
    int64_t     over, extent;
    int64_t     regs; /* own repetitions: [elements] of c's registers a step */
} axe_part;

/* An index of a product: the extent that an atom takes, how many atoms are done
 * side by side, with sums in registers of their own, and, where threads share
 * it, its parts, slow to fast, then the atom's. */
typedef struct axe_spread {
    int64_t  extent, atom, n_rep;
    int      n_part;
    axe_part part[AXE_MAX_PART];
} axe_spread;

/* One way to run a product: a row of the machine and how it is repeated.  On
 * one core an atom is a row, a vector of columns and a group of neighbours of
 * the sum; m.n_rep by n.n_rep of them are the register tile. */
typedef struct axe_candidate {
    const axe_atom *atom;
    axe_spread      m, n, k; /* rows, columns, sum */
    double          score;   /* as it is judged: the least is best */
    /* One core: */
    axe_type type;   /* of the sums */
    bool     narrow; /* tiles may have fewer vectors */
    int64_t  panel;  /* vectors of a packed b that lie together; else 1 */
    /* Many threads: */
    int               param;
    int64_t           pair;    /* CTAs that it multiplies for at once */
    const axe_layout *side[3]; /* the atom's c, a, b, over the thread group's
                                  axes; of c and a what is this CTA's */
    const axe_layout *outer;   /* how c repeats it */
    double            compute, traffic; /* cycles of an SM, shared memory's */
    double            around; /* cycles that other statements take for it */
} axe_candidate;

/* Best first. */
typedef struct axe_candidates {
    int            n;
    axe_candidate *of[AXE_MAX_CANDIDATE];
} axe_candidates;

/* The fastest row for a contraction's types and thread group, whatever its
 * extents. */
typedef struct axe_best_row {
    const axe_atom *atom;    /* NULL: there is none */
    double          rate;    /* cycles of an SM for a product */
    int64_t         size[3]; /* rows, columns and sums that it takes at least */
} axe_best_row;

/* The statement, as candidates see it. */
typedef struct axe_product {
    axe_planner    *p;
    const axe_stmt *s;
    axe_request    *r; /* its accesses, and what is rejected; NULL: layouts are
                          not settled */
    axe_roles       ro;
    const axe_node *load[3]; /* c, a, b: a is the atom's left factor */
    axe_candidates  list;
    const char     *why; /* there can be none; or NULL */
    /* Many threads, see simt/contract/product.h: */
    const struct axe_thread_group *threads;
    int               n_dim[2]; /* indices of the rows, of the columns */
    const axe_dim    *dim[2][AXE_MAX_MORE + 1]; /* slow to fast */
    bool              swapped; /* the left factor is that of the columns */
    struct axe_spot **spot[3]; /* of a and b: where they have been yet */
    axe_type          type[3];
    const axe_node   *scale[2];  /* of a, of b; NULL: they have none */
    int64_t           block;     /* steps of the sum that a scale is for */
    int64_t           extent[3]; /* of rows, columns, sum; 0: no constant */
    double            folds[2];  /* cycles of those along rows, columns of c */
    double            rate;      /* least cycles for a product, of any row */
    int64_t           regs;   /* least for the sums, where they are too many */
    int               n_slow; /* candidates dropped as far too slow */
    axe_best_row      best;   /* the fastest row, were the extents others */
} axe_product;

/* The machine's rows that add products, one after the other: the first from
 * number *at on, which is then behind it; NULL: no more. */
const axe_atom *axe_product_row(const axe_machine *mc, int *at);

/* Copies the candidate into the list, behind those that are as good.  A full
 * list loses its last. */
void axe_candidate_add(axe_ctx *cx, axe_candidates *list,
                       const axe_candidate *c);

#endif
