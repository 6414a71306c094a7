/* systolic.h - planning for a core whose engines run instructions over tiles:
 * 128 partitions, and what lies along them (paper, section 3.4).
 *
 * A tile has one dimension over partitions, 128 of its values at a time; its
 * blocks of 128 and all other dimensions lie along them, row-major, the blocks
 * slowest.  As a layout: the dimension d of extent 128 * B is
 * (B, 128) : (row@F, 1@P).
 *
 * Of a product, c[m, n] += a[k, m] * b[k, n], the sum index k is over
 * partitions in both factors, and m in the result; whichever factor has the
 * index that the result has over partitions is the stationary one. */
#ifndef AXE_PLAN_SYSTOLIC_SYSTOLIC_H
#define AXE_PLAN_SYSTOLIC_SYSTOLIC_H

#include "machine/trainium.h"
#include "plan/plan_int.h"

enum {
    AXE_SYSTOLIC_RANK = 8,
    AXE_SYSTOLIC_P = 128, /* partitions */
    AXE_SYSTOLIC_N = 512, /* f32 of a bank, in a partition */
    AXE_SYSTOLIC_BANKS = 8,
    AXE_SYSTOLIC_SPARE = 2,         /* banks that tiles leave to statements */
    AXE_SYSTOLIC_CUTS = 3,          /* of a loop, at most */
    AXE_SYSTOLIC_TILES = 96 * 1024, /* [bytes] up to which tiles rotate */
    AXE_SYSTOLIC_TEMPS = 16 * 1024  /* [bytes] that statements should have */
};

typedef struct axe_systolic_tile {
    const axe_tensor *tensor; /* NULL: no tile */
    int               part;   /* its dimension over partitions; -1: rank 0 */
    int64_t           extent[AXE_SYSTOLIC_RANK];
    int64_t stride[AXE_SYSTOLIC_RANK]; /* [elements] along a partition, of each
                                          dimension; of `part`: of a block */
    int64_t         n_part, blocks;
    int64_t         size;   /* [elements] along a partition, of one stage */
    bool            fixed;  /* a product wants `part` so */
    const axe_stmt *zero;   /* psum, first: what it begins with, not executed */
    bool            factor; /* of a product: not in PSUM */
    const axe_var  *first;  /* in SBUF: zeros at first, and in the loop of this
                               variable, which follows, one product is added:
                               in its first turn it is put there instead */
    bool    psum;   /* in PSUM: a sum of products that begins as zeros */
    int64_t offset; /* [bytes] along a partition; PSUM: of its first bank */
    int64_t bytes;  /* of a stage */
    int     stages; /* that rotate */
    const axe_stmt *piped; /* the loop of which several parts use it */
} axe_systolic_tile;

/* What a statement does for another one, or leaves to it (fuse.c). */
typedef struct axe_systolic_step {
    bool            absorbed; /* its product does it */
    const axe_node *scale; /* a product: the result is multiplied by it first;
                              a load whose subscript is the product's m */
    const axe_node *sum;   /* a map: this fold in `summed` is of its values */
    const axe_stmt *summed;
    const axe_var  *part;   /* the index over partitions of both */
    int64_t         blocks; /* of the sum: f32 in a partition */
    int64_t         offset; /* [bytes] where it is, at two places by turns */
} axe_systolic_step;

/* A loop with several turns under way: part k of its body, up to cut[k], or to
 * the end, is k turns behind the first, and before it (pipeline.c). */
typedef struct axe_systolic_pipe {
    const axe_stmt                 *loop;
    int                             n_cut, cut[AXE_SYSTOLIC_CUTS];
    const struct axe_systolic_pipe *next;
} axe_systolic_pipe;

struct axe_systolic_plan {
    axe_systolic_tile       *tile; /* by tensor id */
    axe_systolic_step       *step; /* by index statement's id */
    const axe_systolic_pipe *pipe;
    int64_t bytes; /* of SBUF that tiles take, in a partition */
    int     banks; /* of PSUM that tiles take */
};

/* A sum of products of two elements. */
typedef struct axe_systolic_product {
    const axe_node *factor[2]; /* loads; the first is stationary */
    const axe_var  *k;         /* the sum index that is over partitions */
    const axe_var  *m, *n;     /* of the result: over partitions, along them; or
                                  NULL */
    axe_fold fold; /* NONE: the result is the sum; SUM: it is added */
} axe_systolic_product;

/* The subscript's dimension of a load that is v alone, times 1, plus what no
 * index of the statement moves; -1: there is none, or v occurs elsewhere. */
int axe_systolic_dim_of(axe_ctx *cx, const axe_node *load, const axe_var *v);
/* Is the statement a product for the tensor engine?
 * tile   by tensor id, of which parts may be known, or NULL */
bool axe_systolic_is_product(axe_ctx *cx, const axe_stmt *s,
                             const axe_systolic_tile *tile,
                             axe_systolic_product    *out);
/* A load, without casts around it; NULL: it is none. */
const axe_node *axe_systolic_load(const axe_node *n);

/* How many banks a stage of it takes, as a sum in PSUM. */
int axe_systolic_banks_of(const axe_systolic_tile *x);
/* How the loop is cut; NULL: not. */
const axe_systolic_pipe *axe_systolic_pipe_of(const axe_systolic_plan *sp,
                                              const axe_stmt          *loop);

/* Passes: rows of passes.def. */
AXE_CHECK axe_status axe_systolic_check(axe_planner *p);
AXE_CHECK axe_status axe_systolic_choose_layouts(axe_planner *p);
void                 axe_systolic_fuse(axe_planner *p);
void                 axe_systolic_pipeline(axe_planner *p);
AXE_CHECK axe_status axe_systolic_schedule_all(axe_planner *p);
AXE_CHECK axe_status axe_systolic_place(axe_planner *p);

#endif
