/* lower.h - plans as loops over virtual registers.
 *
 * A lowered kernel is what every back end reads: loops, integer lets, branches,
 * and operations on registers and memory, nothing left to decide.  It prints as
 * text for people and goldens. */
#ifndef AXE_LOWER_LOWER_H
#define AXE_LOWER_LOWER_H

#include "plan/plan.h"
#include "trace/trace.h"

typedef enum axe_lop {
#define LOP(name, dst, src, text) AXE_LOP_##name,
#include "lower/code/lops.def"
    AXE_N_LOP
} axe_lop;

typedef struct axe_lop_info {
    const char *name;
    char        dst; /* 'R', 'M', 'U' */
    int         n_src;
} axe_lop_info;

extern const axe_lop_info axe_lop_table[AXE_N_LOP];

/* A virtual register: written once, but for accumulators. */
typedef struct axe_reg {
    int      id;
    axe_type type;
    int      lanes;
} axe_reg;

/* One element address in a tensor. */
typedef struct axe_mem {
    const axe_tensor *tensor;
    axe_type          type; /* of the elements as they lie there */
    const axe_node   *at;   /* [elements] from the tensor's start */
} axe_mem;

typedef enum axe_lir_kind {
    AXE_LIR_TASKS,   /* var runs over this worker's share of [0, end) */
    AXE_LIR_LIST,    /* var is the next of [0, end) that no worker has, as the
                        word at mem says, or one that `await` put aside */
    AXE_LIR_LOOP,    /* var from begin to end by step */
    AXE_LIR_BLOCK,   /* body, with names of its own */
    AXE_LIR_IF,      /* cond != 0: body, else other */
    AXE_LIR_FOREVER, /* body again and again */
    AXE_LIR_BREAK,   /* out of the innermost LOOP or FOREVER */
    AXE_LIR_CONTINUE,
    AXE_LIR_LET,     /* var = value */
    AXE_LIR_TAKE,    /* var = src[0], an integer of one lane */
    AXE_LIR_COUNT,   /* var = 0, to be advanced */
    AXE_LIR_ADVANCE, /* var = var + 1, or 0 where that is `step` */
    AXE_LIR_VIEW,    /* mem.tensor begins at choice[value == 0] */
    AXE_LIR_OP,
    AXE_LIR_NOTE, /* text for readers */
    /* Of grids alone: */
    AXE_LIR_SET,  /* var = value; of a COUNT */
    AXE_LIR_ATOM, /* one invocation of an atom by the threads that are here */
    AXE_LIR_CALC  /* arg[0], an element of registers, = value */
} axe_lir_kind;

/* What a swizzle does to a part of an address. */
typedef enum axe_swizzled {
    AXE_SWIZZLE_MOVES, /* it is to be applied */
    AXE_SWIZZLE_KEEPS, /* nothing: the part has no bits that it reads */
    AXE_SWIZZLE_DONE   /* it has been: a constant */
} axe_swizzled;

/* Where an operand in shared memory begins, in bytes from its buffer's begin:
 * the exclusive or of the parts, and what is added to that. */
typedef struct axe_byte_at {
    int n; /* at most 2, the first of those that move */
    struct {
        const axe_node *at;
        axe_swizzled    how;
    } part[2];
    const axe_node *behind; /* NULL: nothing, if there are parts */
} axe_byte_at;

/* An operand of an atom that is invoked. */
typedef struct axe_arg {
    axe_arg_space     space;
    const axe_tensor *tensor; /* REG: an array of the thread; SHARED, DSMEM: a
                                 buffer; GLOBAL: a parameter or temporary */
    const axe_node *at; /* [elements] REG: the first; SHARED, GLOBAL: from the
                           tensor's start, before the buffer's swizzle; TMEM:
                           from the tile's, lanes being AXE_TMEM_LANE / bits
                           apart; INT: the number */
    /* REG, TMEM: it begins with piece `unit` of `per` elements, a word, or
     * `part` bits if that is not 0, and there with element `rest`; NULL: the
     * first. */
    int              part, per;
    const axe_node  *unit, *rest;
    const axe_node  *cta;   /* DSMEM: whose, by its rank in the cluster */
    int              map;   /* MAP: which of the grid's */
    int              n_at;  /* MAP: coordinates, fastest first */
    const axe_node **coord; /* [elements], may be outside */
    uint64_t desc; /* SHARED operands by descriptor: its bits but for where it
                      begins, see machine/matrix.h */
    bool               major; /* of those: the sum index is not the fast one */
    const axe_byte_at *byte; /* SHARED, DSMEM: what `at` is in bytes, behind the
                                swizzle where the text applies it */
} axe_arg;

/* What iterations of a loop do at once: `step` of them are one then, and each
 * statement of the body, a CALC, reads all before it writes any. */
typedef enum axe_join {
    AXE_JOIN_NONE,
    AXE_JOIN_MOVE, /* moves a word of registers, or chooses among some */
    AXE_JOIN_ROUND /* computes two values, which are rounded together */
} axe_join;

typedef struct axe_lir axe_lir;

typedef struct axe_lblock {
    int       n, cap;
    axe_lir **item;
} axe_lblock;

struct axe_lir {
    axe_lir_kind    kind;
    const axe_var  *var;                 /* TASKS, LOOP, LET, TAKE */
    const axe_node *begin, *end, *value; /* value: LET; cond of IF, VIEW; .node
                                            of an OP */
    int64_t         step;
    axe_lblock      body, other;
    axe_lop         op; /* OP */
    axe_reg         dst;
    int             n_src;
    const axe_reg  *src;
    axe_mem         mem;
    axe_mem         choice[2]; /* VIEW */
    double          f;
    int64_t         i;
    axe_type        as;     /* round */
    const axe_atom *atom;   /* dot, loadm, storem; ATOM */
    const char     *text;   /* NOTE */
    bool            unroll; /* LOOP: constant bounds, written out */
    axe_join        join;   /* LOOP */
    bool            elect;  /* IF: whole warps come, and the value picks a lane
                               of each: any other would do as well */
    int      param;         /* ATOM: P of a family */
    axe_hint hint;          /* ATOM: to the caches, of rows that take one */
    int      n_arg;         /* ATOM: as its kind says; CALC: 1 */
    axe_arg *arg;
    int      n_pin; /* ATOM, SYNC: arrays of registers of which no use is
                       moved past it, as lower/pass/pin.c says */
    const axe_tensor **pin;
    bool pins_behind;     /* their values are there behind it; else they
                             are before */
    const axe_node *pred; /* ATOM: threads where it is false take no part; what
                             they would load is zero; NULL: all do */
    const axe_stmt *from; /* the statement it comes from, for reports; or
                             NULL */
};

/* The variable of kind SIZE with this name and id -1 is the number of workers
 * at launch. */
#define AXE_WORKERS "workers"

/* What a thread is, as variables of kind SCOPE with these names. */
typedef enum axe_id {
    AXE_ID_BLOCK,   /* CTA of the grid */
    AXE_ID_N_BLOCK, /* how many there are */
    AXE_ID_RANK,    /* CTA of its cluster */
    AXE_ID_WARP,    /* of the CTA; the same in all its lanes */
    AXE_ID_LANE,
    AXE_N_ID
} axe_id;
const char *axe_id_name(axe_id id); /* "block", "n_block", "rank" ... */

/* Shared memory of a CTA.  Buffers may lie over one another if they are not
 * alive together. */
typedef struct axe_buffer {
    const axe_tensor *tensor; /* rank 1: its elements; i64: mbarriers */
    int64_t           offset, bytes;
    axe_swizzle       swizzle; /* of byte addresses in it; bits 0: none */
} axe_buffer;

/* A tile in tensor memory: columns [first, first + columns) of what the grid
 * allocates. */
typedef struct axe_tmem {
    const axe_tensor *tensor;
    int               first, columns;
} axe_tmem;

/* How a box of a global tensor is seen by copies, made on the host. */
typedef struct axe_map {
    const axe_tensor *tensor;
    int               rank;      /* 1 to 5, fastest first */
    const axe_node   *size[5];   /* [elements] of the tensor */
    const axe_node   *stride[5]; /* [elements]; of the first: 1 */
    int               box[5];    /* [elements] */
    int               swizzle;   /* [bytes] 0, 32, 64, 128 */
    bool              stored; /* boxes go to the tensor, else they come from it:
                                 of one without elements these must find zeros */
    const axe_node *when;     /* it is used only where this condition over sizes
                                 holds, and need not be made else; NULL: always */
} axe_map;

/* An array that is accessed by several elements at a time: it begins at a
 * multiple of so many bytes. */
typedef struct axe_begin {
    const axe_tensor *tensor; /* a parameter */
    int               bytes;
    const axe_node   *when; /* as of a map */
} axe_begin;

/* A condition over sizes that a launch keeps. */
typedef struct axe_need {
    const axe_node *when;
    axe_span        at; /* the statement that asks for it */
    const char     *why;
    const char     *help; /* the way out at other sizes; NULL: none */
} axe_need;

/* One launch.  Its blocks' code is in terms of axe_id variables, sizes, and
 * what is declared in it. */
typedef struct axe_grid {
    const char *name; /* the kernel's; with a number if there are more */
    int         n_thread, cluster; /* of a CTA; CTAs of a cluster */
    int         lanes, group;      /* threads of a warp; warps of a group */
    bool        persistent;        /* as many CTAs as fit; else `blocks` */
    bool        together; /* its CTAs wait for one another: none of them begins
                             unless all can be resident at once */
    bool waits; /* it has a PRIOR, so it may begin before the call's launch
                   before it has ended */
    const axe_node *blocks; /* CTAs to do all, a multiple of cluster */
    const axe_var  *id[AXE_N_ID];
    int n_host_loop; /* loops of the host around it, outermost first:
                   their numbers are arguments */
    const axe_var    **host_loop;
    int                n_array; /* registers of a thread, rank 1 */
    const axe_tensor **array;
    int                n_buffer;
    axe_buffer        *buffer;
    int64_t            shared_bytes;
    int                n_tmem;
    axe_tmem          *tmem;
    int                tmem_columns; /* that ALLOC is asked for; 0: none */
    const axe_tensor  *tmem_base;    /* array of one u32: where they begin, as
                                        each thread has read it from the word
                                        that ALLOC wrote; NULL: no columns */
    int        n_map;
    axe_map   *map;
    int        n_need;
    axe_need  *need;    /* what a launch keeps, as its host checks */
    int        n_begin; /* where parameters must begin, as it checks, too */
    axe_begin *begin;
    axe_lblock body;
} axe_grid;

/* What the host does, in order: launches, and loops and branches over sizes
 * around them. */
typedef enum axe_host_kind {
    AXE_HOST_GRID, /* launch number `grid` */
    AXE_HOST_LOOP, /* body for each var below its extent, AXE_HOST_ITERATIONS at
                    * most
                    */
    AXE_HOST_IF    /* body where cond holds, else other */
} axe_host_kind;

#define AXE_HOST_ITERATIONS INT32_MAX

typedef struct axe_host {
    axe_host_kind    kind;
    int              grid;
    const axe_var   *var;
    const axe_node  *cond;
    int              n_body, n_other;
    struct axe_host *body, *other;
} axe_host;

typedef struct axe_lowered {
    const axe_plan *plan;
    axe_lblock      body;
    int             n_reg;
    int64_t         scratch_bytes; /* of a worker */
    const bool *exchanged; /* by tensor id: global, and what one worker writes
                              another may touch; NULL: none */
    int n_grid;            /* machines with threads: launches, in order; then
                              the body is empty */
    axe_grid        *grid;
    int              n_host; /* when each is launched */
    axe_host        *host;
    const axe_trace *trace; /* machines with engines: all of it; else NULL */
    bool has_cores; /* the code of the grids, how many CTAs they have, or
                       a tensor of the kernel's own depends on `cores` */
} axe_lowered;

AXE_CHECK axe_status axe_lower(axe_ctx *cx, const axe_plan *p,
                               const axe_lowered **out);
/* The branch, in sizes and workers alone, that the whole kernel is but for
 * single operations around it; or NULL.  Its sides may be compiled apart. */
const axe_lir *axe_lowered_branch(const axe_lowered *l);
/* The error of a launch that does not keep it: ESHAPE. */
axe_status axe_grid_need_fail(axe_ctx *cx, const axe_grid *g,
                              const axe_need *need);
void       axe_lowered_print(axe_ctx *cx, axe_buf *out, const axe_lowered *l);

#endif
