/* lower.h - plans as loops over virtual registers.
 *
 * A lowered kernel is what every back end reads: loops, integer lets, branches,
 * and operations on registers and memory, nothing left to decide.  It prints as
 * text for people and goldens. */
#ifndef AXE_LOWER_H
#define AXE_LOWER_H

#include "plan/plan.h"

typedef enum axe_lop {
#define LOP(name, dst, src, text) AXE_LOP_##name,
#include "lower/lops.def"
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
    AXE_LIR_TASKS, /* var runs over this worker's share of [0, end) */
    AXE_LIR_LOOP,  /* var from begin to end by step */
    AXE_LIR_BLOCK, /* body, with names of its own */
    AXE_LIR_IF,    /* cond != 0: body, else other */
    AXE_LIR_EVER,  /* body again and again */
    AXE_LIR_BREAK, /* out of the innermost LOOP or EVER */
    AXE_LIR_CONTINUE,
    AXE_LIR_LET,   /* var = value */
    AXE_LIR_TAKE,  /* var = src[0], an integer of one lane */
    AXE_LIR_COUNT, /* var = 0, to be turned */
    AXE_LIR_TURN,  /* var = var + 1, or 0 where that is `step` */
    AXE_LIR_VIEW,  /* mem.tensor begins at choice[value == 0] */
    AXE_LIR_OP,
    AXE_LIR_NOTE /* text for readers */
} axe_lir_kind;

typedef struct axe_lir axe_lir;

typedef struct axe_lblock {
    int       n, cap;
    axe_lir **item;
} axe_lblock;

struct axe_lir {
    axe_lir_kind    kind;
    const axe_var  *var;                 /* TASKS, LOOP, LET, TAKE */
    const axe_node *begin, *end, *value; /* value: LET; cond of IF, VIEW */
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
    axe_type        as;   /* round */
    const axe_atom *atom; /* dot */
    const char     *text; /* NOTE */
};

/* The variable of kind SIZE with this name and id -1 is the number of workers
 * at launch. */
#define AXE_WORKERS "workers"

typedef struct axe_lowered {
    const axe_plan *plan;
    axe_lblock      body;
    int             n_reg;
    int64_t         scratch_bytes;
} axe_lowered;

AXE_CHECK axe_status axe_lower(axe_ctx *cx, const axe_plan *p,
                               const axe_lowered **out);
void axe_lowered_print(axe_ctx *cx, axe_buf *out, const axe_lowered *l);

#endif
