/* sim_code.h - a grid as it is executed: instructions, with jumps and slots for
 * integers, over expressions in postfix order, and what atoms move and multiply
 * as lists of places.  Made once for each grid; nothing in it changes. */
#ifndef AXE_SIM_CODE_H
#define AXE_SIM_CODE_H

#include "lower/pass/index.h"
#include "machine/matrix.h"
#include "sim/sim.h"

enum {
    MAX_LANES = AXE_MAX_LANES,
    MAX_ARG = 6,      /* operands of an atom */
    MAX_RANK = 5,     /* of a tensor map */
    MAX_WARPGROUP = 4 /* warps of a warpgroup */
};

typedef struct sim sim;

/* ----------------------------------------------------------- expressions */

/* Values of all lanes; of uniform ones only the first counts. */
typedef union sim_val {
    int64_t i[MAX_LANES];
    double  f[MAX_LANES];
} sim_val;

/* A condition under which the text evaluates a part of an expression: the value
 * at that place of the stack. */
typedef struct sim_under {
    int  at;
    bool holds;
} sim_under;

typedef struct sim_term {
    axe_op           op;
    axe_type         type, from; /* of the result, of the first operand */
    bool             lanes;      /* the result differs between lanes */
    bool             narrow;     /* its text has 32 bits */
    bool             whole;      /* its text divides what is not negative */
    bool             rounds; /* its text adds to what is divided, of 32 bits */
    int              slot;   /* var: the variable's; load: the array */
    int64_t          i;
    double           f;
    int              n_under; /* load: conditions around it */
    const sim_under *under;
} sim_term;

/* Terms in postfix order. */
typedef struct sim_expr {
    int       n, depth;
    bool      lanes;
    bool      bounded; /* a variable of 32 bits is to hold it: at most `most` */
    int64_t   most;
    sim_term *term;
} sim_expr;

/* ----------------------------------------------------------- instructions */

/* What an element of a warp group is: thread `lane` of its warp `warp` (those
 * of a memory operand give the address), element `at` from there. */
typedef struct sim_place {
    int     warp, lane; /* -1: the thread that issues */
    int32_t at;
} sim_place;

/* Element by element: to[i] from from[i], in order of the memory side. */
typedef struct sim_moves {
    int        n;
    sim_place *to, *from;
    int        n_run; /* neighbours in memory: of one address, one by one */
    int       *run;   /* [n_run + 1] begin of each */
    bool prefix; /* PERMUTE with a fold: elements are of those up to theirs */
} sim_moves;

/* Registers of one warp that an operand has, each once, from its first. */
typedef struct sim_regs {
    int           n;
    int32_t       lo, hi;
    int32_t      *at;
    axe_lane_set *lanes; /* 0: of the thread that issues */
} sim_regs;

/* An operand in tensor memory: element (i, j) of it lies at row[i] + col[j]. */
typedef struct sim_part {
    int32_t at; /* [elements], lanes AXE_TMEM_LANE / bits apart */
    int     cta;
} sim_part;
typedef struct sim_tile {
    int       rows, cols, n_copy;
    sim_part *row, *col, *copy; /* copy: what replicas add; the first nothing */
} sim_tile;

/* A side of a product: where its elements are. */
typedef struct sim_side {
    bool       memory; /* not in registers: place is NULL */
    sim_tile  *tile;   /* in tensor memory; else by descriptor */
    int        n_copy; /* of each element: replicas */
    sim_place *place;  /* [rows * cols * n_copy] */
    sim_regs   regs[MAX_WARPGROUP];
} sim_side;

typedef struct sim_product {
    int       m, n, k;
    sim_tile *scale[2]; /* of a and b, or NULL */
    sim_side  c, a, b;  /* c: [m][n], a: [m][k], b: [k][n]; of memory [n][k] */
} sim_product;

/* A row of the machine's table, for one parameter and element size. */
typedef struct sim_shape {
    const axe_atom *atom;
    int             param, elem_bytes;
    bool            async; /* completes later: group is not "" */
    bool            proxy; /* touches memory by the asynchronous proxy */
    bool fenced; /* a fence lies between it and what threads do to registers */
    int  group;  /* which name, or -1 */
    sim_moves        *moves;   /* LOAD, STORE, PERMUTE, COPY without map */
    sim_product      *product; /* CONTRACT */
    sim_tile         *tile;    /* COPY to tensor memory: where to */
    int               ctas;    /* of these two: 2 where a pair does it */
    struct sim_shape *next;
} sim_shape;

typedef struct sim_arg {
    axe_arg_space space;
    int           tensor; /* REG: array; SHARED, DSMEM: buffer; GLOBAL: of
                             the sim's; TMEM: tile */
    const sim_expr *at, *cta;
    int             per;         /* it begins with element per * unit + rest */
    const sim_expr *unit, *rest; /* unit: NULL where that is `at` itself */
    int             map, n_at;
    const sim_expr *coord[MAX_RANK];
    axe_matrix      matrix; /* of a descriptor, and what is not known of it */
    const char     *unknown;
    bool            major;
    bool            swizzled; /* in shared memory, and by address */
    int             n_part;   /* of that address, see axe_byte_at */
    struct {
        const sim_expr *at;
        axe_swizzled    how;
    } part[2];
    const sim_expr *behind;
} sim_arg;

typedef enum sim_op {
    SIM_LET,     /* slot = a */
    SIM_ADVANCE, /* slot = slot + 1, or 0 where that is step */
    SIM_LOOP,    /* slot from a to b; jump: behind the loop */
    SIM_NEXT,    /* slot += step; jump: the first of the body */
    SIM_FOREVER, /* jump: behind the loop */
    SIM_AGAIN,   /* jump: the first of the body */
    SIM_IF,      /* a; jump: the ELSE or END */
    SIM_ELSE,    /* jump: the END */
    SIM_END,     /* of IF */
    SIM_BREAK,   /* of the innermost loop */
    SIM_CONTINUE,
    SIM_CALC, /* arg[i] = word[i], all computed before any is written */
    SIM_ATOM,
    SIM_HALT
} sim_op;

/* Iterations of a loop that are done at once, at most. */
enum { SIM_MAX_JOIN = 8 };

typedef struct sim_inst {
    sim_op           op;
    int              slot, bound; /* bound: slot of a loop's end */
    int              jump;
    int64_t          step;
    const sim_expr  *a, *b, *pred;
    int              n_arg, n_pin;
    sim_arg         *arg;
    int             *pin;  /* arrays, of a drain */
    const sim_expr **word; /* [n_arg] CALC */
    const sim_shape *shape;
    const axe_lir   *from;
    int64_t         *count; /* of the report, ATOM */
} sim_inst;

typedef struct sim_code {
    axe_indices    *index; /* while it is made */
    int             n_inst, n_slot, cap_slot, max_frame, max_depth;
    sim_inst       *inst;
    bool           *lanes;        /* [n_slot] the value differs between lanes */
    const axe_var **var;          /* [n_slot] or NULL */
    int64_t        *init;         /* [n_slot] sizes */
    int             id[AXE_N_ID]; /* slots, or -1 */
    int             base;         /* array: where tensor memory begins; or -1 */
    bool            takes;        /* clusters that have not begun */
    bool            fences;       /* global memory, for asynchronous atoms */
    bool            awaits;       /* what others count: they run together */
    int             n_bar;        /* mbarriers of a CTA */
    int            *bar0;         /* [n_buffer] first of a buffer's, or -1 */
} sim_code;

#endif
