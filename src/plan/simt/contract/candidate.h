/* candidate.h - the ways to run a contraction on a crew. */
#ifndef AXE_PLAN_SIMT_CONTRACT_CANDIDATE_H
#define AXE_PLAN_SIMT_CONTRACT_CANDIDATE_H

#include "plan/access/scaled.h"
#include "plan/simt/contract/operand_path.h"

enum { AXE_MAX_OPTION = 200 };

/* What a byte by way of registers is thought to take over one that the atom
 * reads itself. */
#define AXE_ASKING 1.25

/* One way to run it. */
typedef struct option {
    const axe_atom   *atom;
    int               param;
    int64_t           pair;    /* CTAs that it multiplies for at once */
    const axe_layout *side[3]; /* the atom's c, a, b, over the crew's axes; of c
                                  and a what is this CTA's */
    const axe_layout *outer;   /* how c repeats it */
    axe_spread        m, n, k;
    double            compute, traffic;
    double            around; /* cycles that other statements take for it */
} option;

/* Where a factor is under one layout of its tile, by (row, k). */
typedef struct axe_spot {
    struct axe_spot  *next;
    const axe_layout *layout; /* the tile's */
    const axe_layout *mem;    /* on m; NULL: by these alone it does not move */
    axe_swizzle       swizzle;
    int64_t           align; /* [bytes] of where mem is 0 */
    axe_frag_known   *load;  /* what loads bring of it */
} axe_spot;

/* The statement, as options see it. */
typedef struct job {
    planner        *p;
    const axe_stmt *s;
    const request  *r; /* its layouts are settled; NULL: not yet */
    const axe_crew *crew;
    roles           ro;       /* a and b not numbered yet */
    int             n_dim[2]; /* indices of the rows, of the columns */
    const axe_dim  *dim[2][AXE_MAX_MORE + 1]; /* slow to fast */
    bool            turn;    /* the left factor is that of the columns */
    const axe_node *load[3]; /* c, a, b */
    axe_spot      **spot[3]; /* of a and b: where they have been yet */
    axe_type        type[3];
    const axe_node *scale[2];  /* of a, of b; NULL: they have none */
    int64_t         block;     /* steps of the sum that a scale is for */
    int64_t         extent[3]; /* of rows, columns, sum; 0: no constant */
    int             n_option;
    option        **option;
    double          folds[2]; /* cycles of those along rows, columns of c */
    double          rate;     /* least cycles for a product, of any row */
    int64_t         regs;     /* least for the sums, where they are too many */
    int             n_slow;   /* options dropped by axe_jobs_drop_slow */
    axe_best_row    best;     /* the same, were the extents others */
    const char     *why;
} job;

/* `turn`: with the factor of the columns as the atom's left one.  false: it is
 * no sum of products. */
bool axe_job_open(planner *p, const axe_stmt *s, bool turn, job *out);
/* Are its operands of a kind that atoms take?  If not, j->why. */
bool axe_job_possible(job *j);
/* Fills in j->option, best first, for a c laid out over (m, n), or, if NULL,
 * for the best that c could have. */
void axe_job_options(job *j, const axe_layout *c);
/* Of both ways, drops options far below what the machine can do with these
 * types, unless the statement says `slow`. */
void axe_jobs_drop_slow(job j[2]);
/* contract_why.c: of both ways, neither of which has an option: tells
 * why. */
void axe_jobs_reject(job j[2], request *r);
/* Groups of the crew that each have atoms of their own. */
int64_t axe_job_groups(const job *j, const axe_atom *a);
/* What takes longer, a little of the rest and of each of the atom's places in
 * c, and what it costs others. */
double axe_option_score(const option *o);
/* The layout of c that the option makes. */
const axe_layout *axe_option_layout(const job *j, const option *o);
/* mn_indices.c: the indices of side 0 or 1, those of `from` in the roles. */
void axe_job_open_side(job *j, int side, int from);
/* A layout of c as one of (rows, columns), and back; NULL of NULL, and where
 * dimensions do not cut it. */
const axe_layout *axe_job_by_sides(const job *j, const axe_layout *l);
const axe_layout *axe_job_by_dims(const job *j, const axe_layout *l);
/* How the operand of side 1 or 2 lies over (row, k), on m; NULL: it does not
 * move by these alone. */
const axe_layout *axe_job_memory(const job *j, const axe_operand *op, int side);
/* Which dimension of c the index i of rows (side 0) or columns (1) is. */
int axe_job_dim(const job *j, int side, int i);

/* factor.c: how factor 1 or 2 gets to the option's atom from where it lies, and
 * in how many cycles of shared memory; false: why it does not. */
bool axe_factor_feed(const job *j, const option *o, int side, axe_feed *out,
                     double *cycles, const char **why);
/* The cycles alone, of a tile that is laid out for it if it is open; false: the
 * option cannot read it. */
bool axe_factor_lay(const job *j, const option *o, int side, bool open,
                    double *cycles);

/* consumer_cost.c.  Cycles that folds along dimension d of the tile, or of
 * register tiles that are made from it element by element, take where warps
 * share what is folded; products too, where it is a factor. */
double axe_fold_cycles(planner *p, const axe_tensor *t, int d);
/* Is the tile, laid out, made element by element from a register tile that
 * other threads hold? */
bool axe_made_apart(planner *p, const axe_tensor *t);

/* prove.c: does the schedule add every product once to c, which is laid
 * out over (m, n) as `c`? */
bool axe_simt_contract_holds(planner *p, const job *j, const option *o,
                             const axe_layout *c, const axe_simt_contract *sc);

#endif
