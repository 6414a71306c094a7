/* contract.h - sums of products by the threads of a group.
 *
 * c[m, n] += a[m, k] * b[n, k] is repetitions of one atom.  The layout of c
 * says which threads have which of its rows and columns: it is
 *
 *     threads >< repetitions >< the atom's c
 *
 * and taking the atom's c out of it by tile-of gives the rest, the spread of m
 * and of n.  What a thread must have of a and b follows: a's rows are spread as
 * c's rows, and threads that differ in columns alone have the same of a. */
#ifndef AXE_PLAN_SIMT_CONTRACT_CONTRACT_H
#define AXE_PLAN_SIMT_CONTRACT_CONTRACT_H

#include "plan/access/candidate.h"
#include "plan/simt/simt.h"
#include "plan/simt/team/fragment.h"

/* How the atom reads a tile in shared memory itself: what the descriptor
 * says. */
typedef struct axe_descriptor {
    int64_t lead, stride;   /* [bytes] from one atom of the swizzle to the
                               next, along the fast and the slow one */
    uint64_t        bits;   /* that say so, of address 0 */
    bool            major;  /* the sum index is the slow one */
    int             n_step; /* WARP, M or N, K: where an invocation begins */
    const axe_step *step;   /* [elements] */
    axe_banks       banks;  /* of one invocation */
} axe_descriptor;

/* A factor of the contraction. */
typedef struct axe_factor {
    int  operand; /* of the schedule */
    bool direct;  /* the atom reads memory; else the registers below */
    bool held;    /* those of the tile itself: `reg` says where in them, nothing
                     is loaded, `frag` is the tile's layout */
    const axe_tensor *tensor;
    const axe_layout *memory; /* (row, k) on m, less the operand's base */
    axe_descriptor    desc;
    /* Registers hold `chunk` steps of k at a time, loaded before them. */
    axe_reg_move      load; /* steps are also of K, which counts chunks */
    int64_t           chunk, regs; /* [elements] of a chunk in a thread */
    int               n_reg;
    axe_step          reg[AXE_MAX_PART + 2]; /* M or N, K: the first element */
    const axe_layout *frag; /* all of it: (row, k) over threads and reg */
} axe_factor;

/* As many times slower than the fastest row is no candidate, or worth a word.
 */
#define AXE_FAR_BELOW 4

/* The scales of a factor: a tile in tensor memory, and where in it an
 * invocation finds its own. */
typedef struct axe_scale {
    const axe_tensor *tensor; /* NULL: there are none */
    int               n_step;
    axe_step          step[3]; /* M or N, K [elements] */
} axe_scale;

struct axe_simt_contract {
    const axe_atom *atom;
    int             param;
    axe_spread      m, n, k;
    int64_t         pair; /* CTAs that the atom multiplies for at once, asked
                             by the first of them; each brings a part of b */
    axe_factor a, b;
    axe_scale  scale[2]; /* of a, of b */
    int        n_acc;
    axe_step   acc[2 * AXE_MAX_PART]; /* M, N: first element of c */
    int64_t    acc_regs;              /* [elements] of a thread; 0: they
                                         are in tensor memory */
    const axe_var *fresh; /* of a loop: its first iteration overwrites c, which
                             would be zero then; or NULL */
    bool begins;          /* it overwrites c each time, which was zero */
    bool ahead;           /* factors are loaded while the step before them is
                             multiplied */
    int          in_flight; /* groups that may be unfinished at the end */
    double       compute, traffic; /* cycles of an SM, shared memory's */
    axe_best_row best;
};

#endif
