/* product.h - the ways to run a product on a thread group, see
 * access/candidate.h. */
#ifndef AXE_PLAN_SIMT_CONTRACT_PRODUCT_H
#define AXE_PLAN_SIMT_CONTRACT_PRODUCT_H

#include "plan/access/candidate.h"
#include "plan/simt/contract/operand_path.h"

/* What a byte by way of registers is thought to take over one that the atom
 * reads itself. */
#define AXE_ASKING 1.25

/* ---------------------------------------------------------------- product.c */

/* `swapped`: with the factor of the columns as the atom's left one.  false: it
 * is no sum of products. */
bool axe_product_open(axe_planner *p, const axe_stmt *s, bool swapped,
                      axe_product *out);
/* Are its operands of a kind that atoms take?  If not, j->why. */
bool axe_product_possible(axe_product *j);
/* A layout of c as one of (rows, columns), and back; NULL of NULL, and where
 * dimensions do not cut it. */
const axe_layout *axe_product_by_sides(const axe_product *j,
                                       const axe_layout  *l);
const axe_layout *axe_product_by_dims(const axe_product *j,
                                      const axe_layout  *l);
/* How the operand of side 1 or 2 lies over (row, k), on m; NULL: it does not
 * move by these alone. */
const axe_layout *axe_product_memory(const axe_product *j,
                                     const axe_operand *op, int side);
/* Which dimension of c the index i of rows (side 0) or columns (1) is. */
int axe_product_dim(const axe_product *j, int side, int i);

/* -------------------------------------------------------------- enumerate.c */

/* Fills in j->list for a c laid out over (m, n), or, if NULL, for the best that
 * c could have. */
void axe_product_enumerate(axe_product *j, const axe_layout *c);
/* Of both ways, drops candidates far below what the machine can do with these
 * types, unless the statement says `slow`. */
void axe_products_drop_slow(axe_product j[2]);

/* ------------------------------------------------------------------ match.c */

/* Does the row take the product's types? */
bool axe_product_takes(const axe_product *j, const axe_atom *a);
/* Its operands, and how many rows, columns and sums it takes at once; are the
 * product's extents whole ones of these? */
bool axe_candidate_read(const axe_product *j, const axe_atom *a, int param,
                        axe_candidate *by);
bool axe_candidate_is_whole(const axe_product *j, axe_candidate *by);
/* How c repeats the atom, from its layout, or, if NULL, from by->outer. */
bool axe_candidate_match(const axe_product *j, axe_candidate *by,
                         const axe_layout *c);
/* The layout of c that the candidate makes. */
const axe_layout *axe_candidate_layout(const axe_product   *j,
                                       const axe_candidate *by);
bool              axe_product_is_tmem(const axe_product *j, int i);
/* The axis along which repetitions of the atom's c follow each other. */
axe_axis axe_product_sums_axis(const axe_product *j);

/* ------------------------------------------------------------------ judge.c */

/* Cycles, and the score of them. */
void axe_candidate_judge(const axe_product *j, axe_candidate *by);
/* What takes longer, a little of the rest and of each of the atom's places in
 * c, and what it costs others. */
double axe_candidate_score(const axe_candidate *by);
/* Registers of a thread for it; cycles of an SM for a product. */
int64_t axe_candidate_registers(const axe_product *j, const axe_candidate *by);
double  axe_candidate_rate(const axe_product *j, const axe_candidate *by);
/* Groups of the thread group, and lanes of a warp, that each have atoms of
 * their own.
 */
int64_t axe_product_groups(const axe_product *j, const axe_atom *a);
int64_t axe_product_lanes(const axe_product *j, const axe_atom *a);

/* ---------------------------------------------------------- consumer_cost.c */

/* Cycles that folds along dimension d of the tile, or of register tiles that
 * are made from it element by element, take where warps share what is folded;
 * products too, where it is a factor. */
double axe_fold_cycles(axe_planner *p, const axe_tensor *t, int d);
/* Is the tile, laid out, made element by element from a register tile that
 * other threads hold? */
bool axe_made_apart(axe_planner *p, const axe_tensor *t);

/* ----------------------------------------------------------------- factor.c */

/* Where a factor is under one layout of its tile, by (row, k). */
typedef struct axe_spot {
    struct axe_spot  *next;
    const axe_layout *layout; /* the tile's */
    const axe_layout *mem;    /* on m; NULL: by these alone it does not move */
    axe_swizzle       swizzle;
    int64_t           align; /* [bytes] of where mem is 0 */
    axe_frag_known   *load;  /* what loads bring of it */
} axe_spot;

/* How factor 1 or 2 gets to the candidate's atom from where it lies, and in how
 * many cycles of shared memory; false: why it does not. */
bool axe_factor_feed(const axe_product *j, const axe_candidate *by, int side,
                     axe_factor *out, double *cycles, const char **why);
/* The cycles alone, of a tile that is laid out for it if it is open; false: the
 * candidate cannot read it. */
bool axe_factor_lay(const axe_product *j, const axe_candidate *by, int side,
                    bool open, double *cycles);

/* ------------------------------------------------------------------ prove.c */

/* Does the schedule add every product once to c, which is laid out over (m, n)
 * as `c`? */
bool axe_simt_contract_holds(axe_planner *p, const axe_product *j,
                             const axe_candidate *by, const axe_layout *c,
                             const axe_simt_contract *sc);

/* ----------------------------------------------------------- contract_why.c */

/* Of both ways, neither of which has a candidate: tells why. */
void axe_products_reject(axe_product j[2]);

#endif
