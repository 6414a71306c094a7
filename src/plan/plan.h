/* plan.h - how each statement of a kernel will run on a machine.
 *
 * A plan is data: for every index statement a loop nest over digits of its
 * index variables, the atoms at its bottom, the address of every operand as
 * strides of those digits, what it costs, what was rejected and why, and a
 * certificate that the addresses are those of the statement.  Printing,
 * lowering and `axe explain` read the same plan. */
#ifndef AXE_PLAN_PLAN_H
#define AXE_PLAN_PLAN_H

#include "machine/machine.h"

/* A digit of an index variable: v = sum of weight * digit. */
typedef struct axe_digit {
    const axe_var *var;
    int64_t        weight;
    int64_t        extent; /* 0: known at run time (then weight is 1) */
} axe_digit;

/* One index variable's part in an operand's address: the digits of the
 * variable, slow to fast, each times its stride.  Extent 0 as above. */
typedef struct axe_term {
    const axe_var  *var;
    int             n_iter;
    const axe_iter *iter;
} axe_term;

/* The operand is inside its tensor iff var < limit (limit may be negative or
 * beyond the extent). */
typedef struct axe_guard {
    const axe_var  *var;
    const axe_node *limit;
} axe_guard;

/* The operand is inside its tensor only if 0 <= outer + sum coef * var < size,
 * asked for every element: subscripts that no guard describes. */
typedef struct axe_check {
    axe_affine      index; /* of index variables alone */
    const axe_node *outer, *size;
} axe_check;

/* One access of a statement: where it is and how its address moves. */
typedef struct axe_operand {
    const axe_node   *load; /* the access; operand 0 is the destination */
    const axe_tensor *tensor;
    const axe_node   *base; /* [elements] address where all indices are 0 */
    int               n_term;
    axe_term         *term;
    int               n_guard;
    axe_guard        *guard;
    int               n_check;
    axe_check        *check;
    bool              fills;   /* CTAs that fill up a cluster may be inside */
    const axe_atom   *part[2]; /* load, store the end of a row, see axe_nest */
    const axe_atom   *apart;   /* loads what is no run along the lanes */
    const axe_node   *next;    /* packed: what a later task reads is so far on,
                                  and should be asked for; or NULL */
} axe_operand;

/* Does a check of the operand speak of the variable? */
bool axe_operand_asks(const axe_operand *op, const axe_var *v);
/* Is it one number, for which subscripts alone ask in a statement of this
 * value?  Then it is in no lane. */
bool axe_operand_places(const axe_node *value, const axe_operand *op);

/* A part of how a digit moves an operand: digit / over % extent elements times
 * stride; extent 0: not reduced. */
typedef struct axe_move {
    int64_t    over, extent;
    axe_stride stride;
} axe_move;

/* How the digit moves the operand's address: the sum of these.  One part where
 * the digit lies within one iter of one term; several where an index occurs
 * twice, or where layouts clash and the digit is a whole variable.  `out` has
 * room for as many parts as the operand has iters. */
int axe_operand_moves(const axe_operand *op, const axe_digit *d, axe_move *out);
int axe_operand_n_iter(const axe_operand *op);

/* The loops of a statement (nest 0) or of one reduction inside its value. */
typedef struct axe_nest {
    const axe_node *reduce; /* NULL for the statement itself */
    int             n_dim;
    const axe_dim  *dim;
    int             n_digit; /* outermost first */
    axe_digit      *digit;
    int             lanes;  /* of the innermost digit at a time; 1: scalar */
    int             chains; /* of a reduction: accumulators in turn */
    int jam[2]; /* so many values of the last digit, and of the one before it,
                   are folded side by side; 0: one */
    bool parts; /* what is left of the innermost digit is the first lanes of
                   one more vector, moved by the operands' part atoms */
    const axe_atom *dot; /* a sum of products of two loads by this atom, whose
                            lanes take groups of neighbours; or NULL */
    int group;           /* neighbours, of `lanes` in all */
} axe_nest;

/* Of one core: plan/cpu/schedule.h; of machines with threads:
 * plan/simt/simt.h. */
typedef struct axe_core_schedule axe_core_schedule;
typedef struct axe_simt_schedule axe_simt_schedule;
typedef struct axe_core_plan     axe_core_plan;
typedef struct axe_simt_plan     axe_simt_plan;
typedef struct axe_systolic_plan axe_systolic_plan; /* plan/systolic */

/* A row of functions by the machine's kind: plan/target.h. */
typedef struct axe_plan_target axe_plan_target;

typedef enum axe_schedule_kind {
    AXE_SCHED_MAP,       /* loops around element-wise vectors */
    AXE_SCHED_TRANSPOSE, /* loops around lanes x lanes transposes */
    AXE_SCHED_CONTRACT,  /* loops around a register tile of contract atoms */
    AXE_SCHED_COPY       /* atoms from memory to memory */
} axe_schedule_kind;

typedef struct axe_reject {
    const char *what, *why;
} axe_reject;

typedef struct axe_schedule {
    const axe_stmt    *stmt;
    axe_schedule_kind  kind;
    int                n_operand;
    const axe_operand *operand; /* 0: destination; then loads of value */
    const axe_node    *value;   /* as scheduled: folds made explicit */
    int                n_nest;
    const axe_nest    *nest;    /* 0: the statement */
    int                n_bound; /* values of an index at or beyond its limit
                                   are not visited: they would add zeros, or
                                   nobody reads what they would write */
    const axe_guard       *bound;
    int                    n_from; /* nor values below their limit */
    const axe_guard       *from;
    int                    n_atom;
    const axe_atom *const *atom; /* CONTRACT: the first adds products */
    bool    raw; /* a move of unconverted elements, as integers of their bits */
    bool    slow;
    double  cycles; /* estimate for one execution, full tile */
    int64_t bytes;  /* moved to or from global, full tile; -1:
                       depends on sizes */
    int               n_reject;
    const axe_reject *reject;
    /* The certificate: accesses of tiles, how many address maps were shown
     * equal to their layouts' by algebra, and addresses compared one by one. */
    int     n_tile, n_equal;
    int64_t n_proved;
    /* What only planning for one kind of machine knows: one of these. */
    const axe_core_schedule *core;
    const axe_simt_schedule *simt;
} axe_schedule;

/* Where a tile lives. */
typedef struct axe_place {
    const axe_tensor *tensor;
    const axe_layout *layout;
    axe_type          type; /* kept as; wider than declared where the machine
                               computes wider and the tile feeds a contraction */
    int64_t bytes, offset;  /* in a worker's scratch */
    int64_t stage;          /* [elements] from a pipeline's stage to the next */
    int64_t each; /* [elements] from an entity's to the next, where the entities
                     of a scope in a CTA have their own; else 0 */
    const axe_tensor *view; /* no memory of its own: read from this packed
                               argument; or NULL */
    bool flip;       /* kept with the sign bits of its integers flipped; then
                        written by raw moves and read by one contraction */
    const char *why; /* where the layout comes from */
} axe_place;

/* A scope variable `i : size by tile` whose tiles may be smaller: they begin at
 * multiples of `step`, a multiple of `round` and at most `tile`, chosen at
 * launch.  i*tile + m is origin + m with m < step. */
typedef struct axe_retile {
    const axe_var  *scope, *origin, *step;
    const axe_node *size;
    int64_t         tile, round;
    bool            cheap; /* more tiles of it copy nothing again */
} axe_retile;

/* The row that v belongs to, as any of its three variables; or NULL. */
const axe_retile *axe_retile_of(int n, const axe_retile *list,
                                const axe_var *v);

/* A pipeline with as many stages as are kept: 1, or all.  If all, `fill` is the
 * number of the stage that the next produce fills and `read` that of the next
 * consume; both begin at 0 where the pipeline is declared. */
typedef struct axe_ring {
    const axe_pipeline *ring;
    int                 n_stage;
    int                 most, left; /* full at once; full at the end */
    const axe_var      *fill, *read;
} axe_ring;

const axe_ring *axe_ring_of(int n, const axe_ring *list, const axe_pipeline *p);

/* An operand that goes by way of a shared tile which the text does not declare
 * (rewrite/stage_operand.c). */
typedef struct axe_staged {
    const axe_stmt *stmt; /* whose operand it is, as it was */
    const axe_node *load;
    int             tile;           /* tensor id */
    int             first;          /* id of the first statement made for it */
    double          direct, staged; /* [cycles] of the path to memory, either
                                       way; 0: there is no other way */
    const char *why;
} axe_staged;

/* How a packed argument (n, k) lies: ((n / lanes, lanes), (k / group, group)) :
 * ((lanes*Kp, group), (lanes*group, 1)) with Kp = k rounded up to groups; one
 * of more dimensions is such matrices of its last two, one behind the other. */
typedef struct axe_packing {
    int64_t lanes, group; /* 0: not packed */
    int64_t panel;        /* vectors of sums that lanes are */
    int     column;       /* which of its last two dimensions n is */
} axe_packing;

typedef struct axe_plan {
    const axe_kernel          *kernel;
    const axe_kernel          *written; /* before any pass */
    const axe_machine         *machine;
    const axe_plan_target     *target;
    int                        n_schedule; /* by statement id */
    const axe_schedule *const *schedule;
    int                        n_place; /* by tensor id; tensor NULL: global */
    axe_place                 *place;
    const axe_packing         *pack; /* by tensor id */
    int                        n_retile;
    const axe_retile          *retile;
    int                        n_ring;
    const axe_ring            *ring;
    int                        n_staged;
    const axe_staged          *staged; /* in the order in which they came */
    int n_request; /* how often the accesses of a statement were resolved */
    /* What only planning for one kind of machine knows: one of these. */
    const axe_core_plan     *core;
    const axe_simt_plan     *simt;
    const axe_systolic_plan *systolic;
} axe_plan;

/* Plan every statement and every open layout.
 * Errors  EUNSUPPORTED with the reason where the machine has no schedule;
 *         ESHAPE where declared layouts fit no atom.  All are recorded. */
AXE_CHECK axe_status axe_plan_kernel(axe_ctx *cx, const axe_kernel *k,
                                     const axe_machine *mc,
                                     const axe_plan   **out);

/* The kernel as a pass of planning leaves it (passes.def), and its plan as far
 * as it is made then: for axe_plan_print alone.
 * plan    out: NULL where it is a pass over kernels
 * Errors  EARG: the machine has no pass of that name, and which it has; those
 *         of the passes so far */
AXE_CHECK axe_status axe_plan_until(axe_ctx *cx, const axe_kernel *k,
                                    const axe_machine *mc, const char *pass,
                                    const axe_kernel **out,
                                    const axe_plan   **plan);

/* For people: one block a statement, then the tiles.
 * size  [kernel->n_size] for estimates, or NULL: usual ones */
void axe_plan_print(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                    const int64_t *size);
void axe_plan_json(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                   const int64_t *size);

#endif
