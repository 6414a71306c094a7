/* schedule.h - what a statement's schedule says for one core alone. */
#ifndef AXE_PLAN_CPU_SCHEDULE_H
#define AXE_PLAN_CPU_SCHEDULE_H

#include "plan/access/contract_roles.h"
#include "plan/access/relation.h"

/* The register tile of a contraction: MR rows of NV vectors. */
typedef struct axe_tile_shape {
    const axe_var *m, *n, *k;
    int            n_more; /* indices of the sum around k, slow to fast */
    const axe_var *more[AXE_MAX_MORE];
    int            mr, nv; /* rows, vectors */
    int            a, b;   /* operand numbers of the left and right factor */
    int            group;  /* neighbours of the sum in one lane */
    bool           narrow; /* a tile may have fewer vectors: they are alike */
    bool           by_column; /* columns outside, rows within */
    const axe_node
        *there; /* when row m of a is not all zeros, or NULL: the last
                   rows of a register tile that are need no products */
} axe_tile_shape;

typedef struct axe_let {
    const axe_var  *var;
    const axe_node *value;
} axe_let;

/* A contraction's tile as register tiles; see cpu/register_tiles.c.  The lets,
 * in order, are known at the beginning of the statement, or if early of each
 * iteration of `loop`, NULL for its scope. */
typedef struct axe_split {
    bool            early;
    const axe_stmt *loop;
    int             n_let;
    axe_let        *let;
    const axe_node *rows, *columns;           /* to compute */
    const axe_node *vectors, *width, *wide;   /* of columns, where narrow */
    const axe_node *whole_row, *whole_column; /* tiles before these are whole */
} axe_split;

/* A factor of a contraction that lies in a tile may be read where the tile is
 * filled from: register tiles before `end`, if `when` holds, do so, and only
 * what lies behind is copied. */
typedef struct axe_view {
    const axe_operand *source; /* by the contraction's indices; NULL: none */
    const axe_node    *when, *end;
    const axe_node    *room;    /* a by rows: the rows of two register tiles fit
                                   the sets of L1, so that the next tile's may be
                                   asked for under this one; NULL: not by rows */
    axe_stride step[2], sum[2]; /* in the tile, in the source: from row
                                   to row of a, vector to vector of b;
                                   from group to group of the sum */
    axe_stride more[AXE_MAX_MORE][2]; /* the same along its other indices */
    const axe_atom
               *part; /* b: loads a row's last vector; NULL: end it before */
    const char *why;  /* or why not */
} axe_view;

/* What axe_schedule.core is. */
struct axe_core_schedule {
    axe_tile_shape tile; /* CONTRACT */
    axe_guard idle; /* CONTRACT: nor iterations of the loop over var from the
                       limit on, whose sums nobody reads; or NULL */
    axe_split       split;      /* CONTRACT */
    axe_view        view[2];    /* CONTRACT: of a and b */
    const axe_node *iterations; /* of the loop around a contraction whose ends
                                   are merged into it, see fuse_epilogue.c */
    const axe_node     *iteration; /* this one; both NULL without a loop */
    bool                fresh;     /* CONTRACT: iteration 0 needs no old sums */
    const axe_schedule *then;      /* CONTRACT: done with the last sums */
    bool parts; /* which stores a row's last vector in part; else the tile of
                   that keeps its sums */
    const axe_schedule *within;    /* that contraction, of what is merged */
    const axe_var      *merged[2]; /* the indices that are its m and n */
    int word; /* that many neighbours as one in blocks of a TRANSPOSE */
    const axe_var *word_var; /* along which they are neighbours */
    int            ahead;    /* blocks or rows to prefetch ahead, or 0 */
    bool           evict;    /* what is prefetched leaves the caches first */
    bool           always;   /* streamed whatever the size */
    bool           stream;   /* stored past the caches where the
                                tensor is over machine->stream_bytes */
    bool skip; /* not run: it only fills a tile that is read elsewhere */
};

/* Between the scopes of a kernel: whether all workers wait for one another
 * before statement `at`, or in its place if it is a barrier, and why. */
typedef struct axe_worker_wait {
    const axe_stmt *at;
    bool            barrier;
    const char     *why;
} axe_worker_wait;

/* Scopes whose entities workers take from one list; counters NULL: one scope
 * after the other, since `why`. */
typedef struct axe_core_overlap {
    const axe_stmt   *first;
    axe_overlap_group group;
    const axe_tensor *counters;
    const char       *why;
} axe_core_overlap;

/* What axe_plan.core is. */
struct axe_core_plan {
    axe_core_schedule **of; /* by index statement's id: its schedule's,
                               while planning goes on */
    int              n_wait, cap_wait;
    axe_worker_wait *wait;      /* scopes but the first, and barriers */
    axe_list         overlap;   /* const axe_core_overlap * */
    bool            *exchanged; /* by tensor id: global, written in one scope
                                   and touched in another */
    int64_t scratch_bytes;      /* of a worker: its tiles */
};

#endif
